/* The rights of each role in Redis, compared with deploy/rights/users.acl.in. */
#include "base/array.h"
#include "doctor/check.h"
#include "doctor/doctor_internal.h"
#include "doctor/doctor_words.h"
#include "doctor/rights.h"
#include "redis/reply.h"

/* The members of ACL GETUSER: a list of names, each followed by its value. */
static const redisReply *member(const redisReply *user, const char *name)
{
    for (size_t i = 0; redis_reply_at(user, i + 1) != NULL; i += 2)
        if (str_equal(redis_reply_str(redis_reply_at(user, i)), str_from(name)))
            return redis_reply_at(user, i + 1);
    return NULL;
}

/* Adds the words of a selector. The number in front shows that they are not the words of the user: "1:+del". */
static void selector_add(struct words *w, struct str text, size_t number, struct arena *a)
{
    struct words own = { .count = 0 };
    words_add_all(&own, text);
    for (size_t i = 0; i < own.count; i++)
        words_add(w, arena_printf(a, "%zu:%.*s", number, STR_ARG(own.items[i])));
}

/* Reads the user's line of users.acl.in: its commands and keys, then selectors in parentheses. False: it has no
 * line. */
static bool expected_read(const char *user, struct words *w, struct arena *a)
{
    struct str line, rest = str_from(rights_users_acl), begin = arena_printf(a, "user %s on ", user);
    do
        line = str_cut(rest, '\n', &rest);
    while (rest.ptr != NULL && !str_starts(line, begin));
    if (!str_skip_prefix(&line, begin))
        return false;
    struct str selectors, base = str_cut(line, '(', &selectors);
    words_add_all(w, base);
    for (size_t number = 1; selectors.ptr != NULL; number++) {
        struct str behind;
        selector_add(w, str_cut(selectors, ')', &behind), number, a);
        (void)str_cut(behind, '(', &selectors);
    }
    return true;
}

static void actual_read(const redisReply *user, struct words *w, struct arena *a)
{
    const redisReply *selectors = member(user, "selectors"), *selector;
    words_add_all(w, redis_reply_str(member(user, "commands")));
    words_add_all(w, redis_reply_str(member(user, "keys")));
    words_add_all(w, redis_reply_str(member(user, "channels")));
    for (size_t i = 0; (selector = redis_reply_at(selectors, i)) != NULL; i++) {
        selector_add(w, redis_reply_str(member(selector, "commands")), i + 1, a);
        selector_add(w, redis_reply_str(member(selector, "keys")), i + 1, a);
    }
}

/* Adds words that stand in the file, but that ACL GETUSER shows elsewhere or leaves out. */
static void words_of_the_file_add(struct words *actual, const struct words *expected)
{
    words_add(actual, STR("resetchannels"));
    for (size_t i = 0; i < expected->count; i++)
        if (str_starts(expected->items[i], STR("#")))
            words_add(actual, expected->items[i]);
}

/* Whether `hongbao setup` has made the aclfile. */
static bool is_of_setup(const struct doctor *d)
{
    return d->is_service && check_redis_unit(d->config) != NULL;
}

