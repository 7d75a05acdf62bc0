#include "oidc/discovery.h"

#include "base/log.h"
#include "oidc/json.h"
#include "oidc/url.h"

enum { LOG_CHARS = 256 };

struct str oidc_discovery_url(struct arena *a, struct str issuer)
{
    if (issuer.len > 0 && issuer.ptr[issuer.len - 1] == '/') /* 4.1 */
        issuer.len--;
    return arena_printf(a, "%.*s/.well-known/openid-configuration", STR_ARG(issuer));
}

/* An endpoint may be where the issuer is, or on a host that the settings name: a document must not send the secret,
 * the code or the user to somebody else. */
static bool endpoint_is_allowed(const struct oidc_settings *settings, struct str text)
{
    struct oidc_url url, issuer;
    if (!oidc_url_read(text, &url) || !oidc_url_read(settings->issuer, &issuer) || (issuer.https && !url.https))
        return false;
    bool allowed = oidc_url_same_origin(&url, &issuer);
    for (size_t i = 0; !allowed && i < settings->hosts.count; i++)
        allowed = oidc_url_is_at(&url, settings->hosts.items[i]);
    return allowed;
}

/* Shows the operator what to compare with the settings oidc_issuer and oidc_hosts. */
static void refused_log(const char *name, struct str value)
{
    char quoted[LOG_CHARS];
    log_warn("issuer's document refused", "member=%s value=%s", name, log_quote(value, quoted, sizeof quoted));
}

static enum oidc_fault endpoint_read(struct arena *a, const json_t *root, const char *name,
                                     const struct oidc_settings *settings, struct str *out)
{
    struct str text = oidc_json_text(root, name);
    if (text.ptr == NULL)
        return OIDC_DISCOVERY;
    if (!endpoint_is_allowed(settings, text)) {
        refused_log(name, text);
        return OIDC_ENDPOINT;
    }
    *out = arena_str(a, text);
    return out->ptr == NULL ? OIDC_NO_MEMORY : OIDC_OK;
}

/* False: the document has a list of this name, which lacks the text. */
static bool may(const json_t *root, const char *name, const char *text)
{
    return json_object_get(root, name) == NULL || oidc_json_list_has(root, name, str_from(text));
}

/* Section 3: client_secret_basic is the default. False: neither way that we know. */
static bool auth_choose(const json_t *root, struct str secret, enum oidc_client_auth *out)
{
    static const char name[] = "token_endpoint_auth_methods_supported";
    if (secret.len == 0)
        *out = OIDC_NO_SECRET;
    else if (may(root, name, "client_secret_basic"))
        *out = OIDC_SECRET_BASIC;
    else if (may(root, name, "client_secret_post"))
        *out = OIDC_SECRET_POST;
    else
        return false;
    return true;
}

/* False: the issuer signs with no algorithm of ours. */
static bool algorithms_choose(const json_t *root, bool out[OIDC_ALGORITHMS])
{
    bool any = false;
    for (size_t i = 0; i < OIDC_ALGORITHMS; i++) {
        out[i] = may(root, "id_token_signing_alg_values_supported", oidc_algorithm_name((enum oidc_algorithm)i));
        any = any || out[i];
    }
    return any;
}

static enum oidc_fault document_read(struct arena *a, const json_t *root, const struct oidc_settings *settings,
                                     struct oidc_document *out)
{
    struct str issuer = str_or_empty(oidc_json_text(root, "issuer"));
    if (!str_equal(issuer, settings->issuer)) {
        refused_log("issuer", issuer);
        return OIDC_DISCOVERY;
    }
    if (!may(root, "response_types_supported", "code") || !auth_choose(root, settings->client_secret, &out->auth) ||
        !algorithms_choose(root, out->algorithms))
        return OIDC_DISCOVERY;
    out->names_itself = json_is_true(json_object_get(root, "authorization_response_iss_parameter_supported"));
    enum oidc_fault fault = endpoint_read(a, root, "authorization_endpoint", settings, &out->authorization_endpoint);
    if (fault == OIDC_OK)
        fault = endpoint_read(a, root, "token_endpoint", settings, &out->token_endpoint);
    if (fault == OIDC_OK)
        fault = endpoint_read(a, root, "jwks_uri", settings, &out->jwks_uri);
    if (fault == OIDC_OK && json_object_get(root, "userinfo_endpoint") != NULL)
        fault = endpoint_read(a, root, "userinfo_endpoint", settings, &out->userinfo_endpoint);
    return fault;
}

enum oidc_fault oidc_discovery_read(struct arena *a, struct str json, const struct oidc_settings *settings,
                                    struct oidc_document *out)
{
    json_t *root;
    *out = (struct oidc_document){ 0 };
    enum oidc_fault fault = oidc_json_read(json, OIDC_DISCOVERY, &root);
    if (fault != OIDC_OK)
        return fault;
    fault = document_read(a, root, settings, out);
    json_decref(root);
    return fault;
}
