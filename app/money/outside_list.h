/* The channel's own list of payments, as a bank or provider exports it: CSV (csv_reader.h) with the columns reference
 * and amount, and perhaps kind, username, time, memo and unit, in any order; other columns are ignored. An amount with
 * a minus has gone out of the channel's account outside: a debit or post here; any other has come in: a credit here.
 * The column kind may say it instead: "in" or "credit", "out", "debit" or "post"; with "reverse" either way fits, as in
 * `hongbao money transfers --csv`. A unit is the site's, or empty. */
#ifndef HB_MONEY_OUTSIDE_LIST_H
#define HB_MONEY_OUTSIDE_LIST_H

#include <stdint.h>
#include <stdio.h>

#include "base/arena.h"
#include "base/status.h"
#include "base/str.h"

enum { OUTSIDE_LIST_ROWS_MAX = 1000000 };

enum listed_way { LISTED_IN, LISTED_OUT, LISTED_REVERSE };

struct listed {
    uint64_t line;
    enum listed_way way;
    int64_t amount_fen; /* more than 0 */
    struct str reference;
    struct str username, time, memo; /* cleaned, for people; empty: the list has none. username: as it is stored */
};

struct outside_list;

/* Begins at the first row of the file, which is borrowed. ST_INVALID: the file is no such list, *why says why (static
 * storage) · else as csv_reader_new. Only with ST_OK there is a list. */
enum status outside_list_open(FILE *file, struct outside_list **out, const char **why);
void outside_list_close(struct outside_list *l); /* NULL is fine */

/* Reads the next row; its texts are in the arena. *fault: what is wrong with this
 * row (in the arena, or static storage); NULL: nothing. ST_NOT_FOUND: the file ends · ST_INVALID: nothing more can be
 * read, *why says why, *line where · else as csv_reader_next. */
enum status outside_list_next(struct outside_list *l, struct arena *a, struct listed *out, const char **fault,
                              uint64_t *line, const char **why);

#endif
