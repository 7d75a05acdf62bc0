#include "commands/service.h"

#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/cidr.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/money.h"
#include "base/typed.h"
#include "base/utf8.h"
#include "base/value.h"
#include "commands/operator_name.h"
#include "commands/stores.h"
#include "ledger/channel.h"
#include "ledger/service.h"

enum { ARENA_CHUNK_BYTES = 64 << 10, ARENA_LIMIT_BYTES = 16 << 20 };

/* A command under way. */
struct job {
    struct db *db;
    struct arena *arena;
    int argc; /* behind the action */
    char **argv;
    char author[OPERATOR_NAME_MAX];
    struct str why; /* for people, without a full stop; empty: the status says it */
    bool is_usage;  /* why is about an argument */
};

static enum status refuse(struct job *job, enum status st, struct str why)
{
    job->why = why;
    return st;
}

static enum status misread(struct job *job, struct str why)
{
    job->is_usage = true;
    return refuse(job, ST_INVALID, why);
}

/* ---- add ---- */

/* The options of add, each with the words up to the next option. */
enum option { OPTION_SCOPES, OPTION_CHANNEL, OPTION_DAY_MAX, OPTION_ADDRESSES, OPTION_COUNT };
static const struct {
    const char *name;
    bool has_many; /* words */
} OPTIONS[OPTION_COUNT] = { [OPTION_SCOPES] = { "--scopes", true },
                            [OPTION_CHANNEL] = { "--channel", false },
                            [OPTION_DAY_MAX] = { "--day-max", false },
                            [OPTION_ADDRESSES] = { "--addresses", true } };

static enum option option_find(const char *name)
{
    enum option option = 0;
    while (option < OPTION_COUNT && strcmp(OPTIONS[option].name, name) != 0)
        option++;
    return option;
}

/* Reads the words behind an option, with a blank between. *at: the last of them. */
static enum status words_read(struct job *job, enum option option, int *at, struct str *out)
{
    const char *name = job->argv[*at];
    if (out->len > 0)
        return misread(job, arena_printf(job->arena, "%s stands twice", name));
    *out = STR("");
    do {
        if (*at + 1 >= job->argc || job->argv[*at + 1][0] == '-')
            break;
        *out = arena_printf(job->arena, "%.*s%s%s", STR_ARG(*out), out->len > 0 ? " " : "", job->argv[++*at]);
    } while (OPTIONS[option].has_many && out->ptr != NULL);
    if (out->ptr == NULL)
        return ST_NO_MEMORY;
    return out->len > 0 ? ST_OK : misread(job, arena_printf(job->arena, "%s has no value", name));
}

static enum status words_take(struct job *job, struct str *name, struct str values[OPTION_COUNT])
{
    *name = STR_NONE;
    for (int i = 0; i < job->argc; i++) {
        const enum option option = option_find(job->argv[i]);
        if (option < OPTION_COUNT) {
            enum status st = words_read(job, option, &i, &values[option]);
            if (st != ST_OK)
                return st;
            continue;
        }
        if (job->argv[i][0] == '-' || name->ptr != NULL)
            return misread(job, arena_printf(job->arena, "%s is one word too many", job->argv[i]));
        *name = str_from(job->argv[i]);
    }
    if (name->ptr == NULL)
        return misread(job, STR("the name of the service is missing"));
    if (values[OPTION_SCOPES].len == 0 || values[OPTION_CHANNEL].len == 0)
        return misread(job, STR("--scopes and --channel are needed"));
    return ST_OK;
}

static enum status day_max_read(struct job *job, struct str typed, int64_t *out)
{
    struct str folded;
    *out = 0;
    if (typed.len == 0)
        return ST_OK;
    enum status st = utf8_fold_pasted(job->arena, typed, &folded);
    if (st == ST_INVALID || (st == ST_OK && (!typed_amount(folded, out) || *out == 0 || *out == INT64_MAX)))
        return misread(job, arena_printf(job->arena, "--day-max is no amount from %.*s to %.*s of %.*s",
                                         STR_ARG(money_text(job->arena, 1)),
                                         STR_ARG(money_text(job->arena, TYPED_AMOUNT_MAX_FEN)),
                                         STR_ARG(money_unit_says(job->arena))));
    return st;
}

static enum status addresses_check(struct job *job, struct str list)
{
    struct str wrong;
    if (!utf8_valid(list) || list.len > SERVICE_ADDRESSES_MAX)
        return misread(job, STR("--addresses is too long"));
    if (!cidr_list_is_valid(list, &wrong))
        return misread(job, arena_printf(job->arena,
                                         "%.*s is no network or address, such as 10.1.0.0/16, 192.0.2.7 or "
                                         "2001:db8::/32; behind the prefix all bits are 0",
                                         STR_ARG(wrong)));
    return ST_OK;
}

