#include "commands/money.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/money.h"
#include "base/typed.h"
#include "base/utf8.h"
#include "commands/money_internal.h"
#include "commands/stores.h"
#include "money/payment.h"
#include "web/csv.h"

enum {
    TREASURY_TIMEOUT_S = 60, /* an operator waits rather than not knowing what was done */
    ARENA_CHUNK_BYTES = 64 << 10,
    ARENA_LIMIT_BYTES = 64 << 20,
    WHY_MAX = 2048
};

#define OUTPUT (MONEY_OPTION(MONEY_JSON) | MONEY_OPTION(MONEY_CSV))
#define DAYS   (MONEY_OPTION(MONEY_FROM) | MONEY_OPTION(MONEY_TO))
#define CHANNEL                                                                                                        \
    (MONEY_OPTION(MONEY_NOTE) | MONEY_OPTION(MONEY_WITHDRAWALS) | MONEY_OPTION(MONEY_WITHDRAW_MIN) |                   \
     MONEY_OPTION(MONEY_WITHDRAW_HINT))
#define MOVE                                                                                                           \
    (MONEY_OPTION(MONEY_CHANNEL) | MONEY_OPTION(MONEY_REFERENCE) | MONEY_OPTION(MONEY_MEMO) | MONEY_OPTION(MONEY_JSON))

static const struct action {
    const char *name;
    enum status (*run)(struct money *m);
    size_t words;               /* how many */
    unsigned required, allowed; /* options; required ones are allowed, too */
    const char *usage;
} ACTIONS[] = {
    { "channels", money_channels, 0, 0, OUTPUT, "[--json | --csv]" },
    { "channel", money_channel, 1, 0, CHANNEL | MONEY_OPTION(MONEY_TOPUP_URL) | MONEY_OPTION(MONEY_TOPUP_KEY),
      "NAME [--note TEXT] [--withdrawals on|off] [--withdraw-min AMOUNT] [--withdraw-hint TEXT] [--topup-url URL] "
      "[--topup-key]" },
    { "credit", money_credit, 2, MONEY_OPTION(MONEY_CHANNEL) | MONEY_OPTION(MONEY_REFERENCE), MOVE,
      "USERNAME AMOUNT --channel NAME --reference R [--memo TEXT] [--json]" },
    { "debit", money_debit, 2, MONEY_OPTION(MONEY_CHANNEL) | MONEY_OPTION(MONEY_REFERENCE), MOVE,
      "USERNAME AMOUNT --channel NAME --reference R [--memo TEXT] [--json]" },
    { "import", money_import, 1, MONEY_OPTION(MONEY_CHANNEL), MONEY_OPTION(MONEY_CHECK) | MONEY_OPTION(MONEY_DEBIT),
      "FILE.csv --channel NAME [--debit] [--check]" },
    { "reverse", money_reverse, 1, MONEY_OPTION(MONEY_REFERENCE), MONEY_OPTION(MONEY_MEMO) | MONEY_OPTION(MONEY_JSON),
      "TRANSFER --reference R [--memo TEXT] [--json]" },
    { "withdrawals", money_withdrawals, 0, 0, OUTPUT, "[--json | --csv]" },
    { "post", money_post, 1, MONEY_OPTION(MONEY_REFERENCE), MONEY_OPTION(MONEY_JSON), "ID --reference R [--json]" },
    { "post", money_post_file, 0, MONEY_OPTION(MONEY_IMPORT), MONEY_OPTION(MONEY_CHECK),
      "--import FILE.csv [--check]" },
    { "void", money_void, 1, MONEY_OPTION(MONEY_REASON), MONEY_OPTION(MONEY_JSON), "ID --reason TEXT [--json]" },
    { "balances", money_balances, 0, 0,
      OUTPUT | MONEY_OPTION(MONEY_MIN) | MONEY_OPTION(MONEY_ALL) | MONEY_OPTION(MONEY_REFERENCE_PREFIX),
      "[--min AMOUNT | --all] [--json | --csv [--reference-prefix P]]" },
    { "topups", money_topups, 0, 0, OUTPUT, "[--json | --csv]" },
    { "paid", money_paid, 1, MONEY_OPTION(MONEY_REFERENCE), MONEY_OPTION(MONEY_AMOUNT) | MONEY_OPTION(MONEY_JSON),
      "ID --reference R [--amount AMOUNT] [--json]" },
    { "transfers", money_transfers, 0, MONEY_OPTION(MONEY_CHANNEL), DAYS | OUTPUT | MONEY_OPTION(MONEY_AFTER),
      "--channel NAME [--from DAY] [--to DAY] [--after TRANSFER] [--json | --csv]" },
    { "report", money_report, 0, 0,
      DAYS | OUTPUT | MONEY_OPTION(MONEY_DAILY) | MONEY_OPTION(MONEY_SINCE) | MONEY_OPTION(MONEY_CHANNEL) |
          MONEY_OPTION(MONEY_AGAINST) | MONEY_OPTION(MONEY_MISSING),
      "[--from DAY | --since TIME] [--to DAY] [--daily] [--json | --csv]\n"
      "       hongbao money report --since TIME --channel NAME --against FILE.csv [--missing NAME] [--to DAY] "
      "[--json | --csv]" },
};

