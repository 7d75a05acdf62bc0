#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/security_event.h"
#include "commands/stores.h"
#include "commands/user_internal.h"
#include "user/account.h"
#include "user/login_link_store.h"
#include "user/store.h"

enum { ARENA_CHUNK_BYTES = 16 << 10, ARENA_LIMIT_BYTES = 4 << 20, DAY_MS = 24 * 60 * 60 * 1000 };

bool user_days_read(const char *value, int64_t *out_ms)
{
    uint64_t days;
    if (!str_to_u64(str_from(value), &days) || days < 1 || days > LOGIN_LINK_DAYS_MAX)
        return false;
    *out_ms = (int64_t)days * DAY_MS;
    return true;
}

int user_failed(const struct config *config, enum status st, const char *why)
{
    if (st == ST_OK)
        return 0;
    (void)fprintf(stderr, "hongbao user: %s\n", why != NULL ? why : status_name(st));
    if (st == ST_UNAVAILABLE && why == NULL)
        command_stores_tell(config, "user");
    return st == ST_INVALID ? 2 : 1;
}

static int usage(void)
{
    (void)fputs("usage: hongbao user login-link NAME [--days N], N from 1 to 7\n", stderr);
    return 2;
}

static enum status link_make(struct stores *stores, struct arena *a, struct str name, int64_t last_ms, const char **why)
{
    struct user_state user;
    struct login_link link;
    char until[CLOCK_TEXT_MAX];
    const int64_t now_ms = clock_now_ms();
    enum status st = user_state_find(stores->db, a, username_fold(a, name), &user);
    if (st == ST_NOT_FOUND)
        *why = "there is no user of this username; hongbao user find WORD also looks for ids, nicknames and packets";
    if (st != ST_OK)
        return status_idempotent(st);
    login_link_new(keys_get(&stores->config->keys, KEY_LOGIN_LINKS), &link);
    st = login_link_put(stores->db, a, user.id, &link, now_ms, now_ms + last_ms);
    security_event_log(SECURITY_OPERATOR, "user_id=%" PRIu64 " action=login-link result=%s", user.id, status_name(st));
    if (st == ST_NOT_FOUND)
        *why = "the user is disabled or deleted: nobody can log in as this user";
    else if (st == ST_UNKNOWN)
        *why = "the reply of MariaDB was lost: repeat the command, and the link of the last time counts";
    const struct str url = login_link_url(a, stores->config->base_url, &link);
    if (st == ST_OK && url.ptr == NULL)
        return ST_NO_MEMORY;
    if (st != ST_OK)
        return st;
    (void)clock_rfc3339_format(now_ms + last_ms, until);
    (void)printf("%.*s\nfor %.*s (%" PRIu64 ") alone, once, until %s\n", STR_ARG(url), STR_ARG(user.username), user.id,
                 until);
    return ST_OK;
}

int user_login_link_command(const struct config *config, int argc, char **argv)
{
    struct stores stores;
    struct config patient;
    int64_t last_ms = (int64_t)LOGIN_LINK_DAYS_MAX * DAY_MS;
    const char *why = NULL;
    if (argc != 2 && !(argc == 4 && strcmp(argv[2], "--days") == 0 && user_days_read(argv[3], &last_ms)))
        return usage();
    if (!user_stores_open(&stores, &patient, config))
        return 1;
    struct arena *a = arena_new(ARENA_CHUNK_BYTES, ARENA_LIMIT_BYTES);
    enum status st = a == NULL ? ST_NO_MEMORY : link_make(&stores, a, str_from(argv[1]), last_ms, &why);
    arena_free(a);
    stores_close(&stores);
    return user_failed(config, st, why);
}
