/* The path in a setting of addresses that has one Unix socket. */
#ifndef TEST_UNIX_PATH_H
#define TEST_UNIX_PATH_H

#include <assert.h>
#include <string.h>

static inline const char *unix_path(const char *addresses)
{
    assert(strncmp(addresses, "unix:", 5) == 0 && strchr(addresses, ',') == NULL);
    return addresses + 5;
}

#endif
