/* Settings: nothing starts on a half-understood configuration. */
#include <ctype.h>

#include "base/str.h"
#include "base/typed.h"
#include "config/config.h"
#include "config/settings.h"
#include "support/test_folder.h"

#define SECRET_TEXT "0123456789abcdef0123456789abcdef"
#define SECRET      "secret = " SECRET_TEXT "\n"

static char path[sizeof folder_file]; /* of the configuration, beside which the files of roles and secrets are */
static struct config config;
static char error[512];

/* Removes variables of the environment in which the tests run. */
static int environment_clear(void **state)
{
    size_t count;
    const struct config_setting *settings = config_settings(&count);
    (void)state;
    for (size_t i = 0; i < count; i++) {
        char name[64];
        int n = snprintf(name, sizeof name, "HB_%s", settings[i].name);
        for (int at = 0; at < n; at++)
            name[at] = (char)toupper((unsigned char)name[at]);
        if (unsetenv(name) != 0)
            return -1;
    }
    error[0] = '\0';
    return 0;
}

static int setup(void **state)
{
    assert_int_equal(folder_setup(state), 0);
    (void)snprintf(path, sizeof path, "%s", folder_path("conf"));
    return environment_clear(state);
}

static void environment_set(const char *name, const char *value)
{
    assert_int_equal(setenv(name, value, 1), 0);
}

static enum status load_bytes(const char *text, size_t len)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, len, file), len);
    assert_int_equal(fclose(file), 0);
    config_defaults(&config);
    error[0] = '\0';
    return config_load(&config, path, NULL, error, sizeof error);
}

static enum status load(const char *text)
{
    return load_bytes(text, strlen(text));
}

/* Loads the text as the process of a role; its files are in the folder. */
static enum status load_role(const char *role, const char *text)
{
    char whole[512];
    (void)snprintf(whole, sizeof whole, "%srights_dir = %s\n", text, folder);
    folder_write("conf", whole);
    config_defaults(&config);
    error[0] = '\0';
    return config_load(&config, path, role, error, sizeof error);
}

/* Expects that what was loaded is refused with this error. */
static void assert_failed(enum status st, const char *wanted)
{
    assert_int_equal(st, ST_INVALID);
    assert_string_equal(error, wanted);
}

/* The same of a file of the folder. */
static void assert_failed_in(enum status st, const char *file_and_words)
{
    assert_failed(st, folder_path(file_and_words));
}

/* The text is refused with this message behind "PATH:line: ". */
static void assert_refused(const char *text, unsigned line, const char *words)
{
    char want[512];
    environment_set("HB_SECRET", SECRET_TEXT);
    assert_int_equal(load(text), ST_INVALID);
    snprintf(want, sizeof want, "%s:%u: %s", path, line, words);
    assert_string_equal(error, want);
}

TEST(defaults_are_those_of_the_design_and_legal_except_the_secret)
{
    config_defaults(&config);
    assert_ints({ config.partitions, 16 }, { config.share_fen_max, 20000 }, { config.packet_fen_max, 2000000 },
                { config.packet_shares_max, 100 }, { config.packet_lifetime_ms, 86400000 },
                { config.packet_grace_ms, 3600000 }, { config.greeting_graphemes_max, 25 },
                { config.deposit_fen_max, 20000000 }, { config.session_idle_s, 604800 },
                { config.session_absolute_s, 2592000 }, { config.redis_timeout_ms, 800 }, { config.mysql_timeout_s, 2 },
                { config.settle_interval_ms, 50 }, { config.settle_batch, 8000 }, { config.body_bytes_max, 16384 });
    assert_string_equal(config.timezone, "Asia/Shanghai");
    assert_string_equal(config.base_url, "http://127.0.0.1:8080");
    assert_true(!config.demo && !config.reload && config.secret[0] == '\0');
    size_t count;
    const struct config_setting *settings = config_settings(&count);
    for (size_t i = 0; i < count; i++) {
        char text[1024];
        bool secret = strcmp(settings[i].name, "secret") == 0;
        snprintf(text, sizeof text, "%s%s = %s\n", secret ? "" : SECRET, settings[i].name, settings[i].preset);
        if (secret)
            assert_int_equal(load(text), ST_INVALID);
        else if (load(text) != ST_OK)
            fail_msg("%s", error);
    }
}

