#include "config/config.h"

#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/random.h"
#include "base/str.h"
#include "base/typed.h"
#include "base/utf8.h"
#include "config/address.h"
#include "config/rate.h"
#include "config/site_url.h"
#include "config/spelling.h"

#ifndef HB_DATA_DIR
#define HB_DATA_DIR "/usr/share/hongbao"
#endif

#define SETUP_MADE "/var/lib/hongbao/made" /* what `hongbao setup` has written: SUMS of deploy/commands/setup.sh */

enum {
    TEXT_MAX = CONFIG_TEXT_MAX - 1,
    SECRET_BYTES_MIN = 32,
    REPLICAS_MAX = 5,
    PACKET_SHARES_MAX = 100000,
    AMOUNT_FEN_MAX = 999999999, /* what typed_yuan reads */
    ENV_NAME_MAX = 64,
    NAME_SHOWN_MAX = 64, /* of a name that is no setting */
    ROLE_PATH_MAX = 2 * CONFIG_TEXT_MAX,
    YEAR_S = 366 * 86400,
};
static_assert(sizeof(int64_t) == sizeof(long long), "printed with %lld");

#define MONTH_MS INT64_C(2592000000)

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
    SETTING_TEXT(secret, SECRET_BYTES_MIN, TEXT_MAX, "", NULL, NULL,
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
    SETTING_BOOL(demo, "off", "demo deposits and `hongbao demo`"),
    SETTING_BOOL(reload, "off", "compile templates anew when a file changed"),
    SETTING_BOOL(sandbox, "on", "refuse system calls that a process does not need"),
    SETTING_INT(body_bytes_max, 1024, 1048576, "16384",
                "longest request body; nginx has limits of its own (client_max_body_size)"),

    SETTING_INT(share_fen_max, 1, AMOUNT_FEN_MAX, "20000", "largest share"),
    SETTING_INT(packet_fen_max, 1, AMOUNT_FEN_MAX, "2000000", "largest total of a packet"),
    SETTING_INT(packet_shares_max, 1, PACKET_SHARES_MAX, "100", "most shares of a packet"),
    SETTING_INT(packet_lifetime_ms, 1, MONTH_MS, "86400000", "from sending to expiry, when the sender chooses nothing"),
    SETTING_TEXT(packet_lifetimes, 2, 64, "1h 24h 3d 7d", valid_lifetimes,
                 "spans such as 90s, 5m, 24h or 7d with a blank between them, each at most 30d",
                 "what a sender can choose instead"),
    SETTING_INT(packet_grace_ms, 0, MONTH_MS, "3600000", "a closed packet stays in Redis this long"),
    SETTING_INT(greeting_graphemes_max, 1, 25, "25",
                "longest greeting, in characters as people count them; two letters count as one"),
    SETTING_INT(deposit_fen_max, 1, AMOUNT_FEN_MAX, "20000000", "largest demo deposit"),

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
    SETTING_RATE(limit_passkey_address, "100 1/s", "logins by passkey from an address"),
    SETTING_RATE(limit_passkey_network, "300 5/s", "logins by passkey from a network"),
    SETTING_RATE(limit_password, "10 1/m 30 4/h", "wrong passwords of a user who is logged in"),
    SETTING_RATE(limit_confirm, "30 6/m", "passwords of a user who is logged in, right ones too"),
    SETTING_RATE(limit_recovery_make, "5 6/h", "sets of recovery codes that a user makes"),
    SETTING_RATE(limit_recovery_code, "5 1/m 10 4/h", "logins with one recovery code"),
    SETTING_RATE(limit_recovery_address, "20 10/m", "guessed recovery codes from an address"),
    SETTING_RATE(limit_recovery_network, "100 1/s", "guessed recovery codes from a network"),
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

const struct config_setting *config_settings(size_t *count)
{
    *count = SETTING_COUNT;
    return SETTINGS;
}

/* Setup grants rights by these settings, makes keys from them, or writes them into other files. */
static const char *const OF_SETUP[] = { "redis",       "mysql",      "mysql_database", "rights_dir", "base_url",
                                        "secret_file", "older_keys", "demo",           "timezone" };

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

bool config_stores_by_tcp(const struct config *c)
{
    const char *const lists[] = { c->redis, c->mysql };
    for (size_t l = 0; l < ARRAY_LEN(lists); l++) {
        struct address_list list;
        if (address_list_read(str_from(lists[l]), &list) != NULL)
            return false;
        for (size_t i = 0; i < list.count; i++)
            if (list.items[i].port != 0)
                return true;
    }
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

/* All that is wrong, one message a line. */
struct mistakes {
    char *text; /* size bytes, the caller's */
    size_t size, len;
    bool refused[SETTING_COUNT]; /* settings whose value was refused */
};

/* Where a value comes from, for messages. */
struct source {
    const char *file; /* or NULL */
    unsigned line;
    const char *name; /* environment variable, or NULL */
    struct mistakes *mistakes;
};

/* Messages that no longer fit are left out; the first one is cut. */
static void mistake_add(struct mistakes *to, const char *where, const char *message)
{
    char *end = to->text + to->len;
    int len = snprintf(end, to->size - to->len, "%s%s%s", to->len > 0 ? "\n" : "", where, message);
    if (len > 0 && (size_t)len < to->size - to->len)
        to->len += (size_t)len;
    else if (to->len == 0)
        to->len = strlen(to->text);
    else
        *end = '\0';
}

__attribute__((format(printf, 2, 3))) static enum status refuse(const struct source *from, const char *format, ...)
{
    char where[4096] = "", message[CONFIG_TEXT_MAX * 3];
    va_list args;

    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    if (from->file != NULL && from->line)
        snprintf(where, sizeof where, "%s:%u: ", from->file, from->line);
    else if (from->file != NULL || from->name != NULL)
        snprintf(where, sizeof where, "%s: ", from->file != NULL ? from->file : from->name);
    mistake_add(from->mistakes, where, message);
    return ST_INVALID;
}

static enum status set_int(const struct config_setting *s, void *place, struct str value, const struct source *from)
{
    int64_t n;

    if (!str_to_i64(value, &n))
        return refuse(from, "%s must be a whole number", s->name);
    if (n < s->min || n > s->max)
        return refuse(from, "%s must be from %lld to %lld", s->name, (long long)s->min, (long long)s->max);
    memcpy(place, &n, sizeof n);
    return ST_OK;
}

static enum status set_bool(const struct config_setting *s, void *place, struct str value, const struct source *from)
{
    bool on = str_equal(value, STR("on"));

    if (!on && !str_equal(value, STR("off")))
        return refuse(from, "%s must be on or off", s->name);
    memcpy(place, &on, sizeof on);
    return ST_OK;
}

static enum status set_text(const struct config_setting *s, char *place, struct str value, const struct source *from)
{
    char text[CONFIG_TEXT_MAX] = { 0 };

    if (value.len < (uint64_t)s->min || value.len > (uint64_t)s->max)
        return refuse(from, "%s must have from %lld to %lld bytes", s->name, (long long)s->min, (long long)s->max);
    if (!utf8_valid(value))
        return refuse(from, "%s must be UTF-8 text", s->name);
    for (size_t i = 0; i < value.len; i++)
        if (iscntrl((unsigned char)value.ptr[i]))
            return refuse(from, "%s must not have control characters", s->name);
    if (value.len)
        memcpy(text, value.ptr, value.len);
    if (s->valid != NULL && !s->valid(text))
        return refuse(from, "%s must be %s", s->name, s->wanted);
    const char *mistake = s->mistake != NULL ? s->mistake(text) : NULL;
    if (mistake != NULL)
        return refuse(from, "%s: %s", s->name, mistake);
    memcpy(place, text, sizeof text);
    return ST_OK;
}

static enum status setting_set(struct config *c, const struct config_setting *s, struct str value,
                               const struct source *from)
{
    char *place = (char *)c + s->offset;
    enum status st = ST_INVALID;

    switch (s->type) {
    case CONFIG_INT: st = set_int(s, place, value, from); break;
    case CONFIG_BOOL: st = set_bool(s, place, value, from); break;
    case CONFIG_TEXT: st = set_text(s, place, value, from); break;
    }
    if (st != ST_OK)
        from->mistakes->refused[s - SETTINGS] = true;
    return st;
}

/* Sets a setting that was written with its older name: the value is the path of a socket. */
static enum status setting_set_older(struct config *c, const struct config_setting *s, struct str path,
                                     const struct source *from)
{
    char text[CONFIG_TEXT_MAX];
    if (path.len < 1 || path.len > ADDRESS_PATH_MAX) {
        from->mistakes->refused[s - SETTINGS] = true;
        return refuse(from, "%s must have from 1 to %d bytes", s->older, (int)ADDRESS_PATH_MAX);
    }
    (void)snprintf(text, sizeof text, "unix:%.*s", STR_ARG(path));
    return setting_set(c, s, str_from(text), from);
}

void config_defaults(struct config *c)
{
    char text[CONFIG_TEXT_MAX];
    struct mistakes none = { .text = text, .size = sizeof text };
    const struct source from = { .mistakes = &none };

    memset(c, 0, sizeof *c);
    for (size_t i = 0; i < SETTING_COUNT; i++) {
        const struct config_setting *s = &SETTINGS[i];
        if (s->type == CONFIG_TEXT) /* not checked: the default zone may be missing, and the secret is empty */
            memcpy((char *)c + s->offset, s->preset, strlen(s->preset) + 1);
        else if (setting_set(c, s, str_from(s->preset), &from) != ST_OK)
            assert(false);
    }
}

/* Writes the beginning of a name that is no setting, as a terminal may show it. Returns out. */
static const char *name_shown(struct str name, char out[NAME_SHOWN_MAX + 1])
{
    size_t len = name.len < NAME_SHOWN_MAX ? name.len : NAME_SHOWN_MAX;
    for (size_t i = 0; i < len; i++)
        out[i] = name.ptr[i] >= ' ' && name.ptr[i] <= '~' ? name.ptr[i] : '?';
    out[len] = '\0';
    return out;
}

/* Sets the setting of this name, present or older. *seen: the name by which this file has set it before; NULL: not
 * yet. */
static enum status named_set(struct config *c, const struct config_setting *s, const char *name, const char **seen,
                             struct str value, const struct source *from)
{
    if (*seen == name)
        return refuse(from, "%s is set twice", name);
    if (*seen != NULL)
        return refuse(from, "%s and %s are the same setting; only one may be set", s->name, s->older);
    *seen = name;
    return name == s->name ? setting_set(c, s, value, from) : setting_set_older(c, s, value, from);
}

/* `name = value  # comment`; an empty line is ST_OK. seen: of each setting, as named_set has it. */
static enum status line_read(struct config *c, struct str line, const char **seen, const struct source *from)
{
    struct str value;

    for (size_t i = 0; i < line.len; i++) {
        if (line.ptr[i] == '#' && (i == 0 || line.ptr[i - 1] == ' ' || line.ptr[i - 1] == '\t')) {
            line.len = i;
            break;
        }
    }
    line = str_trim(line);
    if (line.len == 0)
        return ST_OK;
    struct str name = str_trim(str_cut(line, '=', &value));
    if (value.ptr == NULL || name.len == 0)
        return refuse(from, "expected name = value");
    for (size_t i = 0; i < SETTING_COUNT; i++) {
        const struct config_setting *s = &SETTINGS[i];
        if (str_equal(name, str_from(s->name)))
            return named_set(c, s, s->name, &seen[i], str_trim(value), from);
        if (s->older != NULL && str_equal(name, str_from(s->older)))
            return named_set(c, s, s->older, &seen[i], str_trim(value), from);
    }
    const char *like = config_setting_like(name);
    char shown[NAME_SHOWN_MAX + 1];
    if (like != NULL)
        return refuse(from, "there is no such setting: %s; did you mean %s?", name_shown(name, shown), like);
    return refuse(from, "there is no such setting: %s", name_shown(name, shown));
}

static uint64_t digest_of(const struct buf *text)
{
    uint8_t sha256[HASH_BYTES];
    uint64_t digest;
    hash_sha256(text->len > 0 ? text->ptr : "", text->len, sha256);
    memcpy(&digest, sha256, sizeof digest);
    return digest;
}

/* ST_INVALID: a mistake in the file · ST_UNAVAILABLE: it can't be read · ST_NO_MEMORY. Adds the reasons to mistakes.
 * *digest becomes the hash of the text; NULL: not wanted. */
static enum status file_read(struct config *c, const char *path, uint64_t *digest, struct mistakes *mistakes)
{
    struct source from = { .file = path, .mistakes = mistakes };
    const char *seen[SETTING_COUNT] = { NULL };
    enum status st = ST_OK;
    struct buf text = BUF_EMPTY;
    char *line = NULL;
    size_t cap = 0;
    ssize_t len;

    FILE *file = fopen(path, "re");
    if (file == NULL) {
        (void)refuse(&from, "%s", strerror(errno));
        return ST_UNAVAILABLE;
    }
    while (errno = 0, (len = getline(&line, &cap, file)) >= 0) {
        from.line++;
        buf_bytes(&text, line, (size_t)len);
        struct str rest = { line, (size_t)len };
        if (from.line == 1)
            (void)str_skip_prefix(&rest, STR("\xef\xbb\xbf")); /* the mark that some editors put before UTF-8 */
        if (line_read(c, rest, seen, &from) != ST_OK)
            st = ST_INVALID;
    }
    if (!feof(file)) {
        from.line = 0;
        st = errno == ENOMEM ? ST_NO_MEMORY : ST_UNAVAILABLE;
        (void)refuse(&from, "%s", strerror(errno));
    }
    if (text.failed)
        st = ST_NO_MEMORY;
    else if (digest != NULL)
        *digest = digest_of(&text);
    buf_free(&text);
    free(line);
    fclose(file);
    return st;
}

/* Sets the setting from its variable HB_NAME, if the environment has one; name: the setting's present or older name. */
static enum status variable_read(struct config *c, const struct config_setting *s, const char *name, const char **seen,
                                 struct mistakes *mistakes)
{
    char variable[ENV_NAME_MAX] = "HB_";
    const struct source from = { .name = variable, .mistakes = mistakes };
    size_t n = strlen(variable);

    assert(strlen(name) < sizeof variable - n);
    for (const char *p = name; *p; p++)
        variable[n++] = (char)toupper((unsigned char)*p);
    variable[n] = '\0';
    const char *value = getenv(variable);
    return value == NULL ? ST_OK : named_set(c, s, name, seen, str_from(value), &from);
}

static enum status environment_read(struct config *c, struct mistakes *mistakes)
{
    enum status st = ST_OK;
    for (size_t i = 0; i < SETTING_COUNT; i++) {
        const struct config_setting *s = &SETTINGS[i];
        const char *seen = NULL;
        if (variable_read(c, s, s->name, &seen, mistakes) != ST_OK)
            st = ST_INVALID;
        if (s->older != NULL && variable_read(c, s, s->older, &seen, mistakes) != ST_OK)
            st = ST_INVALID;
    }
    return st;
}

/* The number of the setting in the table. */
static size_t setting_no(const char *name)
{
    size_t i = 0;
    while (i < SETTING_COUNT && strcmp(SETTINGS[i].name, name) != 0)
        i++;
    assert(i < SETTING_COUNT);
    return i;
}

/* Reads the secret from the first line of secret_file. */
static enum status secret_file_read(struct config *c, struct mistakes *mistakes)
{
    const struct source from = { .file = c->secret_file, .mistakes = mistakes };
    const size_t secret = setting_no("secret");
    char line[2 * CONFIG_TEXT_MAX];
    if (c->secret[0])
        return refuse(&from, "secret and secret_file are both set; only one may be");
    FILE *file = fopen(c->secret_file, "re");
    bool read = file != NULL && (errno = 0, fgets(line, sizeof line, file) != NULL);
    enum status st = read ? setting_set(c, &SETTINGS[secret], str_trim(str_from(line)), &from)
                          : refuse(&from, "%s", errno != 0 ? strerror(errno) : "the file is empty");
    mistakes->refused[secret] |= !read;
    if (file != NULL)
        fclose(file);
    return st;
}

/* Reads the secret and checks it. A value that was refused has its message already. path: of the configuration. */
static enum status secret_read(struct config *c, const char *path, struct mistakes *mistakes)
{
    const struct source from = { .file = path, .mistakes = mistakes };
    if (c->secret_file[0] != '\0' && secret_file_read(c, mistakes) != ST_OK)
        return ST_INVALID;
    keys_derive(str_from(c->secret), c->older_keys, &c->keys);
    if (strlen(c->secret) >= SECRET_BYTES_MIN || mistakes->refused[setting_no("secret")])
        return ST_OK;
    return refuse(&from, "secret must be set to at least %d bytes", (int)SECRET_BYTES_MIN);
}

/* Writes the path of the role's file of keys. False: the role has none, because no rights_dir is set. */
static bool role_keys_path(const struct config *c, const char *role, char path[ROLE_PATH_MAX])
{
    if (role == NULL || c->rights_dir[0] == '\0')
        return false;
    (void)snprintf(path, ROLE_PATH_MAX, "%s/%s.keys", c->rights_dir, role);
    return true;
}

/* Reads a line `name = key`, and passes over empty lines and comments. */
static enum status key_line_read(struct keys *keys, struct str line, const struct source *from)
{
    struct str hex;
    line = str_trim(line);
    if (line.len == 0 || line.ptr[0] == '#')
        return ST_OK;
    struct str word = str_trim(str_cut(line, '=', &hex));
    const char *mistake = key_add(keys, word, str_trim(str_or_empty(hex)));
    return mistake == NULL ? ST_OK : refuse(from, "%s", mistake);
}

/* Reads rights_dir/ROLE.keys. *no_secret: the role does not need the secret, because it has this file or needs no key.
 * False: the secret must be read; also when the environment sets one, which wins. */
static enum status role_keys_read(struct config *c, const char *role, bool *no_secret, struct mistakes *mistakes)
{
    char path[ROLE_PATH_MAX], line[2 * CONFIG_TEXT_MAX];
    struct source from = { .file = path, .mistakes = mistakes };
    enum status st = ST_OK;
    unsigned set;
    *no_secret = false;
    if (!role_keys_path(c, role, path) || !keys_of_role(str_from(role), &set) || getenv("HB_SECRET") != NULL ||
        getenv("HB_SECRET_FILE") != NULL)
        return ST_OK;
    FILE *file = fopen(path, "re");
    *no_secret = file != NULL || errno != ENOENT || set == 0;
    if (file == NULL)
        return !*no_secret || set == 0 ? ST_OK : refuse(&from, "%s", strerror(errno));
    c->keys = (struct keys){ 0 };
    while (fgets(line, sizeof line, file) != NULL) {
        from.line++;
        if (key_line_read(&c->keys, str_from(line), &from) != ST_OK)
            st = ST_INVALID;
    }
    sodium_memzero(line, sizeof line);
    fclose(file);
    from.line = 0;
    if (!c->older_keys)
        c->keys.has[KEY_BEFORE] = false;
    const char *lacks = keys_lack(&c->keys, set);
    return st == ST_OK && lacks != NULL ? refuse(&from, "it lacks the key %s; run hongbao setup", lacks) : st;
}

/* Checks the rules between settings, and the time zone, whose default may be missing. */
static enum status whole_check(const struct config *c, const struct source *from)
{
    enum status st = ST_OK;
    if (!clock_zone_known(c->timezone))
        st = refuse(from, "timezone must be a name of the system's tz database (is tzdata installed?)");
    if (c->mysql_tls && c->mysql_tls_ca[0] == '\0')
        st = refuse(from, "mysql_tls = on needs mysql_tls_ca, the certificates that sign the servers'");
    if ((c->mysql_tls_cert[0] == '\0') != (c->mysql_tls_key[0] == '\0'))
        st = refuse(from, "mysql_tls_cert and mysql_tls_key need each other");
    if (c->share_fen_max > c->packet_fen_max)
        st = refuse(from, "share_fen_max must not be above packet_fen_max");
    if (c->session_idle_s > c->session_absolute_s)
        st = refuse(from, "session_idle_s must not be above session_absolute_s");
    return st;
}

/* Reads the role's file over the settings of all roles. */
static enum status role_read(struct config *c, const char *role, struct mistakes *mistakes)
{
    char path[2 * CONFIG_TEXT_MAX];
    int len = snprintf(path, sizeof path, "%s/%s.conf", c->rights_dir, role);

    assert(len > 0 && (size_t)len < sizeof path);
    return file_read(c, path, NULL, mistakes);
}

/* The role's file, and the environment again, which wins over it. */
static enum status role_and_environment_read(struct config *c, const char *role, struct mistakes *mistakes)
{
    enum status st = c->rights_dir[0] != '\0' ? role_read(c, role, mistakes) : ST_OK;
    if (st == ST_OK)
        st = environment_read(c, mistakes);
    return st == ST_UNAVAILABLE ? ST_INVALID : st;
}

enum status config_role(struct config *c, const char *role, char *error, size_t error_size)
{
    struct mistakes mistakes = { .text = error, .size = error_size };
    return role_and_environment_read(c, role, &mistakes);
}

void config_load_unchecked(struct config *c, const char *path)
{
    char passed_over[1];
    struct mistakes mistakes = { .text = passed_over, .size = sizeof passed_over };
    if (path != NULL)
        (void)file_read(c, path, NULL, &mistakes);
    (void)environment_read(c, &mistakes);
}

enum status config_secret_read(struct config *c, char *error, size_t error_size)
{
    struct mistakes mistakes = { .text = error, .size = error_size };
    enum status st = secret_read(c, c->file[0] != '\0' ? c->file : NULL, &mistakes);
    if (st != ST_OK)
        c->secret[0] = '\0';
    return st;
}

static bool is_missing(const char *path)
{
    return access(path, F_OK) != 0 && errno == ENOENT;
}

/* True when `hongbao setup` has still to run: nothing names a secret, or CONFIG_FILE names a file with it that setup
 * has not made yet. */
static bool is_not_set_up(const struct config *c, const char *path, const char *role)
{
    char keys[ROLE_PATH_MAX];
    if (c->secret[0] != '\0' || (role_keys_path(c, role, keys) && !is_missing(keys)))
        return false;
    if (path == NULL)
        return c->secret_file[0] == '\0';
    return strcmp(path, CONFIG_FILE) == 0 && c->secret_file[0] != '\0' && is_missing(c->secret_file) &&
           is_missing(SETUP_MADE);
}

/* What a configuration must have to be loaded. */
enum load_need { NEED_NOTHING, NEED_SETUP, NEED_SECRET };

static enum status load(struct config *c, const char *path, const char *role, enum load_need need,
                        struct mistakes *mistakes)
{
    const bool with_secret = need == NEED_SECRET;
    enum status st = path != NULL ? file_read(c, path, &c->file_digest, mistakes) : ST_OK;

    if (st == ST_UNAVAILABLE || st == ST_NO_MEMORY)
        return st == ST_UNAVAILABLE ? ST_INVALID : st;
    if (path != NULL)
        (void)snprintf(c->file, sizeof c->file, "%s", path);
    if (environment_read(c, mistakes) != ST_OK)
        st = ST_INVALID;
    if (st == ST_OK && need != NEED_NOTHING && is_not_set_up(c, path, role))
        return refuse(&(struct source){ .mistakes = mistakes }, "not set up yet: run hongbao setup");
    if (st == ST_OK && role != NULL)
        st = role_and_environment_read(c, role, mistakes);
    bool has_keys = false;
    if (with_secret && role_keys_read(c, role, &has_keys, mistakes) != ST_OK)
        st = ST_INVALID;
    if (with_secret && !has_keys && secret_read(c, path, mistakes) != ST_OK)
        st = ST_INVALID;
    enum status whole = whole_check(c, &(struct source){ .file = path, .mistakes = mistakes });
    return st == ST_OK ? whole : st;
}

enum status config_load(struct config *c, const char *path, const char *role, char *error, size_t error_size)
{
    return load(c, path, role, NEED_SECRET, &(struct mistakes){ .text = error, .size = error_size });
}

enum status config_load_without_secret(struct config *c, const char *path, char *error, size_t error_size)
{
    return load(c, path, NULL, NEED_SETUP, &(struct mistakes){ .text = error, .size = error_size });
}

enum status config_load_settings(struct config *c, const char *path, char *error, size_t error_size)
{
    return load(c, path, NULL, NEED_NOTHING, &(struct mistakes){ .text = error, .size = error_size });
}
