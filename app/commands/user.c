#include "commands/user.h"

#include <inttypes.h>
#include <string.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/random.h"
#include "base/security_event.h"
#include "commands/stores.h"
#include "commands/user_find.h"
#include "commands/user_internal.h"
#include "user/account.h"
#include "user/known_device.h"
#include "user/login_link_store.h"
#include "user/passkey_store.h"
#include "user/password.h"
#include "user/recovery_store.h"
#include "user/session_list.h"
#include "user/store.h"
#include "user/token.h"
#include "user/token_store.h"

enum {
    OPERATOR_TIMEOUT_S = 20,
    RESET_GROUPS = 4, /* of 5 characters, each of 32: 100 bits */
    RESET_GROUP_LEN = 5,
    RESET_LEN = RESET_GROUPS * (RESET_GROUP_LEN + 1) - 1
};

struct operation {
    struct stores *stores;
    struct arena *arena;
    struct user_state user;
    FILE *out;
};

/* ---- parts ---- */

static enum status sessions_end(struct operation *op)
{
    enum status devices = known_device_forget_all(op->stores->redis, op->arena, op->user.username, clock_now_ms());
    enum status st = session_list_end_others(op->stores, op->arena, op->user.id, STR(""), clock_now_ms());
    return st == ST_OK ? devices : st;
}

/* The sessions end first, so that none of them can make a token meanwhile. The tokens end also when a session does not.
 */
static enum status sessions_and_tokens_end(struct operation *op)
{
    enum status st = sessions_end(op);
    enum status tokens = token_revoke_all(op->stores->redis, op->stores->db, op->arena, op->user.id);
    return st == ST_OK ? tokens : st;
}

/* Letters and digits that can't be mistaken for others. out: RESET_LEN + 1 bytes. */
static void password_make(char *out)
{
    static const char letters[] = "abcdefghjkmnpqrstuvwxyz023456789";
    unsigned char bytes[RESET_LEN];

    _Static_assert(sizeof letters - 1 == 32, "each character is worth 5 bits");
    random_bytes(bytes, sizeof bytes);
    for (size_t i = 0; i < RESET_LEN; i++)
        out[i] = i % (RESET_GROUP_LEN + 1) == RESET_GROUP_LEN ? '-' : letters[bytes[i] % 32];
    out[RESET_LEN] = '\0';
}

static void time_print(FILE *out, const char *what, int64_t ms)
{
    char text[CLOCK_TEXT_MAX];
    (void)clock_rfc3339_format(ms, text);
    (void)fprintf(out, "%s %s\n", what, text);
}

/* ---- actions ---- */

static enum status show(struct operation *op)
{
    struct session_entry *sessions;
    size_t count;
    uint64_t tokens, passkeys, codes;
    int64_t link_until_ms = 0;
    enum status st = session_list_read(op->stores, op->arena, op->user.id, clock_now_ms(), &sessions, &count);
    if (st == ST_OK)
        st = token_count(op->stores->db, op->arena, op->user.id, &tokens);
    if (st == ST_OK)
        st = passkey_count(op->stores->db, op->arena, op->user.id, &passkeys);
    if (st == ST_OK)
        st = recovery_codes_count(op->stores->db, op->arena, op->user.id, &codes);
    if (st == ST_OK)
        st = login_link_until(op->stores->db, op->arena, op->user.id, clock_now_ms(), &link_until_ms);
    if (st != ST_OK)
        return status_idempotent(st);
    (void)fprintf(op->out, "id %" PRIu64 "\nusername %.*s\nnickname %.*s\n", op->user.id, STR_ARG(op->user.username),
                  STR_ARG(op->user.nickname));
    time_print(op->out, "registered", op->user.created_ms);
    if (op->user.disabled_ms > 0)
        time_print(op->out, "disabled", op->user.disabled_ms);
    if (op->user.deleting_ms > 0)
        time_print(op->out, "deletion asked for", op->user.deleting_ms);
    if (op->user.deleted_ms > 0)
        time_print(op->out, "deleted", op->user.deleted_ms);
    if (link_until_ms > 0)
        time_print(op->out, "login link until", link_until_ms);
    (void)fprintf(op->out, "tokens %" PRIu64 "\npasskeys %" PRIu64 "\nrecovery codes %" PRIu64 "\nsessions %zu\n",
                  tokens, passkeys, codes, count);
    for (size_t i = 0; i < count; i++) {
        char begun[CLOCK_TEXT_MAX], seen[CLOCK_TEXT_MAX];
        (void)clock_rfc3339_format(sessions[i].created_ms, begun);
        (void)clock_rfc3339_format(sessions[i].seen_ms, seen);
        (void)fprintf(op->out, "  %.*s from %s, last used %s, %.*s\n", STR_ARG(sessions[i].id), begun, seen,
                      STR_ARG(sessions[i].device.len > 0 ? sessions[i].device : STR("unknown device")));
    }
    return ST_OK;
}