TEST(a_changed_file_has_another_digest)
{
    assert_int_equal(load(SECRET), ST_OK);
    const uint64_t digest = config.file_digest;
    assert_int_equal(load(SECRET "demo = on\n"), ST_OK);
    assert_int_not_equal(config.file_digest, digest);
    assert_int_equal(load(SECRET), ST_OK);
    assert_int_equal(config.file_digest, digest);
    folder_write("page.conf", "");
    (void)snprintf(config.rights_dir, sizeof config.rights_dir, "%s", folder);
    assert_int_equal(config_role(&config, "page", error, sizeof error), ST_OK);
    assert_int_equal(config.file_digest, digest); /* of the file of all processes */
    folder_remove("page.conf");
}

/* The way in which `hongbao trace` reads it, for a user who may not read the secret. */
TEST_WITH(without_the_secret_what_can_be_read_is_read, NULL, environment_clear)
{
    assert_int_equal(load("secret_file = /nowhere/secret\ncommand_dir = /folder\npartitions = many\nnone = 1\n"),
                     ST_INVALID);
    config_defaults(&config);
    config_load_unchecked(&config, path);
    assert_string_equal(config.command_dir, "/folder");
    assert_int_equal(config.partitions, 16);
    environment_set("HB_COMMAND_DIR", "/other");
    config_load_unchecked(&config, "/nowhere/hongbao.conf");
    assert_string_equal(config.command_dir, "/other");
}

TEST(a_file_sets_what_it_names_behind_the_mark_of_utf8)
{
    assert_int_equal(load("# an instance\n"
                          "\n"
                          "  partitions=32\n"
                          "packet_lifetime_ms   =   4000   # tests are in a hurry\n" SECRET "demo = on\n"
                          "redis_password = a#b = c\t# the rest is a comment\n"
                          "base_url = https://hongbao.example\r\n"
                          "timezone = Europe/Berlin"),
                     ST_OK);
    assert_ints({ config.partitions, 32 }, { config.packet_lifetime_ms, 4000 }, { config.demo, true },
                { config.settle_batch, 8000 } /* not named: as before */);
    assert_string_equal(config.redis_password, "a#b = c");
    assert_string_equal(config.base_url, "https://hongbao.example");
    assert_string_equal(config.timezone, "Europe/Berlin");
    /* Some editors write the mark EF BB BF before UTF-8. Only the start of a file may have it. */
    assert_int_equal(load("\xef\xbb\xbf" SECRET "\xef\xbb\xbf"
                          "demo = on\n"),
                     ST_INVALID);
    assert_non_null(strstr(error, ":2: there is no such setting: "));
    assert_int_equal(load("\xef\xbb\xbf"
                          "demo = on\r\n" SECRET),
                     ST_OK);
    assert_true(config.demo);
}

TEST_WITH(all_mistakes_are_told_a_line_each_with_file_and_line_and_without_values, NULL, environment_clear)
{
    assert_refused("\n\nparttions = 16\n", 3, "there is no such setting: parttions; did you mean partitions?");
    assert_refused("Partitions = 16\n", 1, "there is no such setting: Partitions; did you mean partitions?");
    assert_refused("HB_PARTITIONS = 16\n", 1, "there is no such setting: HB_PARTITIONS; did you mean partitions?");
    assert_refused("lucky_number = 7\n", 1, "there is no such setting: lucky_number");
    assert_refused("\x8d\x1b[2J = 1\n", 1, "there is no such setting: ??[2J");
    assert_refused(" = 16\n", 1, "expected name = value");
    assert_refused("partitions\n", 1, "expected name = value");
    assert_refused("partitions # = 16\n", 1, "expected name = value");
    assert_refused("[stores]\n", 1, "expected name = value");
    assert_refused("partitions = 16\n# again\npartitions = 16\n", 3, "partitions is set twice");
    (void)environment_clear(NULL);
    char want[2048];
    environment_set("HB_DEMO", "yes");
    assert_int_equal(load("partitions = 0\nreload\nsecret = short\nshare_fen_max = 200\npacket_fen_max = 100\n"),
                     ST_INVALID);
    snprintf(want, sizeof want,
             "%1$s:1: partitions must be from 1 to 100\n%1$s:2: expected name = value\n"
             "%1$s:3: secret must have from 32 to 255 bytes\nHB_DEMO: demo must be on or off\n"
             "%1$s: share_fen_max must not be above packet_fen_max",
             path);
    assert_string_equal(error, want);
    (void)environment_clear(NULL);
    assert_int_equal(load("partitions = 0\nreload\n"), ST_INVALID); /* writes the file */
    assert_non_null(strchr(error, '\n'));
    config_defaults(&config);
    error[0] = '\0';
    assert_int_equal(config_load(&config, path, NULL, error, strlen(path) + 50), ST_INVALID);
    assert_null(strchr(error, '\n'));
    assert_non_null(strstr(error, ":1: "));
    EACH_TEXT (text, "redis_password = hunter2\x01\n", "redis_pasword = hunter2\n")
        assert_of(text, load(text) == ST_INVALID && strstr(error, "hunter2") == NULL);
}

