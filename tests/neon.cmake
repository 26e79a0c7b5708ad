# The library for AArch64 by a cross compiler, its programs run by qemu's user emulation.
# Run as: cmake -DROOT=<repository> -DBUILD=<build> -DCC=<cross> -DQEMU=<qemu-aarch64> -P ...
file(MAKE_DIRECTORY ${BUILD}/neon)
set(sources attn block difference dispatch fused gemm heads kernels_neon kernels_ref opts pool reach
    stats stepwise trace)
list(TRANSFORM sources PREPEND ${ROOT}/src/attn/)
list(TRANSFORM sources APPEND .c)
foreach(program attn_agree exp_all)
    execute_process(COMMAND ${CC} -std=c17 -O2 -static -Wall -Wextra -Werror -ffp-contract=off
        -D_POSIX_C_SOURCE=200809L -DATTN_NEON -I${ROOT}/include ${ROOT}/tests/${program}.c
        ${sources} -o ${BUILD}/neon/${program} -lm -pthread COMMAND_ERROR_IS_FATAL ANY)
endforeach()
execute_process(COMMAND ${QEMU} ${BUILD}/neon/attn_agree OUTPUT_VARIABLE out
    COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${QEMU} ${BUILD}/neon/exp_all 50021 COMMAND_ERROR_IS_FATAL ANY)
message("${out}")
if(NOT out MATCHES "^neon ")
    message(FATAL_ERROR "neon is not the first choice")
endif()
