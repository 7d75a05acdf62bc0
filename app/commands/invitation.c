#include "commands/invitation.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/security_event.h"
#include "base/typed.h"
#include "base/utf8.h"
#include "base/value.h"
#include "commands/invitation_internal.h"
#include "commands/operator_name.h"
#include "commands/stores.h"

enum { ARENA_CHUNK_BYTES = 64 << 10, ERROR_MAX = 1024, DAYS_MAX = 365, LIST_MAX = 100000, FILE_MODE = 0600 };
static const size_t ARENA_LIMIT_BYTES = (size_t)256 << 20;
static const int64_t DAY_MS = 24 * 3600 * 1000;

/* A command under way. */
struct job {
    const struct config *config;
    struct db *db;
    struct arena *arena;
    int argc; /* behind the action */
    char **argv;
    char author[OPERATOR_NAME_MAX];
    int64_t now_ms;
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

/* ---- arguments ---- */

struct options {
    uint64_t count, days;
    struct str note; /* .ptr NULL: none */
    const char *csv, *html, *language;
    bool open, json, csv_out;
};

/* The value of the option at *at, which moves to it. NULL: there is none. */
static const char *value_of(struct job *job, int *at)
{
    return *at + 1 < job->argc ? job->argv[++*at] : NULL;
}

static enum status number_read(struct job *job, const char *name, const char *text, uint64_t max, uint64_t *out)
{
    if (text != NULL && str_to_u64(str_from(text), out) && *out >= 1 && *out <= max)
        return ST_OK;
    return misread(job, arena_printf(job->arena, "%s is a number from 1 to %" PRIu64, name, max));
}

static enum status note_read(struct job *job, const char *text, struct str *out)
{
    if (text == NULL || utf8_clean_shown(job->arena, str_from(text), out) != ST_OK || out->len == 0 ||
        utf8_codepoints(*out) > INVITATION_NOTE_CODE_POINTS_MAX)
        return misread(
            job, arena_printf(job->arena, "--note is a text of 1 to %d characters", INVITATION_NOTE_CODE_POINTS_MAX));
    return ST_OK;
}

static enum status file_read(struct job *job, const char *name, const char *text, const char **out)
{
    *out = text;
    return text != NULL && text[0] != '\0'
               ? ST_OK
               : misread(job, arena_printf(job->arena, "%s needs the name of a file", name));
}

/* Reads an option with a value. ST_NOT_FOUND: it is none. */
static enum status option_read(struct job *job, int *at, struct options *o)
{
    const char *name = job->argv[*at];
    if (strcmp(name, "--count") == 0)
        return number_read(job, name, value_of(job, at), INVITATION_BATCH_MAX, &o->count);
    if (strcmp(name, "--days") == 0)
        return number_read(job, name, value_of(job, at), DAYS_MAX, &o->days);
    if (strcmp(name, "--note") == 0)
        return note_read(job, value_of(job, at), &o->note);
    if (strcmp(name, "--csv") == 0)
        return file_read(job, name, value_of(job, at), &o->csv);
    if (strcmp(name, "--html") == 0)
        return file_read(job, name, value_of(job, at), &o->html);
    if (strcmp(name, "--language") == 0)
        return file_read(job, name, value_of(job, at), &o->language);
    return ST_NOT_FOUND;
}

static enum status create_read(struct job *job, struct options *o, enum language *language)
{
    *o = (struct options){ .count = 1, .days = (uint64_t)job->config->invitation_days, .note = STR_NONE };
    for (int i = 0; i < job->argc; i++) {
        const char *word = job->argv[i];
        enum status st = option_read(job, &i, o);
        if (st == ST_NOT_FOUND)
            return misread(job, arena_printf(job->arena, "%s is one word too many", word));
        if (st != ST_OK)
            return st;
    }
    *language = LANGUAGE_ZH_CN;
    if (o->language != NULL && !language_from_tag(str_from(o->language), language))
        return misread(job, STR("--language is zh-CN or en"));
    return ST_OK;
}

/* ---- create ---- */

/* A file that is written; fd -1: none. */
struct output {
    const char *path;
    int fd;
};

/* Creates the file before anything is made. It is no file that exists, because that may have other codes. */
static enum status output_open(struct job *job, const char *path, struct output *out)
{
    *out = (struct output){ path, -1 };
    if (path == NULL)
        return ST_OK;
    out->fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, FILE_MODE);
    return out->fd >= 0 ? ST_OK : refuse(job, ST_INVALID, arena_printf(job->arena, "%s: %s", path, strerror(errno)));
}

