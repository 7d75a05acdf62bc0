#include "config/settings.h"

#include <assert.h>
#include <string.h>

#include "base/arena.h"
#include "base/array.h"
#include "base/clock.h"
#include "base/money.h"
#include "base/typed.h"
#include "base/utf8.h"
#include "config/address.h"
#include "config/issuer.h"
#include "config/rate.h"
#include "config/site_url.h"
#include "config/spelling.h"

#ifndef HB_DATA_DIR
#define HB_DATA_DIR "/usr/share/hongbao"
#endif

enum {
    TEXT_MAX = CONFIG_TEXT_MAX - 1,
    REPLICAS_MAX = 5,
    PACKET_SHARES_MAX = 100000,
    DAY_PACKETS_MAX = 1000000,
    YEAR_S = 366 * 86400,
    UNIT_CODE_MAX = 12,
    UNIT_SIGN_MAX = 24,
    ISSUER_NAME_MAX = 48,
    SIGN_ARENA_BYTES = 4096,
    INVITATIONS_MAX = 100,
    INVITATION_DAYS_MAX = 365,
    TERMS_VERSION_MAX = 32, /* width of the column */
};

#define UNIT_SIGN_RULE "one line of visible text as people type it, without digits, marks and blanks around it"

#define MONTH_MS       INT64_C(2592000000)

/* One span or more, with one blank between them. */
static bool valid_lifetimes(const char *text)
{
    struct str rest = str_from(text);
    while (rest.ptr != NULL) {
        int64_t ms;
        if (!clock_span(str_cut(rest, ' ', &rest), &ms) || ms < 1 || ms > MONTH_MS)
            return false;
    }
    return true;
}

/* Days in ascending order, with one blank between two. */
static bool valid_days(const char *text)
{
    struct str rest = str_from(text);
    int64_t day, before = INT64_MIN;

    while (rest.ptr != NULL) {
        if (!typed_utc_day(str_cut(rest, ' ', &rest), &day) || day <= before)
            return false;
        before = day;
    }
    return true;
}

static bool valid_replicas(const char *text)
{
    uint64_t count;
    return strcmp(text, "auto") == 0 || (str_to_u64(str_from(text), &count) && count <= REPLICAS_MAX);
}

/* ISO 4217's codes have three letters; a community's may be longer. */
static bool valid_unit(const char *text)
{
    for (size_t i = 0; text[i] != '\0'; i++)
        if (!(text[i] >= 'A' && text[i] <= 'Z') && (i == 0 || !(text[i] >= '0' && text[i] <= '9')))
            return false;
    return true;
}

/* A symbol or name of the unit, which pages show and forms read beside a number: so it is as forms fold what people
 * type, and draws something. */
static bool valid_unit_sign(const char *text)
{
    const struct str s = str_from(text);
    struct str folded, shown;
    for (size_t i = 0; i < s.len; i++)
        if (strchr("0123456789.,+-<>&\"'`{}()~#=\\", s.ptr[i]) != NULL)
            return false;
    struct arena *a = arena_new(SIGN_ARENA_BYTES, SIGN_ARENA_BYTES);
    const bool valid = a != NULL && utf8_fold_pasted(a, s, &folded) == ST_OK && str_equal(s, folded) &&
                       utf8_clean_shown(a, s, &shown) == ST_OK && str_equal(s, shown);
    arena_free(a);
    return valid;
}

/* A URI of a kind that RFC 9116 names for Contact. */
static bool valid_contact(const char *text)
{
    static const char *const kinds[] = { "https://", "mailto:", "tel:" };
    const struct str uri = str_from(text);
    for (size_t i = 0; i < uri.len; i++)
        if (uri.ptr[i] <= ' ' || uri.ptr[i] > '~')
            return false;
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
        if (uri.len > strlen(kinds[i]) && str_starts(uri, str_from(kinds[i])))
            return true;
    return uri.len == 0;
}

static bool valid_registration(const char *text)
{
    return strcmp(text, "open") == 0 || strcmp(text, "invite") == 0 || strcmp(text, "closed") == 0;
}

/* A link of a page: of this site, or of another one. */
static bool valid_link(const char *text)
{
    const struct str s = str_from(text);
    for (size_t i = 0; i < s.len; i++)
        if (s.ptr[i] <= ' ' || s.ptr[i] > '~' || strchr("\"'<>\\", s.ptr[i]) != NULL)
            return false;
    return s.len == 0 || str_starts(s, STR("https://")) || str_starts(s, STR("http://")) ||
           (s.ptr[0] == '/' && !str_starts(s, STR("//")));
}

