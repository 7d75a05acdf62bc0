/* A short name of the device that sent a request, for a user's list of sessions. */
#ifndef HB_USER_DEVICE_H
#define HB_USER_DEVICE_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/str.h"

#define DEVICE_BYTES_MAX 64

/* "Chrome · Android", "WeChat · iPhone", "curl", from the User-Agent header (STR_NONE: absent). Only our own words, or
 * the first word of an unknown program: letters, digits, '.', '_' and '-', at most 32 of them. Empty: the device is
 * unknown. At most DEVICE_BYTES_MAX bytes. STR_NONE without memory. */
struct str device_name(struct arena *a, struct str user_agent);

/* True when the name belongs to a phone or a tablet. */
bool device_is_phone(struct str name);

#endif