/* Writes and closes the file. */
static enum status output_write(struct job *job, struct output *out, struct str text)
{
    while (text.len > 0) {
        const ssize_t n = write(out->fd, text.ptr, text.len);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            break;
        text = str_skip(text, (size_t)n);
    }
    const bool closed = close(out->fd) == 0;
    out->fd = -1;
    return text.len == 0 && closed
               ? ST_OK
               : refuse(job, ST_CORRUPT,
                        arena_printf(job->arena,
                                     "%s: %s; the invitations are made, and hongbao invitation list "
                                     "--open --codes prints them",
                                     out->path, strerror(errno)));
}

/* Removes a file in which nothing was written. */
static void output_drop(struct output *out)
{
    if (out->fd < 0)
        return;
    (void)close(out->fd);
    (void)unlink(out->path);
}

static enum status csv_write(struct job *job, struct output *out, const struct invitation *list, size_t count)
{
    struct buf text = BUF_EMPTY;
    if (out->fd < 0)
        return ST_OK;
    enum status st = invitation_csv(job->arena, job->config, list, count, job->now_ms, true, &text);
    if (st == ST_OK)
        st = output_write(job, out, buf_view(&text));
    buf_free(&text);
    return st;
}

static enum status html_write(struct job *job, struct output *out, const struct invitation *list, size_t count,
                              enum language language)
{
    struct buf text = BUF_EMPTY;
    char error[ERROR_MAX] = "";
    if (out->fd < 0)
        return ST_OK;
    enum status st = invitation_sheet(job->arena, job->config, list, count, language, &text, error, sizeof error);
    if (st == ST_OK)
        st = output_write(job, out, buf_view(&text));
    else if (error[0] != '\0')
        (void)refuse(job, st, arena_printf(job->arena, "%s", error));
    buf_free(&text);
    return st;
}

static enum status links_print(struct job *job, const struct invitation *list, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct str code;
        const struct str url = invitation_link(job->arena, job->config, &list[i], &code);
        if (url.ptr == NULL)
            return ST_NO_MEMORY;
        (void)printf("%.*s\n", STR_ARG(url));
    }
    return ST_OK;
}

static void mode_say(const struct job *job)
{
    if (config_registration(job->config) == REGISTRATION_INVITE)
        return;
    (void)fprintf(stderr, "note: registration = %s, so %s\n", job->config->registration,
                  config_registration(job->config) == REGISTRATION_OPEN ? "nobody needs an invitation"
                                                                        : "invitations let nobody in");
}

/* Makes the invitations, then writes the files or prints the links. */
static enum status batch_make(struct job *job, const struct options *o, enum language language, struct output *csv,
                              struct output *html)
{
    const struct invitation model = { .author = str_from(job->author),
                                      .note = str_or_empty(o->note),
                                      .created_ms = job->now_ms,
                                      .expires_ms = job->now_ms + (int64_t)o->days * DAY_MS };
    struct invitation *list = arena_array(job->arena, o->count, sizeof *list);
    if (list == NULL)
        return ST_NO_MEMORY;
    enum status st =
        invitations_make(job->db, job->arena, keys_get(&job->config->keys, KEY_INVITATIONS), &model, list, o->count);
    security_event_log(SECURITY_OPERATOR, "user_id=0 action=invitation-create count=%" PRIu64 " result=%s", o->count,
                       status_name(st));
    if (st != ST_OK)
        return st;
    st = csv_write(job, csv, list, o->count);
    if (st == ST_OK)
        st = html_write(job, html, list, o->count, language);
    if (st == ST_OK && o->csv == NULL && o->html == NULL)
        st = links_print(job, list, o->count);
    if (st == ST_OK)
        (void)fprintf(stderr, "%" PRIu64 " made, valid for %" PRIu64 " day%s\n", o->count, o->days,
                      o->days == 1 ? "" : "s");
    return st;
}

static enum status create(struct job *job)
{
    struct options o;
    struct output csv, html = { NULL, -1 };
    enum language language;
    enum status st = create_read(job, &o, &language);
    if (st != ST_OK)
        return st;
    mode_say(job);
    st = output_open(job, o.csv, &csv);
    if (st == ST_OK)
        st = output_open(job, o.html, &html);
    if (st == ST_OK)
        st = batch_make(job, &o, language, &csv, &html);
    output_drop(&csv);
    output_drop(&html);
    return st;
}

