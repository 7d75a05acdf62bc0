#include "base/log.h"

#include <assert.h>
#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/utf8.h"

static const char *log_role = "hongbao";
static enum log_level log_minimum = LOG_INFO;
static bool log_to_journal;
static struct str log_request_id; /* from log_request */

static const struct {
    const char *name;
    const char *prefix; /* the priority that the journal reads at the beginning of a line (sd-daemon(3)) */
} LEVELS[] = {
    [LOG_DEBUG] = { "debug", "<7>" },
    [LOG_INFO] = { "info", "<6>" },
    [LOG_WARN] = { "warn", "<4>" },
    [LOG_ERROR] = { "error", "<3>" },
};

/* True when stderr is the stream of the journal that JOURNAL_STREAM names as DEVICE:INODE. */
static bool stderr_is_journal(void)
{
    struct stat st;
    uint64_t device, inode;
    struct str rest;
    if (!str_to_u64(str_cut(str_from(getenv("JOURNAL_STREAM")), ':', &rest), &device) || !str_to_u64(rest, &inode))
        return false;
    return fstat(STDERR_FILENO, &st) == 0 && st.st_dev == device && st.st_ino == inode;
}

void log_init(const char *role, enum log_level minimum)
{
    log_role = role;
    log_minimum = minimum;
    log_to_journal = stderr_is_journal();
}

void log_request(struct str id)
{
    log_request_id = id;
}

/* Whether nginx made the id: only such an id may stand in a line without quotes. */
static bool request_id_is_valid(struct str id)
{
    enum { REQUEST_ID_CHARS = 32 };
    bool valid = id.len == REQUEST_ID_CHARS;
    for (size_t i = 0; i < id.len && valid; i++)
        valid = (id.ptr[i] >= '0' && id.ptr[i] <= '9') || (id.ptr[i] >= 'a' && id.ptr[i] <= 'f');
    return valid;
}

/* The length of a cut text without the bytes of a character whose end was cut off. */
static size_t whole_length(const char *text, size_t len)
{
    enum { SEQUENCE_MAX = 4 };
    for (size_t back = 1; back <= SEQUENCE_MAX && back <= len; back++) {
        unsigned char c = (unsigned char)text[len - back];
        if (c >= 0xc0)
            return utf8_sequence((struct str){ text + len - back, back }) == back ? len : len - back;
        if (c < 0x80)
            return len;
    }
    return len;
}

/* Appends formatted text to the line, cut so that the line's '\n' and a NUL still fit. */
__attribute__((format(printf, 3, 0))) static size_t line_add(char *line, size_t len, const char *format, va_list args)
{
    size_t room = LOG_LINE_MAX - 1 - len;
    int n = vsnprintf(line + len, room, format, args);

    if (n < 0)
        return len;
    return (size_t)n < room ? len + (size_t)n : whole_length(line, len + room - 1);
}

__attribute__((format(printf, 3, 4))) static size_t line_addf(char *line, size_t len, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    len = line_add(line, len, format, args);
    va_end(args);
    return len;
}

void log_write(enum log_level level, const char *msg, const char *format, ...)
{
    char line[LOG_LINE_MAX], time[CLOCK_TEXT_MAX], quoted[LOG_LINE_MAX / 4];
    int errno_kept = errno;

    if (level < log_minimum)
        return;
    (void)clock_rfc3339_format(clock_now_ms(), time);
    size_t len =
        line_addf(line, 0, "%sts=%s level=%s role=%s pid=%d msg=%s", log_to_journal ? LEVELS[level].prefix : "", time,
                  LEVELS[level].name, log_role, (int)getpid(), log_quote(str_from(msg), quoted, sizeof quoted));
    if (format != NULL) {
        va_list args;

        len = line_addf(line, len, " ");
        va_start(args, format);
        len = line_add(line, len, format, args);
        va_end(args);
    }
    /* A line of the security log already has a request_id. */
    if (request_id_is_valid(log_request_id) && strstr(line, " request_id=") == NULL)
        len = line_addf(line, len, " request_id=%.*s", STR_ARG(log_request_id));
    line[len++] = '\n';
    /* One write, so that lines of several processes never mix. A failure can't be reported anywhere. */
    ssize_t written = write(STDERR_FILENO, line, len);
    (void)written;
    errno = errno_kept;
}

/* True for what can change how a terminal or an editor shows the line: controls, C1 controls, zero-width characters,
 * line separators and bidi controls. */
static bool is_unsafe(const unsigned char *p, size_t len)
{
    if (len == 1)
        return p[0] < 0x20 || p[0] == 0x7f;
    if (len == 2)
        return (p[0] == 0xc2 && p[1] < 0xa0) || (p[0] == 0xd8 && p[1] == 0x9c); /* U+0080–9F, U+061C */
    if (len == 3 && p[0] == 0xe2)
        return (p[1] == 0x80 && (p[2] >= 0xa8 ? p[2] <= 0xae : p[2] >= 0x8b && p[2] <= 0x8f)) || /* U+200B–F, 2028–E */
               (p[1] == 0x81 && p[2] >= 0xa0 && p[2] <= 0xaf);                                   /* U+2060–F */
    return len == 3 && p[0] == 0xef && p[1] == 0xbb && p[2] == 0xbf;                             /* U+FEFF */
}

const char *log_quote(struct str s, char *out, size_t out_size)
{
    static const char hex[] = "0123456789abcdef";
    enum { ESCAPE_BYTES = 4 };
    size_t n = 0;

    assert(out_size >= 3);
    const size_t room = out_size - 2; /* the closing quote and the NUL */
    out[n++] = '"';
    while (s.len) {
        const unsigned char *p = (const unsigned char *)s.ptr;
        size_t len = utf8_sequence(s);
        bool escape = len == 0 || is_unsafe(p, len);
        if (len == 0)
            len = 1; /* a byte that is not UTF-8 is escaped alone */
        if (escape) {
            if (n + len * ESCAPE_BYTES > room)
                break;
            for (size_t i = 0; i < len; i++) {
                out[n++] = '\\';
                out[n++] = 'x';
                out[n++] = hex[p[i] >> 4];
                out[n++] = hex[p[i] & 15];
            }
        } else {
            bool slash = p[0] == '"' || p[0] == '\\';
            if (n + len + slash > room)
                break;
            if (slash)
                out[n++] = '\\';
            memcpy(out + n, p, len);
            n += len;
        }
        s = str_skip(s, len);
    }
    out[n++] = '"';
    out[n] = '\0';
    return out;
}
