#include "wallet/topup_link.h"

#include <inttypes.h>
#include <string.h>

#include "base/array.h"
#include "base/money.h"
#include "ledger/topup.h"
#include "web/form.h"

enum { SIGNATURE_MAX = 2 * crypto_auth_hmacsha256_BYTES + 1, MS_PER_S = 1000 };

static const char *const PARAMETERS[] = { "order", "amount", "currency", "return", "expires", "signature" };

void topup_key(const struct key *topups, struct str channel, char out[TOPUP_KEY_MAX])
{
    unsigned char key[(TOPUP_KEY_MAX - 1) / 2];
    crypto_generichash(key, sizeof key, (const unsigned char *)channel.ptr, channel.len, topups->bytes,
                       sizeof topups->bytes);
    sodium_bin2hex(out, TOPUP_KEY_MAX, key, sizeof key);
    sodium_memzero(key, sizeof key);
}

/* ---- the address ---- */

static bool has_only_plain_characters(struct str url)
{
    for (size_t i = 0; i < url.len; i++)
        if (url.ptr[i] <= ' ' || url.ptr[i] > '~' || strchr("\"'<>\\^`{|}", url.ptr[i]) != NULL)
            return false;
    return true;
}

/* host: with the port. */
static bool is_loopback(struct str host)
{
    static const struct str hosts[] = { STR("127.0.0.1"), STR("localhost"), STR("[::1]") };
    for (size_t i = 0; i < ARRAY_LEN(hosts); i++)
        if (str_equal(host, hosts[i]) || (str_starts(host, hosts[i]) && host.ptr[hosts[i].len] == ':'))
            return true;
    return false;
}

static bool has_own_parameter(struct str query)
{
    while (query.len > 0) {
        struct str rest = STR(""), value;
        const struct str name = str_cut(str_cut(query, '&', &rest), '=', &value);
        for (size_t i = 0; i < ARRAY_LEN(PARAMETERS); i++)
            if (str_equal(name, str_from(PARAMETERS[i])))
                return true;
        query = str_or_empty(rest);
    }
    return false;
}

const char *topup_url_mistake(struct str url)
{
    struct str query;
    const bool is_https = str_starts(url, STR("https://"));
    if (url.len > TOPUP_URL_MAX)
        return "it has more than 500 characters";
    if (!has_only_plain_characters(url))
        return "it has a blank or a character that must be written as %XX";
    if (!is_https && !str_starts(url, STR("http://")))
        return "it must begin with https://";
    const struct str address = str_cut(url, '?', &query), behind = str_after(address, STR("://"));
    const struct str host = str_slice(behind, 0, str_find(behind, STR("/")));
    if (host.len == 0 || host.ptr[0] == ':')
        return "it has no host";
    if (str_find(host, STR("@")) < host.len)
        return "it has a user or a password";
    if (str_find(url, STR("#")) < url.len)
        return "it has a part behind #, which the page would not get";
    if (!is_https && !is_loopback(host))
        return "it must begin with https://, except on this machine (127.0.0.1)";
    if (has_own_parameter(str_or_empty(query)))
        return "its query has a name that the link uses: order, amount, currency, return, expires or signature";
    return NULL;
}

/* ---- the link ---- */

static void sign(const char *key, struct str message, char out[SIGNATURE_MAX])
{
    unsigned char mac[crypto_auth_hmacsha256_BYTES];
    crypto_auth_hmacsha256_state state;
    crypto_auth_hmacsha256_init(&state, (const unsigned char *)key, strlen(key));
    crypto_auth_hmacsha256_update(&state, (const unsigned char *)message.ptr, message.len);
    crypto_auth_hmacsha256_final(&state, mac);
    sodium_bin2hex(out, SIGNATURE_MAX, mac, sizeof mac);
    sodium_memzero(&state, sizeof state);
}

struct str topup_link_text(struct arena *a, struct str url, const char *key, const struct topup_link *link)
{
    const char *currency = money_unit()->code;
    char amount[MONEY_TEXT_MAX], signature[SIGNATURE_MAX];
    const int64_t expires_s = link->expires_ms / MS_PER_S;
    (void)money_format(link->amount_fen, amount);
    const struct str message = arena_printf(a, "hongbao-topup-v1\n%" PRIu64 "\n%s\n%s\n%.*s\n%" PRId64, link->order,
                                            amount, currency, STR_ARG(link->return_url), expires_s);
    const struct str back = form_encode(a, link->return_url);
    if (message.ptr == NULL || back.ptr == NULL)
        return STR_NONE;
    sign(key, message, signature);
    return arena_printf(a, "%.*s%corder=%" PRIu64 "&amount=%s&currency=%s&return=%.*s&expires=%" PRId64 "&signature=%s",
                        STR_ARG(url), str_find(url, STR("?")) < url.len ? '&' : '?', link->order, amount, currency,
                        STR_ARG(back), expires_s, signature);
}
