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
