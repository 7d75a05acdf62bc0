#include "oidc/issuer.h"

#include <sodium.h>

#include "base/clock.h"
#include "oidc/callback.h"
#include "oidc/json.h"
#include "web/form.h"

enum {
    STATUS_OK = 200,
    STATUS_REDIRECT = 300,
    STATUS_CLIENT = 400,
    STATUS_UNAUTHORIZED = 401,
    STATUS_MANY = 429,
    STATUS_SERVER = 500,
    BEARER_MAX = 8192 /* bytes of an access token that we send on */
};

/* ---- requests ---- */

/* Sends, unless the issuer was away a moment ago. */
static enum oidc_fault ask(struct oidc_issuer *i, struct arena *a, struct oidc_request *request, int64_t deadline_ms,
                           struct oidc_answer *out)
{
    int64_t now_ms = clock_monotonic_ms();
    if (now_ms < i->pause_until_ms)
        return OIDC_AWAY;
    if (now_ms >= deadline_ms)
        return OIDC_SLOW;
    request->deadline_ms = deadline_ms;
    enum oidc_fault fault = i->http->send(i->http->ctx, a, request, out);
    if (fault == OIDC_AWAY || fault == OIDC_SLOW)
        i->pause_until_ms = clock_monotonic_ms() + OIDC_PAUSE_MS;
    return fault;
}

/* What a status other than 200 means. */
static enum oidc_fault status_fault(long status)
{
    if (status == STATUS_MANY || status >= STATUS_SERVER)
        return OIDC_UNAVAILABLE;
    return status >= STATUS_REDIRECT && status < STATUS_CLIENT ? OIDC_REDIRECT : OIDC_ANSWER;
}

/* Gets a document; the body is in the arena. */
static enum oidc_fault get(struct oidc_issuer *i, struct arena *a, struct str url, size_t max, int64_t deadline_ms,
                           struct str *body)
{
    struct oidc_request request = { .url = url, .authorization = STR(""), .answer_max = max };
    struct oidc_answer answer;
    enum oidc_fault fault = url.ptr == NULL ? OIDC_NO_MEMORY : ask(i, a, &request, deadline_ms, &answer);
    if (fault == OIDC_OK && answer.status != STATUS_OK)
        fault = status_fault(answer.status);
    if (fault == OIDC_OK)
        *body = answer.body;
    return fault;
}

/* ---- the document and the keys ---- */

static enum oidc_fault document_renew(struct oidc_issuer *i, struct arena *a, int64_t deadline_ms)
{
    struct str body;
    struct oidc_document document;
    enum oidc_fault fault =
        get(i, a, oidc_discovery_url(a, i->settings->issuer), OIDC_DOCUMENT_MAX, deadline_ms, &body);
    if (fault != OIDC_OK)
        return fault;
    struct arena *texts = arena_new(OIDC_DOCUMENT_MAX / 16, OIDC_DOCUMENT_MAX);
    if (texts == NULL)
        return OIDC_NO_MEMORY;
    fault = oidc_discovery_read(texts, body, i->settings, &document);
    if (fault != OIDC_OK) {
        arena_free(texts);
        return fault;
    }
    arena_free(i->texts);
    i->texts = texts;
    i->document = document;
    i->has_document = true;
    i->document_ms = clock_monotonic_ms();
    return OIDC_OK;
}

enum oidc_fault oidc_issuer_document(struct oidc_issuer *i, struct arena *a, int64_t deadline_ms)
{
    if (i->has_document && clock_monotonic_ms() - i->document_ms < OIDC_CACHE_MS)
        return OIDC_OK;
    enum oidc_fault fault = document_renew(i, a, deadline_ms);
    return i->has_document && oidc_fault_is_temporary(fault) ? OIDC_OK : fault;
}

static enum oidc_fault keys_renew(struct oidc_issuer *i, struct arena *a, int64_t deadline_ms)
{
    struct str body;
    struct oidc_jwks *keys;
    enum oidc_fault fault = get(i, a, i->document.jwks_uri, OIDC_KEYS_BYTES_MAX, deadline_ms, &body);
    if (fault == OIDC_OK)
        fault = oidc_jwks_read(body, &keys);
    if (fault != OIDC_OK)
        return fault;
    oidc_jwks_free(i->keys);
    i->keys = keys;
    i->keys_ms = clock_monotonic_ms();
    return OIDC_OK;
}