/* Reads the arguments. The channel is not looked up yet. */
static enum status service_take(struct job *job, struct service *out)
{
    struct str values[OPTION_COUNT] = { { NULL, 0 } };
    enum status st = words_take(job, &out->name, values);
    if (st == ST_OK && !channel_name_is_valid(out->name))
        st = misread(job, STR("a name has 1 to 32 small letters, digits and -, and begins with a letter"));
    if (st == ST_OK)
        st = day_max_read(job, values[OPTION_DAY_MAX], &out->day_max_fen);
    out->addresses = str_or_empty(values[OPTION_ADDRESSES]);
    if (st == ST_OK)
        st = addresses_check(job, out->addresses);
    out->scopes = service_scopes_read(str_or_empty(values[OPTION_SCOPES]));
    if (st == ST_OK && out->scopes == 0)
        st = misread(job, STR("--scopes has one or more of: credit debit read withdraw topup"));
    out->channel = values[OPTION_CHANNEL];
    out->author = str_from(job->author);
    return st;
}

static enum status channel_take(struct job *job, struct service *service)
{
    struct channel channel;
    enum status st = channel_name_is_valid(service->channel)
                         ? channel_find(job->db, job->arena, service->channel, &channel)
                         : ST_NOT_FOUND;
    if (st == ST_NOT_FOUND)
        return refuse(job, st,
                      arena_printf(job->arena, "there is no channel %.*s; hongbao money channels lists them",
                                   STR_ARG(service->channel)));
    if (st == ST_OK && channel.id == CHANNEL_DEMO_ID)
        return refuse(job, ST_INVALID, STR("demo is for the money that users of a demo site deposit; make a channel"));
    if (st == ST_OK && channel.id == CHANNEL_FORFEITED_ID)
        return refuse(job, ST_INVALID, STR("forfeited has what deleted users have left; make a channel"));
    service->channel_id = channel.id;
    return status_idempotent(st);
}

static enum status add(struct job *job)
{
    struct service service = { .id = 0 };
    char token[SERVICE_TOKEN_MAX], quoted[LOG_LINE_MAX / 4];
    uint8_t hash[HASH_BYTES];
    enum status st = service_take(job, &service);
    if (st == ST_OK)
        st = channel_take(job, &service);
    if (st != ST_OK)
        return st;
    service_token_new(token, hash);
    st = service_add(job->db, &service, hash);
    if (st == ST_EXISTS)
        return refuse(job, st,
                      arena_printf(job->arena,
                                   "there is or was a service %.*s; choose another name, because the old "
                                   "one stands in transfers",
                                   STR_ARG(service.name)));
    if (st == ST_UNKNOWN)
        return refuse(job, st,
                      STR("it is unknown whether it was added, because the reply of MariaDB was lost; if "
                          "hongbao service list has it, revoke it, and add one with another name"));
    if (st != ST_OK)
        return st;
    log_info("service", "action=add service=%.*s channel=%.*s author=%s", STR_ARG(service.name),
             STR_ARG(service.channel), log_quote(service.author, quoted, sizeof quoted));
    (void)printf("%s\n", token);
    (void)fputs("This token is not shown again.\n", stderr);
    return ST_OK;
}

/* ---- list ---- */

static struct str time_text(struct job *job, int64_t ms)
{
    return ms == 0 ? STR("") : clock_rfc3339(job->arena, ms);
}

static enum status list_json(struct job *job, const struct service *list, size_t count)
{
    struct model m;
    struct buf out = BUF_EMPTY;
    model_init(&m, job->arena);
    struct value *services = value_list(&m, &m.root, "services");
    for (size_t i = 0; i < count; i++) {
        const struct service *s = &list[i];
        struct value *row = value_add_object(&m, services);
        value_text(&m, row, "name", s->name);
        value_text(&m, row, "scopes", service_scopes_text(job->arena, s->scopes, ' '));
        value_text(&m, row, "channel", s->channel);
        if (s->day_max_fen > 0)
            value_int(&m, row, "day_max_fen", s->day_max_fen);
        else
            value_null(&m, row, "day_max_fen");
        value_text(&m, row, "addresses", s->addresses);
        value_text(&m, row, "author", s->author);
        value_text(&m, row, "created_at", time_text(job, s->created_ms));
        value_text_or_null(&m, row, "revoked_at", time_text(job, s->revoked_ms));
        value_text_or_null(&m, row, "used_at", time_text(job, s->used_ms));
    }
    value_json(&out, &m.root);
    const bool whole = !m.failed && !out.failed;
    if (whole)
        (void)printf("%.*s\n", STR_ARG(buf_view(&out)));
    buf_free(&out);
    return whole ? ST_OK : ST_NO_MEMORY;
}