/* ---- list ---- */

static void list_text(struct job *job, const struct invitation *list, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct invitation *v = &list[i];
        const struct str maker = v->author.len > 0 ? v->author : v->maker.len > 0 ? v->maker : STR("-");
        (void)printf("%" PRIu64 "  %s  by %.*s  until %.*s", v->id,
                     invitation_state_name(invitation_state(v, job->now_ms)), STR_ARG(maker),
                     STR_ARG(str_or_empty(clock_rfc3339(job->arena, v->expires_ms))));
        if (v->used_ms > 0)
            (void)printf("  used %.*s by %.*s", STR_ARG(str_or_empty(clock_rfc3339(job->arena, v->used_ms))),
                         STR_ARG(v->used_name.len > 0 ? v->used_name : STR("-")));
        (void)printf("%s%.*s\n", v->note.len > 0 ? "  " : "", STR_ARG(v->note));
    }
}

static enum status text_print(const struct buf *out, enum status st)
{
    if (st == ST_OK && out->failed)
        st = ST_NO_MEMORY;
    if (st == ST_OK)
        (void)printf("%.*s", STR_ARG(buf_view(out)));
    return st;
}

static void json_row(struct job *job, struct model *m, struct value *row, const struct invitation *v)
{
    value_int(m, row, "id", (int64_t)v->id);
    value_text(m, row, "state", str_from(invitation_state_name(invitation_state(v, job->now_ms))));
    value_text(m, row, "note", v->note);
    value_text_or_null(m, row, "author", v->author);
    value_text_or_null(m, row, "user", v->maker);
    value_text(m, row, "created_at", clock_rfc3339(job->arena, v->created_ms));
    value_text(m, row, "expires_at", clock_rfc3339(job->arena, v->expires_ms));
    value_text_or_null(m, row, "revoked_at", v->revoked_ms > 0 ? clock_rfc3339(job->arena, v->revoked_ms) : STR(""));
    value_text_or_null(m, row, "used_at", v->used_ms > 0 ? clock_rfc3339(job->arena, v->used_ms) : STR(""));
    value_text_or_null(m, row, "used_by", v->used_name);
}

static enum status list_json(struct job *job, const struct invitation *list, size_t count)
{
    struct model m;
    struct buf out = BUF_EMPTY;
    model_init(&m, job->arena);
    struct value *rows = value_list(&m, &m.root, "invitations");
    for (size_t i = 0; i < count; i++)
        json_row(job, &m, value_add_object(&m, rows), &list[i]);
    value_json(&out, &m.root);
    buf_char(&out, '\n');
    const enum status st = text_print(&out, m.failed ? ST_NO_MEMORY : ST_OK);
    buf_free(&out);
    return st;
}

static enum status list_csv(struct job *job, const struct invitation *list, size_t count, bool with_codes)
{
    struct buf out = BUF_EMPTY;
    const enum status st =
        text_print(&out, invitation_csv(job->arena, job->config, list, count, job->now_ms, with_codes, &out));
    buf_free(&out);
    return st;
}

static enum status list(struct job *job)
{
    bool open_only = false, json = false, csv = false, codes = false;
    struct invitation *found = NULL;
    size_t count = 0;
    for (int i = 0; i < job->argc; i++) {
        bool *flag = strcmp(job->argv[i], "--open") == 0    ? &open_only
                     : strcmp(job->argv[i], "--json") == 0  ? &json
                     : strcmp(job->argv[i], "--csv") == 0   ? &csv
                     : strcmp(job->argv[i], "--codes") == 0 ? &codes
                                                            : NULL;
        if (flag == NULL)
            return misread(job, arena_printf(job->arena, "%s is one word too many", job->argv[i]));
        *flag = true;
    }
    if (json && (csv || codes))
        return misread(job, STR("--json stands alone"));
    enum status st = invitations_list(job->db, job->arena, 0, LIST_MAX, open_only, job->now_ms, &found, &count);
    if (st != ST_OK)
        return status_idempotent(st);
    if (json)
        return list_json(job, found, count);
    if (csv || codes)
        return list_csv(job, found, count, codes);
    list_text(job, found, count);
    return ST_OK;
}

/* ---- revoke ---- */