static enum oidc_fault keys_ensure(struct oidc_issuer *i, struct arena *a, int64_t deadline_ms)
{
    if (i->keys != NULL && clock_monotonic_ms() - i->keys_ms < OIDC_CACHE_MS)
        return OIDC_OK;
    enum oidc_fault fault = keys_renew(i, a, deadline_ms);
    return i->keys != NULL && oidc_fault_is_temporary(fault) ? OIDC_OK : fault;
}

enum oidc_fault oidc_issuer_renew(struct oidc_issuer *i, struct arena *a, int64_t deadline_ms)
{
    enum oidc_fault fault = document_renew(i, a, deadline_ms);
    return fault == OIDC_OK ? keys_renew(i, a, deadline_ms) : fault;
}

/* Core 10.1.1: an unknown kid means that the issuer may have new keys. Tokens with invented kids must not make us ask
 * all the time. */
static enum oidc_fault signature_check(struct oidc_issuer *i, struct arena *a, const struct oidc_jws *jws,
                                       int64_t deadline_ms)
{
    enum oidc_fault fault = keys_ensure(i, a, deadline_ms);
    if (fault != OIDC_OK)
        return fault;
    fault = oidc_jwks_verify(i->keys, jws);
    if (fault != OIDC_KEY || clock_monotonic_ms() - i->keys_ms < OIDC_KEYS_PAUSE_MS)
        return fault;
    fault = keys_renew(i, a, deadline_ms);
    return fault == OIDC_OK ? oidc_jwks_verify(i->keys, jws) : fault;
}

enum oidc_fault oidc_issuer_verify(struct oidc_issuer *i, struct arena *a, struct str token, int64_t deadline_ms,
                                   struct oidc_jws *jws, json_t **claims)
{
    *claims = NULL;
    enum oidc_fault fault = oidc_jws_read(a, token, jws);
    if (fault != OIDC_OK)
        return fault;
    if (!i->document.algorithms[jws->algorithm])
        return OIDC_ALGORITHM;
    fault = signature_check(i, a, jws, deadline_ms);
    return fault == OIDC_OK ? oidc_json_read(jws->payload, OIDC_TOKEN, claims) : fault;
}

/* ---- the token endpoint ---- */

/* RFC 6749 2.3.1: both are form-encoded before they are joined. */
static struct str basic(struct arena *a, const struct oidc_settings *s)
{
    struct str id = form_encode(a, s->client_id), secret = form_encode(a, s->client_secret);
    struct str pair =
        id.ptr == NULL || secret.ptr == NULL ? STR_NONE : arena_printf(a, "%.*s:%.*s", STR_ARG(id), STR_ARG(secret));
    size_t size = sodium_base64_encoded_len(pair.len, sodium_base64_VARIANT_ORIGINAL);
    char *text = pair.ptr == NULL ? NULL : arena_alloc(a, size);
    if (text == NULL)
        return STR_NONE;
    sodium_bin2base64(text, size, (const unsigned char *)pair.ptr, pair.len, sodium_base64_VARIANT_ORIGINAL);
    return arena_printf(a, "Basic %s", text);
}

static struct str exchange_form(struct arena *a, const struct oidc_settings *s, enum oidc_client_auth auth,
                                struct str code, struct str verifier)
{
    struct str encoded_code = form_encode(a, code), back = form_encode(a, s->redirect_uri);
    struct str id = form_encode(a, s->client_id), secret = form_encode(a, s->client_secret);
    if (arena_failed(a))
        return STR_NONE;
    struct str form = arena_printf(a, "grant_type=authorization_code&code=%.*s&redirect_uri=%.*s&code_verifier=%.*s",
                                   STR_ARG(encoded_code), STR_ARG(back), STR_ARG(verifier));
    if (form.ptr == NULL || auth == OIDC_SECRET_BASIC)
        return form;
    form = arena_printf(a, "%.*s&client_id=%.*s", STR_ARG(form), STR_ARG(id));
    if (form.ptr == NULL || auth == OIDC_NO_SECRET)
        return form;
    return arena_printf(a, "%.*s&client_secret=%.*s", STR_ARG(form), STR_ARG(secret));
}