static enum status disable(struct operation *op)
{
    enum status st = user_disable(op->stores->db, op->user.id, clock_now_ms());
    if (st == ST_OK)
        st = login_link_delete(op->stores->db, op->user.id);
    return st == ST_OK ? sessions_and_tokens_end(op) : st;
}

static enum status enable(struct operation *op)
{
    return user_enable(op->stores->db, op->user.id);
}

static enum status reset(struct operation *op)
{
    char password[RESET_LEN + 1], hash[PASSWORD_HASH_MAX];
    struct hash_permit permit = { 1 };

    if (op->user.deleting_ms > 0)
        return ST_CONFLICT; /* a user who deletes the account can't log in again */
    password_make(password);
    enum status st = password_hash(&permit, str_from(password), hash);
    if (st == ST_OK)
        st = user_password_set(op->stores->db, op->user.id, str_from(hash));
    if (st == ST_OK)
        st = passkey_delete_all(op->stores->db, op->user.id);
    if (st == ST_OK)
        st = recovery_codes_delete(op->stores->db, op->user.id);
    if (st == ST_OK)
        st = login_link_delete(op->stores->db, op->user.id);
    if (st == ST_OK)
        st = sessions_and_tokens_end(op);
    if (st == ST_OK)
        (void)fprintf(op->out, "new password %s\n", password);
    return st;
}

static const struct action {
    const char *name;
    enum status (*run)(struct operation *op); /* NULL: find */
    const char *done;                         /* NULL: it changes nothing */
} ACTIONS[] = {
    { "find", NULL, NULL },
    { "show", show, NULL },
    { "disable", disable, "disabled: no login, all sessions, tokens and login links have ended" },
    { "enable", enable, "enabled" },
    { "end-sessions", sessions_end, "all sessions have ended" },
    { "reset", reset,
      "the password is changed, all sessions, tokens, passkeys, recovery codes and login links have ended" },
};

/* What nobody can do, and why (docs/how-to/users.md). */
static const struct {
    const char *name, *why;
} REFUSED[] = {
    { "rename", "a username is for life: senders name receivers by it, and records and receipts of others have it. The "
                "user can change the nickname on the account page" },
    { "merge",
      "two accounts can't become one: the packets and the records of each are of its own user. Move the money, "
      "then let the user delete one of them" },
};

/* NULL: there is no such action. */
static const struct action *action_find(const char *name)
{
    for (size_t i = 0; i < ARRAY_LEN(ACTIONS); i++)
        if (strcmp(ACTIONS[i].name, name) == 0)
            return &ACTIONS[i];
    return NULL;
}

static enum status action_run(struct operation *op, const struct action *action, struct str name)
{
    enum status st = user_state_find(op->stores->db, op->arena, username_fold(op->arena, name), &op->user);
    if (st != ST_OK)
        return status_idempotent(st);
    st = action->run(op);
    if (action->done == NULL)
        return st;
    security_event_log(SECURITY_OPERATOR, "user_id=%" PRIu64 " action=%s result=%s", op->user.id, action->name,
                       status_name(st));
    if (st == ST_OK)
        (void)fprintf(op->out, "%.*s (%" PRIu64 "): %s\n", STR_ARG(op->user.username), op->user.id, action->done);
    return st;
}

