# Installs the library alone and builds the example against it, by find_package and by
# pkg-config. Run as: cmake -DBUILD=<build> -DROOT=<repository> -DCC=<compiler> -P ...
set(prefix ${BUILD}/package/prefix)
file(REMOVE_RECURSE ${BUILD}/package)

function(must)
    execute_process(COMMAND ${ARGN} RESULT_VARIABLE rc OUTPUT_VARIABLE out ERROR_VARIABLE out)
    if(NOT rc EQUAL 0)
        string(REPLACE ";" " " line "${ARGN}")
        message(FATAL_ERROR "${line}\n${out}")
    endif()
    set(out "${out}" PARENT_SCOPE)
endfunction()

must(${CMAKE_COMMAND} --install ${BUILD} --component attn --prefix ${prefix})
must(${CMAKE_COMMAND} -S ${ROOT}/tests/package -B ${BUILD}/package/build
    -DCMAKE_PREFIX_PATH=${prefix} -DCMAKE_C_COMPILER=${CC})
must(${CMAKE_COMMAND} --build ${BUILD}/package/build)
must(${BUILD}/package/build/example)
if(NOT out MATCHES "^ 1\\.000 0\\.000 0\\.000 0\\.000\n")
    message(FATAL_ERROR "the first token sees itself alone, but the example printed\n${out}")
endif()

file(GLOB_RECURSE pc ${prefix}/*attn.pc)
get_filename_component(dir ${pc} DIRECTORY)
must(${CMAKE_COMMAND} -E env PKG_CONFIG_PATH=${dir} pkg-config --cflags --libs attn)
separate_arguments(flags UNIX_COMMAND "${out}")
must(${CC} ${ROOT}/tests/package/example.c -o ${BUILD}/package/example ${flags})
must(${BUILD}/package/example)
