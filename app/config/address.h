/* Where a server listens: a Unix socket, or a host and a TCP port. Lists of them are values of settings. */
#ifndef HB_CONFIG_ADDRESS_H
#define HB_CONFIG_ADDRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

enum {
    ADDRESS_NAME_MAX = 253, /* bytes of a host's name */
    ADDRESS_PATH_MAX = 107, /* bytes of a socket's path: sockaddr_un.sun_path without the NUL */
    ADDRESSES_MAX = 16,
    ADDRESS_TEXT_MAX = ADDRESS_NAME_MAX + sizeof "[]:65535",
};

struct address {
    char name[ADDRESS_NAME_MAX + 1]; /* a path, or a host: a name, an IPv4 address, an IPv6 address without brackets */
    uint16_t port;                   /* 0: name is the path of a Unix socket */
};

struct address_list {
    size_t count; /* from 1 */
    struct address items[ADDRESSES_MAX];
};

/* Reads "unix:PATH" or "HOST:PORT", several of them with commas between them; blanks around each are skipped. An IPv6
 * address stands in brackets, "[::1]:6379". Returns NULL, or what is wrong in words that follow "NAME: " (static
 * storage); *out is undefined then. */
const char *address_list_read(struct str text, struct address_list *out);

/* Writes the address as a setting has it, with a NUL. Returns out. */
const char *address_print(const struct address *address, char out[ADDRESS_TEXT_MAX]);

bool address_equal(const struct address *a, const struct address *b);

#endif
