#include "pages/people.h"

#include "base/utf8.h"
#include "packet/people.h"
#include "web/view.h"

enum status people_find(struct exchange *x, struct people_known *out)
{
    struct people people;
    *out = (struct people_known){ .count = 0 };
    enum status st = people_recent(x->app->stores.db, x->arena, x->visitor.user_id, &people);
    if (st != ST_OK)
        return st;
    return users_find_by_ids(x->app->stores.db, x->arena, people.ids, people.count, &out->users, &out->count);
}

void people_model(struct model *m, struct value *list, const struct people_known *people,
                  const struct people_known *all)
{
    uint64_t id;
    for (size_t i = 0; i < people->count; i++) {
        const struct user *user = &people->users[i];
        struct value *person = value_add_object(m, list);
        value_int(m, person, "id", (int64_t)user->id);
        value_text(m, person, "username", user->username);
        value_text(m, person, "nickname", user->nickname);
        view_avatar_model(m, person, user->id, user->nickname, &user->face);
        value_page_bool(m, person, "twin", people_by_nickname(m->arena, all, user->nickname, &id) == ST_CONFLICT);
    }
}

enum status people_by_nickname(struct arena *a, const struct people_known *people, struct str nickname,
                               uint64_t *out_id)
{
    struct str wanted;
    size_t found = 0;
    enum status st = utf8_fold_alike(a, nickname, &wanted);
    for (size_t i = 0; st == ST_OK && i < people->count; i++) {
        struct str known;
        st = utf8_fold_alike(a, people->users[i].nickname, &known);
        if (st != ST_OK || !str_equal(known, wanted))
            continue;
        *out_id = people->users[i].id;
        found++;
    }
    if (st != ST_OK)
        return st == ST_INVALID ? ST_NOT_FOUND : st;
    return found == 0 ? ST_NOT_FOUND : found > 1 ? ST_CONFLICT : ST_OK;
}
