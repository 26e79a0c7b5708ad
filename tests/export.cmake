# What leaves the program: arrays, pictures.
add_executable(test_model_npy tests/test_model_npy.c)
target_link_libraries(test_model_npy PRIVATE model PkgConfig::CMOCKA m sanitize warnings)
add_test(NAME model_npy COMMAND test_model_npy)
set_tests_properties(model_npy PROPERTIES LABELS unit)

# Pictures as files, beside those of the window where there is OpenGL. Programs that check
# them (rsvg-convert, xmllint, poppler's) are used where they are installed.
layer_test(paper SOURCES tests/ui_case.c tests/scene_case.c NEEDS gfx ui model)
target_compile_definitions(test_paper PRIVATE OUT_DIR="${CMAKE_BINARY_DIR}")
if(HEADLIGHT_SANITIZE)
    target_sources(test_paper PRIVATE tests/keep_loaded.c)
endif()
set_tests_properties(paper PROPERTIES LABELS image)

# Figures: composed for pages of their own; as files, and films.
add_executable(test_scene_page tests/test_scene_page.c tests/scene_case.c)
target_link_libraries(test_scene_page PRIVATE scene model PkgConfig::CMOCKA m sanitize warnings)
add_test(NAME scene_page COMMAND test_scene_page)
set_tests_properties(scene_page PROPERTIES LABELS unit)
add_test(NAME figures COMMAND ${CMAKE_COMMAND} -DPROGRAM=$<TARGET_FILE:headlight>
    -DDIFF=$<TARGET_FILE:image_diff> -DWORK=${CMAKE_BINARY_DIR}/figures
    -P ${CMAKE_SOURCE_DIR}/tests/figures.cmake)
set_tests_properties(figures PROPERTIES LABELS script)
