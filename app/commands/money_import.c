#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/money.h"
#include "commands/money_internal.h"
#include "money/import.h"

void money_fault_print(void *ctx, uint64_t line, struct str why)
{
    (void)ctx;
    (void)fprintf(stderr, "line %" PRIu64 ": %.*s\n", line, STR_ARG(why));
}

/* One line, which the next one replaces. */
static void progress_print(void *ctx, bool checking, uint64_t rows)
{
    const struct import *im = ctx;
    if (checking)
        (void)fprintf(stderr, "\r%" PRIu64 " rows checked ", rows);
    else
        (void)fprintf(stderr, "\r%" PRIu64 " of %" PRIu64 " rows done ", rows, im->file.rows);
}

static void progress_end(const struct import *im)
{
    if (im->progress != NULL)
        (void)fputs("\r                                        \r", stderr);
}

enum status money_file_open(struct money *m, struct str typed, FILE **out)
{
    struct stat about;
    const char *path = typed.ptr; /* of argv: it ends with a NUL */
    *out = fopen(path, "re");
    if (*out == NULL)
        return money_refuse(m, ST_INVALID, "%.400s can't be read: %s", path, strerror(errno));
    if (fstat(fileno(*out), &about) == 0 && S_ISREG(about.st_mode))
        return ST_OK;
    (void)fclose(*out);
    return money_refuse(m, ST_INVALID, "%.400s is no file, which could be read twice", path);
}

enum status money_file_refused(struct money *m, const struct payment_file *f, enum status st)
{
    if (st == ST_UNAVAILABLE && ferror(f->stream))
        return money_refuse(m, ST_CORRUPT, "the file can't be read; nothing is changed");
    if (st != ST_INVALID)
        return st;
    if (f->why != NULL && f->stopped_line > 0)
        return money_refuse(m, st, "line %" PRIu64 ": %s; nothing is changed", f->stopped_line, f->why);
    if (f->why != NULL)
        return money_refuse(m, st, "%s; nothing is changed", f->why);
    return money_refuse(m, st, "%" PRIu64 " of %" PRIu64 " rows are wrong%s; nothing is changed", f->faults, f->rows,
                        f->faults > FAULTS_SHOWN_MAX ? ", of which the first 50 are above" : "");
}

/* Why the second pass has ended, and what is made. */
static enum status make_stopped(struct money *m, const struct payment_file *f, enum status st)
{
    const char *why = f->why != NULL       ? f->why
                      : f->faults > 0      ? "a row that was right before is wrong now"
                      : st == ST_INVALID   ? "a wallet has less than a row debits"
                      : st == ST_EXISTS    ? "a reference was used meanwhile"
                      : st == ST_NOT_FOUND ? "a user has deleted the account meanwhile"
                      : st == ST_UNKNOWN   ? "the outcome of a batch is unknown, because MariaDB has not confirmed it"
                                           : money_status_text(st);
    return money_refuse(m, st,
                        "stopped at line %" PRIu64 ": %s; %" PRIu64 " made, %" PRIu64 " were there before; repeat "
                        "the same command for the others: what is made is not made twice",
                        f->stopped_line, why, f->made, f->repeated);
}

static void sums_print(const struct import *im)
{
    char sum[MONEY_TEXT_MAX], missing[MONEY_TEXT_MAX];
    (void)money_format(im->file.sum_fen, sum);
    (void)money_format(im->file.sum_fen - im->repeated_fen, missing);
    (void)printf("%" PRIu64 " rows, %s; %" PRIu64 " were there before; %" PRIu64 " to make, %s\n", im->file.rows, sum,
                 im->file.repeated, im->file.rows - im->file.repeated, missing);
}

static enum status import_file(struct money *m, struct import *im, const struct channel *channel)
{
    enum status st = import_check(im, m->db);
    progress_end(im);
    if (st != ST_OK)
        return money_file_refused(m, &im->file, st);
    if (im->kind == TRANSFER_CREDIT)
        st = money_forfeited_check(m, channel, im->file.sum_fen - im->repeated_fen);
    if (st != ST_OK)
        return st;
    if (money_has(m, MONEY_CHECK)) {
        sums_print(im);
        return ST_OK;
    }
    st = import_make(im, m->db);
    progress_end(im);
    if (st != ST_OK)
        return make_stopped(m, &im->file, st);
    char sum[MONEY_TEXT_MAX];
    (void)money_format(im->file.sum_fen - im->repeated_fen, sum);
    (void)printf("%" PRIu64 " made, %s; %" PRIu64 " were there before\n", im->file.made, sum, im->file.repeated);
    return ST_OK;
}

enum status money_import(struct money *m)
{
    struct channel channel;
    struct import im = {
        .file = { .author = { m->author.name, INTERFACE_IMPORT }, .fault = money_fault_print, .ctx = &im },
        .kind = money_has(m, MONEY_DEBIT) ? TRANSFER_DEBIT : TRANSFER_CREDIT,
        .progress = isatty(STDERR_FILENO) ? progress_print : NULL
    };
    enum status st = money_own_channel_find(m, &channel);
    if (st == ST_OK)
        st = money_file_open(m, m->args.words[0], &im.file.stream);
    if (st != ST_OK)
        return st;
    im.channel_id = channel.id;
    im.channel = channel.name;
    st = import_file(m, &im, &channel);
    (void)fclose(im.file.stream);
    return st;
}
