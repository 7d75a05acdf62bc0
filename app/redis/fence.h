/* Fences: a call that names one is sent only while it is open.
 *
 * A fence is open when the string at its key is the run_id of the server that has the key, a blank and the number of
 * fences in decimal; behind them the unit of money and its decimals, unless it is yuan with two (as in version 1.0).
 * So a process with another unit, also one without MySQL, sends no call. A round reads the keys of those fences that
 * its calls name, before these are sent, unless it has found them open over the same connection within the last second.
 * A connection ends with the server process, so the run_id can't change meanwhile; but whoever opens fences may shut
 * them, and of several servers one may be a replica for a while and lose what it had. */
#ifndef HB_REDIS_FENCE_H
#define HB_REDIS_FENCE_H

#include "redis/redis.h"

#define REDIS_FENCES_MAX     100
#define REDIS_FENCE_KEY_MAX  48 /* bytes of a key, with NUL */
#define REDIS_FENCE_TEXT_MAX 64 /* bytes of the text at the key, with NUL */

/* Writes the key of a fence to out, and returns it. */
typedef struct str redis_fence_key(char *out, uint32_t fence);
/* Sets the keys of fences 0 … count - 1; count ≤ REDIS_FENCES_MAX (asserted). Until this call, every fence is shut. */
void redis_fences_set(struct redis *r, redis_fence_key *key, uint32_t count);
/* The next round also reads all fences that are not known to be open. */
void redis_queue_fences(struct redis *r);
/* False also while the fence was not read over the present connection. */
bool redis_fence_is_open(const struct redis *r, uint32_t fence);
/* How many of the fences are open. */
uint32_t redis_fences_open(const struct redis *r);
/* Writes the text that opens the fence at the server that has its key now. Connects if necessary. ST_OK ·
 * ST_UNAVAILABLE. */
enum status redis_fence_text(struct redis *r, uint32_t fence, char out[REDIS_FENCE_TEXT_MAX]);

#endif