/* RFC 6749 5.2. */
static enum oidc_fault refusal_read(const struct oidc_answer *answer)
{
    json_t *root;
    if (answer->status != STATUS_CLIENT && answer->status != STATUS_UNAUTHORIZED)
        return status_fault(answer->status);
    enum oidc_fault fault = oidc_json_read(answer->body, OIDC_ANSWER, &root);
    if (fault != OIDC_OK)
        return fault;
    struct str error = oidc_json_text(root, "error");
    fault = error.ptr == NULL ? OIDC_ANSWER : oidc_error_fault(error);
    json_decref(root);
    return fault;
}

/* Core 3.1.3.3. */
static enum oidc_fault tokens_read(struct arena *a, struct str json, struct oidc_tokens *out)
{
    json_t *root;
    enum oidc_fault fault = oidc_json_read(json, OIDC_ANSWER, &root);
    if (fault != OIDC_OK)
        return fault;
    struct str type = oidc_json_text(root, "token_type"), access = oidc_json_text(root, "access_token");
    struct str id = oidc_json_text(root, "id_token");
    if (id.ptr == NULL || type.ptr == NULL || !str_equal_fold(type, STR("Bearer")))
        fault = OIDC_ANSWER;
    else
        *out = (struct oidc_tokens){ arena_str(a, id), access.ptr == NULL ? STR_NONE : arena_str(a, access) };
    json_decref(root);
    return fault == OIDC_OK && arena_failed(a) ? OIDC_NO_MEMORY : fault;
}

enum oidc_fault oidc_issuer_exchange(struct oidc_issuer *i, struct arena *a, struct str code, struct str verifier,
                                     int64_t deadline_ms, struct oidc_tokens *out)
{
    enum oidc_client_auth auth = i->document.auth;
    struct str form = exchange_form(a, i->settings, auth, code, verifier);
    struct oidc_request request = { .url = i->document.token_endpoint,
                                    .authorization = auth == OIDC_SECRET_BASIC ? basic(a, i->settings) : STR(""),
                                    .form = &form,
                                    .answer_max = OIDC_ANSWER_MAX };
    struct oidc_answer answer;
    if (form.ptr == NULL || request.authorization.ptr == NULL)
        return OIDC_NO_MEMORY;
    enum oidc_fault fault = ask(i, a, &request, deadline_ms, &answer);
    if (fault != OIDC_OK)
        return fault;
    return answer.status == STATUS_OK ? tokens_read(a, answer.body, out) : refusal_read(&answer);
}

/* ---- UserInfo ---- */

/* True: the bytes may stand in a header (RFC 6750 2.1). */
static bool is_bearer(struct str token)
{
    for (size_t i = 0; i < token.len; i++)
        if (token.ptr[i] <= ' ' || token.ptr[i] > '~')
            return false;
    return token.len > 0 && token.len <= BEARER_MAX;
}

enum oidc_fault oidc_issuer_userinfo(struct oidc_issuer *i, struct arena *a, struct str access_token,
                                     struct str subject, int64_t deadline_ms, json_t **out)
{
    struct oidc_request request = { .url = i->document.userinfo_endpoint, .answer_max = OIDC_DOCUMENT_MAX };
    struct oidc_answer answer;
    *out = NULL;
    if (!is_bearer(access_token))
        return OIDC_ANSWER;
    request.authorization = arena_printf(a, "Bearer %.*s", STR_ARG(access_token));
    if (request.authorization.ptr == NULL)
        return OIDC_NO_MEMORY;
    enum oidc_fault fault = ask(i, a, &request, deadline_ms, &answer);
    if (fault != OIDC_OK)
        return fault;
    if (answer.status != STATUS_OK)
        return status_fault(answer.status);
    fault = oidc_json_read(answer.body, OIDC_ANSWER, out);
    if (fault != OIDC_OK)
        return fault;
    struct str sub = oidc_json_text(*out, "sub");
    if (sub.ptr != NULL && str_equal(sub, subject))
        return OIDC_OK;
    json_decref(*out); /* 5.3.2: an answer for somebody else must not be used */
    *out = NULL;
    return OIDC_SUBJECT;
}
