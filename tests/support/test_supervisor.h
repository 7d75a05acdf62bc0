/* A supervisor like systemd: it receives the messages of io/notify, and the descriptors that a process leaves. */
#ifndef HB_TESTS_SUPPORT_TEST_SUPERVISOR_H
#define HB_TESTS_SUPPORT_TEST_SUPERVISOR_H

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "support/test.h"

enum { SUPERVISOR_TEXT_BYTES = 64, SUPERVISOR_FDS_MAX = 253 };

static struct sockaddr_un supervisor_address = { .sun_family = AF_UNIX }; /* its path is the value of NOTIFY_SOCKET */
static int supervisor;

static inline int supervisor_open(void **state)
{
    (void)state;
    (void)snprintf(supervisor_address.sun_path, sizeof supervisor_address.sun_path, "/tmp/hb-supervisor-%ld",
                   (long)getpid());
    (void)unlink(supervisor_address.sun_path);
    supervisor = socket(AF_UNIX, SOCK_DGRAM, 0);
    return supervisor < 0 ? -1
                          : bind(supervisor, (const struct sockaddr *)&supervisor_address, sizeof supervisor_address);
}

static inline int supervisor_close(void **state)
{
    (void)state;
    return close(supervisor) | unlink(supervisor_address.sun_path);
}

/* Receives a message, or "" when there is none within so many milliseconds. Returns the number of its descriptors. */
static inline size_t supervisor_take(int wait_ms, char text[SUPERVISOR_TEXT_BYTES], int fds[SUPERVISOR_FDS_MAX])
{
    union {
        struct cmsghdr header;
        char bytes[CMSG_SPACE(SUPERVISOR_FDS_MAX * sizeof(int))];
    } control;
    struct iovec part = { .iov_base = text, .iov_len = SUPERVISOR_TEXT_BYTES - 1 };
    struct msghdr message = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = control.bytes, .msg_controllen = sizeof control.bytes
    };
    struct pollfd p = { .fd = supervisor, .events = POLLIN };
    text[0] = '\0';
    if (poll(&p, 1, wait_ms) <= 0)
        return 0;
    ssize_t len = recvmsg(supervisor, &message, MSG_DONTWAIT);
    text[len < 0 ? 0 : len] = '\0';
    struct cmsghdr *header = len < 0 ? NULL : CMSG_FIRSTHDR(&message);
    if (header == NULL)
        return 0;
    memcpy(fds, CMSG_DATA(header), header->cmsg_len - CMSG_LEN(0));
    return (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
}

#endif
