#include "config/config.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/money.h"
#include "base/str.h"
#include "config/address.h"
#include "config/file_internal.h"

#define SETUP_MADE "/var/lib/hongbao/made" /* what `hongbao setup` has written: SUMS of deploy/commands/setup.sh */

enum { SECRET_BYTES_MIN = CONFIG_SECRET_BYTES_MIN, ROLE_PATH_MAX = 2 * CONFIG_TEXT_MAX };

enum registration config_registration(const struct config *c)
{
    return strcmp(c->registration, "open") == 0     ? REGISTRATION_OPEN
           : strcmp(c->registration, "invite") == 0 ? REGISTRATION_INVITE
                                                    : REGISTRATION_CLOSED;
}

bool config_users_invite(const struct config *c)
{
    return config_registration(c) != REGISTRATION_CLOSED && c->user_invitations_max > 0;
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

void config_defaults(struct config *c)
{
    char text[CONFIG_TEXT_MAX];
    struct mistakes none = { .text = text, .size = sizeof text };
    const struct source from = { .mistakes = &none };

    memset(c, 0, sizeof *c);
    size_t count;
    const struct config_setting *all = config_settings(&count);
    for (size_t i = 0; i < count; i++) {
        const struct config_setting *s = &all[i];
        if (s->type == CONFIG_TEXT) /* not checked: the default zone may be missing, and the secret is empty */
            memcpy((char *)c + s->offset, s->preset, strlen(s->preset) + 1);
        else if (config_setting_set(c, s, str_from(s->preset), &from) != ST_OK)
            assert(false);
    }
}

/* The number of the setting in the table. */
static size_t setting_no(const char *name)
{
    size_t i = 0, count;
    const struct config_setting *all = config_settings(&count);
    while (i < count && strcmp(all[i].name, name) != 0)
        i++;
    assert(i < count);
    return i;
}

/* Reads the secret from the first line of secret_file. */
static enum status secret_file_read(struct config *c, struct mistakes *mistakes)
{
    const struct source from = { .file = c->secret_file, .mistakes = mistakes };
    const size_t secret = setting_no("secret");
    size_t count;
    char line[2 * CONFIG_TEXT_MAX];
    if (c->secret[0])
        return config_refuse(&from, "secret and secret_file are both set; only one may be");
    FILE *file = fopen(c->secret_file, "re");
    bool read = file != NULL && (errno = 0, fgets(line, sizeof line, file) != NULL);
    enum status st = read ? config_setting_set(c, &config_settings(&count)[secret], str_trim(str_from(line)), &from)
                          : config_refuse(&from, "%s", errno != 0 ? strerror(errno) : "the file is empty");
    mistakes->refused[secret] |= !read;
    if (file != NULL)
        fclose(file);
    return st;
}

/* Reads the secret and checks it. A refused value already has its message. path: of the configuration. */
static enum status secret_read(struct config *c, const char *path, struct mistakes *mistakes)
{
    const struct source from = { .file = path, .mistakes = mistakes };
    if (c->secret_file[0] != '\0' && secret_file_read(c, mistakes) != ST_OK)
        return ST_INVALID;
    keys_derive(str_from(c->secret), c->older_keys, &c->keys);
    if (strlen(c->secret) >= SECRET_BYTES_MIN || mistakes->refused[setting_no("secret")])
        return ST_OK;
    return config_refuse(&from, "secret must be set to at least %d bytes", (int)SECRET_BYTES_MIN);
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
    return mistake == NULL ? ST_OK : config_refuse(from, "%s", mistake);
}

/* Reads rights_dir/ROLE.keys. *no_secret: the role does not need the secret, because it has this file or needs no key.
 * False: the secret must be read, also when the environment sets it, which wins. */
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
        return !*no_secret || set == 0 ? ST_OK : config_refuse(&from, "%s", strerror(errno));
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
    return st == ST_OK && lacks != NULL ? config_refuse(&from, "it lacks the key %s; run hongbao setup", lacks) : st;
}

