#include "oidc/claims.h"

#include <string.h>

#include "oidc/json.h"

#define USERNAME "preferred_username"

/* The name of the settings' claim, with a NUL, for jansson; out holds OIDC_TEXT_MAX bytes. */
static const json_t *member(const json_t *object, struct str name)
{
    char key[OIDC_TEXT_MAX];
    if (name.len == 0 || name.len >= sizeof key)
        return NULL;
    memcpy(key, name.ptr, name.len);
    key[name.len] = '\0';
    return json_object_get(object, key);
}

/* The claim of the ID token, or else of the UserInfo answer; NULL: neither has it. */
static const json_t *claim(const json_t *id, const json_t *info, struct str name)
{
    const json_t *value = member(id, name);
    return value != NULL ? value : member(info, name);
}

static struct str username_claim(const struct oidc_settings *settings)
{
    return settings->username_claim.len > 0 ? settings->username_claim : STR(USERNAME);
}

bool oidc_claims_lack(const json_t *id, const struct oidc_settings *settings)
{
    bool named = json_object_get(id, "name") != NULL || json_object_get(id, "nickname") != NULL;
    return !named || member(id, username_claim(settings)) == NULL ||
           (settings->domains.count > 0 && json_object_get(id, "email") == NULL) ||
           (settings->groups_claim.len > 0 && member(id, settings->groups_claim) == NULL);
}

/* A text that is neither empty nor too long, in the arena; STR_NONE otherwise. */
static struct str text_of(struct arena *a, const json_t *value)
{
    struct str text = oidc_json_value(value);
    return text.ptr == NULL || text.len == 0 || text.len > OIDC_TEXT_MAX ? STR_NONE : arena_str(a, text);
}

/* The address and its mark are of the same source. Only `true` is true: a text "false" is not. */
static struct str email_of(struct arena *a, const json_t *id, const json_t *info)
{
    const json_t *source = json_object_get(id, "email") != NULL ? id : info;
    return json_is_true(json_object_get(source, "email_verified")) ? text_of(a, json_object_get(source, "email"))
                                                                   : STR_NONE;
}

static struct str nickname_of(struct arena *a, const json_t *id, const json_t *info)
{
    const struct str names[] = { STR("name"), STR("nickname"), STR(USERNAME) };
    struct str text = STR_NONE;
    for (size_t i = 0; text.ptr == NULL && i < sizeof names / sizeof *names; i++)
        text = text_of(a, claim(id, info, names[i]));
    return text;
}

/* A list of texts, or one text. Other values are no groups. */
static enum oidc_fault groups_read(struct arena *a, const json_t *value, struct str_list *out)
{
    size_t count = json_is_string(value) ? 1 : json_array_size(value);
    *out = (struct str_list){ NULL, 0 };
    if (count > OIDC_GROUPS_MAX)
        return OIDC_CLAIMS;
    if (count == 0)
        return OIDC_OK;
    out->items = arena_array(a, count, sizeof *out->items);
    if (out->items == NULL)
        return OIDC_NO_MEMORY;
    for (size_t i = 0; i < count; i++) {
        struct str text = text_of(a, json_is_string(value) ? value : json_array_get(value, i));
        if (text.ptr != NULL)
            out->items[out->count++] = text;
    }
    return OIDC_OK;
}

enum oidc_fault oidc_claims_read(struct arena *a, const json_t *id, const json_t *info,
                                 const struct oidc_settings *settings, struct oidc_claims *out)
{
    *out = (struct oidc_claims){
        .issuer = settings->issuer,
        .subject = text_of(a, json_object_get(id, "sub")),
        .sid = text_of(a, json_object_get(id, "sid")),
        .username = text_of(a, claim(id, info, username_claim(settings))),
        .nickname = nickname_of(a, id, info),
        .email = email_of(a, id, info),
    };
    (void)oidc_json_time(id, "auth_time", &out->auth_time_ms);
    enum oidc_fault fault = groups_read(a, claim(id, info, settings->groups_claim), &out->groups);
    return fault == OIDC_OK && arena_failed(a) ? OIDC_NO_MEMORY : fault;
}

/* The part behind the only '@'; STR_NONE: this is no plain address. */
static struct str domain_of(struct str email)
{
    struct str domain, more;
    struct str local = str_cut(email, '@', &domain);
    if (local.len == 0 || domain.len == 0)
        return STR_NONE;
    (void)str_cut(domain, '@', &more);
    return more.ptr == NULL ? domain : STR_NONE;
}

static bool list_has(const struct str_list *list, struct str text, bool fold)
{
    for (size_t i = 0; i < list->count; i++)
        if (fold ? str_equal_fold(list->items[i], text) : str_equal(list->items[i], text))
            return true;
    return false;
}

enum oidc_fault oidc_claims_allowed(const struct oidc_claims *claims, const struct oidc_settings *settings)
{
    if (settings->domains.count > 0) {
        if (claims->email.ptr == NULL)
            return OIDC_EMAIL;
        struct str domain = domain_of(claims->email);
        if (domain.ptr == NULL || !list_has(&settings->domains, domain, true))
            return OIDC_DOMAIN;
    }
    if (settings->groups.count == 0)
        return OIDC_OK;
    for (size_t i = 0; i < claims->groups.count; i++)
        if (list_has(&settings->groups, claims->groups.items[i], false))
            return OIDC_OK;
    return OIDC_GROUP;
}
