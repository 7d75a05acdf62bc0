#include "support/test_port.h"

#include <arpa/inet.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

/* Without ctest. */
#define PORTS_DEFAULT "20000-29999"

/* Binds the port for a moment. */
static bool port_is_free(int port)
{
    const struct sockaddr_in address = {
        .sin_family = AF_INET,
        .sin_port = htons((uint16_t)port),
        .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
    };
    const int yes = 1;
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    bool is_free = fd >= 0 && setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) == 0 &&
                   bind(fd, (const struct sockaddr *)&address, sizeof address) == 0;
    if (fd >= 0)
        (void)close(fd);
    return is_free;
}

int test_port_next(void)
{
    static int turn = -1;
    const char *ports = getenv("HB_TEST_PORTS");
    int first, last;
    if (sscanf(ports == NULL ? PORTS_DEFAULT : ports, "%d-%d", &first, &last) != 2)
        return 0;
    if (turn < 0)
        turn = (int)getpid();
    for (int tries = 0; tries <= last - first; tries++) {
        int port = first + (turn++ % (last - first + 1));
        if (port_is_free(port))
            return port;
    }
    return 0;
}
