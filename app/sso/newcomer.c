#include "sso/newcomer.h"

#include "account/username_proposal.h"
#include "base/utf8.h"
#include "user/account.h"

enum { NAMES_TRIED_MAX = 8 };

struct newcomer {
    const struct subject *subject;
    int64_t now_ms;
};

static enum status newcomer_insert(struct db *db, const struct user *user, void *ctx)
{
    const struct newcomer *n = ctx;
    return subject_insert(db, n->subject, user->id, n->now_ms);
}

/* As much of the name as a nickname may have; the username when nothing is left. */
static struct str nickname_of(struct arena *a, struct str name, struct str username)
{
    struct str clean, rest, kept = STR("");
    if (name.ptr == NULL || utf8_clean_shown(a, name, &clean) != ST_OK)
        return username;
    rest = clean;
    for (int n = 0; n < NICKNAME_GRAPHEMES_MAX && rest.len > 0; n++) {
        struct str longer = str_slice(clean, 0, kept.len + utf8_first_grapheme(rest).len);
        if (utf8_codepoints(longer) > NICKNAME_CODEPOINTS_MAX)
            break;
        kept = longer;
        rest = str_slice(clean, kept.len, clean.len);
    }
    kept = str_trim(kept);
    return kept.len > 0 ? kept : username;
}

/* The first proposal, and then others until one is free. */
static struct str username_try(struct exchange *x, const struct oidc_claims *claims, int tries)
{
    const bool english = x->language == LANGUAGE_EN;
    struct str typed = str_or_empty(claims->username), name = str_or_empty(claims->nickname);
    if (tries == 0)
        return username_proposed(x->app->stores.db, x->arena, typed, name, english);
    struct str stem = username_made_of(x->arena, typed);
    if (stem.len == 0)
        stem = username_made_of(x->arena, name);
    return stem.len > 0 && tries < NAMES_TRIED_MAX - 2 ? username_numbered(x->arena, stem)
                                                       : username_invented(x->arena, english);
}

enum status newcomer_make(struct exchange *x, const struct oidc_claims *claims, const struct subject *subject,
                          struct user *user, bool *made)
{
    struct db *db = x->app->stores.db;
    struct newcomer newcomer = { subject, x->now_ms };
    enum status st = ST_EXISTS, found;
    *made = false;
    for (int tries = 0; st == ST_EXISTS && tries < NAMES_TRIED_MAX; tries++) {
        struct str username = username_try(x, claims, tries);
        if (username.ptr == NULL)
            return ST_NO_MEMORY;
        *user = (struct user){ .username = username,
                               .nickname = nickname_of(x->arena, claims->nickname, username),
                               .password_hash = STR_NONE,
                               .with = newcomer_insert,
                               .with_ctx = &newcomer };
        st = user_insert(db, x->arena, &x->app->stores.config->keys, user, x->now_ms);
        if (st != ST_EXISTS && st != ST_UNKNOWN)
            break;
        found = subject_find(db, x->arena, subject, user);
        if (found != ST_NOT_FOUND)
            return st == ST_UNKNOWN && found != ST_OK ? ST_UNKNOWN : status_idempotent(found);
    }
    *made = st == ST_OK;
    return st == ST_EXISTS ? ST_UNAVAILABLE : st;
}
