# One scripted session under valgrind: no leak, no invalid access of ours.
# Run as: cmake -DPROGRAM=... -DTESTS=<folder of tests> [-DWORK=<folder>] -P tests/valgrind.cmake
#
# valgrind 3.19 does not know AVX-512, and Mesa's llvmpipe is kept to 128 bits for the same
# reason. --leak-check counts definite and indirect leaks; what Mesa, LLVM and fontconfig
# keep until the process ends is still reachable, or named in valgrind.supp.
cmake_minimum_required(VERSION 3.25)
if(NOT WORK)
    get_filename_component(WORK ${PROGRAM} DIRECTORY)
endif()
set(ENV{HEADLIGHT_KERNELS} ref)
set(ENV{LP_NATIVE_VECTOR_WIDTH} 128)
set(ENV{GALLIUM_OVERRIDE_CPU_CAPS} sse4.1)
execute_process(
    COMMAND valgrind --quiet --num-callers=40 --error-exitcode=9 --leak-check=full
        --errors-for-leak-kinds=definite,indirect --show-leak-kinds=definite,indirect
        --suppressions=${TESTS}/valgrind.supp
        ${PROGRAM} --size 512x320 --script ${TESTS}/scripts/session.txt
    WORKING_DIRECTORY ${WORK} RESULT_VARIABLE code)
if(NOT code EQUAL 0)
    message(FATAL_ERROR "valgrind: ${code}")
endif()
message(STATUS "valgrind: one session, no error, no leak")
