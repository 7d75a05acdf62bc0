#include "commands/money_args.h"

#include <string.h>

static const char *const NAMES[MONEY_OPTION_COUNT] = {
    [MONEY_CHANNEL] = "--channel",
    [MONEY_REFERENCE] = "--reference",
    [MONEY_MEMO] = "--memo",
    [MONEY_NOTE] = "--note",
    [MONEY_REASON] = "--reason",
    [MONEY_FROM] = "--from",
    [MONEY_TO] = "--to",
    [MONEY_IMPORT] = "--import",
    [MONEY_JSON] = "--json",
    [MONEY_CSV] = "--csv",
    [MONEY_CHECK] = "--check",
    [MONEY_DEBIT] = "--debit",
    [MONEY_DAILY] = "--daily",
    [MONEY_MIN] = "--min",
    [MONEY_REFERENCE_PREFIX] = "--reference-prefix",
    [MONEY_ALL] = "--all",
    [MONEY_WITHDRAWALS] = "--withdrawals",
    [MONEY_WITHDRAW_MIN] = "--withdraw-min",
    [MONEY_WITHDRAW_HINT] = "--withdraw-hint",
    [MONEY_AMOUNT] = "--amount",
    [MONEY_TOPUP_URL] = "--topup-url",
    [MONEY_SINCE] = "--since",
    [MONEY_AGAINST] = "--against",
    [MONEY_MISSING] = "--missing",
    [MONEY_TOPUP_KEY] = "--topup-key",
    [MONEY_AFTER] = "--after",
};

/* MONEY_OPTION_COUNT: there is none of this name. */
static enum money_option option_find(const char *name)
{
    enum money_option option = 0;
    while (option < MONEY_OPTION_COUNT && strcmp(NAMES[option], name) != 0)
        option++;
    return option;
}

bool money_args_have(const struct money_args *args, enum money_option option)
{
    return (args->given & MONEY_OPTION(option)) != 0;
}

const char *money_options_name(unsigned options)
{
    enum money_option option = 0;
    while ((options & MONEY_OPTION(option)) == 0)
        option++;
    return NAMES[option];
}

static bool wrong(struct money_args *out, const char *argument, const char *why)
{
    out->wrong = argument;
    out->why = why;
    return false;
}

bool money_args_read(struct money_args *out, unsigned allowed, int argc, char **argv)
{
    *out = (struct money_args){ .word_count = 0 };
    for (int i = 0; i < argc; i++) {
        const enum money_option option = option_find(argv[i]);
        if (option == MONEY_OPTION_COUNT && argv[i][0] == '-')
            return wrong(out, argv[i], "is no option");
        if (option == MONEY_OPTION_COUNT) {
            if (out->word_count == MONEY_WORDS_MAX)
                return wrong(out, argv[i], "is one word too many; a text with blanks stands in quotation marks");
            out->words[out->word_count++] = str_from(argv[i]);
            continue;
        }
        if ((allowed & MONEY_OPTION(option)) == 0)
            return wrong(out, argv[i], "is no option of this command");
        if (money_args_have(out, option))
            return wrong(out, argv[i], "stands twice");
        out->given |= MONEY_OPTION(option);
        if (option >= MONEY_FLAGS)
            continue;
        if (++i == argc)
            return wrong(out, argv[i - 1], "has no value");
        out->values[option] = str_from(argv[i]);
    }
    if (money_args_have(out, MONEY_JSON) && money_args_have(out, MONEY_CSV))
        return wrong(out, "--json", "and --csv exclude each other");
    return true;
}
