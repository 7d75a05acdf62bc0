/* Members that models share: the site and the visitor for the layout, and the formats of people, times, counts and
 * money. */
#ifndef HB_WEB_VIEW_H
#define HB_WEB_VIEW_H

#include "base/badge.h"
#include "web/exchange.h"

/* Adds the page-only object `site`, which the layout reads: { asset{…}, base_url, path (of a GET, with its query),
 * demo, paused (nobody can send),
 * user{id, nickname, the members of an avatar, news (a number above 0) and news_one} (absent for guests), guest
 * (true for guests; false when the session was not read), for guests login_url and register_url (they lead back to the
 * page that the guest looks at) }. */
void view_site_model(struct exchange *x, struct model *m);
/* Adds page-only members for a person's avatar: `drawn` (the word of a drawn face, else null), `picture` (the hash of a
 * picture, else null), `initial` (first grapheme of the nickname; empty beside a drawn face) and `hue` (0–11, selects
 * the colour's class; from the face, else from the user id). The texts of the face are copied. */
void view_avatar_model(struct model *m, struct value *object, uint64_t user_id, struct str nickname,
                       const struct face *face);
/* Adds cover, and cover_url, the path of the picture with this hash; STR_NONE: null. */
void view_cover_model(struct model *m, struct value *object, struct str cover, struct str hash);
/* JSON: name = RFC 3339 in UTC. Page: text_name = "2026-11-20 16:00" in the service's time zone. */
void view_time_model(struct model *m, struct value *object, const char *name, const char *text_name, int64_t ms);
/* A time that may not have come, for JSON: name = RFC 3339 in UTC; ms 0: null. */
void view_moment_model(struct model *m, struct value *object, const char *name, int64_t ms);
/* JSON: name = n. Page: one_name = true when n is 1, for languages with a singular form. */
void view_count_model(struct model *m, struct value *object, const char *name, const char *one_name, int64_t n);
enum view_span {
    VIEW_SPAN_ROUGH, /* rounded down to its largest unit */
    VIEW_SPAN_EXACT  /* in the largest unit of which it is a whole number, and hours up to one day */
};
/* Adds the page-only object name of a span of time, for text/span: { days | hours | minutes | seconds, one: true when
 * that is 1 }. Less than a second counts as one. */
void view_span_model(struct model *m, struct value *object, const char *name, int64_t ms, enum view_span span);
/* JSON: name = fen. Page: text_name = "12.34", whose digits templates group as their language does. */
void view_money_model(struct model *m, struct value *object, const char *name, const char *text_name, int64_t fen);

/* The same for a total that is shown large. Page: also long_total, for smaller type, true when its text with
 * the unit is long: from "¥100000.00" on. */
void view_total_model(struct model *m, struct value *object, const char *name, const char *text_name, int64_t fen);

/* Adds the page-only members large and huge: whether an amount in the largest type of all needs a smaller one to stay
 * on one line, from ¥1000.00 on, and the smallest, from ¥1000000.00 on. */
void view_size_model(struct model *m, struct value *object, int64_t fen);

/* Adds the unit of all amounts: unit, its code, and unit_decimals. */
void view_unit_model(struct model *m, struct value *object);

#endif