static void rights_compare(struct doctor *d, const struct doctor_role *role, const redisReply *user)
{
    struct words *expected = arena_alloc(d->arena, sizeof *expected), *actual = arena_alloc(d->arena, sizeof *actual);
    bool is_of_others = d->is_service && check_redis_unit(d->config) == NULL;
    const char *mend =
        is_of_others && d->has_setup ? "hongbao setup" /* it prints what their administrator has to run */
        : d->has_setup
            ? doctor_redis_cli(d, "ACL LOAD")
            : finding_text(&d->found, "write users.acl.in to the aclfile (docs/reference/rights.md), then: %s",
                           doctor_redis_cli(d, "ACL LOAD"));
    const char *name = role->config.redis_user, *more_help = is_of_setup(d) ? DOCTOR_OR_SETUP : "";
    if (expected == NULL || actual == NULL)
        return;
    if (!expected_read(name, expected, d->arena)) {
        finding_unchecked(&d->found, "redis-rights", "users.acl.in has no user %s", name);
        return;
    }
    actual_read(user, actual, d->arena);
    words_of_the_file_add(actual, expected);
    const char *lacks = words_without(expected, actual, d->arena), *more = words_without(actual, expected, d->arena);
    if (lacks[0] != '\0')
        finding_of(&d->found, "redis-right-missing", mend,
                   finding_text(&d->found, "roles lack rights in Redis%s", more_help),
                   finding_text(&d->found, "%s lacks %s", name, lacks));
    if (more[0] != '\0')
        finding_of(&d->found, "redis-right-excess", mend,
                   finding_text(&d->found, "roles have more rights in Redis than they need%s", more_help),
                   finding_text(&d->found, "%s has %s", name, more));
    for (size_t i = 0; redis_reply_at(member(user, "flags"), i) != NULL; i++)
        if (str_equal(redis_reply_str(redis_reply_at(member(user, "flags"), i)), STR("nopass")))
            finding_of(&d->found, "redis-nopass", mend,
                       finding_text(&d->found, "these users of Redis need no password%s", more_help), name);
    if (redis_reply_at(member(user, "passwords"), 1) != NULL)
        finding_of(&d->found, "redis-passwords", mend,
                   finding_text(&d->found, "these users of Redis have a second password%s", more_help), name);
}

static bool user_read(struct redis *r, const char *name, struct redis_call *call)
{
    const struct str args[] = { STR("ACL"), STR("GETUSER"), str_from(name) };
    return redis_do(r, call, args, ARRAY_LEN(args)) == ST_OK;
}

/* Redis from 7.2 on, and Valkey, load the append-only file with the rights of the user default, also when it is off.
 * When these rights forbid it, they skip each transaction, and so everything that a function has written: see
 * github.com/redis/redis/issues/14541 and github.com/valkey-io/valkey/issues/3983. */
static void default_user_compare(struct doctor *d, struct redis *r)
{
    struct redis_call call;
    if (user_read(r, "default", &call) && (!str_equal(redis_reply_str(member(call.reply, "commands")), STR("+@all")) ||
                                           !str_equal(redis_reply_str(member(call.reply, "keys")), STR("~*"))))
        finding_wrong(&d->found, "redis-replay",
                      is_of_setup(d)
                          ? doctor_redis_cli(d, "ACL LOAD")
                          : finding_text(&d->found,
                                         "%s ACL SETUSER default '~*' '&*' +@all # as its administrator; and the line "
                                         "of this user in the aclfile",
                                         doctor_redis_client(d)),
                      "the user default may not do everything: so Redis from 7.2 on loses grabs when it restarts%s",
                      is_of_setup(d) ? DOCTOR_OR_SETUP : "");
    redis_call_free(&call);
}

void doctor_check_redis_rights(struct doctor *d)
{
    struct redis *r = d->roles[ROLE_OPERATOR].redis;
    if (d->config->rights_dir[0] == '\0' || r == NULL) {
        finding_unchecked(&d->found, "redis-rights", "%s",
                          r == NULL ? "the operator is not logged in" : "rights_dir is empty: all roles are one user");
        return;
    }
    default_user_compare(d, r);
    for (size_t i = 0; i < ROLE_COUNT; i++) {
        const struct doctor_role *role = &d->roles[i];
        struct redis_call call;
        if (!role->uses_redis || !role->is_read)
            continue;
        if (!user_read(r, role->config.redis_user, &call))
            finding_unchecked(&d->found, "redis-rights", "the operator may not read the rights of %s",
                              role->config.redis_user);
        else if (!redis_reply_is_nil(call.reply))
            rights_compare(d, role, call.reply);
        redis_call_free(&call);
    }
}