static bool valid_version(const char *text)
{
    return strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789.-_") == strlen(text);
}

static bool valid_rate(const char *text)
{
    struct rate rate;
    return rate_read(str_from(text), &rate);
}

static const char *addresses_mistake(const char *text)
{
    struct address_list list;
    return address_list_read(str_from(text), &list);
}

#define SETTING_INT(field, low, high, standard, words)                                                                 \
    {                                                                                                                  \
        .name = #field, .type = CONFIG_INT, .offset = offsetof(struct config, field), .min = (low), .max = (high),     \
        .preset = (standard), .summary = (words)                                                                       \
    }
#define SETTING_BOOL(field, standard, words)                                                                           \
    {                                                                                                                  \
        .name = #field, .type = CONFIG_BOOL, .offset = offsetof(struct config, field), .preset = (standard),           \
        .summary = (words)                                                                                             \
    }
#define SETTING_TEXT(field, low, high, standard, rule, rule_words, words)                                              \
    {                                                                                                                  \
        .name = #field, .type = CONFIG_TEXT, .offset = offsetof(struct config, field), .min = (low), .max = (high),    \
        .preset = (standard), .valid = (rule), .wanted = (rule_words), .summary = (words)                              \
    }
#define SETTING_RATE(field, standard, words)                                                                           \
    SETTING_TEXT(field, 1, 64, standard, valid_rate, "off, or up to three times `N M/U`, U one of s, m, h, d", words)
#define SETTING_MISTAKE(field, older_name, standard, rule, rule_words, words)                                          \
    {                                                                                                                  \
        .name = #field, .type = CONFIG_TEXT, .offset = offsetof(struct config, field), .min = 1, .max = TEXT_MAX,      \
        .preset = (standard), .mistake = (rule), .older = (older_name), .wanted = (rule_words), .summary = (words)     \
    }
#define SETTING_ADDRESSES(field, older_name, standard, words)                                                          \
    SETTING_MISTAKE(field, older_name, standard, addresses_mistake,                                                    \
                    "up to 16 times `unix:PATH` or `HOST:PORT`, with commas between them", words)