TEST_WITH(bad_numbers_and_switches_and_numbers_beyond_either_end_are_refused, NULL, environment_clear)
{
    EACH_TEXT (word, "", "x", "1.5", "0x10", "1e2", "016", "+16", "16s", "1_000", "１６", "99999999999999999999",
               "- 1") {
        char text[128];
        snprintf(text, sizeof text, "partitions = %s\n", word);
        assert_refused(text, 1, "partitions must be a whole number");
    }
    size_t count;
    const struct config_setting *settings = config_settings(&count);
    for (size_t i = 0; i < count; i++) {
        const struct config_setting *s = &settings[i];
        for (int end = 0; s->type == CONFIG_INT && end < 2; end++) {
            char text[128], words[128];
            snprintf(text, sizeof text, "%s = %lld\n", s->name, (long long)(end ? s->max + 1 : s->min - 1));
            snprintf(words, sizeof words, "%s must be from %lld to %lld", s->name, (long long)s->min,
                     (long long)s->max);
            assert_refused(text, 1, words);
        }
    }
    assert_refused("demo = yes\n", 1, "demo must be on or off");
    assert_refused("demo = 1\n", 1, "demo must be on or off");
    assert_refused("reload =\n", 1, "reload must be on or off");
}

TEST(amounts_are_limited_to_what_can_be_typed)
{
    int64_t fen = 0;
    assert_true(typed_amount(STR("9999999.99"), &fen));
    assert_int_equal(load(SECRET "packet_fen_max = 999999999\nshare_fen_max = 999999999\n"), ST_OK);
    assert_int_equal(config.packet_fen_max, fen);
}

TEST(the_symbol_and_names_of_the_unit_are_visible_and_as_forms_read_them)
{
    char text[256];
    EACH_TEXT (sign, "HK$", "港元", "Hong Kong dollars", "\U0001F9E7", "₿", "%s", "₹", "￥", "") {
        snprintf(text, sizeof text, SECRET "unit_symbol = %s\n", sign);
        if (load(text) != ST_OK)
            fail_msg("%s: %s", sign, error);
        assert_string_equal(config.unit_symbol, sign);
    }
    EACH_TEXT (sign, "&", "<b>", "\"", "'", "{{x}}", "a~b", "kr.", "5c", "＄", "a  b", "\u00a0x", "\u200f\ufdfc",
               "a\u202eb", "\xc2\x85", "a\u2028b", "\ufffe", "\u0301") {
        snprintf(text, sizeof text, "unit_symbol = %s\n", sign);
        assert_refused(text, 1,
                       "unit_symbol must be one line of visible text as people type it, without digits, marks and "
                       "blanks around it");
    }
}

