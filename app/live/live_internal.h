/* What live.c, load.c, view.c and event.c share: private to them. */
#ifndef HB_LIVE_LIVE_INTERNAL_H
#define HB_LIVE_LIVE_INTERNAL_H

#include "live/live.h"

#define LIVE_NUMBER_MAX 24
/* A decimal number. out: LIVE_NUMBER_MAX bytes; the text stands at their end. */
struct str live_number_text(char *out, uint64_t n);

/* ST_OK and the code the script answered with, or why there is none; errors are logged under the script's name. */
enum status live_code_read(const struct redis_call *call, const char *script, enum live_code *out);
/* Logs that a script answered nonsense; returns ST_CORRUPT. */
enum status live_reply_corrupt(const char *script);

#endif
