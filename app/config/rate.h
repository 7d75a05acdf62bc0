/* How often something may happen, as the settings say it: "120 2/s" is 120 at once, and then 2 a second. Up to three
 * such tiers apply together: with "5 30/m 10 1/m" the first five need no pause, the next need a pause of 2 s each, and
 * from the eleventh on a pause of a minute, so pauses grow. "off" is no limit. Pure. */
#ifndef HB_CONFIG_RATE_H
#define HB_CONFIG_RATE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

enum { RATE_TIERS_MAX = 3 };

struct rate {
    struct rate_tier {
        int64_t at_once;  /* 1–1,000,000 */
        int64_t every_us; /* microseconds until one more is allowed */
    } tiers[RATE_TIERS_MAX];
    unsigned count; /* 0: off */
};

/* Reads tiers "N M/U" with one blank between all words; U is s, m, h or d, and M at most 1,000,000. False: malformed;
 * *out is undefined then. */
bool rate_read(struct str text, struct rate *out);

#endif