static enum status revoke_noted(struct job *job)
{
    struct str note;
    uint64_t count = 0;
    if (job->argc != 2)
        return misread(job, STR("--note is followed by one text"));
    enum status st = note_read(job, job->argv[1], &note);
    if (st == ST_OK)
        st = status_idempotent(invitations_revoke_noted(job->db, note, job->now_ms, &count));
    if (st != ST_OK)
        return st;
    security_event_log(SECURITY_OPERATOR, "user_id=0 action=invitation-revoke count=%" PRIu64 " result=ok", count);
    (void)printf("%" PRIu64 " revoked\n", count);
    return ST_OK;
}

static enum status revoke_one(struct job *job, const char *word)
{
    uint64_t id;
    if (!str_to_u64(str_from(word), &id) || id == 0)
        return misread(job, arena_printf(job->arena, "%s is no number of hongbao invitation list", word));
    enum status st = status_idempotent(invitation_revoke(job->db, job->arena, id, 0, job->now_ms));
    if (st == ST_NOT_FOUND)
        return refuse(job, st, arena_printf(job->arena, "there is no invitation %s", word));
    if (st == ST_EXISTS)
        return refuse(job, st, arena_printf(job->arena, "invitation %s is used; its user can be disabled", word));
    if (st != ST_OK)
        return st;
    security_event_log(SECURITY_OPERATOR, "user_id=0 action=invitation-revoke invitation_id=%" PRIu64 " result=ok", id);
    (void)printf("invitation %" PRIu64 ": revoked\n", id);
    return ST_OK;
}

static enum status revocation(struct job *job)
{
    if (job->argc == 0)
        return misread(job, STR("which one? hongbao invitation list has their numbers"));
    if (strcmp(job->argv[0], "--note") == 0)
        return revoke_noted(job);
    enum status st = ST_OK;
    for (int i = 0; st == ST_OK && i < job->argc; i++)
        st = revoke_one(job, job->argv[i]);
    return st;
}

/* ---- the command ---- */

static const struct action {
    const char *name;
    enum status (*run)(struct job *job);
    const char *usage;
} ACTIONS[] = {
    { "create", create, "[--count N] [--days D] [--note TEXT] [--csv FILE] [--html FILE [--language zh-CN|en]]" },
    { "list", list, "[--open] [--json | --csv [--codes]]" },
    { "revoke", revocation, "NUMBER... | --note TEXT" },
};

static int usage(const char *name)
{
    const char *before = "usage:";
    for (size_t i = 0; i < ARRAY_LEN(ACTIONS); i++) {
        if (name != NULL && strcmp(ACTIONS[i].name, name) != 0)
            continue;
        (void)fprintf(stderr, "%s hongbao invitation %s %s\n", before, ACTIONS[i].name, ACTIONS[i].usage);
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
    const char *said = st == ST_UNKNOWN       ? "it is unknown whether this was done; hongbao invitation list shows it"
                       : st == ST_UNAVAILABLE ? "MariaDB did not answer in time, or has refused it; nothing is changed"
                                              : status_name(st);
    if (job->why.len > 0)
        (void)fprintf(stderr, "hongbao invitation %s: %.*s\n", action, STR_ARG(job->why));
    else
        (void)fprintf(stderr, "hongbao invitation %s: %s\n", action, said);
}

static int action_run(const struct action *action, struct job *job)
{
    struct stores stores;
    if (!command_stores_open(&stores, job->config, "invitation"))
        return 1;
    job->db = stores.db;
    enum status st = action->run(job);
    if (st != ST_OK)
        failure_print(job, action->name, st);
    if (job->is_usage)
        (void)usage(action->name);
    if (st == ST_UNAVAILABLE)
        command_stores_tell(job->config, "invitation");
    stores_close(&stores);
    return st == ST_OK && fflush(stdout) == 0 ? 0 : job->is_usage ? 2 : 1;
}

int invitation_command(const struct config *config, int argc, char **argv)
{
    const struct action *action = action_find(argc, argv);
    if (action == NULL) {
        if (argc > 1)
            (void)fprintf(stderr, "hongbao invitation: %s is no command\n", argv[1]);
        return usage(NULL);
    }
    struct job job = { .config = config, .argc = argc - 2, .argv = argv + 2, .now_ms = clock_now_ms() };
    job.arena = arena_new(ARENA_CHUNK_BYTES, ARENA_LIMIT_BYTES);
    if (job.arena == NULL) {
        (void)fputs("hongbao invitation: out of memory\n", stderr);
        return 1;
    }
    operator_name_write(job.author);
    const int code = action_run(action, &job);
    arena_free(job.arena);
    return code;
}
