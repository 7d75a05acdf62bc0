#include "user/passkey_ceremony.h"

#include <inttypes.h>
#include <sodium.h>
#include <string.h>

#include "base/array.h"
#include "redis/redis.h"
#include "redis/reply.h"
#include "web/security_log.h"

#define KEY_PREFIX "hb:challenge:"
#define COOKIE     "passkey"

const struct problem PASSKEY_EXPIRED = { 422, "passkey-expired", "text/passkey_expired", "text/passkey_expired_detail",
                                         0 };
static const struct problem NO_PASSKEYS = { 404, "no-passkeys", "text/passkey_nowhere", "text/passkey_nowhere_detail",
                                            0 };

/* ---- form ---- */

static enum status base64url_read(struct field_input *in)
{
    size_t len, max = in->typed.len;
    if (max == 0)
        return field_absent(in);
    if (in->field->max > 0 && (int64_t)max > in->field->max)
        return field_fail(in, NULL);
    char *bytes = arena_alloc(in->x->arena, max);
    if (bytes == NULL)
        return ST_NO_MEMORY;
    if (sodium_base642bin((unsigned char *)bytes, max, in->typed.ptr, max, NULL, &len, NULL,
                          sodium_base64_VARIANT_URLSAFE_NO_PADDING) != 0)
        return field_fail(in, NULL);
    *(struct str *)in->out = (struct str){ bytes, len };
    return ST_OK;
}

const struct field_type FIELD_BASE64URL = { .read = base64url_read };

struct str passkey_text(struct arena *a, struct str bytes)
{
    size_t size = sodium_base64_encoded_len(bytes.len, sodium_base64_VARIANT_URLSAFE_NO_PADDING);
    char *text = arena_alloc(a, size);
    if (text == NULL)
        return STR_NONE;
    sodium_bin2base64(text, size, (const unsigned char *)bytes.ptr, bytes.len,
                      sodium_base64_VARIANT_URLSAFE_NO_PADDING);
    return str_from(text);
}

bool passkey_begin(struct exchange *x, struct passkey_site *site)
{
    x->wants_json = true;
    if (passkey_site_read(x->arena, str_from(x->app->stores.config->base_url), site))
        return true;
    respond_problem(x, &NO_PASSKEYS);
    return false;
}

/* ---- challenges ---- */

static const struct key *key_of(const struct exchange *x)
{
    return keys_get(&x->app->stores.config->keys, KEY_CHALLENGES);
}

struct str passkey_challenge_give(struct exchange *x, enum passkey_ceremony ceremony)
{
    struct str challenge =
        passkey_challenge_new(x->arena, key_of(x), ceremony, str_or_empty(x->visitor.session_key), x->now_ms);
    if (challenge.ptr != NULL)
        respond_cookie(x, STR(COOKIE), challenge, PASSKEY_CHALLENGE_S);
    return challenge;
}

static int64_t until_ms(const struct exchange *x, enum passkey_ceremony ceremony, struct str challenge)
{
    return passkey_challenge_until_ms(key_of(x), ceremony, str_or_empty(x->visitor.session_key), challenge, x->now_ms);
}

enum status passkey_challenge_take(struct exchange *x, enum passkey_ceremony ceremony, struct str *challenge)
{
    *challenge = exchange_cookie(x, STR(COOKIE));
    if (challenge->ptr == NULL || until_ms(x, ceremony, *challenge) == 0)
        return ST_INVALID;
    respond_cookie(x, STR(COOKIE), STR(""), 0);
    return ST_OK;
}

enum status passkey_challenge_use(struct exchange *x, enum passkey_ceremony ceremony, struct str challenge)
{
    uint8_t hash[HASH_BYTES];
    char hex[2 * HASH_BYTES + 1];
    struct redis_call call = { 0 };

    hash_sha256(challenge.ptr, challenge.len, hash);
    sodium_bin2hex(hex, sizeof hex, hash, sizeof hash);
    struct str key = arena_printf(x->arena, KEY_PREFIX "%s", hex);
    struct str ttl = arena_printf(x->arena, "%" PRId64, until_ms(x, ceremony, challenge) - x->now_ms);
    if (key.ptr == NULL || ttl.ptr == NULL)
        return ST_NO_MEMORY;
    const struct str args[] = { STR("SET"), key, STR("1"), STR("NX"), STR("PX"), ttl };
    enum status st = redis_do(x->app->stores.redis, &call, args, ARRAY_LEN(args));
    bool used = st == ST_OK && redis_reply_is_nil(call.reply);
    redis_call_free(&call);
    return st != ST_OK ? ST_UNAVAILABLE : used ? ST_EXISTS : ST_OK;
}

void passkey_create_model(struct exchange *x, struct model *m, const struct passkey_site *site, struct str challenge,
                          const struct passkey_user *user)
{
    value_text(m, &m->root, "challenge", challenge);
    value_text(m, &m->root, "site", site->id);
    struct value *object = value_object(m, &m->root, "user");
    value_text(m, object, "id", user->handle.ptr == NULL ? STR_NONE : passkey_text(x->arena, user->handle));
    value_text(m, object, "name", user->username);
    value_text(m, object, "nickname", user->nickname);
    struct value *algorithms = value_list(m, &m->root, "algorithms");
    for (size_t i = 0; i < PASSKEY_ALGORITHMS; i++)
        value_int(m, value_add_object(m, algorithms), "id", passkey_algorithms[i]);
    value_int(m, &m->root, "seconds", PASSKEY_CHALLENGE_S);
}

enum status passkey_creation_check(struct exchange *x, enum passkey_ceremony ceremony, const struct passkey_site *site,
                                   struct str challenge, const struct passkey_answer *answer, struct passkey_key *key)
{
    enum passkey_fault fault = passkey_register_check(x->arena, site, challenge, answer, key);
    if (fault == PASSKEY_NO_MEMORY)
        return ST_NO_MEMORY;
    if (fault != PASSKEY_OK) {
        security_log(x, SECURITY_PASSKEY_REFUSED, x->visitor.user_id, "reason=%s", passkey_fault_name(fault));
        return ST_INVALID;
    }
    return passkey_challenge_use(x, ceremony, challenge);
}

static enum status refused(const char **why, const char *word)
{
    *why = word;
    return ST_INVALID;
}

enum status passkey_answer_accept(struct exchange *x, enum passkey_ceremony ceremony, const struct passkey_site *site,
                                  struct str challenge, const struct passkey_answer *answer,
                                  const struct passkey *passkey, const char **why)
{
    uint32_t count;
    enum passkey_fault fault = passkey_login_check(site, challenge, answer, &passkey->key, &count);
    if (fault == PASSKEY_NO_MEMORY)
        return ST_NO_MEMORY;
    if (fault != PASSKEY_OK)
        return refused(why, passkey_fault_name(fault));
    enum status st = passkey_challenge_use(x, ceremony, challenge);
    if (st == ST_EXISTS)
        *why = "replay";
    if (st != ST_OK)
        return st;
    if (!passkey_count_grows(passkey->key.sign_count, count))
        return refused(why, "counter");
    st = passkey_used(x->app->stores.db, passkey->id, count, x->now_ms);
    return st == ST_CONFLICT ? refused(why, "counter") : st;
}
