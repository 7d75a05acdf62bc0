# The Debian packages: libfcgi-dev, libhiredis-dev, default-libmysqlclient-dev, libsodium-dev, libqrencode-dev,
# libutf8proc-dev, librsvg2-dev, libjpeg-dev, libpng-dev, libwebp-dev, libjansson-dev, libfido2-dev, libcbor-dev,
# libseccomp-dev, zlib1g-dev, libcsv-dev, libssl-dev, libcurl4-openssl-dev; for the tests also libcmocka-dev.
find_package(PkgConfig REQUIRED)
pkg_check_modules(SODIUM REQUIRED IMPORTED_TARGET libsodium)
pkg_check_modules(HIREDIS REQUIRED IMPORTED_TARGET hiredis)
pkg_check_modules(QRENCODE REQUIRED IMPORTED_TARGET libqrencode)
pkg_check_modules(UTF8PROC REQUIRED IMPORTED_TARGET libutf8proc)
pkg_check_modules(JANSSON REQUIRED IMPORTED_TARGET jansson)
pkg_check_modules(FIDO2 REQUIRED IMPORTED_TARGET libfido2)
pkg_check_modules(CBOR REQUIRED IMPORTED_TARGET libcbor)
pkg_check_modules(ZLIB REQUIRED IMPORTED_TARGET zlib)
pkg_check_modules(JPEG REQUIRED IMPORTED_TARGET libjpeg)
pkg_check_modules(PNG REQUIRED IMPORTED_TARGET libpng)
pkg_check_modules(WEBP REQUIRED IMPORTED_TARGET libwebp)
pkg_check_modules(SECCOMP REQUIRED IMPORTED_TARGET libseccomp)
# librsvg is loaded at run time (io/svg_png.c), so only its headers are needed here.
pkg_check_modules(RSVG REQUIRED librsvg-2.0)
add_library(hb_rsvg_headers INTERFACE)
target_include_directories(hb_rsvg_headers SYSTEM INTERFACE ${RSVG_INCLUDE_DIRS})
# libcurl is loaded at run time, too (oidc/http.c).
pkg_check_modules(CRYPTO REQUIRED IMPORTED_TARGET libcrypto)
pkg_check_modules(CURL REQUIRED libcurl)
add_library(hb_curl_headers INTERFACE)
target_include_directories(hb_curl_headers SYSTEM INTERFACE ${CURL_INCLUDE_DIRS})
if(HB_TESTS)
    pkg_check_modules(CMOCKA REQUIRED IMPORTED_TARGET cmocka)
endif()

# libfcgi before 2.4.2 has no pkg-config file.
find_library(FCGI_LIBRARY fcgi REQUIRED)
find_path(FCGI_INCLUDE_DIR fcgiapp.h REQUIRED)
add_library(hb_fcgi INTERFACE)
target_link_libraries(hb_fcgi INTERFACE "${FCGI_LIBRARY}")
target_include_directories(hb_fcgi SYSTEM INTERFACE "${FCGI_INCLUDE_DIR}")

# libcsv has no pkg-config file.
find_library(CSV_LIBRARY csv REQUIRED)
find_path(CSV_INCLUDE_DIR csv.h REQUIRED)
add_library(hb_csv INTERFACE)
target_link_libraries(hb_csv INTERFACE "${CSV_LIBRARY}")
target_include_directories(hb_csv SYSTEM INTERFACE "${CSV_INCLUDE_DIR}")

# The client library of MySQL or of MariaDB: both have mysql.h.
add_library(hb_mysql_client INTERFACE)
pkg_search_module(MYSQL IMPORTED_TARGET mysqlclient libmariadb mariadb)
if(MYSQL_FOUND)
    target_link_libraries(hb_mysql_client INTERFACE PkgConfig::MYSQL)
else()
    find_program(MYSQL_CONFIG NAMES mysql_config mariadb_config REQUIRED)
    execute_process(COMMAND "${MYSQL_CONFIG}" --include OUTPUT_VARIABLE mysql_include COMMAND_ERROR_IS_FATAL ANY)
    execute_process(COMMAND "${MYSQL_CONFIG}" --libs OUTPUT_VARIABLE mysql_libs COMMAND_ERROR_IS_FATAL ANY)
    separate_arguments(mysql_include UNIX_COMMAND "${mysql_include}")
    separate_arguments(mysql_libs UNIX_COMMAND "${mysql_libs}")
    target_compile_options(hb_mysql_client INTERFACE ${mysql_include})
    target_link_libraries(hb_mysql_client INTERFACE ${mysql_libs})
endif()
