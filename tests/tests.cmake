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
include(tests/model.cmake)
include(tests/export.cmake)
layer_test(step SOURCES tests/test_step_broken.c tests/test_step_decode.c tests/test_step_given.c)

# The scene as data: properties, and dumps compared with tests/golden/scene_*.txt. A dump
# that differs is left in the build folder; HEADLIGHT_UPDATE_GOLDEN=1 writes them anew.
layer_test(scene SOURCES tests/test_scene_layout.c tests/test_scene_figures.c
    tests/test_scene_motion.c tests/test_scene_pick.c tests/test_scene_text.c tests/test_scene_glyphs.c
    tests/test_scene_color.c tests/test_scene_extremes.c tests/test_scene_golden.c tests/test_scene_overview.c tests/test_scene_decode.c
    tests/scene_case.c NEEDS model)
target_compile_definitions(test_scene PRIVATE OUT_DIR="${CMAKE_BINARY_DIR}")

layer_test(ui SOURCES tests/test_ui_labs.c tests/test_ui_broken.c tests/test_ui_layout.c tests/test_ui_panel.c tests/test_ui_editor.c tests/test_ui_sources.c tests/ui_case.c
    tests/scene_case.c NEEDS model)
target_include_directories(test_ui PRIVATE src/ui)

# The kernel library; and on real weights, which lie outside the repository: 77 is "skipped".
# The oracle is no object of the test: it is optimized in a debug build too.
set(ATTN_TESTING tests/attn_case.c tests/oracle.c tests/npy.c)
set_source_files_properties(tests/oracle.c PROPERTIES COMPILE_OPTIONS -O2)
layer_test(attn SOURCES tests/test_attn_stages.c tests/test_attn_softmax.c tests/test_attn_run.c
    tests/test_attn_block.c tests/test_attn_linear.c tests/test_attn_refusals.c tests/test_attn_heads.c tests/test_attn_broken.c tests/test_attn_decode.c
    ${ATTN_TESTING})
add_executable(test_attn_weights tests/test_attn_weights.c tests/attn_case.c tests/npy.c)
target_link_libraries(test_attn_weights PRIVATE attn PkgConfig::CMOCKA m sanitize warnings)
target_compile_definitions(test_attn_weights PRIVATE DATA_DIR="${CMAKE_SOURCE_DIR}/../shared/data")
add_test(NAME attn_weights COMMAND test_attn_weights)
set_tests_properties(attn_weights PROPERTIES LABELS weights SKIP_RETURN_CODE 77)
# Every exp there is takes half a minute (run exp_all without a number); a sample here.
add_executable(exp_all tests/exp_all.c)
target_link_libraries(exp_all PRIVATE attn m sanitize warnings)
add_test(NAME attn_exp COMMAND exp_all 1009)
set_tests_properties(attn_exp PROPERTIES LABELS unit)
# All kernel sets against float64 without a test library; so also NEON's under emulation,
# where gcc-aarch64-linux-gnu, libc6-dev-arm64-cross and qemu-user are.
add_executable(attn_agree tests/attn_agree.c)
target_link_libraries(attn_agree PRIVATE attn m sanitize warnings)
add_test(NAME attn_agree COMMAND attn_agree)
set_tests_properties(attn_agree PROPERTIES LABELS unit)
find_program(AARCH64_CC aarch64-linux-gnu-gcc)
find_program(QEMU_AARCH64 NAMES qemu-aarch64 qemu-aarch64-static)
if(AARCH64_CC AND QEMU_AARCH64)
    add_test(NAME attn_neon COMMAND ${CMAKE_COMMAND} -DROOT=${CMAKE_SOURCE_DIR}
        -DBUILD=${CMAKE_BINARY_DIR} -DCC=${AARCH64_CC} -DQEMU=${QEMU_AARCH64}
        -P ${CMAKE_SOURCE_DIR}/tests/neon.cmake)
    set_tests_properties(attn_neon PROPERTIES LABELS unit)
