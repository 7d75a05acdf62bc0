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
    return users_find_by_ids(x->app->stores.db, x->arena, people.ids, people.count > 0 ? PEOPLE_MAX : 0, &out->users,
                             &out->count);
}

/* Folds the nicknames for comparing; NULL: out of memory. A nickname that is not UTF-8 matches nobody. */
static struct str *names_fold(struct arena *a, const struct people_known *people)
{
    struct str *names = arena_array(a, people->count + 1, sizeof *names);
    for (size_t i = 0; names != NULL && i < people->count; i++)
        (void)utf8_fold_alike(a, people->users[i].nickname, &names[i]);
    return names;
}

/* Counts the nicknames that are equal to this folded one; *last: the last of them. */
static size_t names_count(const struct str *names, size_t count, struct str wanted, size_t *last)
{
    size_t found = 0;
    for (size_t i = 0; i < count; i++) {
        if (names[i].ptr == NULL || !str_equal(names[i], wanted))
            continue;
        *last = i;
        found++;
    }
    return found;
}

void people_model(struct model *m, struct value *list, const struct people_known *people,
                  const struct people_known *all)
{
    const struct str *names = names_fold(m->arena, people), *all_names = names_fold(m->arena, all);
    size_t last;
    for (size_t i = 0; names != NULL && all_names != NULL && i < people->count; i++) {
        const struct user *user = &people->users[i];
        struct value *person = value_add_object(m, list);
        value_int(m, person, "id", (int64_t)user->id);
        value_text(m, person, "username", user->username);
        value_text(m, person, "nickname", user->nickname);
        view_avatar_model(m, person, user->id, user->nickname, &user->face);
        value_page_bool(m, person, "twin", names_count(all_names, all->count, names[i], &last) > 1);
    }
}

enum status people_by_nickname(struct arena *a, const struct people_known *people, struct str nickname,
                               uint64_t *out_id)
{
    struct str wanted;
    size_t last;
    enum status st = utf8_fold_alike(a, nickname, &wanted);
    if (st != ST_OK)
        return st == ST_INVALID ? ST_NOT_FOUND : st;
    const struct str *names = names_fold(a, people);
    if (names == NULL || arena_failed(a))
        return ST_NO_MEMORY;
    size_t found = names_count(names, people->count, wanted, &last);
    if (found == 1)
        *out_id = people->users[last].id;
    return found == 0 ? ST_NOT_FOUND : found > 1 ? ST_CONFLICT : ST_OK;
}
