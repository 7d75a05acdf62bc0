#include "doctor/fcgi_ask.h"

#include <errno.h>
#include <fastcgi.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "base/buf.h"
#include "base/clock.h"

enum { ANSWER_BYTES_MAX = 1 << 16, REQUEST_ID = 1, BYTE = 0xff, BYTE_BITS = 8 };

static void record_append(struct buf *out, unsigned char type, struct str content)
{
    const FCGI_Header header = { .version = FCGI_VERSION_1,
                                 .type = type,
                                 .requestIdB0 = REQUEST_ID,
                                 .contentLengthB1 = (unsigned char)(content.len >> BYTE_BITS & BYTE),
                                 .contentLengthB0 = (unsigned char)(content.len & BYTE) };
    buf_bytes(out, &header, sizeof header);
    buf_str(out, content);
}

/* name and value are shorter than 128 bytes. */
static void param_append(struct buf *out, const char *name, const char *value)
{
    buf_char(out, (char)strlen(name));
    buf_char(out, (char)strlen(value));
    buf_cstr(out, name);
    buf_cstr(out, value);
}

static void request_append(struct buf *out, const char *path)
{
    static const FCGI_BeginRequestBody begin = { .roleB0 = FCGI_RESPONDER };
    struct buf params = BUF_EMPTY;
    param_append(&params, "REQUEST_METHOD", "GET");
    param_append(&params, "REQUEST_URI", path);
    param_append(&params, "REQUEST_ID", "00000000000000000000000000000000");
    param_append(&params, "REMOTE_ADDR", "127.0.0.1");
    record_append(out, FCGI_BEGIN_REQUEST, (struct str){ (const char *)&begin, sizeof begin });
    record_append(out, FCGI_PARAMS, buf_view(&params));
    record_append(out, FCGI_PARAMS, STR(""));
    record_append(out, FCGI_STDIN, STR(""));
    buf_free(&params);
}

/* The contents of the records of standard output, in the arena. */
static struct str output_of(struct str records, struct arena *a)
{
    struct buf out = BUF_EMPTY;
    FCGI_Header header;
    while (records.len >= sizeof header) {
        memcpy(&header, records.ptr, sizeof header);
        size_t len = (size_t)header.contentLengthB1 << BYTE_BITS | header.contentLengthB0;
        records = str_skip(records, sizeof header);
        if (records.len < len + header.paddingLength)
            break;
        if (header.type == FCGI_STDOUT)
            buf_str(&out, str_slice(records, 0, len));
        records = str_skip(records, len + header.paddingLength);
    }
    struct str copy = arena_str(a, buf_view(&out));
    buf_free(&out);
    return copy;
}

/* Waits until the socket can be read. False: the deadline passed. */
static bool socket_wait(int fd, int64_t deadline_ms)
{
    for (;;) {
        struct pollfd socket = { .fd = fd, .events = POLLIN };
        int64_t left_ms = deadline_ms - clock_monotonic_ms();
        int count = left_ms <= 0 ? 0 : poll(&socket, 1, (int)left_ms);
        if (count >= 0 || errno != EINTR)
            return count > 0;
    }
}

/* Reads until the pool closes, into a buffer with a limit. False: the deadline passed, or the connection broke. */
static bool answer_read(int fd, int64_t deadline_ms, struct buf *answer)
{
    ssize_t n = 1;
    while (n > 0 && buf_reserve(answer, BUFSIZ)) {
        if (!socket_wait(fd, deadline_ms))
            return false;
        n = recv(fd, answer->ptr + answer->len, BUFSIZ, MSG_DONTWAIT);
        answer->len += n > 0 ? (size_t)n : 0;
    }
    return n >= 0;
}

struct str fcgi_ask(int fd, const char *path, int limit_ms, struct arena *a)
{
    const int64_t deadline_ms = clock_monotonic_ms() + limit_ms;
    struct buf request = BUF_EMPTY, answer = { .limit = ANSWER_BYTES_MAX };
    request_append(&request, path);
    /* The request is small: the send buffer of a new connection takes all of it. */
    bool sent =
        !request.failed && send(fd, request.ptr, request.len, MSG_NOSIGNAL | MSG_DONTWAIT) == (ssize_t)request.len;
    struct str text = sent && answer_read(fd, deadline_ms, &answer) ? output_of(buf_view(&answer), a) : STR_NONE;
    buf_free(&request);
    buf_free(&answer);
    return text;
}
