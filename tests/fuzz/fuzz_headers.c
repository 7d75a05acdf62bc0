/* Headers, cookies and addresses, and the values of sessions and access tokens in Redis. The input is cut at its line
 * feeds into three texts. */
#include <string.h>

#include "account/shown_once.h"
#include "base/cidr.h"
#include "base/public_id.h"
#include "fuzz.h"
#include "ledger/service.h"
#include "pages/looked.h"
#include "user/recovery_code.h"
#include "user/session.h"
#include "user/token.h"
#include "web/bearer.h"
#include "web/etag.h"
#include "web/language.h"
#include "web/origin.h"
#include "web/security_log.h"

static void cookie_check(struct str header)
{
    struct fcgi_request request = { .arena = fuzz_arena };
    struct str line = arena_printf(fuzz_arena, "HTTP_COOKIE=%.*s", STR_ARG(header));
    char *env[] = { arena_cstr(fuzz_arena, line), NULL };
    static struct config config;
    config_defaults(&config);
    struct services app = { .stores.config = &config };
    struct exchange x = { .app = &app, .fcgi = &request, .arena = fuzz_arena };
    request.fcgx.envp = env;
    struct str value = exchange_cookie(&x, STR("sid"));
    assert(value.len < line.len);
    if (session_token_valid(value)) {
        char key[SESSION_KEY_MAX];
        session_key_write(value, key);
        assert(strlen(key) == SESSION_KEY_LEN);
    }
}

/* Checks that the ids of a cookie are few, and that somebody has made them. */
static void looked_check(struct str ids, const struct public_id_key *key)
{
    char mine[PUBLIC_ID_TEXT_MAX];
    public_id_encode(key, 77, mine);
    struct str line = arena_printf(fuzz_arena, "HTTP_COOKIE=looked=1.%.*s.%s", STR_ARG(ids), mine);
    char *env[] = { arena_cstr(fuzz_arena, line), NULL };
    struct fcgi_request request = { .arena = fuzz_arena, .fcgx.envp = env };
    static struct config config;
    config_defaults(&config);
    struct services app = { .stores.config = &config, .id_key = *key };
    struct exchange x = { .app = &app, .fcgi = &request, .arena = fuzz_arena, .visitor.user_id = 1 };
    struct inbox_looked looked;
    looked_read(&x, &looked);
    assert(looked.count <= INBOX_LOOKED_MAX);
    for (size_t i = 0; i < looked.count; i++)
        assert(looked.ids[i] == 77); /* another one is a guess of 64 bits */
    x.visitor.user_id = 2;
    looked_read(&x, &looked);
    assert(looked.count == 0);
}

static void session_check(struct str value)
{
    struct session s, again;
    if (!session_value_read(value, &s))
        return;
    assert(s.user_id > 0 && s.seen_ms >= s.created_ms);
    struct str text = session_value_text(fuzz_arena, &s);
    assert(session_value_read(text, &again) && again.user_id == s.user_id && again.seen_ms == s.seen_ms);
    assert(str_equal(again.username, s.username) && str_equal(again.nickname, s.nickname));
    struct config config;
    config_defaults(&config);
    int64_t ttl_ms = session_ttl_ms(&config, &s, s.seen_ms + 1);
    assert(ttl_ms >= 0 && ttl_ms <= config.session_idle_s * 1000);
    (void)session_refresh_due(&config, &s, s.created_ms);
}

static void token_check(struct str value, const struct public_id_key *key)
{
    struct token_copy copy, again;
    char token[TOKEN_MAX];
    token_new(key, token);
    assert(token_valid(key, str_from(token)) && !token_valid(key, value));
    struct str bearer = bearer_token(value);
    assert(bearer.len <= value.len);
    if (!token_copy_read(value, &copy))
        return;
    struct str text = token_copy_text(fuzz_arena, &copy);
    assert(token_copy_read(text, &again) && again.scopes == copy.scopes && again.expires_ms == copy.expires_ms);
    assert(str_equal(again.username, copy.username) && str_equal(again.nickname, copy.nickname));
}

/* Checks that an id reads back the same; with one character changed it is another id, or none. */
static void id_check(struct str text, const struct public_id_key *key)
{
    char written[PUBLIC_ID_TEXT_MAX];
    uint64_t id = 0, again;
    assert(!public_id_decode(key, text, &id)); /* a guess of 64 bits */
    memcpy(&id, text.ptr, text.len < sizeof id ? text.len : sizeof id);
    public_id_encode(key, id, written);
    assert(public_id_decode(key, str_from(written), &again) && again == id);
    if (text.len <= sizeof id)
        return;
    size_t place = (size_t)(unsigned char)text.ptr[sizeof id] % PUBLIC_ID_LEN;
    written[place] = written[place] == '0' ? '2' : '0';
    assert(!public_id_decode(key, str_from(written), &again));
}

