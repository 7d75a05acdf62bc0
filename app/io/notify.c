#include "io/notify.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/clock.h"

enum {
    MESSAGE_FDS_MAX = 200, /* Linux allows 253 in one message */
    ALIVE_MS = 1000
};

/* The address of the supervisor; false when there is none. A first @ stands for the NUL of an abstract socket. */
static bool supervisor_address(struct sockaddr_un *address, socklen_t *len)
{
    const char *path = getenv("NOTIFY_SOCKET");
    size_t path_len = path == NULL ? 0 : strlen(path);
    if (path_len < 2 || path_len >= sizeof address->sun_path || (path[0] != '/' && path[0] != '@'))
        return false;
    *address = (struct sockaddr_un){ .sun_family = AF_UNIX };
    memcpy(address->sun_path, path, path_len);
    if (path[0] == '@')
        address->sun_path[0] = '\0';
    *len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + path_len);
    return true;
}

/* Sends the text with the descriptors, at most MESSAGE_FDS_MAX. */
static bool message_send(char *text, const int *fds, size_t fds_len)
{
    struct sockaddr_un address;
    socklen_t address_len;
    if (!supervisor_address(&address, &address_len))
        return false;
    union {
        struct cmsghdr header; /* for the alignment */
        char bytes[CMSG_SPACE(MESSAGE_FDS_MAX * sizeof(int))];
    } control = { 0 };
    struct iovec part = { .iov_base = text, .iov_len = strlen(text) };
    struct msghdr message = { .msg_name = &address, .msg_namelen = address_len, .msg_iov = &part, .msg_iovlen = 1 };
    if (fds_len > 0) {
        message.msg_control = control.bytes;
        message.msg_controllen = CMSG_SPACE(fds_len * sizeof(int));
        struct cmsghdr *header = CMSG_FIRSTHDR(&message);
        header->cmsg_level = SOL_SOCKET;
        header->cmsg_type = SCM_RIGHTS;
        header->cmsg_len = CMSG_LEN(fds_len * sizeof(int));
        memcpy(CMSG_DATA(header), fds, fds_len * sizeof(int));
    }
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    bool sent = fd >= 0 && sendmsg(fd, &message, MSG_NOSIGNAL) == (ssize_t)part.iov_len;
    if (fd >= 0)
        (void)close(fd);
    return sent;
}

void notify_ready(void)
{
    char text[] = "READY=1";
    (void)message_send(text, NULL, 0);
}

void notify_stopping(void)
{
    char text[] = "STOPPING=1";
    (void)message_send(text, NULL, 0);
}

void notify_alive(void)
{
    static int64_t due_ms; /* monotonic */
    char text[] = "WATCHDOG=1";
    const int64_t now_ms = clock_monotonic_ms();
    if (now_ms < due_ms || getenv("WATCHDOG_USEC") == NULL)
        return;
    due_ms = now_ms + ALIVE_MS;
    (void)message_send(text, NULL, 0);
}

void notify_forget(void)
{
    char text[] = "FDSTOREREMOVE=1\nFDNAME=connection";
    if (getenv("FDSTORE") != NULL)
        (void)message_send(text, NULL, 0);
}

bool notify_keep(const int *fds, size_t fds_len)
{
    char text[] = "FDSTORE=1\nFDNAME=connection";
    struct sockaddr_un address;
    socklen_t address_len;
    size_t done = 0;
    if (getenv("FDSTORE") == NULL || !supervisor_address(&address, &address_len))
        return false;
    while (done < fds_len) {
        size_t count = fds_len - done < MESSAGE_FDS_MAX ? fds_len - done : MESSAGE_FDS_MAX;
        if (!message_send(text, fds + done, count))
            return false;
        done += count;
    }
    return true;
}
