#include "config/rate.h"

#include "base/array.h"

enum { NUMBER_MAX = 1000000 };

static bool number_read(struct str text, int64_t *out)
{
    return str_to_i64(text, out) && *out >= 1 && *out <= NUMBER_MAX;
}

/* "2/s" as the time from one to the next. */
static bool every_read(struct str text, int64_t *out_us)
{
    static const struct {
        char letter;
        int64_t us;
    } units[] = { { 's', 1000000 }, { 'm', 60000000 }, { 'h', INT64_C(3600000000) }, { 'd', INT64_C(86400000000) } };
    struct str unit;
    int64_t times;
    if (!number_read(str_cut(text, '/', &unit), &times) || unit.len != 1)
        return false;
    for (size_t i = 0; i < ARRAY_LEN(units); i++) {
        if (unit.ptr[0] == units[i].letter) {
            *out_us = units[i].us / times;
            return true;
        }
    }
    return false;
}

bool rate_read(struct str text, struct rate *out)
{
    *out = (struct rate){ .count = 0 };
    if (str_equal(text, STR("off")))
        return true;
    while (text.ptr != NULL) {
        if (out->count == RATE_TIERS_MAX)
            return false;
        struct rate_tier *tier = &out->tiers[out->count++];
        if (!number_read(str_cut(text, ' ', &text), &tier->at_once) ||
            !every_read(str_cut(text, ' ', &text), &tier->every_us))
            return false;
    }
    return out->count > 0;
}
