# One cmocka executable a layer; labels: unit, image, script, weights, layering.
if(NOT BUILD_TESTING)
    return()
endif()
pkg_check_modules(CMOCKA REQUIRED IMPORTED_TARGET cmocka)

add_test(NAME layering COMMAND ${CMAKE_COMMAND} -DROOT=${CMAKE_SOURCE_DIR}
    -P ${CMAKE_SOURCE_DIR}/tests/layers.cmake)
set_tests_properties(layering PROPERTIES LABELS layering)

# layer_test(step): tests/test_step.c against layer step.
function(layer_test name)
    cmake_parse_arguments(T "" "" "SOURCES;NEEDS" ${ARGN})
    add_executable(test_${name} tests/test_${name}.c ${T_SOURCES})
    target_link_libraries(test_${name} PRIVATE ${name} ${T_NEEDS} PkgConfig::CMOCKA m sanitize warnings)
    target_compile_definitions(test_${name} PRIVATE
        TEST_DIR="${CMAKE_SOURCE_DIR}/tests" DATA_DIR="${CMAKE_SOURCE_DIR}/../shared/data")
    add_test(NAME ${name} COMMAND test_${name})
    set_tests_properties(${name} PROPERTIES LABELS unit)
endfunction()

layer_test(base)
layer_test(model)
layer_test(step)

# The kernel library; and on real weights, which lie outside the repository: 77 is "skipped".
set(ATTN_TESTING tests/attn_case.c tests/oracle.c tests/npy.c)
layer_test(attn SOURCES tests/test_attn_stages.c tests/test_attn_softmax.c tests/test_attn_run.c
    tests/test_attn_block.c tests/test_attn_refusals.c ${ATTN_TESTING})
add_executable(test_attn_weights tests/test_attn_weights.c tests/attn_case.c tests/npy.c)
target_link_libraries(test_attn_weights PRIVATE attn PkgConfig::CMOCKA m sanitize warnings)
target_compile_definitions(test_attn_weights PRIVATE DATA_DIR="${CMAKE_SOURCE_DIR}/../shared/data")
add_test(NAME attn_weights COMMAND test_attn_weights)
set_tests_properties(attn_weights PROPERTIES LABELS weights SKIP_RETURN_CODE 77)
