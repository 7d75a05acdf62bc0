# hb_version(TARGET): adds version.c of deploy/version.sh to a program. Each build asks for the version anew; only
# another one is compiled and linked.
set(HB_VERSION "" CACHE STRING "The version of the program; empty: that of the sources (deploy/version.sh)")

function(hb_version target)
    set(file "${CMAKE_CURRENT_BINARY_DIR}/${target}_version.c")
    add_custom_target(${target}_version BYPRODUCTS "${file}" VERBATIM
        COMMAND bash "${PROJECT_SOURCE_DIR}/deploy/version.sh" --c "${file}" "${HB_VERSION}")
    target_sources(${target} PRIVATE "${file}")
    add_dependencies(${target} ${target}_version)
endfunction()
