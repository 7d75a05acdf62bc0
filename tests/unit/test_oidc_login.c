/* app/oidc: a login from its redirect to its claims, with an issuer of the test's own in place of HTTP: what it must
 * send, what it requests, and a table of forged and broken answers. */
#include "oidc/oidc.h"

#include "base/buf.h"
#include "base/clock.h"
#include "oidc/json.h"
#include "oidc/url.h"
#include "unit/oidc_maker.h"

#define NOW_S  "1800000000"
#define NOW_MS INT64_C(1800000000000)
#define ISSUER "https://login.example/a"
#define BACK   "https://hongbao.example/login/oidc/callback"

/* ---- the issuer ---- */

enum endpoint { DOCUMENT, KEYS, TOKEN, INFO, ENDPOINTS };
enum signer { RIGHT, OTHER_KEY, NEW_KEY, NO_SIGNATURE, HMAC_WITH_PUBLIC_KEY, CHANGED_AFTER };

#define HEADER "{\"alg\":\"RS256\",\"typ\":\"JWT\",\"kid\":\"k1\"}"
#define CLAIMS                                                                                                         \
    "{\"iss\":\"" ISSUER "\",\"aud\":\"hongbao\",\"sub\":\"u1\",\"exp\":1800000300,\"iat\":" NOW_S                     \
    ",\"sid\":\"s1\",\"auth_time\":" NOW_S "}"
#define DISCOVERY                                                                                                      \
    "{\"issuer\":\"" ISSUER "\",\"authorization_endpoint\":\"https://login.example/auth\","                            \
    "\"token_endpoint\":\"https://login.example/token\",\"jwks_uri\":\"https://login.example/keys\","                  \
    "\"userinfo_endpoint\":\"https://login.example/info\",\"response_types_supported\":[\"code\"],"                    \
    "\"id_token_signing_alg_values_supported\":[\"RS256\",\"ES256\"],"                                                 \
    "\"authorization_response_iss_parameter_supported\":true}"
#define INFO_ANSWER                                                                                                    \
    "{\"sub\":\"u1\",\"name\":\"\xe5\xb0\x8f\xe6\x98\x8e\",\"preferred_username\":\"ming\","                           \
    "\"email\":\"ming@Example.org\",\"email_verified\":true,\"groups\":[\"staff\",5,\"chess\"]}"

/* What is wrong with the issuer; all zero: nothing. */
struct wrong {
    const char *header;                    /* in place of HEADER */
    const char *claims, *discovery, *info; /* members that replace, or with null remove, those above */
    enum signer signer;
    const char *body[ENDPOINTS]; /* in place of the right answer */
    long status[ENDPOINTS];
    enum oidc_fault fault[ENDPOINTS];
    bool iss_left_out;
    const char *iss, *error, *state, *code; /* of the callback */
};

static struct {
    struct wrong wrong;
    EVP_PKEY *key, *other;
    int64_t clock_ms;
    int asked[ENDPOINTS];
    struct str nonce, form, authorization; /* of the last attempt and exchange */
} issuer;

int64_t __wrap_clock_monotonic_ms(void);
int64_t __wrap_clock_monotonic_ms(void)
{
    return issuer.clock_ms;
}

/* The base with the members of changes in place of its own; null: without. As text. */
static struct str changed(const char *base, const char *changes)
{
    json_t *object, *more, *value;
    const char *name;
    assert_int_equal(oidc_json_read(str_from(base), OIDC_TOKEN, &object), OIDC_OK);
    assert_int_equal(oidc_json_read(str_from(changes != NULL ? changes : "{}"), OIDC_TOKEN, &more), OIDC_OK);
    json_object_foreach(more, name, value) if (json_is_null(value)) json_object_del(object, name);
    else json_object_set(object, name, value);
    char *text = json_dumps(object, JSON_COMPACT);
    struct str out = arena_str(arena, str_from(text));
    free(text);
    json_decref(more);
    json_decref(object);
    return out;
}

static struct str signed_token(const char *header, struct str payload)
{
    const struct wrong *w = &issuer.wrong;
    unsigned char mac[crypto_auth_hmacsha256_BYTES];
    struct str input = maker_input(header, payload);
    if (w->signer == NO_SIGNATURE)
        return arena_printf(arena, "%s.", input.ptr);
    if (w->signer == HMAC_WITH_PUBLIC_KEY) { /* a client that took the public key as a secret would accept it */
        struct str secret = maker_jwk(issuer.key, OIDC_RS256, "");
        crypto_auth_hmacsha256_state state;
        crypto_auth_hmacsha256_init(&state, (const unsigned char *)secret.ptr, secret.len);
        crypto_auth_hmacsha256_update(&state, (const unsigned char *)input.ptr, input.len);
        crypto_auth_hmacsha256_final(&state, mac);
        return arena_printf(arena, "%s.%s", input.ptr, maker_base64(mac, sizeof mac).ptr);
    }
    struct str signature =
        maker_signature(w->signer == OTHER_KEY || w->signer == NEW_KEY ? issuer.other : issuer.key, OIDC_RS256, input);
    if (w->signer == CHANGED_AFTER) {
        char *bytes = arena_cstr(arena, payload);
        strstr(bytes, "u1")[1] = '2';
        input = maker_input(header, (struct str){ bytes, payload.len });
    }
    return arena_printf(arena, "%s.%s", input.ptr, signature.ptr);
}

