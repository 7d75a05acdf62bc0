/* The slot of a key in a Redis Cluster. Pure. */
#ifndef HB_REDIS_SLOT_H
#define HB_REDIS_SLOT_H

#include <stdint.h>

#include "base/str.h"

#define REDIS_SLOTS 16384

/* CRC16 (XMODEM) of the key, modulo REDIS_SLOTS. In a key with a hash tag, such as hb:{p07}:events, only the bytes
 * between the first { and the next } are hashed, unless there are none. */
uint16_t redis_slot(struct str key);

#endif
