/* The people with whom a user recently exchanged packets, as choices on pages. */
#ifndef HB_PAGES_PEOPLE_H
#define HB_PAGES_PEOPLE_H

#include "user/store.h"
#include "web/exchange.h"

/* The visitor's people (packet/people.h), without deleted users, the latest first. In the request's arena. */
struct people_known {
    struct user *users;
    size_t count;
};
enum status people_find(struct exchange *x, struct people_known *out);

/* Adds a list of people: [{ id, username, nickname, page: initial, hue, twin }]. all: everybody whom the page shows;
 * twin: another one of them has the same nickname. */
void people_model(struct model *m, struct value *list, const struct people_known *people,
                  const struct people_known *all);

/* Finds the only one of these people with this nickname; capitals and full width do not matter. ST_NOT_FOUND: nobody ·
 * ST_CONFLICT: several · ST_NO_MEMORY. */
enum status people_by_nickname(struct arena *a, const struct people_known *people, struct str nickname,
                               uint64_t *out_id);

#endif
