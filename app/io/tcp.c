#include "io/tcp.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

enum { PROBE_AFTER_S = 15, PROBE_EVERY_S = 5, PROBES_MAX = 3, PORT_TEXT_MAX = 8 };

static bool option_set(int fd, int level, int name, int value)
{
    return setsockopt(fd, level, name, &value, sizeof value) == 0;
}

bool tcp_tune(int fd, int64_t timeout_ms)
{
    return option_set(fd, IPPROTO_TCP, TCP_NODELAY, 1) && option_set(fd, SOL_SOCKET, SO_KEEPALIVE, 1) &&
           option_set(fd, IPPROTO_TCP, TCP_KEEPIDLE, PROBE_AFTER_S) &&
           option_set(fd, IPPROTO_TCP, TCP_KEEPINTVL, PROBE_EVERY_S) &&
           option_set(fd, IPPROTO_TCP, TCP_KEEPCNT, PROBES_MAX) &&
           option_set(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, (int)timeout_ms);
}

/* A descriptor; -1, errno says why. */
static int address_connect(const struct addrinfo *address, int64_t timeout_ms)
{
    const struct timeval limit = { .tv_sec = timeout_ms / 1000, .tv_usec = timeout_ms % 1000 * 1000 };
    int fd = socket(address->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || (setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit) == 0 &&
                   connect(fd, address->ai_addr, address->ai_addrlen) == 0))
        return fd;
    int error = errno == EINPROGRESS ? ETIMEDOUT : errno;
    (void)close(fd);
    errno = error;
    return -1;
}

int tcp_connect(const char *host, uint16_t port, int64_t timeout_ms, const char **why)
{
    const struct addrinfo wanted = { .ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM };
    struct addrinfo *found = NULL;
    char port_text[PORT_TEXT_MAX];
    int fd = -1;
    (void)snprintf(port_text, sizeof port_text, "%u", port);
    int error = getaddrinfo(host, port_text, &wanted, &found);
    *why = error == EAI_SYSTEM ? strerror(errno) : gai_strerror(error);
    for (const struct addrinfo *a = found; error == 0 && fd < 0 && a != NULL; a = a->ai_next) {
        fd = address_connect(a, timeout_ms);
        *why = fd < 0 ? strerror(errno) : NULL;
    }
    if (error == 0)
        freeaddrinfo(found);
    return fd;
}
