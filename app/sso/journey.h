/* What a login by an issuer is for, and where it leads back to. It travels in the sealed cookie of the attempt. */
#ifndef HB_SSO_JOURNEY_H
#define HB_SSO_JOURNEY_H

#include <stdint.h>

#include "base/arena.h"
#include "base/str.h"

enum journey_kind {
    JOURNEY_LOGIN, /* somebody logs in */
    JOURNEY_LINK,  /* a user who is logged in links a subject */
    JOURNEY_AGAIN, /* a user logs in once more, and the issuer asks anew */
    JOURNEY_KINDS
};

struct journey {
    enum journey_kind kind;
    uint64_t user_id; /* of whom; 0: nobody was logged in */
    struct str next;  /* a local path, or empty */
};

/* A next that does not fit is left out. STR_NONE without memory. */
struct str journey_write(struct arena *a, const struct journey *j);
/* Reads what journey_write has made; anything else, also STR_NONE, is a login that leads to the home page. next is a
 * slice of the text. */
struct journey journey_read(struct str text);

#endif