/* ---- what actions share ---- */

static void why_set(struct money *m, const char *format, va_list args)
{
    char text[WHY_MAX];
    (void)vsnprintf(text, sizeof text, format, args);
    m->why = arena_str(m->arena, str_from(text));
}

enum status money_refuse(struct money *m, enum status st, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    why_set(m, format, args);
    va_end(args);
    return st;
}

enum status money_misread(struct money *m, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    why_set(m, format, args);
    va_end(args);
    m->is_usage = true;
    return ST_INVALID;
}

const char *money_status_text(enum status st)
{
    return st == ST_CONFLICT      ? "other work holds the same rows"
           : st == ST_UNAVAILABLE ? "MariaDB did not answer in time, or has refused it"
                                  : status_name(st);
}

struct str money_value(const struct money *m, enum money_option option)
{
    return str_or_empty(m->args.values[option]);
}

bool money_has(const struct money *m, enum money_option option)
{
    return money_args_have(&m->args, option);
}

enum status money_id_read(struct money *m, struct str word, uint64_t *out)
{
    if (str_to_u64(word, out) && *out != 0)
        return ST_OK;
    return money_misread(m, "%.*s is no number of a transfer, withdrawal or order", STR_ARG(word));
}

enum status money_reference_read(struct money *m, struct str *out)
{
    *out = money_value(m, MONEY_REFERENCE);
    if (reference_is_valid(*out))
        return ST_OK;
    return money_misread(m, "a reference has 1 to 64 characters of ASCII, and no blank at its ends");
}

enum status money_line_read(struct money *m, enum money_option option, size_t code_points_max, struct str *out)
{
    const char *why = NULL;
    enum status st = payment_line_read(m->arena, money_value(m, option), code_points_max, out, &why);
    return st == ST_INVALID ? money_misread(m, "%s", why) : st;
}

enum status money_channel_find(struct money *m, struct channel *out)
{
    const struct str name = money_value(m, MONEY_CHANNEL);
    enum status st = channel_find(m->db, m->arena, name, out);
    if (st == ST_NOT_FOUND)
        return money_refuse(m, st, "there is no channel %.*s; hongbao money channels lists them", STR_ARG(name));
    return st;
}

enum status money_own_channel_find(struct money *m, struct channel *out)
{
    enum status st = money_channel_find(m, out);
    if (st == ST_OK && out->id == CHANNEL_DEMO_ID)
        return money_refuse(m, ST_INVALID, "demo is for the money that users of a demo site deposit; make a channel");
    return st;
}

enum status money_forfeited_check(struct money *m, const struct channel *channel, int64_t credits_fen)
{
    char has[MONEY_TEXT_MAX];
    if (channel->id != CHANNEL_FORFEITED_ID || credits_fen <= channel->balance_fen)
        return ST_OK;
    (void)money_format(channel->balance_fen, has);
    return money_refuse(m, ST_INVALID,
                        "forfeited has %s, which deleted users have left; more can come only from a channel where it "
                        "was paid in; nothing is changed",
                        has);
}

/* The day of an option; *out stays when it is not there. */
static enum status day_read(struct money *m, enum money_option option, struct clock_date *out)
{
    struct str folded;
    const struct str typed = money_value(m, option);
    enum status st = utf8_fold_pasted(m->arena, typed, &folded);
    if (st == ST_INVALID || (st == ST_OK && !typed_day(folded, out)))
        return money_misread(m, "%.*s is no day, such as 2026-11-30", STR_ARG(typed));
    return st;
}

