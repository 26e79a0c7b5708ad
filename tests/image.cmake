# One picture of the program against tests/golden/<NAME>.png.
# Run as: cmake -DPROGRAM=... -DDIFF=... -DNAME=... -DARGS=<list> -DGOLDEN=<folder>
#   -DOUT=<folder> -P tests/image.cmake
# With HEADLIGHT_UPDATE_GOLDEN=1 the picture becomes the golden one.
cmake_minimum_required(VERSION 3.25)
file(MAKE_DIRECTORY ${OUT})
set(found ${OUT}/${NAME}.png)
set(golden ${GOLDEN}/${NAME}.png)
set(difference ${OUT}/${NAME}-difference.png)
file(REMOVE ${found} ${difference})
execute_process(COMMAND ${PROGRAM} ${ARGS} --export ${found} RESULT_VARIABLE code)
if(NOT code EQUAL 0)
    message(FATAL_ERROR "headlight ended with ${code}")
endif()
if("$ENV{HEADLIGHT_UPDATE_GOLDEN}" STREQUAL "1")
    file(COPY_FILE ${found} ${golden})
    return()
endif()
if(NOT EXISTS ${golden})
    message("no golden picture ${golden}")
    return()
endif()
# 16 levels and one pixel in a thousand: other versions of FreeType and Mesa round an edge
# differently; a wrong number or colour is far more.
execute_process(COMMAND ${DIFF} ${found} ${golden} 16 0.001 ${difference}
    RESULT_VARIABLE code)
if(NOT code EQUAL 0)
    message(FATAL_ERROR "${found} is not ${golden}")
endif()
