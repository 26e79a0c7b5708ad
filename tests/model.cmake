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
model_test(reads)
model_test(words)
target_link_options(test_model_reads PRIVATE -Wl,--wrap=pread)
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

# Fuzz targets. With preset fuzz (clang) they are libFuzzer programs: build/fuzz/fuzz_text
# CORPUS. Otherwise, and in ctest, they replay what is in the repository.
option(HEADLIGHT_FUZZ "Build the fuzz targets for libFuzzer; needs clang" OFF)
foreach(target safetensors llmc tokenizer text npy npz)
    set(corpus ${CMAKE_SOURCE_DIR}/tests/fuzz/corpus/${target})
    add_executable(fuzz_${target} tests/fuzz/fuzz_${target}.c tests/fuzz/fuzz.c)
    target_link_libraries(fuzz_${target} PRIVATE model sanitize warnings)
    if(HEADLIGHT_FUZZ)
        target_link_options(fuzz_${target} PRIVATE -fsanitize=fuzzer)
        add_test(NAME fuzz_${target} COMMAND fuzz_${target} -runs=0 ${corpus})
    else()
        target_sources(fuzz_${target} PRIVATE tests/fuzz/replay.c)
        add_test(NAME fuzz_${target} COMMAND fuzz_${target} ${corpus})
    endif()
    set_tests_properties(fuzz_${target} PROPERTIES LABELS unit)
endforeach()
