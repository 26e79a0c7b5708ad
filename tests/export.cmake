# What leaves the program: arrays, pictures.
add_executable(test_model_npy tests/test_model_npy.c)
target_link_libraries(test_model_npy PRIVATE model PkgConfig::CMOCKA m sanitize warnings)
add_test(NAME model_npy COMMAND test_model_npy)
set_tests_properties(model_npy PROPERTIES LABELS unit)

# Hostile files: what is kept of them is replayed here. With Clang and HEADLIGHT_FUZZ the
# fuzzers themselves are built: fuzz_npy -max_total_time=600 tests/fuzz/corpus_npy
option(HEADLIGHT_FUZZ "Build libFuzzer targets; needs Clang" OFF)
foreach(name npy npz)
    set(fuzz_sources tests/fuzz/fuzz_${name}.c tests/fuzz/target.c)
    add_executable(replay_${name} ${fuzz_sources} tests/fuzz/replay.c)
    target_link_libraries(replay_${name} PRIVATE model sanitize warnings)
    add_test(NAME fuzz_${name}
        COMMAND replay_${name} ${CMAKE_SOURCE_DIR}/tests/fuzz/corpus_${name})
    set_tests_properties(fuzz_${name} PROPERTIES LABELS unit)
    if(HEADLIGHT_FUZZ)
        add_executable(fuzz_${name} ${fuzz_sources})
        target_link_libraries(fuzz_${name} PRIVATE model sanitize warnings)
        target_link_options(fuzz_${name} PRIVATE -fsanitize=fuzzer)
    endif()
endforeach()