TEST_WITH(bad_texts_are_refused_and_texts_may_be_emptied_where_that_means_something, NULL, environment_clear)
{
    char text[512];
    assert_refused("base_url = https://红包.example:8443\n", 1,
                   "base_url: its host must be written in ASCII: https://xn--uirv82h.example:8443");
    assert_refused("base_url = https://x/y\n", 1,
                   "base_url: it must end after the host or its port: a path is not supported");
    assert_refused("timezone = Mars/Olympus\n", 1,
                   "timezone must be a name of the system's tz database, none below right/");
    EACH_TEXT (lifetime, "24 h", "1h  24h", "1h,24h", "0s", "31d", "24") {
        snprintf(text, sizeof text, "packet_lifetimes = %s\n", lifetime);
        assert_refused(text, 1,
                       "packet_lifetimes must be spans such as 90s, 5m, 24h or 7d with a blank between them, each at "
                       "most 30d");
    }
    EACH_TEXT (days, "2026-1-1", "2026-01-01,2027-01-01", "2027-01-01 2026-01-01", "2026-01-01 2026-01-01",
               "2026-01-01  2027-01-01") {
        snprintf(text, sizeof text, "receipt_key_days = %s\n", days);
        assert_refused(text, 1,
                       "receipt_key_days must be days like 2026-01-01 in ascending order, with one blank between two");
    }
    assert_refused("secret = short\n", 1, "secret must have from 32 to 255 bytes");
    assert_refused("mysql_user = a\x1b[2Jb\n", 1, "mysql_user must not have control characters");
    assert_refused("mysql_user = \xff\n", 1, "mysql_user must be UTF-8 text");
    snprintf(text, sizeof text, "redis_socket = /%0200d\n", 1);
    assert_refused(text, 1, "redis_socket must have from 1 to 107 bytes");
    snprintf(text, sizeof text, "redis_password = %0256d\n", 1);
    assert_refused(text, 1, "redis_password must have from 0 to 255 bytes");
    snprintf(text, sizeof text, SECRET "redis_password = %0255d\n", 1);
    assert_int_equal(load(text), ST_OK);
    assert_int_equal(load_bytes("mysql_user = a\0b\n", 17), ST_INVALID);
    assert_int_equal(load_bytes("\0\n", 2), ST_INVALID);
    assert_int_equal(load(SECRET "mysql_user =\nmysql_password = # none\n"), ST_OK);
    assert_string_equal(config.mysql_user, "");
    assert_string_equal(config.mysql_password, "");
    assert_refused("redis_socket =\n", 1, "redis_socket must have from 1 to 107 bytes");
}

TEST_WITH(the_stores_have_lists_of_addresses, NULL, environment_clear)
{
    assert_int_equal(load(SECRET), ST_OK);
    assert_false(config_stores_by_tcp(&config));
    assert_int_equal(load(SECRET "redis = unix:/run/a b.sock, unix:/run/c\nmysql = unix:/run/d\n"), ST_OK);
    assert_string_equal(config.redis, "unix:/run/a b.sock, unix:/run/c");
    assert_string_equal(config.mysql, "unix:/run/d");
    assert_false(config_stores_by_tcp(&config));
    assert_int_equal(load(SECRET "redis = unix:/run/c, db-1:6379\n"), ST_OK);
    assert_true(config_stores_by_tcp(&config));
    assert_int_equal(load(SECRET "mysql = [::1]:3306\n"), ST_OK);
    assert_true(config_stores_by_tcp(&config));
    assert_refused("redis = /run/redis.sock\n", 1, "redis: the path of a Unix socket is written unix:PATH");
    assert_refused("mysql = db-1:3306, db-2\n", 1,
                   "mysql: an address is unix:PATH or HOST:PORT, and this one has no port");
}

/* The configuration of an earlier version is understood. */
TEST_WITH(a_socket_may_be_set_by_its_older_name, NULL, environment_clear)
{
    char text[256];
    assert_int_equal(load(SECRET "redis_socket = /run/r.sock\nmysql_socket = m.sock\n"), ST_OK);
    assert_string_equal(config.redis, "unix:/run/r.sock");
    assert_string_equal(config.mysql, "unix:m.sock");
    environment_set("HB_REDIS_SOCKET", "/run/env.sock");
    assert_int_equal(load(SECRET "redis = db-1:6379\n"), ST_OK);
    assert_string_equal(config.redis, "unix:/run/env.sock");
    environment_set("HB_REDIS", "db-1:6379");
    assert_failed(load(SECRET), "HB_REDIS_SOCKET: redis and redis_socket are the same setting; only one may be set");
    assert_int_equal(unsetenv("HB_REDIS_SOCKET"), 0);
    assert_int_equal(unsetenv("HB_REDIS"), 0);
    assert_refused("redis_socket = /a\nredis_socket = /a\n", 2, "redis_socket is set twice");
    assert_refused("redis_socket = /a\nredis = unix:/a\n", 2,
                   "redis and redis_socket are the same setting; only one may be set");
    assert_refused("mysql = unix:/a\nmysql_socket = /a\n", 2,
                   "mysql and mysql_socket are the same setting; only one may be set");
    assert_refused("redis_soket = /a\n", 1, "there is no such setting: redis_soket; did you mean redis_socket?");
    snprintf(text, sizeof text, SECRET "mysql_socket = /%0106d\n", 1);
    assert_int_equal(load(text), ST_OK);
    snprintf(text, sizeof text, "mysql_socket = /%0107d\n", 1);
    assert_refused(text, 1, "mysql_socket must have from 1 to 107 bytes");
}