enum status user_operate(struct stores *stores, const char *action, struct str name, FILE *out, const char **why)
{
    const struct action *found = action_find(action);
    struct operation op = { .stores = stores, .out = out };
    *why = NULL;
    for (size_t i = 0; i < ARRAY_LEN(REFUSED); i++)
        if (strcmp(REFUSED[i].name, action) == 0)
            *why = REFUSED[i].why;
    if (found == NULL) {
        if (*why == NULL)
            *why = "no such action; use find, show, disable, enable, end-sessions, reset, login-link, import or export";
        return ST_INVALID;
    }
    op.arena = arena_new(16 << 10, 4 << 20);
    if (op.arena == NULL)
        return ST_NO_MEMORY;
    enum status st = found->run != NULL ? action_run(&op, found, name)
                                        : status_idempotent(user_find_print(stores, op.arena, name, out, why));
    if (st == ST_NOT_FOUND)
        *why = found->run != NULL ? "there is no user of this username; hongbao user find WORD also looks for ids, "
                                    "nicknames and packets"
                                  : "no user has this id, username or nickname, and no packet this address";
    else if (st != ST_OK && *why == NULL && found->done != NULL && op.user.id != 0)
        *why = "a part may be done, so repeat it";
    else if (st == ST_UNAVAILABLE)
        *why = "a store did not answer in time, or has refused it; nothing is changed";
    arena_free(op.arena);
    return st;
}

/* The actions with arguments of their own. */
static const struct own_action {
    const char *name;
    int (*run)(const struct config *config, int argc, char **argv);
} OWN_ACTIONS[] = { { "import", user_import_command },
                    { "export", user_export_command },
                    { "login-link", user_login_link_command } };

/* NULL: it is none of them. */
static const struct own_action *own_action_find(int argc, char **argv)
{
    for (size_t i = 0; argc > 1 && i < ARRAY_LEN(OWN_ACTIONS); i++)
        if (strcmp(OWN_ACTIONS[i].name, argv[1]) == 0)
            return &OWN_ACTIONS[i];
    return NULL;
}

const char *user_role(int argc, char **argv)
{
    return own_action_find(argc, argv) != NULL ? "auth" : "support";
}

bool user_stores_open(struct stores *stores, struct config *patient, const struct config *config)
{
    *patient = *config;
    if (patient->redis_timeout_ms < OPERATOR_TIMEOUT_S * 1000)
        patient->redis_timeout_ms = OPERATOR_TIMEOUT_S * 1000;
    if (patient->mysql_timeout_s < OPERATOR_TIMEOUT_S)
        patient->mysql_timeout_s = OPERATOR_TIMEOUT_S;
    return command_stores_open(stores, patient, "user");
}

int user_command(const struct config *config, int argc, char **argv)
{
    const struct own_action *own = own_action_find(argc, argv);
    if (own != NULL)
        return own->run(config, argc - 1, argv + 1);
    struct stores stores;
    struct config patient;
    const char *why;
    if (argc != 3) {
        (void)fputs("usage: hongbao user find WORD | show|disable|enable|end-sessions|reset NAME\n"
                    "       hongbao user login-link NAME [--days N] | import FILE.csv [--links OUT.csv [--days N]] "
                    "[--check] | export [--csv]\n"
                    "Quote a text with blanks.\n",
                    stderr);
        return 2;
    }
    if (!user_stores_open(&stores, &patient, config))
        return 1;
    enum status st = user_operate(&stores, argv[1], str_from(argv[2]), stdout, &why);
    if (st == ST_INVALID || st == ST_NOT_FOUND)
        (void)fprintf(stderr, "hongbao user: %s\n", why != NULL ? why : status_name(st));
    else if (st != ST_OK)
        (void)fprintf(stderr, "hongbao user: %s%s%s\n", status_name(st), why != NULL ? "; " : "",
                      why != NULL ? why : "");
    if (st == ST_UNAVAILABLE)
        command_stores_tell(config, "user");
    stores_close(&stores);
    return st == ST_OK ? 0 : st == ST_INVALID ? 2 : 1;
}
