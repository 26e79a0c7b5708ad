# Models from files: what the tests write themselves, and real ones where they are.
function(model_test name)
    add_executable(test_model_${name} tests/test_model_${name}.c tests/model_case.c ${ARGN})
    target_link_libraries(test_model_${name} PRIVATE model PkgConfig::CMOCKA m sanitize warnings)
    target_compile_definitions(test_model_${name} PRIVATE TEST_DIR="${CMAKE_SOURCE_DIR}/tests"
        DATA_DIR="${CMAKE_SOURCE_DIR}/../shared/data")
    add_test(NAME model_${name} COMMAND test_model_${name})
    set_tests_properties(model_${name} PROPERTIES LABELS unit)
endfunction()

model_test(net)
model_test(files)
model_test(bpe)
