# Opens the program. Where there is no display it plays all seven stages at both scales off
# screen instead and says where the pictures are.
# Run as: cmake -DPROGRAM=... -DTOUR=... -DPICTURES=... -P src/app/run.cmake
cmake_minimum_required(VERSION 3.25)

if(NOT "$ENV{DISPLAY}$ENV{WAYLAND_DISPLAY}" STREQUAL "")
    execute_process(COMMAND ${PROGRAM} RESULT_VARIABLE code
        ERROR_VARIABLE errors ECHO_ERROR_VARIABLE)
    if(code EQUAL 0)
        return()
    elseif(NOT errors MATCHES "no display")
        message(FATAL_ERROR "headlight ended with ${code}")
    endif()
endif()

message(STATUS "No display: all seven stages at both scales are played off screen instead.")
file(REMOVE_RECURSE ${PICTURES})
file(MAKE_DIRECTORY ${PICTURES})
execute_process(COMMAND ${PROGRAM} --script ${TOUR} WORKING_DIRECTORY ${PICTURES}
    RESULT_VARIABLE code)
if(NOT code EQUAL 0)
    message(FATAL_ERROR "headlight --script ${TOUR} ended with ${code}")
endif()
file(GLOB made ${PICTURES}/*.png)
list(LENGTH made n)
message(STATUS "${n} pictures are in ${PICTURES}")