static void list_text(struct job *job, const struct service *list, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct service *s = &list[i];
        char amount[MONEY_TEXT_MAX];
        (void)printf("%.*s  %s  channel %.*s  %.*s", STR_ARG(s->name), s->revoked_ms > 0 ? "revoked" : "valid",
                     STR_ARG(s->channel), STR_ARG(str_or_empty(service_scopes_text(job->arena, s->scopes, ' '))));
        if (s->day_max_fen > 0 && money_format(s->day_max_fen, amount) > 0)
            (void)printf("  %s a day", amount);
        if (s->addresses.len > 0)
            (void)printf("  from %.*s", STR_ARG(s->addresses));
        const struct str used = str_or_empty(time_text(job, s->used_ms));
        (void)printf("  used %.*s\n", STR_ARG(used.len > 0 ? used : STR("never")));
    }
}

static enum status list(struct job *job)
{
    struct service *services = NULL;
    size_t count = 0;
    const bool json = job->argc == 1 && strcmp(job->argv[0], "--json") == 0;
    if (job->argc > 0 && !json)
        return misread(job, arena_printf(job->arena, "%s is one word too many", job->argv[0]));
    enum status st = service_list(job->db, job->arena, &services, &count);
    if (st == ST_OK && json)
        return list_json(job, services, count);
    if (st == ST_OK)
        list_text(job, services, count);
    return st;
}

/* ---- revoke ---- */

static enum status revoke(struct job *job)
{
    char quoted[LOG_LINE_MAX / 4];
    if (job->argc != 1)
        return misread(job, STR("the name of one service is needed"));
    const struct str name = str_from(job->argv[0]);
    enum status st = channel_name_is_valid(name) ? service_revoke(job->db, name) : ST_NOT_FOUND;
    if (st == ST_NOT_FOUND)
        return refuse(job, st, STR("there is no such service; hongbao service list lists them"));
    if (st != ST_OK)
        return st;
    log_info("service", "action=revoke service=%.*s author=%s", STR_ARG(name),
             log_quote(str_from(job->author), quoted, sizeof quoted));
    (void)printf("service %.*s: revoked\n", STR_ARG(name));
    return ST_OK;
}

/* ---- the command ---- */

static const struct action {
    const char *name;
    enum status (*run)(struct job *job);
    const char *usage;
} ACTIONS[] = {
    { "add", add,
      "NAME --scopes 'credit debit read withdraw topup' --channel NAME [--day-max AMOUNT] [--addresses CIDR...]" },
    { "list", list, "[--json]" },
    { "revoke", revoke, "NAME" },
};

static int usage(const char *name)
{
    const char *before = "usage:";
    for (size_t i = 0; i < ARRAY_LEN(ACTIONS); i++) {
        if (name != NULL && strcmp(ACTIONS[i].name, name) != 0)
            continue;
        (void)fprintf(stderr, "%s hongbao service %s %s\n", before, ACTIONS[i].name, ACTIONS[i].usage);
        before = "      ";
    }
    return 2;
}

static const struct action *action_find(int argc, char **argv)
{
    for (size_t i = 0; i < ARRAY_LEN(ACTIONS) && argc > 1; i++)
        if (strcmp(ACTIONS[i].name, argv[1]) == 0)
            return &ACTIONS[i];
    return NULL;
}

static void failure_print(const struct job *job, const char *action, enum status st)
{
    const char *said = st == ST_UNKNOWN       ? "it is unknown whether this was done; repeat it"
                       : st == ST_UNAVAILABLE ? "MariaDB did not answer in time, or has refused it; nothing is changed"
                                              : status_name(st);
    if (job->why.len > 0)
        (void)fprintf(stderr, "hongbao service %s: %.*s\n", action, STR_ARG(job->why));
    else
        (void)fprintf(stderr, "hongbao service %s: %s\n", action, said);
}

static int action_run(const struct config *config, const struct action *action, struct job *job)
{
    struct stores stores;
    if (!command_stores_open(&stores, config, "service"))
        return 1;
    job->db = stores.db;
    enum status st = action->run(job);
    if (st != ST_OK)
        failure_print(job, action->name, st);
    if (job->is_usage)
        (void)usage(action->name);
    if (st == ST_UNAVAILABLE)
        command_stores_tell(config, "service");
    stores_close(&stores);
    return st == ST_OK && fflush(stdout) == 0 ? 0 : job->is_usage ? 2 : 1;
}

int service_command(const struct config *config, int argc, char **argv)
{
    const struct action *action = action_find(argc, argv);
    if (action == NULL) {
        if (argc > 1)
            (void)fprintf(stderr, "hongbao service: %s is no command\n", argv[1]);
        return usage(NULL);
    }
    struct job job = { .argc = argc - 2, .argv = argv + 2 };
    job.arena = arena_new(ARENA_CHUNK_BYTES, ARENA_LIMIT_BYTES);
    if (job.arena == NULL) {
        (void)fputs("hongbao service: out of memory\n", stderr);
        return 1;
    }
    operator_name_write(job.author);
    const int code = action_run(config, action, &job);
    arena_free(job.arena);
    return code;
}
