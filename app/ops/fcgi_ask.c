#include "ops/fcgi_ask.h"

#include <fastcgi.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>

#include "base/buf.h"

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

struct str fcgi_ask(int fd, const char *path, struct arena *a)
{
    const struct timeval limit = { .tv_sec = FCGI_ASK_S_MAX };
    struct buf request = BUF_EMPTY, answer = { .limit = ANSWER_BYTES_MAX };
    request_append(&request, path);
    (void)setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    (void)setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
    bool ok = !request.failed && send(fd, request.ptr, request.len, MSG_NOSIGNAL) == (ssize_t)request.len;
    ssize_t n = ok ? 1 : -1;
    while (n > 0 && buf_reserve(&answer, BUFSIZ)) {
        n = recv(fd, answer.ptr + answer.len, BUFSIZ, 0);
        answer.len += n > 0 ? (size_t)n : 0;
    }
    struct str text = n < 0 ? STR_NONE : output_of(buf_view(&answer), a);
    buf_free(&request);
    buf_free(&answer);
    return text;
}
