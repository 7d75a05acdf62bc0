/* io/fcgi: the loop runs in a child process; the clients of the test speak raw FastCGI. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <fcntl.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/array.h"
#include "io/fcgi.h"

enum {
    CLIENTS = 100,
    ROUNDS = 40,
    FILES_MAX = 40,
    PATIENCE_MS = 15000 * HB_TEST_PATIENCE,
    ROUND_ENDS = 0xff,
    LARGE = 999,          /* number of the client that gets the large answer */
    LARGE_BYTES = 4 << 20 /* larger than a socket buffer */
};

/* ---- the server ---- */

/* With in_steps each request writes its client's number to the pipe `reports` and waits for a round. A round writes
 * ROUND_ENDS and waits for a byte from the pipe `resume`. */
struct server {
    union {
        struct sockaddr any;
        struct sockaddr_un path;
        struct sockaddr_in port;
    } address;
    socklen_t address_len;
    int listen_fd, reports[2], resume[2];
    pid_t pid;
    bool in_steps;
};

static void large_write(struct fcgi_request *r)
{
    static char bytes[LARGE_BYTES];
    fcgi_write(r, (struct str){ bytes, sizeof bytes });
}

static enum fcgi_step serve_step(void *ctx, struct fcgi_request *r)
{
    const struct server *s = ctx;
    if (s->in_steps && r->state == NULL) {
        r->state = ctx;
        uint8_t number = (uint8_t)strtoul(fcgi_param(r, "N").ptr, NULL, 10);
        assert_int_equal(write(s->reports[1], &number, 1), 1);
        return FCGI_WAIT;
    }
    fcgi_write(r, STR("Status: 204\r\n\r\n"));
    if (strtoul(fcgi_param(r, "N").ptr, NULL, 10) == LARGE)
        large_write(r);
    return FCGI_DONE;
}

static void serve_round(void *ctx)
{
    const struct server *s = ctx;
    uint8_t byte = ROUND_ENDS;
    assert_int_equal(write(s->reports[1], &byte, 1), 1);
    assert_int_equal(read(s->resume[0], &byte, 1), 1);
}

static void serve_finish(void *ctx, struct fcgi_request *r)
{
    (void)ctx, (void)r;
}

static void server_address_set(struct server *s, bool by_tcp)
{
    if (by_tcp) { /* a free port */
        s->address.port = (struct sockaddr_in){ .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
        s->address_len = sizeof s->address.port;
        return;
    }
    s->address.path = (struct sockaddr_un){ .sun_family = AF_UNIX };
    s->address_len = sizeof s->address.path;
    (void)snprintf(s->address.path.sun_path, sizeof s->address.path.sun_path, "/tmp/hb-fcgi-%ld.sock", (long)getpid());
    (void)unlink(s->address.path.sun_path);
}

static void server_start_at(struct server *s, bool by_tcp, bool in_steps, rlim_t files_max)
{
    *s = (struct server){ .in_steps = in_steps };
    server_address_set(s, by_tcp);
    s->listen_fd = socket(s->address.any.sa_family, SOCK_STREAM, 0);
    assert_int_equal(bind(s->listen_fd, &s->address.any, s->address_len), 0);
    assert_int_equal(getsockname(s->listen_fd, &s->address.any, &s->address_len), 0);
    assert_int_equal(listen(s->listen_fd, 256), 0);
    assert_int_equal(pipe(s->reports), 0);
    assert_int_equal(pipe(s->resume), 0);
    s->pid = fork();
    assert_true(s->pid >= 0);
    if (s->pid > 0)
        return;
    const struct rlimit files = { files_max, files_max };
    const struct fcgi_options options = { .listen_fd = s->listen_fd, .batch_max = FCGI_BATCH_MAX, .body_bytes_max = 1 };
    const struct fcgi_app app = { .ctx = s, .step = serve_step, .round = serve_round, .finish = serve_finish };
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL); /* ends with the test, also when it fails */
    (void)setrlimit(RLIMIT_NOFILE, &files);
    _exit(fcgi_serve(&options, &app) == ST_OK ? 0 : 1);
}

static void server_start(struct server *s, bool in_steps, rlim_t files_max)
{
    server_start_at(s, false, in_steps, files_max);
}

/* Of a process that has ended. */
static void server_close(struct server *s)
{
    close(s->listen_fd);
    for (int i = 0; i < 2; i++) {
        close(s->reports[i]);
        close(s->resume[i]);
    }
    if (s->address.any.sa_family == AF_UNIX)
        (void)unlink(s->address.path.sun_path);
}