static struct str tokens_made(void)
{
    const struct wrong *w = &issuer.wrong;
    struct str nonce = arena_printf(arena, "{\"nonce\":\"%.*s\"}", STR_ARG(issuer.nonce));
    struct str payload = changed(changed(CLAIMS, nonce.ptr).ptr, w->claims);
    const char *header = w->header != NULL ? w->header : HEADER;
    return arena_printf(arena, "{\"token_type\":\"Bearer\",\"access_token\":\"a1\",\"id_token\":\"%s\"}",
                        signed_token(header, payload).ptr);
}

static struct str keys_made(void)
{
    bool both = issuer.wrong.signer == NEW_KEY && issuer.asked[KEYS] > 1; /* rotated since the first request */
    struct str first = maker_jwk(issuer.key, OIDC_RS256, ",\"kid\":\"k1\"");
    struct str second = maker_jwk(issuer.other, OIDC_RS256, ",\"kid\":\"k2\"");
    return both ? arena_printf(arena, "{\"keys\":[%s,%s]}", first.ptr, second.ptr)
                : arena_printf(arena, "{\"keys\":[%s]}", first.ptr);
}

static enum oidc_fault issuer_send(void *ctx, struct arena *a, const struct oidc_request *request,
                                   struct oidc_answer *out)
{
    (void)ctx;
    static const char *const urls[ENDPOINTS] = { ISSUER "/.well-known/openid-configuration",
                                                 "https://login.example/keys", "https://login.example/token",
                                                 "https://login.example/info" };
    const struct wrong *w = &issuer.wrong;
    size_t at = 0;
    while (at < ENDPOINTS && !str_equal(request->url, str_from(urls[at])))
        at++;
    assert_true(at < ENDPOINTS);
    assert_int_equal(request->form != NULL, at == TOKEN);
    issuer.asked[at]++;
    if (at == TOKEN) {
        issuer.form = arena_str(arena, *request->form);
        issuer.authorization = arena_str(arena, request->authorization);
    }
    if (at == INFO)
        assert_true(str_equal(request->authorization, STR("Bearer a1")));
    *out = (struct oidc_answer){ .status = w->status[at] != 0 ? w->status[at] : 200 };
    out->body = w->body[at] != NULL ? str_from(w->body[at])
                : at == DOCUMENT    ? changed(DISCOVERY, w->discovery)
                : at == KEYS        ? keys_made()
                : at == TOKEN       ? tokens_made()
                                    : changed(INFO_ANSWER, w->info);
    out->body = arena_str(a, out->body);
    return out->body.ptr == NULL ? OIDC_NO_MEMORY : w->fault[at];
}

static const struct oidc_http HTTP = { issuer_send, NULL };

/* ---- a browser ---- */

static struct key key = { { 1 } };
static struct str domains[] = { { "example.org", 11 } }, groups[] = { { "board", 5 }, { "staff", 5 } };
static const struct oidc_settings SETTINGS = { .issuer = { ISSUER, sizeof ISSUER - 1 },
                                               .client_id = { "hongbao", 7 },
                                               .client_secret = { "s+c r/t", 7 },
                                               .scopes = { "profile email", 13 },
                                               .redirect_uri = { BACK, sizeof BACK - 1 },
                                               .domains = { domains, 1 },
                                               .groups_claim = { "groups", 6 },
                                               .groups = { groups, 2 },
                                               .key = &key };

/* The value of a parameter of a URL or form; STR_NONE: none. */
static struct str parameter(struct str url, const char *name)
{
    struct str rest = url, pair, value;
    for (char *c = (char *)(uintptr_t)rest.ptr; c < rest.ptr + rest.len; c++)
        if (*c == '?')
            *c = '&';
    while (rest.ptr != NULL) {
        pair = str_cut(rest, '&', &rest);
        if (str_equal(str_cut(pair, '=', &value), str_from(name)))
            return value;
    }
    return STR_NONE;
}

struct visit {
    struct str cookie, state;
};

static struct visit visit_begin(struct oidc *o, bool fresh)
{
    struct oidc_redirect redirect;
    assert_int_equal(oidc_authorize(o, arena, NOW_MS, STR("/wallet"), fresh, &redirect), OIDC_OK);
    assert_true(redirect.cookie.len <= OIDC_COOKIE_MAX && str_is_word(redirect.cookie));
    issuer.nonce = parameter(redirect.url, "nonce");
    return (struct visit){ redirect.cookie, parameter(redirect.url, "state") };
}

static enum oidc_fault visit_end(struct oidc *o, struct visit visit, int64_t now_ms, struct oidc_claims *out)
{
    const struct wrong *w = &issuer.wrong;
    const struct oidc_callback callback = {
        .state = w->state != NULL ? str_from(w->state) : visit.state,
        .code = w->error != NULL ? STR_NONE : str_from(w->code != NULL ? w->code : "c1"),
        .iss = w->iss_left_out ? STR_NONE : str_from(w->iss != NULL ? w->iss : ISSUER),
        .error = str_from(w->error),
    };
    return oidc_finish(o, arena, now_ms, &callback, visit.cookie, out);
}

/* A whole login with a new client at this issuer. */
static enum oidc_fault login_with(const struct oidc_settings *settings, const struct wrong *wrong,
                                  struct oidc_claims *out)
{
    struct oidc *o = oidc_new(settings, &HTTP);
    struct oidc_redirect redirect;
    issuer.wrong = *wrong;
    issuer.clock_ms += OIDC_PAUSE_MS;
    memset(issuer.asked, 0, sizeof issuer.asked);
    *out = (struct oidc_claims){ 0 };
    enum oidc_fault fault = oidc_authorize(o, arena, NOW_MS, STR("/wallet"), false, &redirect);
    if (fault == OIDC_OK) {
        issuer.nonce = parameter(redirect.url, "nonce");
        fault = visit_end(o, (struct visit){ redirect.cookie, parameter(redirect.url, "state") }, NOW_MS, out);
    }
    oidc_free(o);
    return fault;
}