TEST(without_a_secret_or_a_file_that_can_be_read_the_message_says_so)
{
    assert_int_equal(load("partitions = 16\n"), ST_INVALID);
    assert_non_null(strstr(error, "secret must be set"));
    config_defaults(&config);
    assert_failed(config_load(&config, NULL, "page", error, sizeof error), "not set up yet: run hongbao setup");
    config_defaults(&config);
    assert_failed(config_load_without_secret(&config, NULL, error, sizeof error), "not set up yet: run hongbao setup");
    config_defaults(&config);
    assert_failed(config_load(&config, "/nonexistent/hongbao.conf", NULL, error, sizeof error),
                  "/nonexistent/hongbao.conf: No such file or directory");
    assert_failed(config_load(&config, "/tmp", NULL, error, sizeof error), "/tmp: Is a directory");
}

/* Loads a configuration whose secret_file is the file "secret", with the text in it. */
static enum status load_secret(const char *settings, const char *text)
{
    char whole[512];
    folder_write("secret", text);
    (void)snprintf(whole, sizeof whole, "%ssecret_file = %s\n", settings, folder_path("secret"));
    return load(whole);
}

TEST(the_secret_may_be_in_a_file_of_its_own_which_is_read_later)
{
    assert_int_equal(load_secret("", SECRET_TEXT "\n"), ST_OK);
    assert_string_equal(config.secret, SECRET_TEXT);
    assert_failed_in(load_secret(SECRET, SECRET_TEXT "\n"),
                     "secret: secret and secret_file are both set; only one may be");
    assert_failed_in(load_secret("", "short\n"), "secret: secret must have from 32 to 255 bytes");
    assert_failed_in(load_secret("", ""), "secret: the file is empty");
    assert_failed(load("secret_file = /nonexistent/secret\n"), "/nonexistent/secret: No such file or directory");
    assert_int_equal(load("partitions = 32\nsecret_file = /nonexistent/secret\n"), ST_INVALID);
    config_defaults(&config);
    assert_int_equal(config_load_without_secret(&config, path, error, sizeof error), ST_OK);
    assert_int_equal(config.partitions, 32);
    assert_failed(config_secret_read(&config, error, sizeof error), "/nonexistent/secret: No such file or directory");
    assert_string_equal(config.secret, "");
    config.secret_file[0] = '\0';
    assert_int_equal(config_secret_read(&config, error, sizeof error), ST_INVALID);
    assert_non_null(strstr(error, "secret must be set"));
    memcpy(config.secret, SECRET_TEXT, 33);
    assert_int_equal(config_secret_read(&config, error, sizeof error), ST_OK);
}

TEST(settings_that_contradict_each_other_are_refused)
{
    static const char *const refused[][2] = {
        { "share_fen_max = 200\npacket_fen_max = 100\n", "share_fen_max must not be above packet_fen_max" },
        { "session_idle_s = 200\nsession_absolute_s = 100\n", "session_idle_s must not be above session_absolute_s" },
        { "mysql_tls = on\n", "mysql_tls = on needs mysql_tls_ca" },
        { "mysql_tls_cert = /c.pem\n", "mysql_tls_cert and mysql_tls_key need each other" },
        { "mysql_tls_key = /c.key\n", "mysql_tls_cert and mysql_tls_key need each other" },
        { "oidc_issuer = https://id.example.com\noidc_name = x\n", "oidc_issuer needs oidc_client_id and oidc_name" },
    };
    for (size_t i = 0; i < ARRAY_LEN(refused); i++) {
        char text[256];
        (void)snprintf(text, sizeof text, SECRET "%s", refused[i][0]);
        if (load(text) != ST_INVALID || strstr(error, refused[i][1]) == NULL)
            fail_msg("%s: %s", refused[i][0], error);
    }
    assert_int_equal(load(SECRET "mysql_tls = on\nmysql_tls_ca = /a.pem\nmysql_tls_cert = /c\nmysql_tls_key = /k\n"),
                     ST_OK);
}