static void server_end(struct server *s)
{
    (void)kill(s->pid, SIGKILL);
    assert_int_equal(waitpid(s->pid, NULL, 0), s->pid);
    server_close(s);
}

/* ---- the clients ---- */

static int client_connect(const struct server *s)
{
    int fd = socket(s->address.any.sa_family, SOCK_STREAM, 0);
    assert_true(fd >= 0);
    assert_int_equal(connect(fd, &s->address.any, s->address_len), 0);
    return fd;
}

/* How many bytes of a request are sent: up to the middle of the first record, of the parameter, up to the body, all. */
enum part { PART_BEGIN = 12, PART_PARAMS = 26, PART_HEAD = 38, PART_ALL = 46 };

/* Sends a part of a request without body, with the keep flag; its parameter N is the number. */
static void client_send(int fd, unsigned number, enum part part)
{
    enum { BEGIN = 1, PARAMS = 4, STDIN = 5, ID = 1, RESPONDER = 1, KEEP = 1, DIGITS = 3 };
    uint8_t bytes[] = { 1, BEGIN,  0, ID, 0, 8, 0, 0, 0, RESPONDER, KEEP, 0, 0, 0, 0, 0, /**/
                        1, PARAMS, 0, ID, 0, 6, 0, 0, 1, DIGITS,    'N',  0, 0, 0,       /**/
                        1, PARAMS, 0, ID, 0, 0, 0, 0,                                    /**/
                        1, STDIN,  0, ID, 0, 0, 0, 0 };
    char digits[DIGITS + 1];
    (void)snprintf(digits, sizeof digits, "%03u", number % 1000);
    memcpy(&bytes[27], digits, DIGITS);
    _Static_assert(sizeof bytes == PART_ALL, "the whole request");
    assert_int_equal(send(fd, bytes, part, MSG_NOSIGNAL), part);
}

static void client_ask(int fd, unsigned number)
{
    client_send(fd, number, PART_ALL);
}

/* Waits until the server has read all that the client has sent. */
static void wait_until_read(int fd)
{
    int unread = 1;
    for (int waited_ms = 0; unread > 0 && waited_ms < PATIENCE_MS; waited_ms++) {
        assert_int_equal(ioctl(fd, SIOCOUTQ, &unread), 0);
        (void)poll(NULL, 0, 1);
    }
    assert_int_equal(unread, 0);
}

/* Reads one whole answer. False: none in time, or the connection was closed. */
static bool client_answer(int fd)
{
    enum { END_REQUEST = 3 };
    uint8_t header[8], rest[65535 + 255];
    for (;;) {
        struct pollfd p = { .fd = fd, .events = POLLIN };
        if (poll(&p, 1, PATIENCE_MS) <= 0 || recv(fd, header, sizeof header, MSG_WAITALL) != sizeof header)
            return false;
        size_t len = (size_t)header[4] << 8 | header[5];
        len += header[6];
        if (len > 0 && recv(fd, rest, len, MSG_WAITALL) != (ssize_t)len)
            return false;
        if (header[1] == END_REQUEST)
            return true;
    }
}

/* Waits until fds[last] is readable, and closes those before it that the server has closed (the server waits for that,
 * as it does for nginx). False: not in time. */
static bool clients_wait(int *fds, unsigned last)
{
    for (;;) {
        struct pollfd p[CLIENTS];
        for (unsigned i = 0; i <= last; i++)
            p[i] = (struct pollfd){ .fd = fds[i], .events = POLLIN };
        if (poll(p, last + 1, PATIENCE_MS) <= 0)
            return false;
        for (unsigned i = 0; i < last; i++)
            if (fds[i] >= 0 && p[i].revents != 0) {
                close(fds[i]);
                fds[i] = -1; /* poll skips it */
            }
        if (p[last].revents != 0)
            return true;
    }
}

/* Reads the client numbers of the running batch. */
static size_t batch_read(const struct server *s, uint8_t *numbers)
{
    size_t count = 0;
    for (;;) {
        struct pollfd p = { .fd = s->reports[0], .events = POLLIN };
        uint8_t byte;
        assert_int_equal(poll(&p, 1, PATIENCE_MS), 1);
        assert_int_equal(read(s->reports[0], &byte, 1), 1);
        if (byte == ROUND_ENDS)
            return count;
        assert_true(count < FCGI_BATCH_MAX);
        numbers[count++] = byte;
    }
}

