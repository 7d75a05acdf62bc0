/* GET /money/transfers: the transfers of the token's channel, oldest first. */
#ifndef HB_SERVICE_TRANSFERS_H
#define HB_SERVICE_TRANSFERS_H

#include "web/fields.h"

extern const struct field transfers_fields[];
enum step transfers_list(struct exchange *x);

/* A time by its days, both whole, as queries give it. from_ms 0, last_ms 0: open. */
struct days {
    int64_t from_ms, last_ms; /* the first instants of the first and the last day */
};
/* Rows of a table for the fields `from` and `to`, of which `days` is a member of this struct. */
#define DAYS_FIELDS(form, days)                                                                                        \
    { .name = "from",                                                                                                  \
      .type = &FIELD_DAY,                                                                                              \
      .member = offsetof(form, days) + offsetof(struct days, from_ms),                                                 \
      .min = DAYS_YEAR_MIN,                                                                                            \
      .max = DAYS_YEAR_MAX,                                                                                            \
      .says = "the first day, in the time zone of the site" },                                                         \
    {                                                                                                                  \
        .name = "to", .type = &FIELD_DAY, .member = offsetof(form, days) + offsetof(struct days, last_ms),             \
        .min = DAYS_YEAR_MIN, .max = DAYS_YEAR_MAX, .says = "the last day"                                             \
    }
enum { DAYS_YEAR_MIN = 1971, DAYS_YEAR_MAX = 9998 };
/* The end of the time, which is not included. INT64_MAX: open. */
int64_t days_until_ms(const struct days *days);

#endif
