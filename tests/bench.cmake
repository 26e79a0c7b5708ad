# headlight-bench: a table of cases (tests/bench_main.c); built by default, not installed.
# Optimised in every build type, since it measures.
add_executable(headlight-bench tests/bench_main.c tests/bench_attn.c tests/bench_peers.c tests/bench_torch.c
    tests/bench_app.c tests/bench_forward.c tests/bench_export.c
    tests/bench_numbers.c)
target_link_libraries(headlight-bench PRIVATE app attn m sanitize warnings)
target_compile_options(headlight-bench PRIVATE -O2)
target_compile_definitions(headlight-bench PRIVATE _DEFAULT_SOURCE # madvise, wait4
    BENCH_TORCH="${CMAKE_SOURCE_DIR}/tests/bench_torch.py"
    BENCH_TOOLS="${CMAKE_SOURCE_DIR}/../shared/tools")
if(attn_x86)
    target_sources(headlight-bench PRIVATE tests/bench_peak_x86.c)
else()
    target_sources(headlight-bench PRIVATE tests/bench_peak_any.c)
endif()

# Other libraries to compare with (libopenblas-dev, libdnnl-dev), for this program alone.
pkg_check_modules(OPENBLAS QUIET IMPORTED_TARGET openblas)
if(OPENBLAS_FOUND)
    target_sources(headlight-bench PRIVATE tests/bench_openblas.c)
    target_link_libraries(headlight-bench PRIVATE PkgConfig::OPENBLAS)
else()
    target_sources(headlight-bench PRIVATE tests/bench_openblas_none.c)
endif()
find_library(DNNL_LIBRARY dnnl) # its package file insists on OpenCL
find_path(DNNL_INCLUDE_DIR oneapi/dnnl/dnnl.h)
find_package(OpenMP QUIET COMPONENTS C)
if(DNNL_LIBRARY AND DNNL_INCLUDE_DIR AND OpenMP_C_FOUND)
    target_sources(headlight-bench PRIVATE tests/bench_onednn.c)
    target_include_directories(headlight-bench SYSTEM PRIVATE ${DNNL_INCLUDE_DIR})
    target_link_libraries(headlight-bench PRIVATE ${DNNL_LIBRARY} OpenMP::OpenMP_C)
else()
    target_sources(headlight-bench PRIVATE tests/bench_onednn_none.c)
endif()
