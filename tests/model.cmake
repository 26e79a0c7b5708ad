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
model_test(memory)
target_link_libraries(test_model_memory PRIVATE PkgConfig::JANSSON)
target_link_options(test_model_memory PRIVATE -Wl,--wrap=aligned_alloc)

# On real weights and on full-size ones, which a fixture makes where its tools are.
add_executable(test_model_weights tests/test_model_weights.c tests/npy.c)
target_link_libraries(test_model_weights PRIVATE model PkgConfig::JANSSON PkgConfig::CMOCKA m sanitize warnings)
target_compile_definitions(test_model_weights PRIVATE MODELS_DIR="${CMAKE_BINARY_DIR}/models"
    DATA_DIR="${CMAKE_SOURCE_DIR}/../shared/data")
add_test(NAME make_models COMMAND ${CMAKE_COMMAND} -DTOOLS=${CMAKE_SOURCE_DIR}/../shared/tools
    -DDATA=${CMAKE_SOURCE_DIR}/../shared/data -DOUT=${CMAKE_BINARY_DIR}/models
    -P ${CMAKE_SOURCE_DIR}/tests/make_models.cmake)
set_tests_properties(make_models PROPERTIES LABELS weights FIXTURES_SETUP models)
add_test(NAME model_weights COMMAND test_model_weights)
set_tests_properties(model_weights PROPERTIES LABELS weights SKIP_RETURN_CODE 77 FIXTURES_REQUIRED models)