static enum status since_read(struct money *m, int64_t *out_ms)
{
    struct str folded;
    const struct str typed = money_value(m, MONEY_SINCE);
    enum status st = utf8_fold_pasted(m->arena, typed, &folded);
    if (st == ST_OK)
        st = typed_time(folded, out_ms);
    if (st == ST_INVALID)
        return money_misread(m, "%.*s is no time, such as 2026-11-30T03:30 or 2026-11-30T03:30+08:00", STR_ARG(typed));
    if (st == ST_NOT_FOUND)
        return money_misread(m, "there is no %.*s: the clocks skip this time", STR_ARG(typed));
    if (st == ST_OK && *out_ms > clock_now_ms())
        return money_misread(m, "%.*s is in the future", STR_ARG(typed));
    return st;
}

enum status money_days_read(struct money *m, int64_t *from_ms, int64_t *until_ms)
{
    struct clock_date from, to;
    enum status st = ST_OK;
    *from_ms = 0;
    *until_ms = INT64_MAX;
    if (money_has(m, MONEY_SINCE) && (st = since_read(m, from_ms)) != ST_OK)
        return st;
    if (money_has(m, MONEY_FROM) && (st = day_read(m, MONEY_FROM, &from)) == ST_OK)
        *from_ms = clock_zone_day_start_ms(from.year, from.month, from.day);
    if (st == ST_OK && money_has(m, MONEY_TO) && (st = day_read(m, MONEY_TO, &to)) == ST_OK)
        *until_ms = clock_zone_day_start_ms(to.year, to.month, to.day + 1);
    if (st == ST_OK && *from_ms >= *until_ms)
        return money_misread(m, "%s is after --to", money_has(m, MONEY_SINCE) ? "--since" : "--from");
    return st;
}

const char *money_author_quoted(const struct money *m)
{
    static char quoted[AUTHOR_LOG_MAX];
    return log_quote(m->author.name, quoted, sizeof quoted);
}

/* ---- output ---- */

enum status money_json_print(struct model *model)
{
    struct buf out = BUF_EMPTY;
    value_json(&out, &model->root);
    buf_char(&out, '\n');
    enum status st = model->failed ? ST_NO_MEMORY : money_flush(&out);
    buf_free(&out);
    return st;
}

void money_json_item(struct buf *out, const struct model *model, bool is_first)
{
    buf_cstr(out, is_first ? "\n" : ",\n");
    value_json(out, &model->root);
    out->failed = out->failed || model->failed;
}

void money_cell(struct buf *out, int64_t fen)
{
    char text[MONEY_TEXT_MAX];
    csv_number(out, (struct str){ text, money_format(fen, text) });
}

void money_unit_cell(struct buf *out)
{
    csv_cell(out, str_from(money_unit()->code));
}

const char *money_unit_json(struct money *m)
{
    /* a code has no character that JSON escapes */
    const char *members =
        arena_printf(m->arena, "\"unit\":\"%s\",\"unit_decimals\":%d", money_unit()->code, money_unit()->decimals).ptr;
    return members == NULL ? "" : members;
}

void money_id_cell(struct buf *out, uint64_t id)
{
    char digits[STR_U64_MAX];
    csv_number(out, str_u64(digits, id));
}

void money_time_cell(struct buf *out, int64_t ms)
{
    char text[CLOCK_TEXT_MAX];
    csv_cell(out, (struct str){ text, clock_rfc3339_format(ms, text) });
}

enum status money_flush(struct buf *out)
{
    if (out->failed)
        return ST_NO_MEMORY;
    (void)fwrite(str_or_empty(buf_view(out)).ptr, 1, out->len, stdout);
    buf_reset(out);
    return ST_OK;
}

/* ---- the command ---- */

static void failure_print(const struct money *m, const char *action, enum status st)
{
    const char *said = st == ST_UNKNOWN ? "it is unknown whether this was done, because MariaDB has not confirmed it; "
                                          "repeat the same command: what was done is not done twice"
                       : st == ST_CONFLICT    ? "other work holds the same rows; nothing is changed, so repeat it"
                       : st == ST_UNAVAILABLE ? "MariaDB did not answer in time, or has refused it; nothing is changed"
                                              : status_name(st);
    if (m->why.len > 0)
        (void)fprintf(stderr, "hongbao money %s: %.*s\n", action, STR_ARG(m->why));
    else
        (void)fprintf(stderr, "hongbao money %s: %s\n", action, said);
}

