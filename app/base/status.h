/* The outcomes of an operation. Broken invariants assert; everything that can happen to a correct
 * program is one of these. */
#ifndef HB_BASE_STATUS_H
#define HB_BASE_STATUS_H

enum status {
    ST_OK = 0,
    ST_INVALID,     /* the input breaks a rule; nothing was changed */
    ST_NOT_FOUND,   /* no such thing, or not for this caller */
    ST_EXISTS,      /* a unique key is taken */
    ST_CONFLICT,    /* the state does not allow it (or a lock was lost five times) */
    ST_UNAVAILABLE, /* a store is away; nothing was changed */
    ST_UNKNOWN,     /* sent, but the answer was lost: it may or may not have happened */
    ST_NO_MEMORY,   /* an allocation failed or a limit of ours was reached */
    ST_CORRUPT,     /* a store answered what it must never answer */
    ST_COUNT
};

/* What became of something that only looked, or that can be repeated without harm: an answer that was lost is no
 * riddle then, the store is merely away. ST_UNKNOWN → ST_UNAVAILABLE, all others as they are. */
enum status status_looked(enum status st);

/* A word for logs: "ok", "invalid" … Static storage; never NULL. */
const char *status_name(enum status st);

#endif
