/* The list of a user's sessions: a hash in Redis beside the sessions, by which they can be listed, counted and ended.
 *
 * Key    hb:sessions:<user id>
 * Field  the hex part of a session's key  →  created_ms,device
 * Field  ended  →  ms: all sessions that were started up to then have ended, except those that the list still has
 * TTL    session_absolute_s, again from each start and renewal of a session, so no session outlives its list
 *
 * A session is first entered into the list and then stored, so every stored session is in its list; an entry without a
 * session is ignored, and removed by the next reader when it is a minute old. A process that ends sessions writes
 * `ended` before it reads the list, and a process that starts one reads `ended` after it has entered the session. So a
 * login that verified an old password just before it was changed gets no session. A request reads only its session:
 * lists are for logins, logouts and the account page.
 *
 * Sessions of an earlier version are in no list, which their value says (user/session.h). The first process with MySQL
 * that meets one enters it, or ends it when `ended` is later than its start. */
#ifndef HB_USER_SESSION_LIST_H
#define HB_USER_SESSION_LIST_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/status.h"
#include "base/str.h"
#include "live/stores.h"
#include "redis/redis.h"
#include "user/session.h"

#define SESSION_LIST_PREFIX "hb:sessions:"
/* Characters of the hex part: enough to tell a user's sessions apart, not to guess a key. */
#define SESSION_ID_LEN 16
/* More entries than any list has: the setting sessions_max ends at 100, and logins at the same time add a few. */
#define SESSION_LIST_LEN_MAX 1000

struct session_entry {
    struct str key;    /* of the session, in Redis */
    struct str id;     /* as pages and forms name it: SESSION_ID_LEN characters of the key */
    struct str device; /* "Chrome · Android"; empty: unknown */
    int64_t created_ms, seen_ms;
};

/* All of these may block. Results are in the arena. ST_UNAVAILABLE / ST_UNKNOWN: Redis did not answer, and a part may
 * be done: each may be repeated · ST_NO_MEMORY. */

/* Enters and stores a new session under key, for its remaining time from now_ms. When the user has more than
 * sessions_max, the oldest end. ST_CONFLICT: the sessions of the user were ended meanwhile, and this one with them. */
enum status session_list_start(const struct stores *stores, struct arena *a, struct str key, const struct session *s,
                               struct str device, int64_t now_ms);
/* Queues the entry of a session and then the session itself, for `hongbao demo`, which starts many at once. calls: the
 * caller's, until the round is over. */
void session_list_queue(const struct stores *stores, struct arena *a, struct redis_call calls[2], struct str key,
                        const struct session *s);
/* Enters a session of an earlier version and stores it anew. ST_NOT_FOUND: it has ended. */
enum status session_list_adopt(const struct stores *stores, struct arena *a, struct str key, const struct session *s,
                               int64_t now_ms);
/* *has: whether the session of this key is in the user's list. Renews the time to live of the list. */
enum status session_list_keep(const struct stores *stores, struct arena *a, uint64_t user_id, struct str key,
                              bool *has);
/* The user's sessions, the last used first. */
enum status session_list_read(const struct stores *stores, struct arena *a, uint64_t user_id, int64_t now_ms,
                              struct session_entry **out, size_t *count);
/* Ends the session of this key: a logout. */
enum status session_list_end_key(const struct stores *stores, struct arena *a, uint64_t user_id, struct str key);
/* Ends the session of this id. ST_NOT_FOUND: the user has no such session. */
enum status session_list_end(const struct stores *stores, struct arena *a, uint64_t user_id, struct str id);
/* Ends all sessions of the user, also sessions that are being started, except the session with the key `keep` (empty:
 * all end). now_ms: read after the change that makes them end. Returns in a later millisecond, so that the next login
 * is newer.
 */
enum status session_list_end_others(const struct stores *stores, struct arena *a, uint64_t user_id, struct str keep,
                                    int64_t now_ms);
/* Writes the new nickname and face into all sessions of the user; NULL leaves one unchanged. */
enum status session_list_rename(const struct stores *stores, struct arena *a, uint64_t user_id,
                                const struct str *nickname, const struct face *face);

#endif
