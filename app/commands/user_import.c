#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/security_event.h"
#include "commands/user_internal.h"
#include "user/import.h"
#include "web/csv.h"

enum { WHY_MAX = 2048, DAY_MS = 24 * 60 * 60 * 1000, MODE_OWNER = 0600 };

static const char *const LINK_COLUMNS[] = { "username", "nickname", "link", "expires" };

struct import_args {
    const char *file, *links; /* links NULL: the import makes no links */
    int64_t link_ms;
    bool check, days;
};

/* An import under way. */
struct import_run {
    struct user_import im;
    const struct config *config;
    struct import_args args;
    FILE *links;
    struct buf row;
    char why[WHY_MAX]; /* of a failure; empty: the status says it */
};

static bool args_read(struct import_args *out, int argc, char **argv)
{
    *out = (struct import_args){ .link_ms = (int64_t)LOGIN_LINK_DAYS_MAX * DAY_MS };
    for (int i = 1; i < argc; i++) {
        const bool has_value = i + 1 < argc;
        if (strcmp(argv[i], "--check") == 0 && !out->check)
            out->check = true;
        else if (strcmp(argv[i], "--links") == 0 && has_value && out->links == NULL)
            out->links = argv[++i];
        else if (strcmp(argv[i], "--days") == 0 && has_value && !out->days && user_days_read(argv[++i], &out->link_ms))
            out->days = true;
        else if (argv[i][0] != '-' && out->file == NULL)
            out->file = argv[i];
        else
            return false;
    }
    return out->file != NULL && (!out->days || out->links != NULL);
}

/* ---- what an import calls ---- */

static void line_tell(void *ctx, uint64_t line, struct str what)
{
    (void)ctx;
    (void)fprintf(stderr, "line %" PRIu64 ": %.*s\n", line, STR_ARG(what));
}

/* One line, which the next one replaces. */
static void progress_print(void *ctx, bool checking, uint64_t rows)
{
    const struct import_run *run = ctx;
    if (checking)
        (void)fprintf(stderr, "\r%" PRIu64 " rows checked ", rows);
    else
        (void)fprintf(stderr, "\r%" PRIu64 " of %" PRIu64 " rows done ", rows, run->im.rows);
}

static void progress_end(const struct import_run *run)
{
    if (run->im.progress != NULL)
        (void)fputs("\r                                        \r", stderr);
}

static enum status link_keep(void *ctx, const struct user_invited *invited, int64_t expires_ms)
{
    struct import_run *run = ctx;
    char until[CLOCK_TEXT_MAX];
    (void)clock_rfc3339_format(expires_ms, until);
    buf_reset(&run->row);
    csv_cell(&run->row, invited->username);
    csv_cell(&run->row, invited->nickname);
    char url[CONFIG_TEXT_MAX + LOGIN_LINK_CODE_LEN + sizeof LOGIN_LINK_PATH + sizeof "?code="];
    (void)snprintf(url, sizeof url, "%s" LOGIN_LINK_PATH "?code=%s", run->config->base_url, invited->link->code);
    csv_cell(&run->row, str_from(url));
    csv_cell(&run->row, str_from(until));
    csv_row_end(&run->row);
    const struct str text = buf_view(&run->row);
    const bool written = !run->row.failed && fwrite(text.ptr, 1, text.len, run->links) == text.len;
    if (!written)
        run->im.why = "the file of links can't be written";
    return written ? ST_OK : ST_UNAVAILABLE;
}

/* ---- files ---- */

/* Opens a file that can be read twice. */
static enum status file_open(struct import_run *run)
{
    struct stat about;
    run->im.stream = fopen(run->args.file, "re");
    if (run->im.stream == NULL) {
        (void)snprintf(run->why, sizeof run->why, "%.400s can't be read: %s", run->args.file, strerror(errno));
        return ST_INVALID;
    }
    if (fstat(fileno(run->im.stream), &about) == 0 && S_ISREG(about.st_mode))
        return ST_OK;
    (void)snprintf(run->why, sizeof run->why, "%.400s is no file, which could be read twice", run->args.file);
    return ST_INVALID;
}

/* Makes the file of links. One that is there may have links that people still wait for. */
static enum status links_open(struct import_run *run)
{
    if (run->args.links == NULL || run->args.check)
        return ST_OK;
    const int fd = open(run->args.links, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, MODE_OWNER);
    run->links = fd < 0 ? NULL : fdopen(fd, "w");
    if (run->links == NULL) {
        (void)snprintf(run->why, sizeof run->why, "%.400s can't be made: %s; nothing is changed", run->args.links,
                       strerror(errno));
        if (fd >= 0)
            (void)close(fd);
        return ST_INVALID;
    }
    csv_begin(&run->row);
    csv_header(&run->row, LINK_COLUMNS, ARRAY_LEN(LINK_COLUMNS));
    const struct str text = buf_view(&run->row);
    return run->row.failed || fwrite(text.ptr, 1, text.len, run->links) != text.len ? ST_NO_MEMORY : ST_OK;
}