TEST_WITH(the_environment_wins_over_file_and_role_and_a_bad_variable_is_named, NULL, environment_clear)
{
    environment_set("HB_PARTITIONS", "64");
    environment_set("HB_DEMO", "off");
    environment_set("HB_REDIS_PASSWORD", "");
    environment_set("HB_NOT_A_SETTING", "fine");
    assert_int_equal(load(SECRET "partitions = 32\ndemo = on\nredis_password = x\n"), ST_OK);
    assert_int_equal(config.partitions, 64);
    assert_false(config.demo);
    assert_string_equal(config.redis_password, "");
    assert_int_equal(unsetenv("HB_NOT_A_SETTING"), 0);
    environment_set("HB_MYSQL_USER", "other");
    folder_write("role.conf", "mysql_user = one\n");
    assert_int_equal(load_role("role", SECRET), ST_OK);
    assert_string_equal(config.mysql_user, "other");
    environment_set("HB_SECRET", SECRET_TEXT);
    config_defaults(&config);
    assert_int_equal(config_load(&config, NULL, NULL, error, sizeof error), ST_OK);
    environment_set("HB_PACKET_LIFETIME_MS", "4s");
    assert_failed(load(SECRET), "HB_PACKET_LIFETIME_MS: packet_lifetime_ms must be a whole number");
}

TEST(a_role_has_the_users_of_its_file_and_is_nobody_without_it)
{
    const char *text = SECRET "mysql_user = everybody\nmysql_database = money\n";
    folder_write("role.conf", "mysql_user = one\nredis_user = two\n");
    assert_int_equal(load_role("role", text), ST_OK);
    assert_string_equal(config.mysql_user, "one");
    assert_string_equal(config.redis_user, "two");
    assert_string_equal(config.mysql_database, "money");
    assert_int_equal(load_role(NULL, text), ST_OK);
    assert_string_equal(config.mysql_user, "everybody");
    assert_failed_in(load_role("no-such-role", SECRET "mysql_user = everybody\n"),
                     "no-such-role.conf: No such file or directory");
    folder_write("role.conf", "mysql_uzer = one\n");
    assert_failed_in(load_role("role", SECRET),
                     "role.conf:1: there is no such setting: mysql_uzer; did you mean mysql_user?");
}

/* Loads the configuration of the role card, which has these keys and no secret. */
static enum status load_keys(const char *keys)
{
    folder_write("card.keys", keys);
    folder_write("card.conf", "");
    return load_role("card", "secret_file = /nonexistent/secret\n");
}

#define HEX "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"

TEST(a_pool_has_keys_that_it_can_use_instead_of_the_secret)
{
    assert_int_equal(load_keys("# a comment\n\nids = " HEX "\n"), ST_OK);
    assert_int_equal(keys_get(&config.keys, KEY_IDS)->bytes[1], 0x11);
    assert_false(config.keys.has[KEY_SCREENS] || config.keys.has[KEY_BEFORE]);
    assert_string_equal(config.secret, "");
    /* When there is another mistake, the unreadable secret is not reported. */
    environment_set("HB_PARTITIONS", "many");
    assert_failed(load_keys("ids = " HEX "\n"), "HB_PARTITIONS: partitions must be a whole number");
    assert_int_equal(unsetenv("HB_PARTITIONS"), 0);
    assert_failed_in(load_keys(""), "card.keys: it lacks the key ids; run hongbao setup");
    assert_failed_in(load_keys("screens = " HEX "\n"), "card.keys: it lacks the key ids; run hongbao setup");
    assert_failed_in(load_keys("ids = 00\n"), "card.keys:1: a key has 64 hex digits");
    assert_failed_in(load_keys("\nids\n"), "card.keys:2: a key has 64 hex digits");
    assert_failed_in(load_keys("ids = " HEX "\nids = " HEX "\n"), "card.keys:2: the key is there twice");
    assert_failed_in(load_keys("secret = " HEX "\n"), "card.keys:1: there is no such key");
}

/* So a process with the secret in its environment, as in the version before, keeps working. */
TEST(a_secret_of_the_environment_wins_over_the_keys)
{
    environment_set("HB_SECRET", SECRET_TEXT);
    environment_set("HB_SECRET_FILE", "");
    assert_int_equal(load_keys("ids = " HEX "\n"), ST_OK);
    assert_int_not_equal(keys_get(&config.keys, KEY_IDS)->bytes[1], 0x11);
    assert_true(config.keys.has[KEY_BEFORE]); /* older_keys is on */
    environment_set("HB_OLDER_KEYS", "off");
    assert_int_equal(load_keys("ids = " HEX "\n"), ST_OK);
    assert_false(config.keys.has[KEY_BEFORE]);
}

TESTS(setup, folder_teardown)
