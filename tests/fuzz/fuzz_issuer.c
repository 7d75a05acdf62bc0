/* What an issuer says of itself. The first byte says what the rest is: a discovery document, a set of keys, a URL. */
#include "fuzz.h"
#include "oidc/discovery.h"
#include "oidc/jwks.h"
#include "oidc/url.h"

enum mode { DOCUMENT, KEYS, URL, MODES };

static struct str host = { "keys.example:8443", 17 };
static const struct oidc_settings SETTINGS = { .issuer = { "https://login.example/a", 23 },
                                               .client_id = { "hongbao", 7 },
                                               .client_secret = { "s", 1 },
                                               .hosts = { &host, 1 } };

static void endpoint_check(struct str text)
{
    struct oidc_url url;
    assert(oidc_url_read(text, &url) && url.https);
    assert((str_equal_fold(url.host, STR("login.example")) && url.port == 443) ||
           (str_equal_fold(url.host, STR("keys.example")) && url.port == 8443));
}

static void document_read(struct str json)
{
    struct oidc_document document;
    enum oidc_fault fault = oidc_discovery_read(fuzz_arena, json, &SETTINGS, &document);
    assert(fault == OIDC_OK || fault == OIDC_DISCOVERY || fault == OIDC_ENDPOINT);
    if (fault != OIDC_OK)
        return;
    endpoint_check(document.authorization_endpoint);
    endpoint_check(document.token_endpoint);
    endpoint_check(document.jwks_uri);
    if (document.userinfo_endpoint.ptr != NULL)
        endpoint_check(document.userinfo_endpoint);
    assert(document.auth != OIDC_NO_SECRET);
}

/* Any keys: a signature that has nothing to do with them is refused. */
static void keys_read(struct str json)
{
    static const unsigned char zeros[512] = { 0 };
    static const size_t lengths[OIDC_ALGORITHMS] = {
        [OIDC_RS256] = 256, [OIDC_PS256] = 256, [OIDC_ES256] = 64, [OIDC_EDDSA] = 63
    };
    struct oidc_jwks *keys;
    enum oidc_fault fault = oidc_jwks_read(json, &keys);
    assert(fault == OIDC_OK || fault == OIDC_KEYS);
    for (size_t i = 0; fault == OIDC_OK && i < OIDC_ALGORITHMS; i++) {
        const struct oidc_jws jws = { .algorithm = (enum oidc_algorithm)i,
                                      .input = STR("e30.e30"),
                                      .signature = { (const char *)zeros, lengths[i] } };
        assert(oidc_jwks_verify(keys, &jws) != OIDC_OK);
    }
    oidc_jwks_free(keys);
}

/* The parts are slices of the text, which together are all of it. */
static void url_read(struct str text)
{
    struct oidc_url url;
    if (!oidc_url_read(text, &url))
        return;
    assert(text.len <= OIDC_URL_MAX && url.host.len > 0 && url.port > 0);
    assert(url.path.len == 0 || url.path.ptr[0] == '/');
    const char *end = url.query.ptr != NULL ? url.query.ptr + url.query.len : url.path.ptr + url.path.len;
    assert(end == text.ptr + text.len);
    assert(oidc_url_same_origin(&url, &url));
    for (size_t i = 0; i < text.len; i++)
        assert(text.ptr[i] > ' ' && text.ptr[i] < 127 && text.ptr[i] != '#' && text.ptr[i] != '\\');
    assert(str_index(str_slice(text, 0, (size_t)(url.path.ptr - text.ptr)), '@') == (size_t)(url.path.ptr - text.ptr));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    fuzz_begin();
    struct str text = fuzz_text(data + 1, size - 1);
    enum mode mode = (enum mode)(data[0] % MODES);
    if (mode == DOCUMENT)
        document_read(text);
    else if (mode == KEYS)
        keys_read(text);
    else
        url_read(text);
    return 0;
}
