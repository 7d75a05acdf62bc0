/* The parts of `hongbao money report --against`: the command (money_against.c), its words (money_against_words.c), and
 * the files of --missing (money_missing.c). */
#ifndef HB_COMMANDS_MONEY_AGAINST_INTERNAL_H
#define HB_COMMANDS_MONEY_AGAINST_INTERNAL_H

#include "commands/money_internal.h"
#include "money/against.h"

/* The user of a difference, as the list or the tables name it; may be empty. */
struct str against_user(const struct difference *d);
/* "in", "out" or "reverse". Static storage. */
const char *against_way_name(enum listed_way way);
/* What differs: a line without its end. Both append to the buffer. */
void against_what(struct buf *out, const struct difference *d);
/* What to do: often a command, which may be copied into a shell. */
void against_do(struct buf *out, struct str channel, const struct difference *d);

/* Files of rows that are missing here, as `hongbao money import` and `post --import` read them: NAME-credits.csv,
 * NAME-posts.csv and NAME-debits.csv. Each is made with its first row. */
enum { MISSING_CREDITS, MISSING_POSTS, MISSING_DEBITS, MISSING_FILES };
struct missing {
    struct str name; /* empty: no files */
    FILE *files[MISSING_FILES];
    uint64_t rows[MISSING_FILES];
    uint64_t left_out; /* missing rows that need somebody who looks at them */
};

/* None of the files is there. ST_INVALID: one is; why is set. */
enum status missing_check(struct money *m, const struct missing *files);
/* Adds the row of a difference, if it is missing. ST_CORRUPT: a file can't be written; why is set · ST_NO_MEMORY. */
enum status missing_add(struct money *m, struct missing *files, const struct difference *d);
/* Closes the files, and removes them when the comparison did not end (is_whole). ST_CORRUPT as above. */
enum status missing_close(struct money *m, struct missing *files, bool is_whole);
/* Prints how to bring the rows back. */
void missing_print(const struct missing *files, struct str channel, FILE *to);

#endif
