# The guided tour and presenter mode.
add_executable(test_tour tests/test_tour.c)
target_link_libraries(test_tour PRIVATE app PkgConfig::CMOCKA m sanitize warnings)
add_test(NAME tour COMMAND test_tour)
set_tests_properties(tour PROPERTIES LABELS unit)
add_test(NAME script_tour COMMAND headlight --seed 15 --script ${CMAKE_SOURCE_DIR}/tests/scripts/tour.txt)
set_tests_properties(script_tour PROPERTIES LABELS script)