/* ---- the cases ---- */

/* While a batch runs, its clients send the next request, so more connections are always ready than a batch takes. */
static void every_connection_is_served_when_more_are_ready_than_a_batch_takes(void **state)
{
    (void)state;
    struct server s;
    int fds[CLIENTS];
    unsigned served[CLIENTS] = { 0 };
    server_start(&s, true, 1024);
    for (unsigned i = 0; i < CLIENTS; i++) {
        fds[i] = client_connect(&s);
        client_ask(fds[i], i);
    }
    for (unsigned round = 0; round < ROUNDS; round++) {
        uint8_t numbers[FCGI_BATCH_MAX];
        size_t count = batch_read(&s, numbers);
        for (size_t i = 0; i < count; i++) {
            served[numbers[i]]++;
            client_ask(fds[numbers[i]], numbers[i]);
        }
        assert_int_equal(write(s.resume[1], "", 1), 1);
        for (size_t i = 0; i < count; i++)
            assert_true(client_answer(fds[numbers[i]]));
    }
    for (unsigned i = 0; i < CLIENTS; i++) {
        assert_in_range(served[i], ROUNDS / 4, ROUNDS);
        close(fds[i]);
    }
    server_end(&s);
}

static void a_new_connection_is_accepted_when_kept_ones_use_all_descriptors(void **state)
{
    (void)state;
    struct server s;
    int fds[CLIENTS];
    unsigned kept = 0;
    server_start(&s, false, FILES_MAX);
    for (unsigned i = 0; i < CLIENTS; i++) {
        fds[i] = client_connect(&s);
        client_ask(fds[i], i);
        assert_true(clients_wait(fds, i) && client_answer(fds[i]));
    }
    for (unsigned i = 0; i < CLIENTS; i++)
        kept += fds[i] >= 0 && close(fds[i]) == 0;
    assert_in_range(kept, 1, FILES_MAX);
    server_end(&s);
}

/* The second client connects while the server waits for the first. */
static void a_peer_that_stops_within_a_request_is_closed_and_the_others_are_answered(void **state)
{
    (void)state;
    static const enum part parts[][2] = { { PART_BEGIN, PART_PARAMS }, { PART_PARAMS, PART_HEAD } };
    for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
        struct server s;
        int fds[3];
        server_start(&s, false, 1024);
        fds[0] = client_connect(&s);
        client_send(fds[0], 0, parts[i][0]);
        wait_until_read(fds[0]);
        fds[1] = client_connect(&s);
        client_send(fds[1], 1, parts[i][1]);
        fds[2] = client_connect(&s);
        client_ask(fds[2], 2);
        assert_true(clients_wait(fds, 2) && client_answer(fds[2]));
        assert_int_equal(fds[0], -1); /* closed */
        assert_int_equal(fds[1], -1);
        client_ask(fds[2], 2);
        assert_true(client_answer(fds[2]));
        close(fds[2]);
        server_end(&s);
    }
}

static void a_peer_that_does_not_read_its_answer_is_closed_and_the_others_are_answered(void **state)
{
    (void)state;
    struct server s;
    server_start(&s, false, 1024);
    int not_reading = client_connect(&s), other = client_connect(&s);
    client_ask(not_reading, LARGE);
    wait_until_read(not_reading);
    client_ask(other, 1);
    assert_true(client_answer(other));
    assert_false(client_answer(not_reading)); /* cut off */
    close(not_reading);
    close(other);
    server_end(&s);
}

/* ---- a supervisor that keeps connections ---- */

/* Takes the supervisor's place; returns its socket. */
static int supervisor_begin(struct sockaddr_un *address)
{
    *address = (struct sockaddr_un){ .sun_family = AF_UNIX };
    (void)snprintf(address->sun_path, sizeof address->sun_path, "/tmp/hb-fcgi-%ld.notify", (long)getpid());
    (void)unlink(address->sun_path);
    int fd = socket(AF_UNIX, SOCK_DGRAM, 0);
    assert_int_equal(bind(fd, (const struct sockaddr *)address, sizeof *address), 0);
    assert_int_equal(setenv("NOTIFY_SOCKET", address->sun_path, 1), 0);
    assert_int_equal(setenv("FDSTORE", "1", 1), 0);
    return fd;
}

static void supervisor_end(int fd, const struct sockaddr_un *address)
{
    (void)unsetenv("NOTIFY_SOCKET");
    (void)unsetenv("FDSTORE");
    (void)unlink(address->sun_path);
    close(fd);
}