endif()
# The library installed alone and used by another project. A sanitized archive would ask
# that project for the sanitizer's runtime.
if(NOT HEADLIGHT_SANITIZE)
    add_test(NAME attn_package COMMAND ${CMAKE_COMMAND} -DBUILD=${CMAKE_BINARY_DIR}
        -DROOT=${CMAKE_SOURCE_DIR} -DCC=${CMAKE_C_COMPILER}
        -P ${CMAKE_SOURCE_DIR}/tests/package.cmake)
    set_tests_properties(attn_package PROPERTIES LABELS unit)
endif()

# The program: parts without a screen; off screen; its command line; sessions as scripts;
# pictures. Everything draws through SDL's offscreen driver.
layer_test(app SOURCES tests/test_app_broken.c tests/test_app_edit.c NEEDS PkgConfig::SDL2)
add_executable(test_state tests/test_state.c tests/scene_case.c)
target_link_libraries(test_state PRIVATE app PkgConfig::CMOCKA m sanitize warnings)
add_test(NAME state COMMAND test_state)
set_tests_properties(state PROPERTIES LABELS unit)
add_executable(test_app_model tests/test_app_model.c tests/model_case.c)
target_link_libraries(test_app_model PRIVATE app PkgConfig::SDL2 PkgConfig::CMOCKA m sanitize warnings)
add_test(NAME app_model COMMAND test_app_model)
set_tests_properties(app_model PROPERTIES LABELS script)
add_executable(test_app_session tests/test_app_session.c)
target_link_libraries(test_app_session PRIVATE app PkgConfig::SDL2 PkgConfig::CMOCKA m sanitize warnings)
if(HEADLIGHT_SANITIZE)
    target_sources(test_app_session PRIVATE tests/keep_loaded.c)
endif()
add_test(NAME app_session COMMAND test_app_session)
set_tests_properties(app_session PROPERTIES LABELS script)
add_test(NAME cli COMMAND ${CMAKE_COMMAND} -DPROGRAM=$<TARGET_FILE:headlight>
    -DWORK=${CMAKE_BINARY_DIR}/cli -P ${CMAKE_SOURCE_DIR}/tests/cli.cmake)
add_test(NAME script_keys COMMAND headlight --seed 1 --script ${CMAKE_SOURCE_DIR}/tests/scripts/keys.txt)
add_test(NAME script_mouse COMMAND headlight --seed 15 --script ${CMAKE_SOURCE_DIR}/tests/scripts/mouse.txt)
add_test(NAME script_overview COMMAND headlight --seed 1
    --script ${CMAKE_SOURCE_DIR}/tests/scripts/overview.txt)
add_test(NAME script_sources COMMAND headlight --rank weight --least 0
    --script ${CMAKE_SOURCE_DIR}/tests/scripts/sources.txt)
set_tests_properties(script_sources PROPERTIES LABELS script)
add_test(NAME script_broken COMMAND headlight --script ${CMAKE_SOURCE_DIR}/tests/scripts/broken.txt)
add_test(NAME script_labs COMMAND headlight --script ${CMAKE_SOURCE_DIR}/tests/scripts/labs.txt)
set_tests_properties(script_labs PROPERTIES LABELS script)
add_executable(test_lab tests/test_lab.c)
target_link_libraries(test_lab PRIVATE app PkgConfig::CMOCKA m sanitize warnings)
add_test(NAME lab COMMAND test_lab)
set_tests_properties(lab PROPERTIES LABELS unit)
add_test(NAME script_pair COMMAND headlight --seed 1 --script ${CMAKE_SOURCE_DIR}/tests/scripts/pair.txt)
add_test(NAME script_switch COMMAND headlight --scale gpt2 --tokens 1024
    --script ${CMAKE_SOURCE_DIR}/tests/scripts/switch.txt)
