#!/bin/sh
# Writes the C table of common_passwords.txt: one text of sorted lines, each between two line feeds,
# so that a binary search needs no pointers. Usage: common_passwords.sh LIST OUTPUT
set -eu
export LC_ALL=C
exec >"$2"

cat <<'END'
/* Made by common_passwords.sh. */
#include "user/common_password_internal.h"

const char common_passwords[] = "\n"
END
grep -v "^#" "$1" | sort -u | sed -e 's/[\\"?]/\\&/g' -e 's/.*/    "&\\n"/'
cat <<'END'
    ;
const size_t common_passwords_len = sizeof common_passwords - 1;
END
