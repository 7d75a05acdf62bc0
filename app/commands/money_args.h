/* The arguments of `hongbao money ACTION`: words, and options in any order. */
#ifndef HB_COMMANDS_MONEY_ARGS_H
#define HB_COMMANDS_MONEY_ARGS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"

enum money_option {
    /* with a value */
    MONEY_CHANNEL,
    MONEY_REFERENCE,
    MONEY_MEMO,
    MONEY_NOTE,
    MONEY_REASON,
    MONEY_FROM,
    MONEY_TO,
    MONEY_IMPORT,
    MONEY_MIN,
    MONEY_REFERENCE_PREFIX,
    MONEY_WITHDRAWALS,
    MONEY_WITHDRAW_MIN,
    MONEY_WITHDRAW_HINT,
    MONEY_AMOUNT,
    MONEY_TOPUP_URL,
    MONEY_AFTER,
    MONEY_SINCE,
    MONEY_AGAINST,
    MONEY_MISSING,
    MONEY_FLAGS, /* from here on without one */
    MONEY_JSON = MONEY_FLAGS,
    MONEY_CSV,
    MONEY_CHECK,
    MONEY_DEBIT,
    MONEY_DAILY,
    MONEY_ALL,
    MONEY_TOPUP_KEY,
    MONEY_OPTION_COUNT
};
#define MONEY_OPTION(option) (1u << (option))

enum { MONEY_WORDS_MAX = 2 };

struct money_args {
    struct str words[MONEY_WORDS_MAX];
    size_t word_count;
    unsigned given; /* MONEY_OPTION of each option that is there */
    struct str values[MONEY_FLAGS];
    const char *wrong; /* the argument that can't be read, or "" */
    const char *why;   /* what is wrong with it: behind its name */
};

/* Reads the arguments behind the action. allowed: the options that it knows. False: another word or option, an option
 * twice, or without its value; or both --json and --csv; wrong and why are set. */
bool money_args_read(struct money_args *out, unsigned allowed, int argc, char **argv);
/* The name of the first option of the set, which is not empty. */
const char *money_options_name(unsigned options);
bool money_args_have(const struct money_args *args, enum money_option option);

#endif
