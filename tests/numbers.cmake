# Numbers out and numbers in: --dump, --compare.
add_executable(test_compare tests/test_compare.c tests/mistaken.c tests/model_case.c)
target_link_libraries(test_compare PRIVATE app PkgConfig::CMOCKA m sanitize warnings)
add_test(NAME compare COMMAND test_compare)
set_tests_properties(compare PROPERTIES LABELS unit)
add_executable(test_dump tests/test_dump.c tests/mistaken.c tests/model_case.c)
target_link_libraries(test_dump PRIVATE app PkgConfig::CMOCKA m sanitize warnings)
target_compile_definitions(test_dump PRIVATE MODELS_DIR="${CMAKE_BINARY_DIR}/models"
    DATA_DIR="${CMAKE_SOURCE_DIR}/../shared/data")
add_test(NAME dump COMMAND test_dump)
set_tests_properties(dump PROPERTIES LABELS unit)
# With numpy on the other side, where it is installed; 77 is "skipped".
find_program(SYSTEM_PYTHON NAMES python3 PATHS /usr/bin NO_DEFAULT_PATH)
if(SYSTEM_PYTHON)
    add_test(NAME numbers_numpy COMMAND ${SYSTEM_PYTHON} ${CMAKE_SOURCE_DIR}/tests/dump_numpy.py
        $<TARGET_FILE:headlight> ${CMAKE_BINARY_DIR}/numbers)
    set_tests_properties(numbers_numpy PROPERTIES LABELS unit SKIP_RETURN_CODE 77)
endif()
