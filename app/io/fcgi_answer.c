#include "io/fcgi_answer.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "io/notify.h"

enum { RECORD_HEAD_BYTES = 8, RECORD_BYTES_MAX = 65528, RECORD_VERSION = 1, RECORD_END = 3, RECORD_STDOUT = 6 };

static void record_head(uint8_t *out, uint8_t type, int request_id, size_t len)
{
    const uint8_t head[RECORD_HEAD_BYTES] = {
        RECORD_VERSION, type, (uint8_t)(request_id >> 8), (uint8_t)request_id, (uint8_t)(len >> 8), (uint8_t)len
    };
    memcpy(out, head, sizeof head);
}

/* The peer has closed the connection, or has not taken the bytes within FCGI_PEER_TIMEOUT_S. */
static void peer_lost(struct fcgi_request *r)
{
    r->broken = true;
    buf_reset(r->answer);
}

/* Writes all of these bytes. */
static void bytes_send(struct fcgi_request *r, struct iovec *parts, size_t count)
{
    struct msghdr message = { .msg_iov = parts, .msg_iovlen = count };
    while (message.msg_iovlen > 0 && !r->broken) {
        ssize_t n = sendmsg(r->fcgx.ipcFd, &message, MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR) /* the process was stopped meanwhile, and goes on (SIGCONT) */
            continue;
        if (n < 0) {
            peer_lost(r);
            return;
        }
        for (; message.msg_iovlen > 0 && (size_t)n >= message.msg_iov->iov_len; message.msg_iov++, message.msg_iovlen--)
            n -= (ssize_t)message.msg_iov->iov_len;
        if (message.msg_iovlen > 0) {
            message.msg_iov->iov_base = (char *)message.msg_iov->iov_base + n;
            message.msg_iov->iov_len -= (size_t)n;
        }
    }
}

void fcgi_answer_send(struct fcgi_request *r, bool ends)
{
    enum { RECORDS_MAX = FCGI_ANSWER_BYTES_MAX / RECORD_BYTES_MAX + 1, END_BYTES = 3 * RECORD_HEAD_BYTES };
    uint8_t heads[RECORDS_MAX][RECORD_HEAD_BYTES], end[END_BYTES] = { 0 };
    struct iovec parts[2 * RECORDS_MAX + 1];
    size_t count = 0, records = 0;
    for (size_t at = 0; at < r->answer->len; at += RECORD_BYTES_MAX) {
        size_t len = r->answer->len - at < RECORD_BYTES_MAX ? r->answer->len - at : RECORD_BYTES_MAX;
        record_head(heads[records], RECORD_STDOUT, r->fcgx.requestId, len);
        parts[count++] = (struct iovec){ heads[records++], RECORD_HEAD_BYTES };
        parts[count++] = (struct iovec){ r->answer->ptr + at, len };
    }
    if (ends) { /* an empty record ends the output; FCGI_END_REQUEST follows, whose 8 bytes are 0 */
        record_head(end, RECORD_STDOUT, r->fcgx.requestId, 0);
        record_head(end + RECORD_HEAD_BYTES, RECORD_END, r->fcgx.requestId, RECORD_HEAD_BYTES);
        parts[count++] = (struct iovec){ end, sizeof end };
    }
    bytes_send(r, parts, count);
    buf_reset(r->answer);
}

/* Sends the answer so far when the next piece does not fit. */
void fcgi_write(struct fcgi_request *r, struct str bytes)
{
    while (bytes.len > 0 && !r->broken) {
        size_t room = FCGI_ANSWER_BYTES_MAX - r->answer->len, len = bytes.len < room ? bytes.len : room;
        buf_bytes(r->answer, bytes.ptr, len);
        if (len == room)
            fcgi_answer_send(r, false);
        bytes = (struct str){ bytes.ptr + len, bytes.len - len };
    }
}

bool fcgi_flush(struct fcgi_request *r)
{
    notify_alive(); /* a process that writes a long answer does not hang */
    fcgi_answer_send(r, false);
    return !r->broken;
}

/* Drops the bytes that were not sent yet, and does not write the record that ends a complete answer. */
void fcgi_break_off(struct fcgi_request *r)
{
    peer_lost(r);
}