include(tests/numbers.cmake)
include(tests/tour.cmake)
# On a real model, which lies outside the repository: the script is not run without it.
set(nano_sort $ENV{HEADLIGHT_TEST_DATA})
if(NOT nano_sort)
    set(nano_sort ${CMAKE_SOURCE_DIR}/../shared/data)
endif()
cmake_path(APPEND nano_sort nano-sort)
if(EXISTS ${nano_sort}/model.safetensors)
    add_test(NAME script_model COMMAND headlight ${nano_sort} --text AACBABAAAAA
        --script ${CMAKE_SOURCE_DIR}/tests/scripts/model.txt)
    add_test(NAME script_model_edit COMMAND headlight ${nano_sort} --text AACBABAAAAA
        --script ${CMAKE_SOURCE_DIR}/tests/scripts/model_edit.txt)
    add_test(NAME script_model_tour COMMAND headlight ${nano_sort} --text AACBABAAAAA --head 3
        --row 2 --stop 3 --script ${CMAKE_SOURCE_DIR}/tests/scripts/model_tour.txt)
    set_tests_properties(script_model script_model_edit script_model_tour PROPERTIES LABELS weights)
endif()
# The README's export of a nanoGPT checkpoint, where there is PyTorch.
find_program(PYTHON3 python3 HINTS /usr/bin NO_DEFAULT_PATH)
if(PYTHON3)
    add_test(NAME nanogpt COMMAND ${PYTHON3} ${CMAKE_SOURCE_DIR}/tests/nanogpt.py
        $<TARGET_FILE:headlight> ${CMAKE_SOURCE_DIR}/README.md ${CMAKE_BINARY_DIR}/nanogpt)
    set_tests_properties(nanogpt PROPERTIES LABELS weights SKIP_RETURN_CODE 77)
endif()
add_test(NAME script_stages COMMAND ${CMAKE_COMMAND} -DPROGRAM=$<TARGET_FILE:headlight>
    -DTOUR=${CMAKE_SOURCE_DIR}/assets/stages.txt -DPICTURES=${CMAKE_BINARY_DIR}/stages
    -P ${CMAKE_SOURCE_DIR}/src/app/run.cmake)
set_tests_properties(script_stages PROPERTIES ENVIRONMENT "DISPLAY=;WAYLAND_DISPLAY=")
set_tests_properties(cli script_broken script_keys script_mouse script_overview script_pair script_switch script_stages PROPERTIES LABELS script)

# Pixels, off screen; 77 is "skipped": there is no OpenGL.
foreach(name gfx gfx_heat)
    add_executable(test_${name} tests/test_${name}.c tests/gfx_case.c)
    if(HEADLIGHT_SANITIZE)
        target_sources(test_${name} PRIVATE tests/keep_loaded.c)
    endif()
    target_include_directories(test_${name} PRIVATE src/gfx)
    target_compile_definitions(test_${name} PRIVATE TEST_DIR="${CMAKE_SOURCE_DIR}/tests")
    target_link_libraries(test_${name} PRIVATE gfx PkgConfig::EPOXY PkgConfig::CMOCKA m
        sanitize warnings)
    add_test(NAME ${name} COMMAND test_${name})
    set_tests_properties(${name} PROPERTIES LABELS image SKIP_RETURN_CODE 77)
endforeach()
add_executable(test_paper_png tests/test_paper_png.c)
target_link_libraries(test_paper_png PRIVATE paper PkgConfig::CMOCKA m sanitize warnings)
add_test(NAME paper_png COMMAND test_paper_png)
set_tests_properties(paper_png PROPERTIES LABELS unit)

