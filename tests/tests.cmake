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

# The scene as data: properties, and dumps compared with tests/golden/scene_*.txt. A dump
# that differs is left in the build folder; HEADLIGHT_UPDATE_GOLDEN=1 writes them anew.
layer_test(scene SOURCES tests/test_scene_layout.c tests/scene_case.c NEEDS model)
target_compile_definitions(test_scene PRIVATE OUT_DIR="${CMAKE_BINARY_DIR}")

# The kernel library; and on real weights, which lie outside the repository: 77 is "skipped".
# The oracle is no object of the test: it is optimized in a debug build too.
set(ATTN_TESTING tests/attn_case.c tests/oracle.c tests/npy.c)
set_source_files_properties(tests/oracle.c PROPERTIES COMPILE_OPTIONS -O2)
layer_test(attn SOURCES tests/test_attn_stages.c tests/test_attn_softmax.c tests/test_attn_run.c
    tests/test_attn_block.c tests/test_attn_refusals.c ${ATTN_TESTING})
add_executable(test_attn_weights tests/test_attn_weights.c tests/attn_case.c tests/npy.c)
target_link_libraries(test_attn_weights PRIVATE attn PkgConfig::CMOCKA m sanitize warnings)
target_compile_definitions(test_attn_weights PRIVATE DATA_DIR="${CMAKE_SOURCE_DIR}/../shared/data")
add_test(NAME attn_weights COMMAND test_attn_weights)
set_tests_properties(attn_weights PROPERTIES LABELS weights SKIP_RETURN_CODE 77)
# The library installed alone and used by another project. A sanitized archive would ask
# that project for the sanitizer's runtime.
if(NOT HEADLIGHT_SANITIZE)
    add_test(NAME attn_package COMMAND ${CMAKE_COMMAND} -DBUILD=${CMAKE_BINARY_DIR}
        -DROOT=${CMAKE_SOURCE_DIR} -DCC=${CMAKE_C_COMPILER}
        -P ${CMAKE_SOURCE_DIR}/tests/package.cmake)
    set_tests_properties(attn_package PROPERTIES LABELS unit)
endif()
