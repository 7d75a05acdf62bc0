/* Settings: built-in defaults, then a file of `name = value` lines, then the file of the process's role (its
 * users in both stores), then the environment (HB_NAME in capitals; other HB_ variables are ignored). The secret may be
 * in a file of its own; a role that serves gets its keys (base/keys.h) in ROLE.keys instead.
 * `#` starts a comment at the start of a line or behind a blank. An unknown or repeated name, a bad value or a value
 * out of its range is refused with file and line: no process starts on a configuration that is only partly understood.
 * config/settings.h is the table of all settings. */
#ifndef HB_CONFIG_CONFIG_H
#define HB_CONFIG_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/keys.h"
#include "base/status.h"
#include "base/str.h"

#define CONFIG_TEXT_MAX 256

enum { CONFIG_PARTITIONS_MAX = 100, CONFIG_SECRET_BYTES_MIN = 32 };

struct config {
    char file[CONFIG_TEXT_MAX]; /* the path from which it was read; empty: none. No setting */
    struct keys keys;           /* of the role's file, else derived from the secret. No setting */
    const char *version;        /* of the program, borrowed; NULL: a test. No setting */
    uint64_t file_digest;       /* a part of the SHA-256 of that file's text; 0: there is none. No setting */

    /* stores */
    char redis[CONFIG_TEXT_MAX];      /* addresses (config/address.h) */
    char redis_user[CONFIG_TEXT_MAX]; /* empty: no AUTH */
    char redis_password[CONFIG_TEXT_MAX];
    char mysql[CONFIG_TEXT_MAX]; /* addresses */
    bool mysql_tls;              /* over TCP: a server without TLS, or with another host's certificate, is refused */
    char mysql_tls_ca[CONFIG_TEXT_MAX];
    char mysql_tls_cert[CONFIG_TEXT_MAX];
    char mysql_tls_key[CONFIG_TEXT_MAX];
    char mysql_user[CONFIG_TEXT_MAX];
    char mysql_password[CONFIG_TEXT_MAX];
    char mysql_database[CONFIG_TEXT_MAX];
    char redis_replicas[CONFIG_TEXT_MAX]; /* auto, or a number */
    int64_t redis_replicas_timeout_ms;
    int64_t redis_timeout_ms;         /* one pipeline round, write to last reply */
    int64_t mysql_timeout_s;          /* for each connect, read and write */
    int64_t partitions;               /* fixed for the life of the data; from 1 */
    char rights_dir[CONFIG_TEXT_MAX]; /* has ROLE.conf, each role's users in both stores, and ROLE.keys; empty: none */

    /* folders of the installation */
    char template_dir[CONFIG_TEXT_MAX];
    char lua_dir[CONFIG_TEXT_MAX];
    char sql_dir[CONFIG_TEXT_MAX];
    char static_dir[CONFIG_TEXT_MAX];
    char command_dir[CONFIG_TEXT_MAX];      /* scripts of commands (commands/script.h) */
    int64_t ready_lag_s;                    /* /readyz fails when settlement is further behind */
    char metrics_file[CONFIG_TEXT_MAX];     /* shared counters of all processes */
    char nginx_counts_dir[CONFIG_TEXT_MAX]; /* folder with the counts of nginx's limits (site/nginx_counts.h) */
    char backup_record[CONFIG_TEXT_MAX];    /* the last backups (audit/backup_record.h); empty: none are noted */

    /* site */
    char base_url[CONFIG_TEXT_MAX];    /* "http://127.0.0.1:8080": links, QR codes, cookie prefix; no trailing / */
    char secret[CONFIG_TEXT_MAX];      /* ≥ 32 characters; keys the MAC of packet ids */
    char secret_file[CONFIG_TEXT_MAX]; /* a file whose only line is the secret; empty: none */
    bool older_keys;                   /* also accept what earlier versions made with the secret itself */
    char timezone[CONFIG_TEXT_MAX];
    /* the unit of money (base/money.h) */
    char unit[CONFIG_TEXT_MAX];
    int64_t unit_decimals;
    char unit_symbol[CONFIG_TEXT_MAX]; /* empty: none */
    char unit_name_zh[CONFIG_TEXT_MAX];
    char unit_name_en[CONFIG_TEXT_MAX];
    char security_contact[CONFIG_TEXT_MAX]; /* a URI; empty: none */
    bool demo;                              /* demo deposits, `hongbao demo` */
    bool sandbox;
    bool reload; /* templates are compiled anew when a file changed (./dev run) */
    int64_t body_bytes_max;