static const struct config_setting SETTINGS[] = {
    SETTING_ADDRESSES(redis, "redis_socket", "unix:/run/redis/redis-server.sock",
                      "where Redis listens; `redis_socket = PATH` is the older spelling of `redis = unix:PATH`"),
    SETTING_TEXT(redis_user, 0, TEXT_MAX, "", NULL, NULL, "ACL user; empty: no AUTH"),
    SETTING_TEXT(redis_password, 0, TEXT_MAX, "", NULL, NULL, "its password"),
    SETTING_TEXT(redis_replicas, 1, 4, "auto", valid_replicas, "auto, or a number from 0 to 5",
                 "replicas that must have a grab before it is answered; auto: 1 in a Redis Cluster or with several"
                 " addresses, else 0"),
    SETTING_INT(redis_replicas_timeout_ms, 1, 60000, "100", "how long to wait for them, besides the round"),
    SETTING_INT(redis_timeout_ms, 10, 60000, "800", "one pipeline round, from the write to the last reply"),
    SETTING_ADDRESSES(mysql, "mysql_socket", "unix:/run/mysqld/mysqld.sock",
                      "where MySQL or MariaDB listens; `mysql_socket = PATH` is the older spelling of"
                      " `mysql = unix:PATH`"),
    SETTING_BOOL(mysql_tls, "off",
                 "TLS to TCP addresses; a server without it, or whose certificate is not of its HOST, is refused"),
    SETTING_TEXT(mysql_tls_ca, 0, TEXT_MAX, "", NULL, NULL, "file of the certificates that sign the servers'"),
    SETTING_TEXT(mysql_tls_cert, 0, TEXT_MAX, "", NULL, NULL, "file of our own certificate; empty: none"),
    SETTING_TEXT(mysql_tls_key, 0, TEXT_MAX, "", NULL, NULL, "file of its key"),
    SETTING_TEXT(mysql_user, 0, TEXT_MAX, "hongbao", NULL, NULL, "database user"),
    SETTING_TEXT(mysql_password, 0, TEXT_MAX, "", NULL, NULL, "its password; empty: known by the socket's peer"),
    SETTING_TEXT(mysql_database, 1, 64, "hongbao", NULL, NULL, "schema with our tables"),
    SETTING_INT(mysql_timeout_s, 1, 60, "2", "connect, read and write, each"),
    SETTING_INT(partitions, 1, CONFIG_PARTITIONS_MAX, "16", "slices of all packets; fixed for the life of the data"),
    SETTING_TEXT(rights_dir, 0, TEXT_MAX, "", NULL, NULL,
                 "folder of ROLE.conf and ROLE.keys for each role (docs/reference/rights.md); empty: all are the users "
                 "above"),

    SETTING_TEXT(template_dir, 1, TEXT_MAX, HB_DATA_DIR "/templates", NULL, NULL, "mustache templates"),
    SETTING_TEXT(lua_dir, 1, TEXT_MAX, HB_DATA_DIR "/lua", NULL, NULL, "Redis functions"),
    SETTING_TEXT(sql_dir, 1, TEXT_MAX, HB_DATA_DIR "/sql", NULL, NULL, "migrations"),
    SETTING_TEXT(static_dir, 1, TEXT_MAX, HB_DATA_DIR "/static", NULL, NULL,
                 "static files; nginx serves a copy, which `hongbao setup` makes"),
    SETTING_TEXT(command_dir, 1, TEXT_MAX, HB_DATA_DIR "/commands", NULL, NULL,
                 "scripts of backup, doctor, restore and trace"),
    SETTING_TEXT(metrics_file, 1, TEXT_MAX, "/run/hongbao/metrics", NULL, NULL, "shared counters of all processes"),
    SETTING_TEXT(nginx_counts_dir, 1, TEXT_MAX, "/var/log/nginx", NULL, NULL,
                 "folder in which nginx counts what its limits refuse"),
    SETTING_TEXT(
        backup_record, 0, TEXT_MAX, "/var/lib/hongbao/backups", NULL, NULL,
        "file in which `hongbao backup` notes the last backups, for `hongbao doctor` and `/metrics`; empty: they"
        " are made in another way"),

    SETTING_MISTAKE(base_url, NULL, "http://127.0.0.1:8080", site_url_mistake,
                    "http:// or https:// and a host, maybe with a port; no path",
                    "the site as browsers see it: links, QR codes, cookie prefix"),
    SETTING_TEXT(secret, CONFIG_SECRET_BYTES_MIN, TEXT_MAX, "", NULL, NULL,
                 "all keys of the site are derived from it; must be set, except for a pool with ROLE.keys; another one "
                 "breaks every link"),
    SETTING_TEXT(secret_file, 0, TEXT_MAX, "", NULL, NULL,
                 "file whose only line is the secret, in place of secret, so that this file holds none"),
    SETTING_BOOL(older_keys, "on",
                 "`hongbao keys` includes the key of earlier versions (docs/how-to/upgrade.md); off: their phrases, "
                 "links to big screens, recovery codes and retired usernames are unknown"),
    SETTING_TEXT(timezone, 1, 64, "Asia/Shanghai", clock_zone_known,
                 "a name of the system's tz database, none below right/",
                 "whose years and days records use; fixed for the life of the data"),
    SETTING_TEXT(unit, 2, UNIT_CODE_MAX, "CNY", valid_unit, "capital letters and digits, a letter first",
                 "the unit of money: a code of ISO 4217, or a name such as POINT; fixed for the life of the data"),
    SETTING_INT(unit_decimals, 0, MONEY_DECIMALS_MAX, "2",
                "its decimals: settings named _fen are in its smallest unit; fixed for the life of the data"),
    SETTING_TEXT(unit_symbol, 0, UNIT_SIGN_MAX, "¥", valid_unit_sign, UNIT_SIGN_RULE,
                 "in front of amounts; empty: the name stands behind them"),
    SETTING_TEXT(unit_name_zh, 1, UNIT_SIGN_MAX, "元", valid_unit_sign, UNIT_SIGN_RULE, "its name on Chinese pages"),
    SETTING_TEXT(unit_name_en, 1, UNIT_SIGN_MAX, "yuan", valid_unit_sign, UNIT_SIGN_RULE,
                 "its name on English pages, where it has no symbol; one word for 1 and 2: yuan, points"),
    SETTING_TEXT(security_contact, 0, TEXT_MAX, "", valid_contact,
                 "https:, mailto: or tel: and the rest, without blanks",
                 "where people report a vulnerability: `/.well-known/security.txt` names it; empty: there is no such "
                 "file"),
    SETTING_BOOL(demo, "off", "demo deposits and `hongbao demo`"),
    SETTING_BOOL(reload, "off", "compile templates anew when a file changed"),
    SETTING_BOOL(sandbox, "on", "refuse system calls that a process does not need"),
    SETTING_INT(body_bytes_max, 1024, 1048576, "16384",
                "longest request body; nginx has limits of its own (client_max_body_size)"),

    SETTING_INT(share_fen_max, 1, TYPED_AMOUNT_MAX_FEN, "20000", "largest share"),
    SETTING_INT(packet_fen_max, 1, TYPED_AMOUNT_MAX_FEN, "2000000", "largest total of a packet"),
    SETTING_INT(packet_shares_max, 1, PACKET_SHARES_MAX, "100", "most shares of a packet"),
    SETTING_INT(packet_lifetime_ms, 1, MONTH_MS, "86400000", "from sending to expiry, when the sender chooses nothing"),
    SETTING_TEXT(packet_lifetimes, 2, 64, "1h 24h 3d 7d", valid_lifetimes,
                 "spans such as 90s, 5m, 24h or 7d with a blank between them, each at most 30d",
                 "what a sender can choose instead"),
    SETTING_INT(packet_grace_ms, 0, MONTH_MS, "3600000",
                "a closed packet stays in Redis this long, and ten minutes after its send at least"),
    SETTING_INT(greeting_graphemes_max, 1, 25, "25",
                "longest greeting, in characters as people count them; two letters count as one"),
    SETTING_INT(deposit_fen_max, 1, TYPED_AMOUNT_MAX_FEN, "20000000", "largest demo deposit"),

    SETTING_BOOL(sending, "on", "off: nobody can send a packet; all else goes on"),
    SETTING_INT(user_send_day_fen, 0, TYPED_AMOUNT_MAX_FEN, "0", "what a user sends in a day of the site; 0: no cap"),
    SETTING_INT(user_send_day_count, 0, DAY_PACKETS_MAX, "0", "packets that a user sends in a day; 0: no cap"),
    SETTING_INT(user_receive_day_fen, 0, TYPED_AMOUNT_MAX_FEN, "0",
                "a user who has received as much in a day opens no further packet until the next; 0: no cap"),

    SETTING_TEXT(registration, 4, 6, "open", valid_registration, "open, invite or closed",
                 "who may register: everybody, who has an invitation, or nobody (docs/how-to/door.md)"),
    SETTING_INT(user_invitations_max, 0, INVITATIONS_MAX, "0",
                "invitations that a user may make, without those that were revoked or expired unused; 0: only"
                " operators make them"),
    SETTING_INT(invitation_days, 1, INVITATION_DAYS_MAX, "14", "from the making of an invitation to its expiry"),
    SETTING_BOOL(
        password_login, "on",
        "off: nobody logs in or registers with a password, nor sets one; passkeys must be possible at base_url"),
    SETTING_TEXT(terms_url, 0, TEXT_MAX, "", valid_link, "https:// or http:// and the rest, or a path of this site",
                 "terms of use, which a new user has to accept; empty: none"),
    SETTING_TEXT(terms_version, 0, TERMS_VERSION_MAX, "", valid_version, "letters, digits and `.-_`",
                 "their version, such as their day; who has accepted another one has to accept this one, too"),

    SETTING_TEXT(
        receipt_key_days, 1, TEXT_MAX, "2026-01-01", valid_days,
        "days like 2026-01-01 in ascending order, with one blank between two",
        "from each of these days (UTC) a new key signs receipts (docs/reference/receipt.md); only add to them"),
    SETTING_TEXT(receipt_keys_file, 0, TEXT_MAX, "", NULL, NULL,
                 "public keys of receipts signed with an earlier secret; empty: none"),

    SETTING_INT(session_idle_s, 1, YEAR_S, "604800", "a session ends when unused this long"),
    SETTING_INT(session_absolute_s, 1, YEAR_S, "2592000", "a session ends in any case"),
    SETTING_INT(sessions_max, 1, 100, "20", "sessions of a user; a further login ends the oldest"),
    SETTING_INT(passkeys_max, 1, 100, "10", "most passkeys of a user (docs/reference/passkeys.md)"),

    { .name = "oidc_issuer",
      .type = CONFIG_TEXT,
      .offset = offsetof(struct config, oidc_issuer),
      .min = 0,
      .max = TEXT_MAX,
      .preset = "",
      .mistake = issuer_mistake,
      .wanted = "https:// and a host, maybe with a port and a path; http:// for a loopback address",
      .summary = "the login by an issuer (OpenID Connect): its identifier, to the letter; empty: there is none" },
    SETTING_TEXT(oidc_client_id, 0, TEXT_MAX, "", NULL, NULL, "how the issuer calls this site"),
    SETTING_TEXT(oidc_client_secret_file, 0, TEXT_MAX, "", NULL, NULL,
                 "file whose only line is the secret of this site at the issuer, for the pool sso alone; empty: none"),
    SETTING_TEXT(oidc_scopes, 6, TEXT_MAX, "openid profile email", issuer_scopes_valid,
                 "openid, and other scopes with one blank between two", "what the issuer is asked for"),
    SETTING_TEXT(oidc_name, 0, ISSUER_NAME_MAX, "", issuer_name_valid, "one line of visible text",
                 "how people call the account there: the button of the login shows it"),
    SETTING_TEXT(oidc_username_claim, 0, 64, "preferred_username", issuer_claim_valid,
                 "letters, digits, _, -, ., : and /", "the claim that proposes the username of a new user"),
    SETTING_TEXT(oidc_domains, 0, TEXT_MAX, "", issuer_domains_valid, "up to 32 domains with commas between them",
                 "who may log in: those whose confirmed e-mail address is at one of them; empty: everybody there"),
    SETTING_TEXT(oidc_groups_claim, 0, 64, "groups", issuer_claim_valid, "letters, digits, _, -, ., : and /",
                 "the claim with the groups of a person"),
    SETTING_TEXT(oidc_groups, 0, TEXT_MAX, "", issuer_groups_valid, "up to 32 names with commas between them",
                 "who may log in: those who are in one of these groups; empty: everybody there"),
    SETTING_TEXT(oidc_hosts, 0, TEXT_MAX, "", issuer_hosts_valid, "up to 32 hosts with commas between them",
                 "hosts that the addresses of the issuer may have besides its own"),

    SETTING_BOOL(limits, "on", "off: none of the limits below applies"),
    SETTING_RATE(limit_send, "120 2/s", "packets that a user sends"),
    SETTING_RATE(limit_send_address, "1000 30/s", "packets that all users of an address send"),
    SETTING_RATE(limit_deposit, "120 2/s", "demo deposits of a user"),
    SETTING_RATE(limit_export, "20 10/m", "files of records and of the account for a user"),
    SETTING_RATE(limit_export_address, "100 1/s", "files of records and of the account for all users of an address"),
    SETTING_RATE(limit_read, "120 5/s", "pages of a user, and small changes"),
    SETTING_RATE(limit_cold_address, "1000 60/s", "requests for packets that Redis no longer has, from an address"),
    SETTING_RATE(limit_search_address, "300 12/s", "searches of records from an address"),
    SETTING_RATE(limit_names, "500 2/s", "usernames that a user looks up: receivers, and the person of a search"),
    SETTING_RATE(limit_names_address, "2000 10/s", "usernames that all users of an address look up"),
    SETTING_RATE(limit_card, "300 3/s", "new pictures of packets that are drawn for an address"),
    SETTING_RATE(limit_picture, "10 10/h", "pictures that a user uploads, as avatar or cover"),
    SETTING_RATE(limit_register_address, "100 2/s", "registrations from an address"),
    SETTING_RATE(limit_register_network, "300 5/s", "registrations from a network"),
    SETTING_RATE(limit_invitation_address, "20 10/m",
                 "registrations with a wrong code of an invitation from an address"),
    SETTING_RATE(limit_invitation_network, "100 1/s", "registrations with a wrong code from a network"),
    SETTING_RATE(limit_passkey_address, "100 1/s", "logins by passkey from an address"),
    SETTING_RATE(limit_passkey_network, "300 5/s", "logins by passkey from a network"),
    SETTING_RATE(limit_oidc_address, "200 2/s", "steps of logins by an issuer from an address; a login has two"),
    SETTING_RATE(limit_oidc_network, "600 10/s", "steps of logins by an issuer from a network"),
    SETTING_RATE(limit_password, "10 1/m 30 4/h", "wrong passwords of a user who is logged in"),
    SETTING_RATE(limit_confirm, "30 6/m", "passwords of a user who is logged in, right ones too"),
    SETTING_RATE(limit_recovery_make, "5 6/h", "sets of recovery codes that a user makes"),
    SETTING_RATE(limit_recovery_code, "5 1/m 10 4/h", "logins with one recovery code or login link"),
    SETTING_RATE(limit_recovery_address, "20 10/m", "guessed recovery codes and login links from an address"),
    SETTING_RATE(limit_recovery_network, "100 1/s", "guessed recovery codes and login links from a network"),
    SETTING_RATE(limit_login_device, "10 12/m 30 12/h", "logins of a user from a device that the user has used before"),
    SETTING_RATE(limit_login_account, "5 30/m 10 1/m 30 4/h", "wrong passwords for a username from other devices"),
    SETTING_RATE(limit_login_new, "30 6/m", "logins with a username from other devices, right ones too"),
    SETTING_RATE(limit_login_address, "20 10/m", "wrong passwords from an address, on other devices"),
    SETTING_RATE(limit_login_network, "100 1/s", "wrong passwords from a network, on other devices"),
    SETTING_RATE(limit_hash_address, "20 4/s", "passwords that are hashed for an address"),
    SETTING_RATE(limit_hash_network, "200 16/s", "passwords that are hashed for a network"),
    SETTING_RATE(limit_hash_site, "300 20/s",
                 "passwords that are hashed for all strangers, and as many for all known devices and sessions"),

    SETTING_INT(settle_interval_ms, 1, 60000, "50", "pause when all streams were empty"),
    SETTING_INT(settle_batch, 1, 10000, "8000", "events per transaction, at most"),
    SETTING_INT(ready_lag_s, 1, 86400, "60", "/readyz is 503 when an event has waited longer"),
};

