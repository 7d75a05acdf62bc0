/* What every page shows of site and visitor, and how people, times and money are shown. */
#ifndef HB_WEB_VIEW_H
#define HB_WEB_VIEW_H

#include "web/exchange.h"

/* What every page's layout reads, page-only: `site` { asset{…}, base_url, path (of a GET, with its query), demo,
 * user{id, nickname, initial, hue} or absent, guest: nobody is logged in (false while nobody has looked) }. */
void view_site_model(struct exchange *x, struct model *m);
/* Page-only helpers on an object that shows a person: `initial` (first grapheme of the nickname), `hue` (0–11, a class
 * for the avatar's colour, from the user id). */
void view_avatar_model(struct model *m, struct value *object, uint64_t user_id, struct str nickname);
/* JSON: name = RFC 3339 UTC. Page: name_text = "2026-11-20 16:00" in the service's zone. */
void view_time_model(struct model *m, struct value *object, const char *name, const char *text_name, int64_t ms);
/* JSON: name = n. Page: one_name, whether n is 1, because some languages then use another word. */
void view_count_model(struct model *m, struct value *object, const char *name, const char *one_name, int64_t n);
/* JSON: name = fen. Page: text_name = "12.34". */
void view_money_model(struct model *m, struct value *object, const char *name, const char *text_name, int64_t fen);

#endif
