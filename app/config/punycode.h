/* Names of hosts in other letters than ASCII, as DNS and browsers write them: xn--… (RFC 3492 and 5891). */
#ifndef HB_CONFIG_PUNYCODE_H
#define HB_CONFIG_PUNYCODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

enum { HOST_NAME_MAX_BYTES = 253, HOST_LABEL_MAX_BYTES = 63 };

/* Writes the Punycode of count code points to out (size bytes) with a NUL, and returns its length. 0: it does not fit,
 * or there is nothing to write. */
size_t punycode_encode(const int32_t *codes, size_t count, char *out, size_t size);

/* Writes the host in ASCII to out, with a NUL: in small letters, full-width and compatible forms as plain ones, the
 * dots of Chinese and Japanese as '.', and each part with other letters as xn--…. False: it is not UTF-8, or a part or
 * the whole is too long. */
bool host_to_ascii(struct str host, char out[HOST_NAME_MAX_BYTES + 1]);

#endif
