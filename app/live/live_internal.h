/* What the files of this folder share. */
#ifndef HB_LIVE_LIVE_INTERNAL_H
#define HB_LIVE_LIVE_INTERNAL_H

#include "live/keys.h"
#include "live/live.h"

#define LIVE_NUMBER_MAX 24
/* A decimal number. out: LIVE_NUMBER_MAX bytes; the text stands at their end. */
struct str live_number_text(char *out, uint64_t n);

/* ST_OK and the code the script answered with, or why there is none; errors are logged under the script's name. */
enum status live_code_read(const struct redis_call *call, const char *script, enum live_code *out);
/* Logs that a script answered nonsense; returns ST_CORRUPT. */
enum status live_reply_corrupt(const char *script);
/* Reads and frees the answers of a round. ST_OK when each is a code, else the first error. */
enum status live_codes_read(struct redis_call *calls, size_t count, const char *script);
/* Runs a script with one key and one argument. Returns as live_code_read. */
enum status live_key_set(const struct live *live, struct redis_script *script, const char *name, struct str key,
                         struct str arg, enum live_code *code);

#endif