# image_test(NAME ARGUMENT...): a picture against tests/golden/NAME.png. New ones, and new
# looks: HEADLIGHT_UPDATE_GOLDEN=1 ctest --preset release -L image
add_executable(image_diff tests/image_diff.c)
target_link_libraries(image_diff PRIVATE paper sanitize warnings)
function(image_test name)
    add_test(NAME ${name} COMMAND ${CMAKE_COMMAND} -DPROGRAM=$<TARGET_FILE:headlight>
        -DDIFF=$<TARGET_FILE:image_diff> -DNAME=${name} "-DARGS=${ARGN}"
        -DGOLDEN=${CMAKE_SOURCE_DIR}/tests/golden -DOUT=${CMAKE_BINARY_DIR}/images
        -P ${CMAKE_SOURCE_DIR}/tests/image.cmake)
    set_tests_properties(${name} PROPERTIES LABELS image
        SKIP_REGULAR_EXPRESSION "no golden picture")
endfunction()
image_test(image_toy_1 --stage 1 --time 0.4 --size 1024x640)
image_test(image_toy_5_dark --stage 5 --time 0.7 --theme dark --size 1024x640)
image_test(image_toy_6 --stage 6 --row 3 --size 1024x640)
image_test(image_toy_7_broken --stage 7 --off residual,mask --size 1024x640)
image_test(image_gpt2_5 --scale gpt2 --tokens 300 --stage 5 --size 1024x640)

# A number taken apart, what must hold, and the code drawer.
foreach(name scene_derive ui_code)
    add_executable(test_${name} tests/test_${name}.c tests/scene_case.c)
    target_link_libraries(test_${name} PRIVATE ui model PkgConfig::CMOCKA m sanitize warnings)
    target_include_directories(test_${name} PRIVATE src/ui)
    target_compile_definitions(test_${name} PRIVATE TEST_DIR="${CMAKE_SOURCE_DIR}/tests")
    add_test(NAME ${name} COMMAND test_${name})
    set_tests_properties(${name} PROPERTIES LABELS unit)
endforeach()
target_sources(test_ui_code PRIVATE tests/ui_case.c)
# The PyTorch listing is run against the toy's float64 numbers; 77 is "skipped": no PyTorch.
find_program(SYSTEM_PYTHON python3 PATHS /usr/bin NO_DEFAULT_PATH) # Debian's, with python3-torch
if(SYSTEM_PYTHON)
    add_test(NAME listing_torch COMMAND ${SYSTEM_PYTHON} ${CMAKE_SOURCE_DIR}/tests/attention.py)
    set_tests_properties(listing_torch PROPERTIES LABELS unit SKIP_RETURN_CODE 77)
endif()
add_test(NAME script_code COMMAND headlight --seed 15 --script ${CMAKE_SOURCE_DIR}/tests/scripts/code.txt)
add_test(NAME script_decode COMMAND headlight --seed 15 --script ${CMAKE_SOURCE_DIR}/tests/scripts/decode.txt)
add_test(NAME script_dive COMMAND headlight --seed 15 --script ${CMAKE_SOURCE_DIR}/tests/scripts/dive.txt)
add_test(NAME script_edit COMMAND headlight --seed 15 --script ${CMAKE_SOURCE_DIR}/tests/scripts/edit.txt)
add_test(NAME script_words COMMAND headlight --script ${CMAKE_SOURCE_DIR}/tests/scripts/words.txt)
set_tests_properties(script_words script_dive script_decode script_code script_edit PROPERTIES LABELS script)

# LeakSanitizer's tracer dies of a null pointer of its own where llvmpipe's threads have come
# and gone: what draws is searched for leaks by valgrind (tests/valgrind.cmake) instead.
if(HEADLIGHT_SANITIZE)
    get_property(all DIRECTORY PROPERTY TESTS)
    foreach(name ${all})
        get_property(label TEST ${name} PROPERTY LABELS)
        if(label MATCHES "image|script")
            set_property(TEST ${name} APPEND PROPERTY ENVIRONMENT "ASAN_OPTIONS=detect_leaks=0")
        endif()
    endforeach()
endif()