static int issuer_setup(void **state)
{
    issuer.clock_ms = 1000000;
    if (arena_setup(state) != 0)
        return 1;
    issuer.key = maker_key(OIDC_RS256);
    issuer.other = maker_key(OIDC_RS256);
    return 0;
}

static int issuer_teardown(void **state)
{
    EVP_PKEY_free(issuer.key);
    EVP_PKEY_free(issuer.other);
    return arena_teardown(state);
}

static int arena_empty(void **state)
{
    (void)state;
    arena_reset(arena);
    issuer.wrong = (struct wrong){ 0 };
    issuer.clock_ms += 2 * OIDC_CACHE_MS;
    memset(issuer.asked, 0, sizeof issuer.asked);
    return 0;
}

#define LOGIN_TEST(name) TEST_WITH(name, arena_empty, NULL)

/* ---- a login that works ---- */

LOGIN_TEST(a_login_ends_with_the_claims_of_the_user)
{
    struct oidc_claims claims;
    assert_int_equal(login_with(&SETTINGS, &(struct wrong){ 0 }, &claims), OIDC_OK);
    assert_true(str_equal(claims.issuer, STR(ISSUER)) && str_equal(claims.subject, STR("u1")));
    assert_true(str_equal(claims.sid, STR("s1")) && str_equal(claims.username, STR("ming")));
    assert_true(str_equal(claims.nickname, STR("小明")) && str_equal(claims.email, STR("ming@Example.org")));
    assert_true(claims.groups.count == 2 && str_equal(claims.groups.items[1], STR("chess")));
    assert_true(claims.auth_time_ms == NOW_MS && !claims.fresh && str_equal(claims.carried, STR("/wallet")));
    assert_ints({ issuer.asked[DOCUMENT], 1 }, { issuer.asked[KEYS], 1 }, { issuer.asked[TOKEN], 1 },
                { issuer.asked[INFO], 1 });
}

LOGIN_TEST(the_settings_say_which_claims_count_and_who_may_come_in)
{
    static const struct wrong other = { .claims = "{\"upn\":\"xm\",\"name\":\"\",\"nickname\":\"Ming\"}",
                                        .info = "{\"email_verified\":null,\"groups\":\"chess\"}" };
    struct oidc_settings open = SETTINGS;
    struct str group = STR("chess");
    struct oidc_claims claims;
    open.username_claim = STR("upn");
    open.domains.count = 0;
    open.groups = (struct str_list){ &group, 1 };
    assert_int_equal(login_with(&open, &other, &claims), OIDC_OK);
    assert_true(str_equal(claims.username, STR("xm")) && str_equal(claims.nickname, STR("Ming")));
    assert_true(claims.email.ptr == NULL && claims.groups.count == 1);
    group = STR("staff");
    assert_int_equal(login_with(&open, &other, &claims), OIDC_GROUP);
    open.groups.count = 0;
    assert_int_equal(login_with(&open, &other, &claims), OIDC_OK);
    open.groups_claim = STR("");
    assert_int_equal(login_with(&open, &other, &claims), OIDC_OK);
    assert_int_equal(claims.groups.count, 0);
}

LOGIN_TEST(the_callback_may_come_to_another_process_than_the_redirect)
{
    struct oidc *first = oidc_new(&SETTINGS, &HTTP), *second = oidc_new(&SETTINGS, &HTTP);
    struct oidc_claims claims;
    struct visit visit = visit_begin(first, false);
    assert_int_equal(visit_end(second, visit, NOW_MS, &claims), OIDC_OK);
    assert_int_equal(issuer.asked[DOCUMENT], 2);
    oidc_free(first);
    oidc_free(second);
}

LOGIN_TEST(the_redirect_and_the_exchange_are_as_the_issuer_expects)
{
    struct oidc *o = oidc_new(&SETTINGS, &HTTP);
    struct oidc_redirect redirect;
    struct oidc_claims claims;
    uint8_t hash[HASH_BYTES];
    assert_int_equal(oidc_authorize(o, arena, NOW_MS, STR("/"), true, &redirect), OIDC_OK);
    assert_true(str_starts(redirect.url, STR("https://login.example/auth?response_type=code&client_id=hongbao&"
                                             "redirect_uri=https%3A//hongbao.example/login/oidc/callback&"
                                             "scope=openid%20profile%20email&state=")));
    assert_true(str_ends(redirect.url, STR("&code_challenge_method=S256&prompt=login&max_age=0")));
    issuer.nonce = parameter(redirect.url, "nonce");
    struct visit visit = { redirect.cookie, parameter(redirect.url, "state") };
    struct str challenge = parameter(redirect.url, "code_challenge");
    assert_int_equal(visit_end(o, visit, NOW_MS, &claims), OIDC_OK);
    assert_true(claims.fresh);
    /* base64 of "hongbao:s%2Bc%20r/t" */
    assert_true(str_equal(issuer.authorization, STR("Basic aG9uZ2JhbzpzJTJCYyUyMHIvdA==")));
    assert_true(
        str_starts(issuer.form, STR("grant_type=authorization_code&code=c1&"
                                    "redirect_uri=https%3A//hongbao.example/login/oidc/callback&code_verifier=")));
    struct str verifier = parameter(issuer.form, "code_verifier");
    assert_int_equal(verifier.len, OIDC_RANDOM_CHARS);
    hash_sha256(verifier.ptr, verifier.len, hash);
    assert_true(str_equal(challenge, maker_base64(hash, sizeof hash)));
    /* a second attempt shares nothing with the first */
    struct visit second = visit_begin(o, false);
    assert_false(str_equal(second.state, visit.state));
    oidc_free(o);
}

