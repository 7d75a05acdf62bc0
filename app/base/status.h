/* The outcomes of an operation: all that can happen to a correct program. A broken invariant is an assert instead. */
#ifndef HB_BASE_STATUS_H
#define HB_BASE_STATUS_H

enum status {
    ST_OK = 0,
    ST_INVALID,     /* the input breaks a rule; nothing was changed */
    ST_NOT_FOUND,   /* no such thing, or not for this caller */
    ST_EXISTS,      /* a unique key is taken */
    ST_CONFLICT,    /* the state does not allow it, or five tries in a row lost a lock */
    ST_UNAVAILABLE, /* a store can't be reached; nothing was changed */
    ST_UNKNOWN,     /* sent, but the reply was lost: it may or may not have happened */
    ST_DENIED,      /* a service token does not allow it; nothing was changed */
    ST_LIMITED,     /* a limit of the money that may move in a time is reached; nothing was changed */
    ST_NO_MEMORY,   /* an allocation failed or one of our limits was reached */
    ST_CORRUPT,     /* a store answered what it must never answer */
    ST_COUNT
};

/* The outcome of a read or of an idempotent call, for which a lost reply only means unavailable: ST_UNKNOWN becomes
 * ST_UNAVAILABLE, all others stay. */
enum status status_idempotent(enum status st);
/* The same for callers that try again later after a conflict as well: ST_UNKNOWN and ST_CONFLICT become ST_UNAVAILABLE,
 * all others stay. */
enum status status_retry(enum status st);

/* The word for logs: "ok", "invalid" … Static storage; never NULL. */
const char *status_name(enum status st);

#endif
