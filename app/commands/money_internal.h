/* The actions of `hongbao money`, each in the file of its subject, and what they share (money.c). */
#ifndef HB_COMMANDS_MONEY_INTERNAL_H
#define HB_COMMANDS_MONEY_INTERNAL_H

#include <inttypes.h>
#include <stdio.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/value.h"
#include "commands/money_args.h"
#include "commands/operator_name.h"
#include "ledger/channel.h"
#include "ledger/external.h"
#include "money/payment_file.h"

/* A command under way. An action prints its result to stdout, and returns a status; with another than ST_OK it may set
 * why by money_refuse. */
struct money {
    const struct config *config;
    struct db *db;
    struct arena *arena; /* an action that prints many rows resets it */
    struct money_args args;
    struct external_author author; /* the person, whose name is the text below; interface INTERFACE_COMMAND */
    char author_text[OPERATOR_NAME_MAX];
    struct str why; /* for people, without a full stop; empty: the status says it */
    bool is_usage;  /* why is about an argument */
    bool differs;   /* a comparison has ended and found differences; the status is not ST_OK */
};

enum status money_channels(struct money *m); /* money_channel.c */
enum status money_channel(struct money *m);
enum status money_credit(struct money *m); /* money_move.c */
enum status money_debit(struct money *m);
enum status money_reverse(struct money *m);
enum status money_import(struct money *m);      /* money_import.c */
enum status money_withdrawals(struct money *m); /* money_withdrawal.c */
enum status money_post(struct money *m);
enum status money_void(struct money *m);
enum status money_post_file(struct money *m); /* money_post_file.c */
enum status money_balances(struct money *m);  /* money_balances.c */
enum status money_transfers(struct money *m); /* money_transfers.c */
enum status money_topups(struct money *m);    /* money_topup.c */
enum status money_paid(struct money *m);
enum status money_report(struct money *m);  /* money_report.c */
enum status money_against(struct money *m); /* money_against.c */

/* What --topup-url and --topup-key do with a channel (money_topup.c). ST_NOT_FOUND: it takes no payments. */
enum status money_topup_settings(struct money *m, struct str channel);
/* The value of --topup-url. ST_INVALID: it is no address of a page; why is set. */
enum status money_topup_url_read(struct money *m, struct str *out);

/* Sets why, and returns the status. */
enum status money_refuse(struct money *m, enum status st, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The same about an argument that can't be read: ST_INVALID, and the exit status is 2. */
enum status money_misread(struct money *m, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The value of an option; empty when it is not there. */
struct str money_value(const struct money *m, enum money_option option);
bool money_has(const struct money *m, enum money_option option);

/* Reads a number that is not 0. ST_INVALID: it is none; why is set. */
enum status money_id_read(struct money *m, struct str word, uint64_t *out);
/* The value of --reference. ST_INVALID: it is none; why is set. */
enum status money_reference_read(struct money *m, struct str *out);
/* The value of a text option, as payment_line_read; empty when it is not there. */
enum status money_line_read(struct money *m, enum money_option option, size_t code_points_max, struct str *out);
/* The channel that --channel names. ST_NOT_FOUND: there is none; why is set. */
enum status money_channel_find(struct money *m, struct channel *out);
/* The same of a channel that operators pay by: not demo. */
enum status money_own_channel_find(struct money *m, struct channel *out);
/* Credits of so much do not take the channel forfeited below 0: no money comes in there. Another credit at the same
 * moment is not seen. ST_INVALID: they do; why is set. */
enum status money_forfeited_check(struct money *m, const struct channel *channel, int64_t credits_fen);
/* The time of --from and --to, both days whole, or of --since: from_ms up to, but not including, until_ms. Without them
 * 0 and INT64_MAX. ST_INVALID: no days or time, or in the wrong order; why is set. */
enum status money_days_read(struct money *m, int64_t *from_ms, int64_t *until_ms);

/* Opens a file that can be read twice. ST_INVALID: it is none; why is set. */
enum status money_file_open(struct money *m, struct str path, FILE **out);
/* Why the first pass over a file has ended. */
enum status money_file_refused(struct money *m, const struct payment_file *f, enum status st);
/* Prints a wrong row of a file to stderr. */
void money_fault_print(void *ctx, uint64_t line, struct str why);

/* Why a file was stopped, for people: of a status that is of a store, else its name. */
const char *money_status_text(enum status st);

/* The author, quoted for the log. Valid until the next call. */
const char *money_author_quoted(const struct money *m);

/* A list that is printed page by page, as lines, with --json or --csv. ctx is of the action: its query, and the page
 * that was read. */
struct money_list {
    const char *name;           /* the member of the JSON object */
    const char *const *columns; /* of row_csv; the unit follows them */
    size_t column_count;
    size_t page_rows; /* a page with fewer rows is the last one */
    /* Reads the next page into ctx. */
    enum status (*next)(struct money *m, void *ctx, size_t *count);
    void (*row_model)(struct model *model, struct value *object, const void *ctx, size_t row);
    void (*row_csv)(struct buf *out, const void *ctx, size_t row); /* the cells, without the end of the row */
    void (*row_text)(struct buf *out, const void *ctx, size_t row);
};
/* Prints it, and resets the arena before each page. The errors of next, and of money_flush. */
enum status money_list_print(struct money *m, const struct money_list *list, void *ctx);

/* Prints the model as a line of JSON. ST_NO_MEMORY: it is not whole. */
enum status money_json_print(struct model *model);
/* Appends the model as an item of a list in JSON, on a line of its own. out fails when the model has. */
void money_json_item(struct buf *out, const struct model *model, bool is_first);
/* Appends an amount as a cell, which may be below zero. */
void money_cell(struct buf *out, int64_t fen);
/* Appends the unit of the row's amounts as its last cell; the column is named unit. */
void money_unit_cell(struct buf *out);
/* The unit as the first members of a JSON object that is printed in parts. In the arena; empty without memory. */
const char *money_unit_json(struct money *m);
void money_id_cell(struct buf *out, uint64_t id);
void money_time_cell(struct buf *out, int64_t ms);
/* Prints the rows so far, and empties the buffer. ST_NO_MEMORY: a row is missing. That stdout can't be written is found
 * when the command ends. */
enum status money_flush(struct buf *out);

#endif