/* As diff: a comparison has 1 for differences, and 2 when it did not end. */
static int failure_code(const struct money *m)
{
    return money_has(m, MONEY_AGAINST) ? 2 : 1;
}

static int action_run(const struct config *config, const struct action *action, struct money *m)
{
    struct stores stores;
    struct config patient = *config;
    if (patient.mysql_timeout_s < TREASURY_TIMEOUT_S)
        patient.mysql_timeout_s = TREASURY_TIMEOUT_S;
    if (!command_stores_open(&stores, &patient, "money"))
        return failure_code(m);
    m->config = config;
    m->db = stores.db;
    enum status st = action->run(m);
    if (st == ST_OK && (fflush(stdout) != 0 || ferror(stdout)))
        st = money_refuse(m, ST_CORRUPT, "the output can't be written: %s; what the command does is done",
                          strerror(errno));
    if (st != ST_OK)
        failure_print(m, action->name, st);
    if (st == ST_UNAVAILABLE)
        command_stores_tell(config, "money");
    stores_close(&stores);
    return st == ST_OK || m->differs ? m->differs : m->is_usage ? 2 : failure_code(m);
}

/* name: of an action; NULL: of all. */
static int usage(const char *name)
{
    const char *before = "usage:";
    for (size_t i = 0; i < ARRAY_LEN(ACTIONS); i++) {
        if (name != NULL && strcmp(ACTIONS[i].name, name) != 0)
            continue;
        (void)fprintf(stderr, "%s hongbao money %s %s\n", before, ACTIONS[i].name, ACTIONS[i].usage);
        before = "      ";
    }
    return 2;
}

static bool action_fits(const struct action *action, struct money_args *args, int argc, char **argv)
{
    if (!money_args_read(args, action->required | action->allowed, argc - 2, argv + 2))
        return false;
    const unsigned missing = action->required & ~args->given;
    args->wrong = missing != 0 ? money_options_name(missing) : "";
    args->why = missing != 0                       ? "is missing"
                : args->word_count < action->words ? "a word is missing"
                : args->word_count > action->words ? "there is a word too many; a text with blanks stands in "
                                                     "quotation marks"
                                                   : NULL;
    return args->why == NULL;
}

/* The action that takes these arguments. NULL: there is none; args say what is wrong for the last one of this name. */
static const struct action *action_find(struct money_args *args, int argc, char **argv)
{
    for (size_t i = 0; i < ARRAY_LEN(ACTIONS) && argc > 1; i++)
        if (strcmp(ACTIONS[i].name, argv[1]) == 0 && action_fits(&ACTIONS[i], args, argc, argv))
            return &ACTIONS[i];
    return NULL;
}

static bool action_exists(const char *name)
{
    for (size_t i = 0; i < ARRAY_LEN(ACTIONS); i++)
        if (strcmp(ACTIONS[i].name, name) == 0)
            return true;
    return false;
}

/* Prints what is wrong and the usage. An action that takes its arguments in two ways, as post, has only its usage. */
static int misused(const struct money_args *args, const char *name)
{
    if (name == NULL || !action_exists(name)) {
        if (name != NULL)
            (void)fprintf(stderr, "hongbao money: %s is no command\n", name);
        return usage(NULL);
    }
    if (strcmp(name, "post") != 0)
        (void)fprintf(stderr, "hongbao money %s: %s%s%s\n", name, args->wrong, args->wrong[0] != '\0' ? " " : "",
                      args->why);
    return usage(name);
}

int money_command(const struct config *config, int argc, char **argv)
{
    struct money m = { .author.interface = INTERFACE_COMMAND };
    const struct action *action = action_find(&m.args, argc, argv);
    if (action == NULL)
        return misused(&m.args, argc > 1 ? argv[1] : NULL);
    m.arena = arena_new(ARENA_CHUNK_BYTES, ARENA_LIMIT_BYTES);
    if (m.arena == NULL) {
        (void)fputs("hongbao money: out of memory\n", stderr);
        return 1;
    }
    operator_name_write(m.author_text);
    m.author.name = str_from(m.author_text);
    int code = action_run(config, action, &m);
    arena_free(m.arena);
    return code;
}
