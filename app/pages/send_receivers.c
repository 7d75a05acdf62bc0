#include "pages/send_receivers.h"

#include "base/array.h"
#include "user/account.h"
#include "user/store.h"
#include "web/limits.h"
#include "web/text.h"

bool names_take(struct exchange *x, size_t count)
{
    static const struct limit_use uses[] = { { .limit = LIMIT_NAMES }, { .limit = LIMIT_NAMES_ADDRESS } };
    return count == 0 || limits_take_times(x, uses, ARRAY_LEN(uses), count);
}

static bool user_has_name(const struct user *users, size_t count, struct str username)
{
    for (size_t i = 0; i < count; i++)
        if (str_equal(users[i].username, username))
            return true;
    return false;
}

/* The names to which no user belongs, as a list in the visitor's language. STR_NONE without memory. */
static struct str names_without_user(struct exchange *x, const struct str_list *names, const struct user *users,
                                     size_t count)
{
    struct buf list = BUF_EMPTY;
    for (size_t i = 0; i < names->count; i++) {
        struct str name = names->items[i];
        if (user_has_name(users, count, name))
            continue;
        buf_str(&list, list.len > 0 ? text_with(x, "text/name_next", name) : name);
    }
    struct str text = list.failed ? STR_NONE : arena_str(x->arena, buf_view(&list));
    buf_free(&list);
    return text;
}

/* Finds the users with these names. A text that can't be a username is not looked up. */
static enum status users_find(struct exchange *x, const struct str_list *names, struct user **out, size_t *out_count)
{
    struct str_list usernames = { arena_array(x->arena, names->count, sizeof *names->items), 0 };
    if (usernames.items == NULL)
        return ST_NO_MEMORY;
    for (size_t i = 0; i < names->count; i++)
        if (username_valid(names->items[i]))
            usernames.items[usernames.count++] = names->items[i];
    *out_count = 0;
    return usernames.count == 0 ? ST_OK : users_find_by_names(x->app->stores.db, x->arena, &usernames, out, out_count);
}

enum status send_receivers_find(struct exchange *x, const struct str_list *names, struct receivers *out,
                                struct form_errors *errors)
{
    struct user *users = NULL;
    size_t count;
    *out = (struct receivers){ NULL, 0 };
    if (names->count == 0)
        return ST_OK;
    enum status st = users_find(x, names, &users, &count);
    if (st != ST_OK)
        return st;
    if (count < names->count) {
        struct str unknown = names_without_user(x, names, users, count);
        if (unknown.ptr == NULL)
            return ST_NO_MEMORY;
        form_fail_with(errors, "to", "text/to_unknown", unknown);
        return ST_INVALID;
    }
    out->items = arena_array(x->arena, count, sizeof *out->items);
    if (out->items == NULL)
        return ST_NO_MEMORY;
    for (size_t i = 0; i < count; i++) {
        if (users[i].id == x->visitor.user_id) {
            form_fail(errors, "to", "text/to_self");
            return ST_INVALID;
        }
        out->items[out->count++] =
            (struct receiver){ users[i].id, users[i].nickname, users[i].face, users[i].username };
    }
    return ST_OK;
}
