/* Helpers shared by the files of this folder. */
#ifndef HB_LIVE_LIVE_INTERNAL_H
#define HB_LIVE_LIVE_INTERNAL_H

#include "live/keys.h"
#include "live/live.h"
#include "redis/reply.h"

/* Reads the code of a reply. ST_OK, else as live_grab_read; errors are logged with the function's name. */
enum status live_code_read(const struct redis_call *call, const char *function, enum live_code *out);
/* Logs a malformed reply; returns ST_CORRUPT. */
enum status live_reply_corrupt(const char *function);
/* Reads a share number or a count of shares. False unless it is an integer from 0 to PACKET_NO_SHARE - 1. */
bool live_reply_u32(const redisReply *array, size_t at, uint32_t *out);
/* Runs a function with one key and one argument, on any server; the replicas confirm. Returns as live_code_read. */
enum status live_key_set(const struct live *live, const struct redis_function *function, const char *name,
                         struct str key, struct str arg, enum live_code *code);

#endif