LOGIN_TEST(the_client_proves_itself_as_the_issuer_offers)
{
    static const struct wrong post = { .discovery = "{\"token_endpoint_auth_methods_supported\":[\"private_key_jwt\","
                                                    "\"client_secret_post\"]}" };
    static const struct wrong neither = { .discovery = "{\"token_endpoint_auth_methods_supported\":[\"none\"]}" };
    struct oidc_settings public_client = SETTINGS;
    struct oidc_claims claims;
    assert_int_equal(login_with(&SETTINGS, &post, &claims), OIDC_OK);
    assert_true(issuer.authorization.len == 0);
    assert_true(str_ends(issuer.form, STR("&client_id=hongbao&client_secret=s%2Bc%20r/t")));
    assert_int_equal(login_with(&SETTINGS, &neither, &claims), OIDC_DISCOVERY);
    public_client.client_secret = STR("");
    assert_int_equal(login_with(&public_client, &neither, &claims), OIDC_OK);
    assert_true(str_ends(issuer.form, STR("&client_id=hongbao")) && issuer.authorization.len == 0);
}

/* ---- forged and broken answers ---- */

#define LONG_64 "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"

static const struct {
    const char *name;
    enum oidc_fault fault;
    struct wrong wrong;
} BROKEN[] = {
    /* tokens */
    { "another key", OIDC_SIGNATURE, { .signer = OTHER_KEY } },
    { "changed after it was signed", OIDC_SIGNATURE, { .signer = CHANGED_AFTER } },
    { "alg none", OIDC_ALGORITHM, { .header = "{\"alg\":\"none\"}", .signer = NO_SIGNATURE } },
    { "no signature", OIDC_TOKEN, { .signer = NO_SIGNATURE } },
    { "HS256 with the public key",
      OIDC_ALGORITHM,
      { .header = "{\"alg\":\"HS256\",\"kid\":\"k1\"}", .signer = HMAC_WITH_PUBLIC_KEY } },
    { "RS256 by name, an HMAC inside", OIDC_SIGNATURE, { .signer = HMAC_WITH_PUBLIC_KEY } },
    { "ES256 with the RSA key", OIDC_KEY, { .header = "{\"alg\":\"ES256\",\"kid\":\"k1\"}" } },
    { "an algorithm that the issuer does not announce", OIDC_ALGORITHM, { .header = "{\"alg\":\"PS256\"}" } },
    { "an unknown kid", OIDC_KEY, { .header = "{\"alg\":\"RS256\",\"kid\":\"k9\"}" } },
    { "a key in the header",
      OIDC_SIGNATURE,
      { .header = "{\"alg\":\"RS256\",\"kid\":\"k1\",\"jku\":\"https://evil.example/keys\"}", .signer = OTHER_KEY } },
    { "crit", OIDC_CRITICAL, { .header = "{\"alg\":\"RS256\",\"kid\":\"k1\",\"crit\":[\"b64\"],\"b64\":false}" } },
    { "a nested token", OIDC_TOKEN, { .header = "{\"alg\":\"RS256\",\"kid\":\"k1\",\"cty\":\"JWT\"}" } },
    { "an encrypted token",
      OIDC_TOKEN,
      { .body[TOKEN] = "{\"token_type\":\"Bearer\",\"id_token\":\"e30.e30.e30.e30.e30\"}" } },
    { "a logout token", OIDC_TYPE, { .header = "{\"alg\":\"RS256\",\"kid\":\"k1\",\"typ\":\"logout+jwt\"}" } },
    { "aud", OIDC_AUDIENCE, { .claims = "{\"aud\":\"other\"}" } },
    { "azp", OIDC_PARTY, { .claims = "{\"azp\":\"other\"}" } },
    { "iss", OIDC_ISSUER, { .claims = "{\"iss\":\"https://evil.example\"}" } },
    { "nonce", OIDC_NONCE, { .claims = "{\"nonce\":\"of another login\"}" } },
    { "no nonce", OIDC_NONCE, { .claims = "{\"nonce\":null}" } },
    { "expired", OIDC_EXPIRED, { .claims = "{\"exp\":1799999900,\"iat\":1799999950}" } },
    { "from the future", OIDC_FUTURE, { .claims = "{\"iat\":1800000200}" } },
    { "not before", OIDC_FUTURE, { .claims = "{\"nbf\":1800000200}" } },
    { "older than the attempt", OIDC_STALE, { .claims = "{\"iat\":1799999000}" } },
    { "no subject", OIDC_CLAIMS, { .claims = "{\"sub\":null}" } },
    { "at_hash", OIDC_ACCESS_HASH, { .claims = "{\"at_hash\":\"77QmUPtjPfzWtF2AnpK9RQ\"}" } },
    /* the token endpoint */
    { "a code that was used", OIDC_CODE, { .status[TOKEN] = 400, .body[TOKEN] = "{\"error\":\"invalid_grant\"}" } },
    { "a wrong secret", OIDC_CLIENT, { .status[TOKEN] = 401, .body[TOKEN] = "{\"error\":\"invalid_client\"}" } },
    { "another error", OIDC_ERROR, { .status[TOKEN] = 400, .body[TOKEN] = "{\"error\":\"invalid_scope\"}" } },
    { "an error without JSON", OIDC_ANSWER, { .status[TOKEN] = 400, .body[TOKEN] = "<html>" } },
    { "an error in a 200", OIDC_ANSWER, { .body[TOKEN] = "{\"error\":\"invalid_grant\"}" } },
    { "no ID token", OIDC_ANSWER, { .body[TOKEN] = "{\"token_type\":\"Bearer\",\"access_token\":\"a\"}" } },
    { "another type of token", OIDC_ANSWER, { .body[TOKEN] = "{\"token_type\":\"mac\",\"id_token\":\"a.b.c\"}" } },
    { "members twice",
      OIDC_ANSWER,
      { .body[TOKEN] = "{\"token_type\":\"Bearer\",\"id_token\":\"a.b.c\",\"id_token\":\"a.b.c\"}" } },
    { "half an answer", OIDC_ANSWER, { .body[TOKEN] = "{\"token_type\":\"Bear" } },
    { "nothing", OIDC_ANSWER, { .body[TOKEN] = "" } },
    { "a redirect elsewhere", OIDC_REDIRECT, { .status[TOKEN] = 307 } },
    { "too busy", OIDC_UNAVAILABLE, { .status[TOKEN] = 429 } },
    { "broken", OIDC_UNAVAILABLE, { .status[TOKEN] = 502 } },
    { "not found", OIDC_ANSWER, { .status[TOKEN] = 404 } },
    { "slow", OIDC_SLOW, { .fault[TOKEN] = OIDC_SLOW } },
    { "away", OIDC_AWAY, { .fault[TOKEN] = OIDC_AWAY } },
    { "cut", OIDC_CUT, { .fault[TOKEN] = OIDC_CUT } },
    { "too large", OIDC_SIZE, { .fault[TOKEN] = OIDC_SIZE } },
    { "a wrong certificate", OIDC_TLS, { .fault[TOKEN] = OIDC_TLS } },
    /* the callback */
    { "another issuer (mix-up)", OIDC_MIX_UP, { .iss = "https://evil.example" } },
    { "no issuer, though it was announced", OIDC_MIX_UP, { .iss_left_out = true } },
    { "another issuer says no", OIDC_MIX_UP, { .iss = "https://evil.example", .error = "access_denied" } },
    { "another state", OIDC_STATE, { .state = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa" } },
    { "an empty state", OIDC_STATE, { .state = "" } },
    { "the user says no", OIDC_DENIED, { .error = "access_denied" } },
    { "the issuer has a fault", OIDC_UNAVAILABLE, { .error = "server_error" } },
    { "the client has no right", OIDC_CLIENT, { .error = "unauthorized_client" } },
    { "the scope is unknown", OIDC_ERROR, { .error = "invalid_scope" } },
    { "an empty code", OIDC_NO_CODE, { .code = "" } },
    { "a code with a line break", OIDC_NO_CODE, { .code = "a\r\nb" } },
    { "a code that begins with a line break", OIDC_NO_CODE, { .code = "\nb" } },
    /* discovery */
    { "a document of another issuer", OIDC_DISCOVERY, { .discovery = "{\"issuer\":\"https://login.example/b\"}" } },
    { "a document with a slash more", OIDC_DISCOVERY, { .discovery = "{\"issuer\":\"" ISSUER "/\"}" } },
    { "no token endpoint", OIDC_DISCOVERY, { .discovery = "{\"token_endpoint\":null}" } },
    { "no keys' address", OIDC_DISCOVERY, { .discovery = "{\"jwks_uri\":null}" } },
    { "an endpoint elsewhere", OIDC_ENDPOINT, { .discovery = "{\"token_endpoint\":\"https://evil.example/token\"}" } },
    { "an endpoint at another port", OIDC_ENDPOINT, { .discovery = "{\"jwks_uri\":\"https://login.example:444/k\"}" } },
    { "an endpoint without TLS",
      OIDC_ENDPOINT,
      { .discovery = "{\"token_endpoint\":\"http://login.example/token\"}" } },
    { "an endpoint inside", OIDC_ENDPOINT, { .discovery = "{\"jwks_uri\":\"http://127.0.0.1/keys\"}" } },
    { "an endpoint with a user",
      OIDC_ENDPOINT,
      { .discovery = "{\"token_endpoint\":\"https://login.example@evil.example/token\"}" } },
    { "a file", OIDC_ENDPOINT, { .discovery = "{\"userinfo_endpoint\":\"file:///etc/passwd\"}" } },
    { "only symmetric signatures",
      OIDC_DISCOVERY,
      { .discovery = "{\"id_token_signing_alg_values_supported\":[\"HS256\",\"none\"]}" } },
    { "no codes", OIDC_DISCOVERY, { .discovery = "{\"response_types_supported\":[\"id_token\"]}" } },
    { "a document that is a list", OIDC_DISCOVERY, { .body[DOCUMENT] = "[]" } },
    { "members twice in the document", OIDC_DISCOVERY, { .body[DOCUMENT] = "{\"issuer\":1,\"issuer\":1}" } },
    { "no document", OIDC_ANSWER, { .status[DOCUMENT] = 404 } },
    { "a document elsewhere", OIDC_REDIRECT, { .status[DOCUMENT] = 302 } },
    /* keys */
    { "no set of keys", OIDC_KEYS, { .body[KEYS] = "{\"keys\":[]}" } },
    { "only a symmetric key", OIDC_KEYS, { .body[KEYS] = "{\"keys\":[{\"kty\":\"oct\",\"k\":\"" LONG_64 "\"}]}" } },
    { "keys are away", OIDC_CUT, { .fault[KEYS] = OIDC_CUT } },
    /* UserInfo and the settings */
    { "somebody else's claims", OIDC_SUBJECT, { .info = "{\"sub\":\"u2\"}" } },
    { "claims without a subject", OIDC_SUBJECT, { .info = "{\"sub\":null}" } },
    { "claims as a token", OIDC_ANSWER, { .body[INFO] = "e30.e30.e30" } },
    { "an address that is not verified", OIDC_EMAIL, { .info = "{\"email_verified\":false}" } },
    { "an address that is verified by a word", OIDC_EMAIL, { .info = "{\"email_verified\":\"true\"}" } },
    { "a verified mark of another source",
      OIDC_EMAIL,
      { .claims = "{\"email\":\"a@example.org\"}", .info = "{\"email\":\"b@evil.example\"}" } },
    { "another domain", OIDC_DOMAIN, { .info = "{\"email\":\"ming@evil.example\"}" } },
    { "a domain below", OIDC_DOMAIN, { .info = "{\"email\":\"ming@a.example.org\"}" } },
    { "two domains", OIDC_DOMAIN, { .info = "{\"email\":\"ming@evil.example@example.org\"}" } },
    { "another group", OIDC_GROUP, { .info = "{\"groups\":[\"Staff\",\"chess\"]}" } },
    { "no groups", OIDC_GROUP, { .info = "{\"groups\":null}" } },
};

LOGIN_TEST(forged_and_broken_answers_are_refused_each_with_its_fault)
{
    struct oidc_claims claims;
    EACH (row, BROKEN) {
        (void)arena_empty(NULL);
        enum oidc_fault fault = login_with(&SETTINGS, &row->wrong, &claims);
        if (fault != row->fault)
            fail_msg("%s: %s", row->name, oidc_fault_name(fault));
        bool allowed = oidc_fault_kind(fault) == OIDC_KIND_POLICY;
        assert_of(row->name, allowed == (claims.subject.ptr != NULL));
    }
}

LOGIN_TEST(a_token_with_a_claim_twice_is_refused)
{
    struct oidc *o = oidc_new(&SETTINGS, &HTTP);
    struct visit visit = visit_begin(o, false);
    struct oidc_claims claims;
    struct str payload = arena_printf(arena, "{\"sub\":\"u2\",%s", CLAIMS + 1);
    struct str token = maker_token(issuer.key, OIDC_RS256, HEADER, payload);
    issuer.wrong.body[TOKEN] = arena_printf(arena, "{\"token_type\":\"bearer\",\"id_token\":\"%s\"}", token.ptr).ptr;
    assert_int_equal(visit_end(o, visit, NOW_MS, &claims), OIDC_TOKEN);
    oidc_free(o);
}

/* ---- whose attempt it is ---- */

LOGIN_TEST(an_attempt_counts_only_in_its_browser_for_ten_minutes_and_for_its_issuer)
{
    struct oidc *o = oidc_new(&SETTINGS, &HTTP);
    struct visit visit = visit_begin(o, false), other = visit_begin(o, false);
    struct oidc_claims claims;
    assert_int_equal(visit_end(o, (struct visit){ STR_NONE, visit.state }, NOW_MS, &claims), OIDC_STATE);
    assert_int_equal(visit_end(o, (struct visit){ other.cookie, visit.state }, NOW_MS, &claims), OIDC_STATE);
    assert_true(claims.carried.ptr == NULL);
    assert_int_equal(visit_end(o, visit, NOW_MS + OIDC_ATTEMPT_S * 1000 + 1, &claims), OIDC_LATE);
    assert_true(str_equal(claims.carried, STR("/wallet")));
    assert_int_equal(issuer.asked[TOKEN], 0);
    for (size_t i = 0; i < visit.cookie.len; i += 11) {
        char *bytes = arena_cstr(arena, visit.cookie);
        bytes[i] = bytes[i] == 'A' ? 'B' : 'A';
        struct visit forged = { { bytes, visit.cookie.len }, visit.state };
        assert_int_equal(visit_end(o, forged, NOW_MS, &claims), OIDC_STATE);
        forged.cookie = str_slice(visit.cookie, 0, i);
        assert_int_equal(visit_end(o, forged, NOW_MS, &claims), OIDC_STATE);
    }
    struct oidc_settings settings = SETTINGS;
    struct key another = { { 2 } };
    struct oidc_attempt attempt;
    settings.issuer = STR("https://login.example/b");
    assert_int_equal(oidc_attempt_open(arena, &settings, NOW_MS, visit.cookie, visit.state, &attempt), OIDC_STATE);
    settings = SETTINGS;
    settings.client_id = STR("other");
    assert_int_equal(oidc_attempt_open(arena, &settings, NOW_MS, visit.cookie, visit.state, &attempt), OIDC_STATE);
    settings = SETTINGS;
    settings.key = &another;
    assert_int_equal(oidc_attempt_open(arena, &settings, NOW_MS, visit.cookie, visit.state, &attempt), OIDC_STATE);
    oidc_free(o);
}

LOGIN_TEST(the_longest_text_is_carried)
{
    struct oidc *o = oidc_new(&SETTINGS, &HTTP);
    char *text = arena_alloc(arena, OIDC_CARRIED_MAX);
    struct oidc_redirect redirect;
    struct oidc_attempt attempt;
    memset(text, 'x', OIDC_CARRIED_MAX);
    struct str carried = { text, OIDC_CARRIED_MAX };
    assert_int_equal(oidc_authorize(o, arena, NOW_MS, carried, false, &redirect), OIDC_OK);
    assert_true(redirect.cookie.len <= OIDC_COOKIE_MAX);
    struct str of = parameter(redirect.url, "state");
    assert_int_equal(oidc_attempt_open(arena, &SETTINGS, NOW_MS, redirect.cookie, of, &attempt), OIDC_OK);
    assert_true(str_equal(attempt.carried, carried));
    oidc_free(o);
}

/* A whole login in an arena of so many bytes. */
static enum oidc_fault login_within(size_t bytes)
{
    struct oidc *o = oidc_new(&SETTINGS, &HTTP);
    struct arena *small = arena_new(64, bytes);
    struct oidc_redirect redirect;
    struct oidc_claims claims;
    enum oidc_fault fault = oidc_authorize(o, small, NOW_MS, STR("/wallet"), true, &redirect);
    if (fault == OIDC_OK) {
        issuer.nonce = arena_str(arena, parameter(redirect.url, "nonce"));
        const struct oidc_callback callback = { .code = STR("c1"),
                                                .state = parameter(redirect.url, "state"),
                                                .iss = STR(ISSUER) };
        fault = oidc_finish(o, small, NOW_MS, &callback, redirect.cookie, &claims);
    }
    arena_free(small);
    oidc_free(o);
    return fault;
}

LOGIN_TEST(a_login_without_memory_is_refused_and_nothing_else_happens)
{
    enum { STEP = 61, ENOUGH = 40000 };
    size_t bytes = 2 * STEP, refused = 0;
    enum oidc_fault fault = OIDC_NO_MEMORY;
    for (; fault != OIDC_OK && bytes < ENOUGH; bytes += STEP) {
        (void)arena_empty(NULL);
        fault = login_within(bytes);
        assert_true(fault == OIDC_OK || fault == OIDC_NO_MEMORY);
        refused += fault == OIDC_NO_MEMORY;
    }
    assert_int_equal(fault, OIDC_OK);
    assert_true(refused > 50);
}

/* ---- caches and pauses ---- */

LOGIN_TEST(rotated_keys_are_read_again_but_invented_names_do_not_make_us_ask_all_the_time)
{
    struct oidc *o = oidc_new(&SETTINGS, &HTTP);
    struct oidc_claims claims;
    assert_int_equal(visit_end(o, visit_begin(o, false), NOW_MS, &claims), OIDC_OK);
    issuer.wrong = (struct wrong){ .header = "{\"alg\":\"RS256\",\"kid\":\"k2\"}", .signer = NEW_KEY };
    assert_int_equal(visit_end(o, visit_begin(o, false), NOW_MS, &claims), OIDC_KEY); /* within the pause */
    assert_int_equal(issuer.asked[KEYS], 1);
    issuer.clock_ms += OIDC_KEYS_PAUSE_MS;
    assert_int_equal(visit_end(o, visit_begin(o, false), NOW_MS, &claims), OIDC_OK);
    assert_int_equal(issuer.asked[KEYS], 2);
    issuer.wrong.header = "{\"alg\":\"RS256\",\"kid\":\"invented\"}";
    for (int i = 0; i < 10; i++)
        assert_int_equal(visit_end(o, visit_begin(o, false), NOW_MS, &claims), OIDC_KEY);
    assert_int_equal(issuer.asked[KEYS], 2);
    assert_int_equal(issuer.asked[DOCUMENT], 1);
    oidc_free(o);
}

LOGIN_TEST(documents_are_read_again_each_hour_and_old_ones_do_while_the_issuer_is_away)
{
    struct oidc *o = oidc_new(&SETTINGS, &HTTP);
    struct oidc_redirect redirect;
    assert_int_equal(oidc_probe(o, arena), OIDC_OK);
    issuer.clock_ms += OIDC_CACHE_MS - 1;
    (void)visit_begin(o, false);
    assert_int_equal(issuer.asked[DOCUMENT], 1);
    issuer.clock_ms += 1;
    issuer.wrong.fault[DOCUMENT] = OIDC_SLOW;
    (void)visit_begin(o, false);
    assert_int_equal(issuer.asked[DOCUMENT], 2);
    issuer.clock_ms += OIDC_PAUSE_MS;
    issuer.wrong.fault[DOCUMENT] = OIDC_OK;
    issuer.wrong.discovery = "{\"issuer\":\"https://evil.example\"}"; /* an answer that lies is not overlooked */
    assert_int_equal(oidc_authorize(o, arena, NOW_MS, STR(""), false, &redirect), OIDC_DISCOVERY);
    issuer.wrong.discovery = NULL;
    (void)visit_begin(o, false);
    assert_int_equal(issuer.asked[DOCUMENT], 4);
    oidc_free(o);
}

LOGIN_TEST(a_dead_issuer_is_not_asked_again_for_a_while)
{
    struct oidc *o = oidc_new(&SETTINGS, &HTTP);
    struct oidc_redirect redirect;
    EACH_TEXT (how, "away", "slow") {
        issuer.clock_ms += OIDC_PAUSE_MS;
        issuer.asked[DOCUMENT] = 0;
        issuer.wrong.fault[DOCUMENT] = how[0] == 'a' ? OIDC_AWAY : OIDC_SLOW;
        assert_int_equal(oidc_authorize(o, arena, NOW_MS, STR(""), false, &redirect), issuer.wrong.fault[DOCUMENT]);
        for (int i = 0; i < 100; i++)
            assert_int_equal(oidc_authorize(o, arena, NOW_MS, STR(""), false, &redirect), OIDC_AWAY);
        assert_int_equal(issuer.asked[DOCUMENT], 1);
    }
    issuer.clock_ms += OIDC_PAUSE_MS;
    issuer.wrong.fault[DOCUMENT] = OIDC_OK;
    (void)visit_begin(o, false);
    oidc_free(o);
}

/* ---- logout ---- */

LOGIN_TEST(a_logout_token_is_checked_with_the_keys_of_the_issuer)
{
#define LOGOUT                                                                                                         \
    "{\"iss\":\"" ISSUER "\",\"aud\":\"hongbao\",\"sub\":\"u1\",\"exp\":1800000120,\"iat\":" NOW_S ",\"jti\":\"j1\","  \
    "\"events\":{\"http://schemas.openid.net/event/backchannel-logout\":{}}}"
    struct oidc *o = oidc_new(&SETTINGS, &HTTP);
    struct oidc_logout out;
    const char *header = "{\"alg\":\"RS256\",\"typ\":\"logout+jwt\",\"kid\":\"k1\"}";
    struct str token = maker_token(issuer.key, OIDC_RS256, header, STR(LOGOUT));
    assert_int_equal(oidc_logout_token(o, arena, NOW_MS, token, &out), OIDC_OK);
    assert_true(str_equal(out.subject, STR("u1")) && out.sid.ptr == NULL);
    token = maker_token(issuer.other, OIDC_RS256, header, STR(LOGOUT));
    assert_int_equal(oidc_logout_token(o, arena, NOW_MS, token, &out), OIDC_SIGNATURE);
    token = maker_token(issuer.key, OIDC_RS256, HEADER, STR(LOGOUT));
    assert_int_equal(oidc_logout_token(o, arena, NOW_MS, token, &out), OIDC_TYPE);
    assert_int_equal(oidc_logout_token(o, arena, NOW_MS, STR_NONE, &out), OIDC_TOKEN);
    oidc_free(o);
}

/* ---- addresses, settings, words ---- */

LOGIN_TEST(only_plain_addresses_are_read_and_hosts_are_compared_whole)
{
    struct oidc_settings settings = SETTINGS;
    struct str hosts[] = { STR("keys.example"), STR("token.example:8443") };
    struct oidc_claims claims;
    struct oidc_url url, other;
    EACH_TEXT (good, "https://login.example", "https://login.example:8443/realms/a-b_c~d/", "https://[2001:db8::1]/",
               "https://a/?q=1", "http://127.0.0.1:31180", "http://[::1]:80/x", "http://localhost")
        assert_of(good, oidc_url_read(str_from(good), &url));
    EACH_TEXT (bad, "", "login.example", "http://login.example", "http://127.0.0.1.evil.example", "http://127.evil",
               "http://127.evil1", "http://127.1", "http://localhost.evil", "https://", "https:///x", "https://a@b",
               "https://a:b@c/", "https://a\\b", "https://a/#f", "https://a b", "https://a:0", "https://a:65536",
               "https://a:", "https://[::1", "https://[]", "https://[1::2::3]", "https://[127.0.0.1]",
               "https://\xe7\xba\xa2.example", "https://-a", "https://.a", "HTTPS://a", "ftp://a", "https://a/\n")
        assert_of(bad, !oidc_url_read(str_from(bad), &url));
    assert_false(oidc_url_read(STR("https://[::1\0]/"), &url) || oidc_url_read(STR("https://a\0b/"), &url));
    assert_true(oidc_url_read(STR("https://127.0.0.1:80"), &url) && oidc_url_read(STR("http://127.0.0.1"), &other));
    assert_false(oidc_url_same_origin(&url, &other));
    EACH_TEXT (bad, "", ":1", "https://127.0.0.1", "127.0.0.1:", "127.0.0.1:x", "127.0.0.1/", "127.0.0.1")
        assert_of(bad, !oidc_url_is_at(&other, str_from(bad)));
    assert_true(oidc_url_is_at(&other, STR("127.0.0.1:80")));
    settings.hosts = (struct str_list){ hosts, ARRAY_LEN(hosts) };
    EACH_TEXT (good, "https://keys.example/k", "https://KEYS.example:443/k?a=b", "https://token.example:8443/")
        assert_of(good, login_with(&settings,
                                   &(struct wrong){ .discovery =
                                                        arena_printf(arena, "{\"userinfo_endpoint\":\"%s\"}", good).ptr,
                                                    .claims = "{\"name\":\"a\",\"preferred_username\":\"b\","
                                                              "\"email\":\"a@example.org\",\"email_verified\":true,"
                                                              "\"groups\":\"staff\"}" },
                                   &claims) == OIDC_OK);
    assert_int_equal(issuer.asked[INFO], 0); /* the ID token lacked nothing */
    EACH_TEXT (bad, "https://keys.example:8443/k", "https://token.example/", "https://a.keys.example/",
               "https://keys.example.evil/")
        assert_of(bad, login_with(&settings,
                                  &(struct wrong){ .discovery = arena_printf(arena, "{\"jwks_uri\":\"%s\"}", bad).ptr },
                                  &claims) == OIDC_ENDPOINT);
}

LOGIN_TEST(each_fault_has_a_word_of_its_own_and_a_kind)
{
    for (int i = 0; i < OIDC_FAULTS; i++) {
        assert_non_null(oidc_fault_name((enum oidc_fault)i));
        assert_int_equal(i == OIDC_OK, oidc_fault_kind((enum oidc_fault)i) == OIDC_KIND_NONE);
        for (int j = 0; j < i; j++)
            assert_string_not_equal(oidc_fault_name((enum oidc_fault)i), oidc_fault_name((enum oidc_fault)j));
    }
    assert_true(oidc_fault_is_temporary(OIDC_SLOW) && !oidc_fault_is_temporary(OIDC_SIGNATURE));
}

LOGIN_TEST(the_reference_explains_each_fault)
{
    struct buf text = BUF_EMPTY;
    assert_int_equal(buf_file(&text, HB_SOURCE_DIR "/docs/reference/oidc.md"), ST_OK);
    for (int i = OIDC_OK + 1; i < OIDC_FAULTS; i++) {
        struct str word = arena_printf(arena, "`%s`", oidc_fault_name((enum oidc_fault)i));
        assert_of(word.ptr, str_find(buf_view(&text), word) < text.len);
    }
    buf_free(&text);
}

TESTS(issuer_setup, issuer_teardown)