    /* packets */
    int64_t share_fen_max;
    int64_t packet_fen_max;
    int64_t packet_shares_max;
    int64_t packet_lifetime_ms; /* 24 h; tests shorten it */
    /* other lifetimes that a sender can choose: spans (clock_span) between blanks */
    char packet_lifetimes[CONFIG_TEXT_MAX];
    int64_t packet_grace_ms; /* closed packets stay in Redis this long */
    int64_t greeting_graphemes_max;
    int64_t deposit_fen_max; /* one demo deposit */

    /* caps of a user for one day of the site (packet/caps.h); 0: none */
    bool sending; /* off: nobody can send a packet */
    int64_t user_send_day_fen;
    int64_t user_send_day_count;
    int64_t user_receive_day_fen;

    /* who may come in (docs/how-to/door.md) */
    char registration[CONFIG_TEXT_MAX]; /* open, invite or closed: config_registration */
    int64_t user_invitations_max;       /* used and open ones of a user; 0: users make none */
    int64_t invitation_days;            /* from its making to its expiry */
    bool password_login;
    char terms_url[CONFIG_TEXT_MAX]; /* empty: no terms */
    char terms_version[CONFIG_TEXT_MAX];

    /* receipts (packet/receipt_keys.h) */
    /* a new key signs from each day on; ascending, UTC: "2026-01-01 2027-01-01" */
    char receipt_key_days[CONFIG_TEXT_MAX];
    char receipt_keys_file[CONFIG_TEXT_MAX]; /* public keys of earlier secrets; empty: none */

    /* sessions */
    int64_t session_idle_s;
    int64_t session_absolute_s;
    int64_t sessions_max; /* of a user; one more ends the oldest */
    int64_t passkeys_max; /* of a user */

    /* the login by an issuer, OpenID Connect (config/issuer.h); oidc_issuer empty: there is none */
    char oidc_issuer[CONFIG_TEXT_MAX]; /* its identifier, to the letter: "https://id.example.com/realms/staff" */
    char oidc_client_id[CONFIG_TEXT_MAX];
    char oidc_client_secret_file[CONFIG_TEXT_MAX]; /* a file whose first line is the secret; empty: none */
    char oidc_scopes[CONFIG_TEXT_MAX];             /* with one blank between two */
    char oidc_name[CONFIG_TEXT_MAX];               /* how people call the account there */
    char oidc_username_claim[CONFIG_TEXT_MAX];     /* proposes the username; empty: none does */
    /* lists with commas between the entries (issuer_list_next) */
    char oidc_domains[CONFIG_TEXT_MAX]; /* of e-mail addresses that may log in; empty: all */
    char oidc_groups_claim[CONFIG_TEXT_MAX];
    char oidc_groups[CONFIG_TEXT_MAX]; /* one of which must be in that claim; empty: all may log in */
    char oidc_hosts[CONFIG_TEXT_MAX];  /* that its endpoints may have besides its own */

