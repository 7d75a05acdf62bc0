#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "commands/money_against_internal.h"
#include "web/csv.h"

static const char *const SUFFIXES[MISSING_FILES] = { "-credits.csv", "-posts.csv", "-debits.csv" };

/* The name of a file. NULL: out of memory. */
static const char *name_of(struct arena *a, const struct missing *files, size_t file)
{
    return arena_printf(a, "%.*s%s", STR_ARG(files->name), SUFFIXES[file]).ptr;
}

enum status missing_check(struct money *m, const struct missing *files)
{
    for (size_t i = 0; files->name.len > 0 && i < MISSING_FILES; i++) {
        const char *name = name_of(m->arena, files, i);
        if (name == NULL)
            return ST_NO_MEMORY;
        if (access(name, F_OK) == 0)
            return money_misread(m, "%.400s is there already: choose another name for --missing", name);
    }
    return ST_OK;
}

static enum status write_failed(struct money *m, const char *name)
{
    return money_refuse(m, ST_CORRUPT, "%.400s can't be written: %s", name, strerror(errno));
}

static enum status text_write(struct money *m, struct missing *files, size_t file, const struct buf *text)
{
    const char *name = name_of(m->arena, files, file);
    if (text->failed || name == NULL)
        return ST_NO_MEMORY;
    return fwrite(text->ptr, 1, text->len, files->files[file]) == text->len ? ST_OK : write_failed(m, name);
}

/* Makes the file, readable by its owner alone, with its header. */
static enum status begin(struct money *m, struct missing *files, size_t file)
{
    static const char *const payment[] = { "username", "amount", "reference", "memo" };
    static const char *const post[] = { "id", "reference" };
    struct buf head = BUF_EMPTY;
    const char *name = name_of(m->arena, files, file);
    if (name == NULL)
        return ST_NO_MEMORY;
    const int fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    files->files[file] = fd < 0 ? NULL : fdopen(fd, "w");
    if (files->files[file] == NULL)
        return write_failed(m, name);
    csv_begin(&head);
    if (file == MISSING_POSTS)
        csv_header(&head, post, ARRAY_LEN(post));
    else
        csv_header(&head, payment, ARRAY_LEN(payment));
    enum status st = text_write(m, files, file, &head);
    buf_free(&head);
    return st;
}

/* Which file has the row; MISSING_FILES: none, because somebody has to look at it first. Without a username the
 * operator adds it in the file. */
static size_t file_of(const struct difference *d)
{
    const bool is_known = d->hint.user_id != 0 || d->row.username.len == 0;
    if (d->row.way == LISTED_REVERSE || d->hint.order != 0 || !is_known)
        return MISSING_FILES;
    if (d->hint.withdrawal != 0)
        return d->hint.user_id != 0 ? MISSING_POSTS : MISSING_FILES;
    return d->row.way == LISTED_IN ? MISSING_CREDITS : MISSING_DEBITS;
}

enum status missing_add(struct money *m, struct missing *files, const struct difference *d)
{
    const size_t file = file_of(d);
    struct buf row = BUF_EMPTY;
    if (files->name.len == 0 || d->kind != DIFFERENCE_MISSING)
        return ST_OK;
    if (file == MISSING_FILES) {
        files->left_out++;
        return ST_OK;
    }
    enum status st = files->files[file] == NULL ? begin(m, files, file) : ST_OK;
    if (st != ST_OK)
        return st;
    if (file == MISSING_POSTS) {
        money_id_cell(&row, d->hint.withdrawal);
        csv_exact(&row, d->row.reference);
    } else {
        csv_exact(&row, d->hint.username);
        money_cell(&row, d->row.amount_fen);
        csv_exact(&row, d->row.reference);
        csv_exact(&row, d->row.memo);
    }
    csv_row_end(&row);
    st = text_write(m, files, file, &row);
    buf_free(&row);
    files->rows[file]++;
    return st;
}

enum status missing_close(struct money *m, struct missing *files, bool is_whole)
{
    enum status st = ST_OK;
    for (size_t i = 0; i < MISSING_FILES; i++) {
        const char *name = files->files[i] != NULL ? name_of(m->arena, files, i) : NULL;
        if (files->files[i] == NULL)
            continue;
        if (fclose(files->files[i]) != 0 && is_whole)
            st = name == NULL ? ST_NO_MEMORY : write_failed(m, name);
        if (!is_whole && name != NULL)
            (void)unlink(name);
    }
    return st;
}

void missing_print(const struct missing *files, struct str channel, FILE *to)
{
    if (files->name.len == 0)
        return;
    for (size_t i = 0; i < MISSING_FILES; i++)
        if (files->rows[i] > 0 && i == MISSING_POSTS)
            (void)fprintf(to, "%" PRIu64 " to post: hongbao money post --import '%.*s%s'\n", files->rows[i],
                          STR_ARG(files->name), SUFFIXES[i]);
        else if (files->rows[i] > 0)
            (void)fprintf(to, "%" PRIu64 " to %s: hongbao money import '%.*s%s' --channel %.*s%s\n", files->rows[i],
                          i == MISSING_CREDITS ? "credit" : "debit", STR_ARG(files->name), SUFFIXES[i],
                          STR_ARG(channel), i == MISSING_DEBITS ? " --debit" : "");
    if (files->left_out > 0)
        (void)fprintf(to, "%" PRIu64 " missing rows are in no file: do what stands below them\n", files->left_out);
}