/* Checks the rules between settings, and the time zone, whose default may be missing. */
static enum status whole_check(const struct config *c, const struct source *from)
{
    enum status st = ST_OK;
    if (!clock_zone_known(c->timezone))
        st = config_refuse(from, "timezone must be a name of the system's tz database (is tzdata installed?)");
    if (c->mysql_tls && c->mysql_tls_ca[0] == '\0')
        st = config_refuse(from, "mysql_tls = on needs mysql_tls_ca, the certificates that sign the servers'");
    if ((c->mysql_tls_cert[0] == '\0') != (c->mysql_tls_key[0] == '\0'))
        st = config_refuse(from, "mysql_tls_cert and mysql_tls_key need each other");
    if (strcmp(c->unit, "CNY") != 0 && (strcmp(c->unit_name_zh, "元") == 0 || strcmp(c->unit_name_en, "yuan") == 0 ||
                                        (strcmp(c->unit_symbol, "¥") == 0 && strcmp(c->unit, "JPY") != 0)))
        st = config_refuse(from, "unit = %s needs unit_symbol, unit_name_zh and unit_name_en of its own", c->unit);
    if (c->oidc_issuer[0] != '\0' && (c->oidc_client_id[0] == '\0' || c->oidc_name[0] == '\0'))
        st = config_refuse(from, "oidc_issuer needs oidc_client_id and oidc_name");
    if (c->share_fen_max > c->packet_fen_max)
        st = config_refuse(from, "share_fen_max must not be above packet_fen_max");
    if (c->terms_url[0] != '\0' && c->terms_version[0] == '\0')
        st = config_refuse(from, "terms_url needs terms_version, such as the day of the terms");
    if (c->session_idle_s > c->session_absolute_s)
        st = config_refuse(from, "session_idle_s must not be above session_absolute_s");
    return st;
}

/* Reads the role's file over the settings of all roles. */
static enum status role_read(struct config *c, const char *role, struct mistakes *mistakes)
{
    char path[2 * CONFIG_TEXT_MAX];
    int len = snprintf(path, sizeof path, "%s/%s.conf", c->rights_dir, role);

    assert(len > 0 && (size_t)len < sizeof path);
    return config_file_read(c, path, NULL, mistakes);
}

/* The role's file, and the environment again, which wins over it. */
static enum status role_and_environment_read(struct config *c, const char *role, struct mistakes *mistakes)
{
    enum status st = c->rights_dir[0] != '\0' ? role_read(c, role, mistakes) : ST_OK;
    if (st == ST_OK)
        st = config_environment_read(c, mistakes);
    return st == ST_UNAVAILABLE ? ST_INVALID : st;
}

enum status config_role(struct config *c, const char *role, char *error, size_t error_size)
{
    struct mistakes mistakes = { .text = error, .size = error_size };
    return role_and_environment_read(c, role, &mistakes);
}

void config_unit_set(const struct config *c)
{
    money_unit_set(&(struct money_unit){ .code = c->unit,
                                         .symbol = c->unit_symbol,
                                         .name_zh = c->unit_name_zh,
                                         .name_en = c->unit_name_en,
                                         .decimals = (int)c->unit_decimals });
}

void config_load_unchecked(struct config *c, const char *path)
{
    char passed_over[1];
    struct mistakes mistakes = { .text = passed_over, .size = sizeof passed_over };
    if (path != NULL)
        (void)config_file_read(c, path, NULL, &mistakes);
    (void)config_environment_read(c, &mistakes);
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

/* True when `hongbao setup` has not run yet: no setting gives a secret, or CONFIG_FILE names a secret_file that setup
 * has not made. */
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

/* What a configuration must have for config_load to accept it. */
enum load_need { NEED_NOTHING, NEED_SETUP, NEED_SECRET };

static enum status load(struct config *c, const char *path, const char *role, enum load_need need,
                        struct mistakes *mistakes)
{
    const bool with_secret = need == NEED_SECRET;
    enum status st = path != NULL ? config_file_read(c, path, &c->file_digest, mistakes) : ST_OK;

    if (st == ST_UNAVAILABLE || st == ST_NO_MEMORY)
        return st == ST_UNAVAILABLE ? ST_INVALID : st;
    if (path != NULL)
        (void)snprintf(c->file, sizeof c->file, "%s", path);
    if (config_environment_read(c, mistakes) != ST_OK)
        st = ST_INVALID;
    if (st == ST_OK && need != NEED_NOTHING && is_not_set_up(c, path, role))
        return config_refuse(&(struct source){ .mistakes = mistakes }, "not set up yet: run hongbao setup");
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