    /* limits (web/limits.h), each a rate (config/rate.h) */
    bool limits; /* off: none of them applies */
    char limit_send[CONFIG_TEXT_MAX];
    char limit_send_address[CONFIG_TEXT_MAX];
    char limit_deposit[CONFIG_TEXT_MAX];
    char limit_export[CONFIG_TEXT_MAX];
    char limit_export_address[CONFIG_TEXT_MAX];
    char limit_read[CONFIG_TEXT_MAX];
    char limit_cold_address[CONFIG_TEXT_MAX];
    char limit_search_address[CONFIG_TEXT_MAX];
    char limit_names[CONFIG_TEXT_MAX];
    char limit_names_address[CONFIG_TEXT_MAX];
    char limit_card[CONFIG_TEXT_MAX];
    char limit_picture[CONFIG_TEXT_MAX];
    char limit_register_address[CONFIG_TEXT_MAX];
    char limit_register_network[CONFIG_TEXT_MAX];
    char limit_invitation_address[CONFIG_TEXT_MAX];
    char limit_invitation_network[CONFIG_TEXT_MAX];
    char limit_passkey_address[CONFIG_TEXT_MAX];
    char limit_passkey_network[CONFIG_TEXT_MAX];
    char limit_oidc_address[CONFIG_TEXT_MAX];
    char limit_oidc_network[CONFIG_TEXT_MAX];
    char limit_password[CONFIG_TEXT_MAX];
    char limit_confirm[CONFIG_TEXT_MAX];
    char limit_recovery_make[CONFIG_TEXT_MAX];
    char limit_recovery_code[CONFIG_TEXT_MAX];
    char limit_recovery_address[CONFIG_TEXT_MAX];
    char limit_recovery_network[CONFIG_TEXT_MAX];
    char limit_login_device[CONFIG_TEXT_MAX];
    char limit_login_account[CONFIG_TEXT_MAX];
    char limit_login_new[CONFIG_TEXT_MAX];
    char limit_login_address[CONFIG_TEXT_MAX];
    char limit_login_network[CONFIG_TEXT_MAX];
    char limit_hash_address[CONFIG_TEXT_MAX];
    char limit_hash_network[CONFIG_TEXT_MAX];
    char limit_hash_site[CONFIG_TEXT_MAX];

    /* settle worker */
    int64_t settle_interval_ms; /* pause when all streams were empty */
    int64_t settle_batch;       /* events per transaction, at most */
};

/* The file that is read when none is named and it exists. */
#define CONFIG_FILE "/etc/hongbao/hongbao.conf"

/* True when a list of addresses of c is not only Unix sockets. c was loaded. */
bool config_stores_by_tcp(const struct config *c);

/* Who may register. */
enum registration { REGISTRATION_OPEN, REGISTRATION_INVITE, REGISTRATION_CLOSED };
enum registration config_registration(const struct config *c);
/* True when users may make invitations, and these let somebody register. Where registration is open, nobody needs one,
 * and one that somebody brings is used all the same. */
bool config_users_invite(const struct config *c);

/* The built-in values. */
void config_defaults(struct config *c);
/* Reads into c, over what it has: the file (path NULL: none), the role's file rights_dir/ROLE.conf (role NULL, or
 * rights_dir empty: none; otherwise it must exist), and the environment, which wins. Then the keys: a role reads them
 * from rights_dir/ROLE.keys, if that file exists and the environment sets no secret; otherwise they are derived from
 * the secret. Then checks the whole. ST_INVALID with a message "file:line: …" (or "HB_NAME: …" for the environment) for
 * each mistake, one a line, in error (error_size bytes, caller's; messages that do not fit are left out); c is
 * undefined then. ST_NO_MEMORY. A missing secret is refused where it is needed; before `hongbao setup` the only message
 * is that it has to run. A message never has a value in it: it may be a password. */
enum status config_load(struct config *c, const char *path, const char *role, char *error, size_t error_size);
/* As config_load without a role, but does not read secret_file, and needs no secret where secret_file is set: for a
 * command that reports what is wrong with that file. */
enum status config_load_without_secret(struct config *c, const char *path, char *error, size_t error_size);
/* The same, also before `hongbao setup`: for a command that shows settings. */
enum status config_load_settings(struct config *c, const char *path, char *error, size_t error_size);
/* Sets the unit of money of the process (base/money.h) from the settings. It borrows the texts of c. */
void config_unit_set(const struct config *c);
/* Reads the secret of a configuration that was loaded without it. ST_INVALID: there is none, with a message as from
 * config_load; c->secret is empty then. */
enum status config_secret_read(struct config *c, char *error, size_t error_size);
/* Reads the file and the environment as far as this user may, without the secret, and passes over mistakes: for a
 * command that needs only the names of folders. A setting that can't be read keeps its value. */
void config_load_unchecked(struct config *c, const char *path);
/* Reads the role's file, and the environment again, over a configuration that was loaded without a role. Errors as
 * config_load. */
enum status config_role(struct config *c, const char *role, char *error, size_t error_size);

#endif
