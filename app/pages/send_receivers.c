#include "pages/send_receivers.h"

#include "user/store.h"

static bool user_has_name(const struct user *users, size_t count, struct str username)
{
    for (size_t i = 0; i < count; i++)
        if (str_equal(users[i].username, username))
            return true;
    return false;
}

/* The usernames that none of the users has, with blanks between them. STR_NONE without memory. */
static struct str names_without_user(struct arena *a, const struct str_list *usernames, const struct user *users,
                                     size_t count)
{
    struct buf names = BUF_EMPTY;
    for (size_t i = 0; i < usernames->count; i++) {
        if (user_has_name(users, count, usernames->items[i]))
            continue;
        if (names.len > 0)
            buf_char(&names, ' ');
        buf_str(&names, usernames->items[i]);
    }
    struct str text = names.failed ? STR_NONE : arena_str(a, buf_view(&names));
    buf_free(&names);
    return text;
}

enum status send_receivers_find(struct exchange *x, const struct str_list *usernames, struct receivers *out,
                                struct form_errors *errors)
{
    struct user *users;
    size_t count;
    *out = (struct receivers){ NULL, 0 };
    if (usernames->count == 0)
        return ST_OK;
    enum status st = users_find_by_names(x->app->stores.db, x->arena, usernames, &users, &count);
    if (st != ST_OK)
        return st;
    if (count < usernames->count) {
        struct str unknown = names_without_user(x->arena, usernames, users, count);
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
        out->items[out->count++] = (struct receiver){ users[i].id, users[i].nickname };
    }
    return ST_OK;
}
