# hb_flags: C standard, warnings and hardening flags of every target. The warnings are chosen for gcc 12; a flag that
# the compiler does not support is left out.
include(CheckCCompilerFlag)
include(CheckPIESupported)
check_pie_supported(LANGUAGES C)

set(CMAKE_C_STANDARD 11)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

# Assertions stay enabled in release builds: no configuration defines NDEBUG.
set(CMAKE_C_FLAGS_DEBUG "-Og -g")
set(CMAKE_C_FLAGS_RELWITHDEBINFO "-O2 -g")
set(CMAKE_C_FLAGS_RELEASE "-O2")
set(CMAKE_C_FLAGS_MINSIZEREL "-Os")

add_library(hb_flags INTERFACE)
target_include_directories(hb_flags INTERFACE "${PROJECT_SOURCE_DIR}/app")
target_compile_definitions(hb_flags INTERFACE _GNU_SOURCE)

function(hb_flag flag)
    string(MAKE_C_IDENTIFIER "HB_HAS${flag}" variable)
    check_c_compiler_flag("-Werror -Wformat ${flag}" ${variable})
    if(${variable})
        target_compile_options(hb_flags INTERFACE ${flag})
    endif()
endfunction()

foreach(flag IN ITEMS
        -Wall -Wextra -Wformat=2 -Wconversion -Wsign-conversion -Wimplicit-fallthrough -Wshadow -Wvla
        -Wnull-dereference -Wbidi-chars=any -Wstrict-prototypes -Wmissing-prototypes -Wpointer-arith
        -Werror=format-security -Werror=implicit -Werror=incompatible-pointer-types -Werror=int-conversion
        -fstack-protector-strong -fstack-clash-protection -fcf-protection=full -mbranch-protection=standard
        -ftrivial-auto-var-init=zero -fno-delete-null-pointer-checks -fno-strict-overflow -fno-strict-aliasing
        -fno-common)
    hb_flag(${flag})
endforeach()

# char has no sign on arm64, and one on x86: the program is to read bytes alike on both.
hb_flag(-fsigned-char)

# Many Intel processors run a branch slowly that crosses a boundary of 32 bytes (erratum SKX102). Without this flag a
# page of the template engine became 8 % slower or faster when unrelated code moved.
hb_flag(-Wa,-mbranches-within-32B-boundaries)

if(HB_DEV)
    target_compile_options(hb_flags INTERFACE -Werror)
    target_compile_definitions(hb_flags INTERFACE HB_CRASH_POINTS)
endif()

if(HB_SANITIZE)
    # Without _FORTIFY_SOURCE: its wrappers would hide calls from the sanitizers, which find more.
    set(sanitize -fsanitize=${HB_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
    target_compile_options(hb_flags INTERFACE ${sanitize})
    target_link_options(hb_flags INTERFACE ${sanitize})
else()
    target_compile_options(hb_flags INTERFACE
        -U_FORTIFY_SOURCE $<$<NOT:$<CONFIG:Debug>>:-D_FORTIFY_SOURCE=3>)
endif()

if(HB_FUZZ)
    if(NOT CMAKE_C_COMPILER_ID MATCHES "Clang")
        message(FATAL_ERROR "HB_FUZZ needs clang: cmake --preset fuzz")
    endif()
    # libFuzzer follows the branches; ./dev fuzz prints which lines the inputs reached.
    set(counted -fprofile-instr-generate -fcoverage-mapping)
    target_compile_options(hb_flags INTERFACE -fsanitize=fuzzer-no-link ${counted})
    target_link_options(hb_flags INTERFACE ${counted})
endif()

if(HB_COVERAGE)
    target_compile_definitions(hb_flags INTERFACE HB_COVERAGE)
    target_compile_options(hb_flags INTERFACE --coverage -fprofile-update=atomic)
    target_link_options(hb_flags INTERFACE --coverage)
endif()

target_link_options(hb_flags INTERFACE -Wl,-z,relro,-z,now -Wl,-z,noexecstack -Wl,--as-needed
                    -Wl,--build-id=sha1)
