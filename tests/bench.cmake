# headlight-bench: a table of cases (tests/bench_main.c); built by default, not installed.
# Optimised in every build type, since it measures.
add_executable(headlight-bench tests/bench_main.c tests/bench_attn.c)
target_link_libraries(headlight-bench PRIVATE attn m sanitize warnings)
target_compile_options(headlight-bench PRIVATE -O2)
if(attn_x86)
    target_sources(headlight-bench PRIVATE tests/bench_peak_x86.c)
else()
    target_sources(headlight-bench PRIVATE tests/bench_peak_any.c)
endif()
target_sources(headlight-bench PRIVATE tests/bench_peers_none.c)