/* Reads messages up to the one with descriptors; fills fds with them and returns their number. */
static size_t supervisor_keeps(int fd, int fds[2])
{
    union {
        struct cmsghdr header;
        char bytes[CMSG_SPACE(2 * sizeof(int))];
    } control;
    for (;;) {
        char text[64];
        struct iovec part = { .iov_base = text, .iov_len = sizeof text };
        struct msghdr message = {
            .msg_iov = &part, .msg_iovlen = 1, .msg_control = control.bytes, .msg_controllen = sizeof control.bytes
        };
        struct pollfd p = { .fd = fd, .events = POLLIN };
        if (poll(&p, 1, PATIENCE_MS) <= 0 || recvmsg(fd, &message, 0) < 0)
            return 0;
        const struct cmsghdr *header = CMSG_FIRSTHDR(&message);
        if (header == NULL)
            continue;
        memcpy(fds, CMSG_DATA(header), header->cmsg_len - CMSG_LEN(0));
        return (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    }
}

/* The first client has asked nothing yet, the second has. */
static void a_process_that_stops_leaves_all_connections_open(void **state)
{
    (void)state;
    struct server s;
    struct sockaddr_un address;
    int supervisor = supervisor_begin(&address), clients[2], kept[2];
    char byte = 0;
    server_start(&s, false, 1024);
    for (int i = 0; i < 2; i++)
        clients[i] = client_connect(&s);
    client_ask(clients[1], 1);
    assert_true(client_answer(clients[1]));
    assert_int_equal(kill(s.pid, SIGTERM), 0);
    assert_int_equal(supervisor_keeps(supervisor, kept), 2);
    for (int i = 0; i < 2; i++)
        client_ask(clients[i], 2);
    assert_int_equal(waitpid(s.pid, NULL, 0), s.pid);
    for (int i = 0; i < 2; i++) {
        uint8_t request[PART_ALL];
        assert_int_equal(recv(kept[i], request, sizeof request, MSG_DONTWAIT), PART_ALL);
        assert_int_equal(send(kept[i], "x", 1, MSG_NOSIGNAL), 1);
        close(kept[i]);
        assert_int_equal(recv(clients[i], &byte, 1, 0), 1);
        close(clients[i]);
    }
    supervisor_end(supervisor, &address);
    server_close(&s);
}

/* As when systemd starts a process of the same pool: it clears O_NONBLOCK of the socket that they share. */
static void a_pool_serves_a_socket_of_tcp(void **state)
{
    (void)state;
    struct server s;
    int no_delay = 0;
    socklen_t len = sizeof no_delay;
    server_start_at(&s, true, false, 1024);
    int client = client_connect(&s);
    for (unsigned n = 0; n < ROUNDS; n++) {
        client_ask(client, n == 0 ? LARGE : n);
        assert_true(client_answer(client));
    }
    assert_int_equal(getsockopt(s.listen_fd, IPPROTO_TCP, TCP_NODELAY, &no_delay, &len), 0);
    assert_true(no_delay != 0);
    close(client);
    server_end(&s);
}

static void a_process_serves_while_accept_would_block(void **state)
{
    (void)state;
    struct server s;
    server_start(&s, false, 1024);
    int kept = client_connect(&s);
    client_ask(kept, 1);
    assert_true(client_answer(kept));
    assert_int_equal(fcntl(s.listen_fd, F_SETFL, fcntl(s.listen_fd, F_GETFL) & ~O_NONBLOCK), 0);
    int fresh = client_connect(&s);
    client_ask(fresh, 2);
    assert_true(client_answer(fresh));
    client_ask(kept, 3);
    assert_true(client_answer(kept));
    close(fresh);
    close(kept);
    server_end(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_connection_is_served_when_more_are_ready_than_a_batch_takes),
        cmocka_unit_test(a_new_connection_is_accepted_when_kept_ones_use_all_descriptors),
        cmocka_unit_test(a_peer_that_stops_within_a_request_is_closed_and_the_others_are_answered),
        cmocka_unit_test(a_peer_that_does_not_read_its_answer_is_closed_and_the_others_are_answered),
        cmocka_unit_test(a_pool_serves_a_socket_of_tcp),
        cmocka_unit_test(a_process_serves_while_accept_would_block),
        cmocka_unit_test(a_process_that_stops_leaves_all_connections_open),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
