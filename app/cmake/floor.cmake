# hb_floor(NAME [LIBRARIES lib…] SOURCES file.c…): builds the floor NAME as the library hb_NAME. It links the floor
# before it in app/FLOORS.txt, through that all earlier floors, and the external LIBRARIES.
file(STRINGS "${PROJECT_SOURCE_DIR}/app/FLOORS.txt" HB_FLOORS REGEX "^[a-z]")

function(hb_floor name)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "LIBRARIES;SOURCES")
    list(FIND HB_FLOORS ${name} place)
    if(arg_UNPARSED_ARGUMENTS OR place LESS 0)
        message(FATAL_ERROR "hb_floor(${name}): not in FLOORS.txt, or unknown arguments ${arg_UNPARSED_ARGUMENTS}")
    endif()
    set(below hb_flags)
    if(place GREATER 0)
        math(EXPR place "${place} - 1")
        list(GET HB_FLOORS ${place} floor_below)
        set(below hb_${floor_below})
    endif()
    add_library(hb_${name} STATIC ${arg_SOURCES})
    target_link_libraries(hb_${name} PUBLIC ${below} ${arg_LIBRARIES})
endfunction()
