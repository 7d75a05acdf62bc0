/* The options of a packet in its hash: the members that are OPTION in packet/members.h, fields that most packets do not
 * have. The field `options` is 1 when there is one of them, else empty, so that a function reads one field of a packet
 * without options. */
#ifndef HB_LIVE_OPTIONS_INTERNAL_H
#define HB_LIVE_OPTIONS_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"
#include "packet/packet.h"
#include "redis/redis.h"

#define LIVE_OPTION_ONE(name, type, table, redis, ...) +((PACKET_USE_##redis & PACKET_USE_OPTION) != 0)
enum { LIVE_OPTION_COUNT = 0 PACKET_MEMBERS(LIVE_OPTION_ONE) };
/* What the functions in Redis include as "options": their names, in the order of the table. */
struct str live_options_include(void);

/* The memory of the numbers' texts. */
struct live_options {
    char numbers[LIVE_OPTION_COUNT][STR_U64_MAX];
};
/* Writes name and value of each option that p has, at most 2 * LIVE_OPTION_COUNT texts. Returns how many. The texts are
 * borrowed from p and memory. */
size_t live_options_write(const struct packet *p, struct live_options *memory, struct str *out);
/* True when an option decides who may open the packet, or when. The field `conditions` is 1 then; without it the grab
 * function reads no options, for example of a packet that only has a cover. */
bool live_conditions(const struct packet *p);
/* Reads the reply of lua/view-4.lua: nil, or the values in the order of the include. The texts are borrowed from the
 * reply. False: malformed. */
bool live_options_read(const redisReply *values, struct packet *p);

#endif