static enum status links_close(struct import_run *run, enum status st)
{
    if (run->links == NULL || fclose(run->links) == 0 || st != ST_OK)
        return st;
    (void)snprintf(run->why, sizeof run->why, "%.400s can't be written: %s; repeat the command with another file",
                   run->args.links, strerror(errno));
    return ST_NO_MEMORY;
}

/* ---- the passes ---- */

static enum status check_refused(struct import_run *run, enum status st)
{
    const struct user_import *im = &run->im;
    if (st == ST_UNAVAILABLE && ferror(im->stream))
        (void)snprintf(run->why, sizeof run->why, "the file can't be read; nothing is changed");
    else if (st == ST_INVALID && im->why != NULL && im->stopped_line > 0)
        (void)snprintf(run->why, sizeof run->why, "line %" PRIu64 ": %s; nothing is changed", im->stopped_line,
                       im->why);
    else if (st == ST_INVALID && im->why != NULL)
        (void)snprintf(run->why, sizeof run->why, "%s; nothing is changed", im->why);
    else if (st == ST_INVALID)
        (void)snprintf(run->why, sizeof run->why, "%" PRIu64 " of %" PRIu64 " rows are wrong%s; nothing is changed",
                       im->faults, im->rows,
                       im->faults > USER_IMPORT_SHOWN_MAX ? ", of which the first 50 are above" : "");
    return st;
}

static enum status make_stopped(struct import_run *run, enum status st)
{
    const struct user_import *im = &run->im;
    const char *why = im->why != NULL    ? im->why
                      : im->faults > 0   ? "a row that was right before is wrong now"
                      : st == ST_EXISTS  ? "usernames of these rows are registered at this moment"
                      : st == ST_UNKNOWN ? "the outcome of a batch is unknown, because the reply of MariaDB was lost"
                                         : status_name(st);
    (void)snprintf(run->why, sizeof run->why,
                   "stopped at line %" PRIu64 ": %s; %" PRIu64 " made, %" PRIu64 " were there before; repeat the same "
                   "command for the others%s",
                   im->stopped_line, why, im->made, im->present,
                   run->args.links != NULL ? ", with another file for links: new ones end those of the first" : "");
    return st;
}

static void event_log(const struct import_run *run, enum status st)
{
    security_event_log(SECURITY_OPERATOR,
                       "action=import made=%" PRIu64 " present=%" PRIu64 " links=%" PRIu64 " result=%s", run->im.made,
                       run->im.present, run->im.linked, status_name(st));
}

static enum status passes_run(struct import_run *run, struct stores *stores)
{
    struct user_import *im = &run->im;
    enum status st = user_import_check(im, stores);
    progress_end(run);
    if (st != ST_OK)
        return check_refused(run, st);
    if (run->args.check) {
        (void)printf("%" PRIu64 " rows; %" PRIu64 " were there before, %" PRIu64 " of them with another nickname; "
                     "%" PRIu64 " to make; %" PRIu64 " login links to make\n",
                     im->rows, im->present, im->differing, im->rows - im->present, im->linked);
        return ST_OK;
    }
    st = links_open(run);
    if (st != ST_OK)
        return st;
    st = user_import_make(im, stores);
    progress_end(run);
    event_log(run, st);
    st = links_close(run, st == ST_OK ? ST_OK : make_stopped(run, st));
    if (st == ST_OK)
        (void)printf("%" PRIu64 " made; %" PRIu64 " were there before, %" PRIu64 " of them with another nickname; "
                     "%" PRIu64 " login links\n",
                     im->made, im->present, im->differing, im->linked);
    return st;
}

int user_import_command(const struct config *config, int argc, char **argv)
{
    struct stores stores;
    struct config patient;
    struct import_run run = { .config = config, .row = BUF_EMPTY };
    if (!args_read(&run.args, argc, argv)) {
        (void)fputs("usage: hongbao user import FILE.csv [--links OUT.csv [--days N]] [--check], N from 1 to 7\n",
                    stderr);
        return 2;
    }
    run.im = (struct user_import){ .links = run.args.links != NULL,
                                   .link_ms = run.args.link_ms,
                                   .tell = line_tell,
                                   .progress = isatty(STDERR_FILENO) ? progress_print : NULL,
                                   .keep = link_keep,
                                   .ctx = &run };
    enum status st = file_open(&run);
    if (st == ST_OK && !user_stores_open(&stores, &patient, config)) {
        (void)fclose(run.im.stream);
        return 1;
    }
    if (st == ST_OK) {
        st = passes_run(&run, &stores);
        stores_close(&stores);
    }
    if (run.im.stream != NULL)
        (void)fclose(run.im.stream);
    buf_free(&run.row);
    return user_failed(config, st, run.why[0] != '\0' ? run.why : NULL);
}
