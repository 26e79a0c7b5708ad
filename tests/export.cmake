# What leaves the program: arrays, pictures.
add_executable(test_model_npy tests/test_model_npy.c)
target_link_libraries(test_model_npy PRIVATE model PkgConfig::CMOCKA m sanitize warnings)
add_test(NAME model_npy COMMAND test_model_npy)
set_tests_properties(model_npy PROPERTIES LABELS unit)