/* The check of a code has 20 bits, so a random text may pass; then it must read back the same. */
static void recovery_code_check(struct str username, struct str typed)
{
    const struct key key = key_derive(STR("a secret of at least 32 characters"), KEY_RECOVERY_CODE);
    const struct key before = key_derive(STR("a secret of at least 32 characters"), KEY_BEFORE);
    const struct key_pair keys = { &key, &before };
    struct recovery_code code, again;
    assert(recovery_code_make(fuzz_arena, &key, username, RECOVERY_CODES - 1, &code));
    assert(recovery_code_read(fuzz_arena, keys, username, str_from(code.text), &again));
    assert(strcmp(code.chars, again.chars) == 0 && again.slot == RECOVERY_CODES - 1);
    if (recovery_code_read(fuzz_arena, keys, username, typed, &code))
        assert(recovery_code_read(fuzz_arena, keys, username, str_from(code.text), &again) &&
               strcmp(code.chars, again.chars) == 0);
}

/* Checks that a sealed text is opened, and that a made-up text is not. */
static void shown_once_check(struct str typed, struct str session_key)
{
    const struct key key = key_derive(STR("a secret of at least 32 characters"), KEY_SHOWN);
    struct str text = str_slice(typed, 0, typed.len < SHOWN_BYTES_MAX ? typed.len : SHOWN_BYTES_MAX);
    struct str sealed = shown_seal(fuzz_arena, &key, SHOWN_CODES, session_key, 1, text);
    assert(str_equal(shown_open(fuzz_arena, &key, SHOWN_CODES, session_key, 1, sealed), text));
    assert(shown_open(fuzz_arena, &key, SHOWN_TOKEN, session_key, 1, sealed).ptr == NULL);
    assert(shown_open(fuzz_arena, &key, SHOWN_CODES, session_key, 1, typed).ptr == NULL);
}

/* Checks that an address is in a list of itself, and in no list without networks. */
static void networks_check(struct str list, struct str address)
{
    char text[ADDRESS_TEXT_MAX];
    const struct str shown = str_from(address_text(address, text));
    if (!cidr_list_is_valid(list, NULL) || list.len == 0)
        return;
    const bool has = cidr_list_has(list, address);
    assert(cidr_list_has(list, shown) == has); /* its usual form is the same address */
    if (cidr_list_is_valid(address, NULL) && address.len > 0 && !str_equal(shown, STR("-")))
        assert(cidr_list_has(address, address));
}

static void services_check(struct str text)
{
    const unsigned scopes = service_scopes_read(text);
    assert(scopes < 1U << SERVICE_SCOPES);
    if (scopes != 0)
        assert(service_scopes_read(service_scopes_text(fuzz_arena, scopes, ' ')) == scopes);
    assert(!service_token_is_valid(text) || text.len == SERVICE_TOKEN_LEN);
}

static void scopes_check(struct str text)
{
    unsigned scopes = scopes_read(text);
    assert(scopes < 1U << SCOPES);
    if (scopes != 0)
        assert(scopes_read(scopes_text(fuzz_arena, scopes)) == scopes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct public_id_key key;
    struct str second, third = STR_NONE;
    struct str first = str_cut(fuzz_text(data, size), '\n', &second);
    second = str_cut(second, '\n', &third);
    fuzz_begin();
    public_id_key_set(&key, (struct key[]){ key_derive(STR("a secret of at least 32 characters"), KEY_IDS) });
    cookie_check(first);
    looked_check(first, &key);
    session_check(first);
    token_check(first, &key);
    if (first.len > 0)
        id_check(first, &key);
    scopes_check(first);
    services_check(first);
    networks_check(first, second);
    recovery_code_check(second, first);
    shown_once_check(first, second);
    assert(language_choose(first, second) < LANGUAGES);
    assert(language_choose(second, first) < LANGUAGES);
    bool matches = etag_matches(first, second);
    (void)etag_matches(second, first);
    (void)matches;
    /* A header that names another host never allows another site's page. */
    if (origin_allows(first, second, third, STR("https://hongbao.example")) && first.ptr != NULL && first.len > 0)
        assert(str_equal(first, STR("same-origin")) || str_equal(first, STR("none")));
    /* A host is compared as a whole; a port may be left out. */
    if (origin_allows(STR_NONE, first, second, STR("")) && first.len > 0)
        assert(str_find(first, STR("://")) < first.len && second.len > 0);
    return 0;
}