enum { SETTING_COUNT = ARRAY_LEN(SETTINGS) };
static_assert(ARRAY_LEN(SETTINGS) <= CONFIG_SETTINGS_MAX, "config/settings.h");

const struct config_setting *config_settings(size_t *count)
{
    *count = SETTING_COUNT;
    return SETTINGS;
}

/* Settings by which setup grants rights or makes keys, or which setup writes into other files. */
static const char *const OF_SETUP[] = { "redis",    "mysql",       "mysql_database", "rights_dir",
                                        "base_url", "secret_file", "older_keys",     "demo",
                                        "timezone", "unit",        "unit_decimals",  "oidc_issuer" };

bool config_needs_setup(const struct config_setting *setting)
{
    for (size_t i = 0; i < ARRAY_LEN(OF_SETUP); i++)
        if (strcmp(setting->name, OF_SETUP[i]) == 0)
            return true;
    return false;
}

bool config_is_secret(const struct config_setting *setting)
{
    static const char *const names[] = { "secret", "redis_password", "mysql_password" };
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (strcmp(setting->name, names[i]) == 0)
            return true;
    return false;
}

const char *config_data_dir(void)
{
    return HB_DATA_DIR;
}

bool config_value_print(const struct config *c, const struct config_setting *setting, FILE *out)
{
    const char *place = (const char *)c + setting->offset;
    int64_t number = 0;
    bool on = false;
    switch (setting->type) {
    case CONFIG_INT: memcpy(&number, place, sizeof number); return fprintf(out, "%lld", (long long)number) > 0;
    case CONFIG_BOOL: memcpy(&on, place, sizeof on); return fputs(on ? "on" : "off", out) >= 0;
    case CONFIG_TEXT: break;
    }
    return fputs(place, out) >= 0;
}

bool config_print(const struct config *c, FILE *out)
{
    bool written = true;
    for (size_t i = 0; i < SETTING_COUNT; i++)
        written = written && fprintf(out, "%s=", SETTINGS[i].name) > 0 && config_value_print(c, &SETTINGS[i], out) &&
                  fputc('\n', out) != EOF;
    return written;
}

const char *config_setting_like(struct str name)
{
    const char *names[2 * SETTING_COUNT];
    size_t count = 0;
    for (size_t i = 0; i < SETTING_COUNT; i++) {
        names[count++] = SETTINGS[i].name;
        if (SETTINGS[i].older != NULL)
            names[count++] = SETTINGS[i].older;
    }
    return spelling_nearest(name, names, count);
}
