/* The table that common_passwords.sh makes of common_passwords.txt while the program is built. */
#ifndef HB_USER_COMMON_PASSWORD_INTERNAL_H
#define HB_USER_COMMON_PASSWORD_INTERNAL_H

#include <stddef.h>

/* "\nfirst\nsecond\n…\nlast\n", in the order of bytes. */
extern const char common_passwords[];
extern const size_t common_passwords_len;

#endif
