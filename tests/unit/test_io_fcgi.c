/* io/fcgi: the loop runs in a child process; the clients of the test speak raw FastCGI. */
#include <fcntl.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "io/fcgi_answer.h"
#include "support/test_supervisor.h"

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
    pid_t pid; /* 0: it does not run */
    bool in_steps;
};

static struct server server; /* of the running test */

/* The lengths of answers behind their head: around a record, and around the bytes that are sent at once. The client's
 * number is SIZED plus the index. */
enum { SIZED = 900, HEAD = 15, RECORD = 65528 - HEAD, AT_ONCE = (256 << 10) - HEAD };
static const size_t SIZES[] = { 0,           1,       RECORD - 1,  RECORD,      RECORD + 1, RECORD + HEAD,
                                AT_ONCE - 1, AT_ONCE, AT_ONCE + 1, AT_ONCE * 3, LARGE_BYTES };

static char sized_byte(size_t at)
{
    return (char)(at * 31 + (at >> 13));
}

/* Writes an answer of this length: in one piece, in pieces, or with flushes in between. */
static void sized_write(struct fcgi_request *r, size_t len)
{
    static char bytes[LARGE_BYTES];
    for (size_t i = 0; i < len; i++)
        bytes[i] = sized_byte(i);
    size_t piece = len % 3 == 0 ? len : 10007;
    for (size_t at = 0; at < len; at += piece) {
        fcgi_write(r, (struct str){ bytes + at, len - at < piece ? len - at : piece });
        if (len % 3 == 2)
            assert_true(fcgi_flush(r));
    }
}

static enum fcgi_step serve_step(void *ctx, struct fcgi_request *r)
{
    if (server.in_steps && r->state == NULL) {
        r->state = ctx;
        uint8_t number = (uint8_t)strtoul(fcgi_param(r, "N").ptr, NULL, 10);
        assert_int_equal(write(server.reports[1], &number, 1), 1);
        return FCGI_WAIT;
    }
    unsigned long number = strtoul(fcgi_param(r, "N").ptr, NULL, 10);
    fcgi_write(r, STR("Status: 204\r\n\r\n"));
    if (number == LARGE)
        sized_write(r, LARGE_BYTES);
    else if (number >= SIZED && number < SIZED + ARRAY_LEN(SIZES))
        sized_write(r, SIZES[number - SIZED]);
    return FCGI_DONE;
}

static void serve_round(void *ctx)
{
    (void)ctx;
    uint8_t byte = ROUND_ENDS;
    assert_int_equal(write(server.reports[1], &byte, 1), 1);
    assert_int_equal(read(server.resume[0], &byte, 1), 1);
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

static void server_start(bool by_tcp, bool in_steps, rlim_t files_max)
{
    struct server *s = &server;
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

static int server_end(void **state)
{
    (void)state;
    if (server.pid != 0 && (kill(server.pid, SIGKILL) != 0 || waitpid(server.pid, NULL, 0) != server.pid))
        return -1;
    server.pid = 0;
    close(server.listen_fd);
    for (int i = 0; i < 2; i++) {
        close(server.reports[i]);
        close(server.resume[i]);
    }
    if (server.address.any.sa_family == AF_UNIX)
        (void)unlink(server.address.path.sun_path);
    return 0;
}

/* ---- the clients ---- */

static int client_connect(void)
{
    int fd = socket(server.address.any.sa_family, SOCK_STREAM, 0);
    assert_true(fd >= 0);
    assert_int_equal(connect(fd, &server.address.any, server.address_len), 0);
    return fd;
}

/* How many bytes of a request are sent: up to the middle of the first record, of the parameter, up to the body, all. */
enum part { PART_BEGIN = 12, PART_PARAMS = 26, PART_HEAD = 38, PART_ALL = 46 };

/* Records of FastCGI: types, the id of the request, its role and flag, the parameter N. */
enum { BEGIN = 1, PARAMS = 4, STDIN = 5, ID = 1, RESPONDER = 1, KEEP = 1, DIGITS = 3, RECORD_HEAD = 8 };

/* Writes a request without body, with the keep flag; its parameter N is the number. */
static void request_write(uint8_t out[PART_ALL], unsigned number)
{
    const uint8_t bytes[] = { 1, BEGIN,  0, ID, 0, 8, 0, 0, 0, RESPONDER, KEEP, 0, 0, 0, 0, 0, /**/
                              1, PARAMS, 0, ID, 0, 6, 0, 0, 1, DIGITS,    'N',  0, 0, 0,       /**/
                              1, PARAMS, 0, ID, 0, 0, 0, 0,                                    /**/
                              1, STDIN,  0, ID, 0, 0, 0, 0 };
    char digits[DIGITS + 1];
    (void)snprintf(digits, sizeof digits, "%03u", number % 1000);
    _Static_assert(sizeof bytes == PART_ALL, "the whole request");
    memcpy(out, bytes, sizeof bytes);
    memcpy(&out[27], digits, DIGITS);
}

/* Sends a part of such a request. */
static void client_send(int fd, unsigned number, enum part part)
{
    uint8_t bytes[PART_ALL];
    request_write(bytes, number);
    assert_int_equal(send(fd, bytes, part, MSG_NOSIGNAL), part);
}

static void client_send_record(int fd, int type, const void *content, size_t len)
{
    const uint8_t head[RECORD_HEAD] = { 1, (uint8_t)type, 0, ID, (uint8_t)(len >> 8), (uint8_t)len };
    assert_int_equal(send(fd, head, sizeof head, MSG_NOSIGNAL), sizeof head);
    if (len > 0)
        assert_int_equal(send(fd, content, len, MSG_NOSIGNAL), len);
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

/* Reads one whole answer, and counts its bytes; the bytes behind the head are compared. False: no answer in time, or
 * the connection was closed. */
static bool client_answer_read(int fd, size_t *answer_len)
{
    enum { END_REQUEST = 3, STDOUT = 6 };
    uint8_t header[8], rest[65535 + 255];
    bool empty_seen = false;
    *answer_len = 0;
    for (;;) {
        struct pollfd p = { .fd = fd, .events = POLLIN };
        if (poll(&p, 1, PATIENCE_MS) <= 0 || recv(fd, header, sizeof header, MSG_WAITALL) != sizeof header)
            return false;
        size_t len = (size_t)header[4] << 8 | header[5];
        len += header[6];
        if (len > 0 && recv(fd, rest, len, MSG_WAITALL) != (ssize_t)len)
            return false;
        if (header[1] == END_REQUEST)
            return empty_seen && len == 8;
        if (header[1] != STDOUT || empty_seen)
            return false;
        empty_seen = len == 0;
        for (size_t i = 0; i < len; i++, ++*answer_len)
            if (*answer_len >= HEAD && rest[i] != (uint8_t)sized_byte(*answer_len - HEAD))
                return false;
    }
}

static bool client_answer(int fd)
{
    size_t len;
    return client_answer_read(fd, &len);
}

/* Waits until fds[last] is readable. Closes earlier ones that the server has closed, because the server waits for that,
 * as it does for nginx. False: not in time. */
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
static size_t batch_read(uint8_t *numbers)
{
    size_t count = 0;
    for (;;) {
        struct pollfd p = { .fd = server.reports[0], .events = POLLIN };
        uint8_t byte;
        assert_int_equal(poll(&p, 1, PATIENCE_MS), 1);
        assert_int_equal(read(server.reports[0], &byte, 1), 1);
        if (byte == ROUND_ENDS)
            return count;
        assert_true(count < FCGI_BATCH_MAX);
        numbers[count++] = byte;
    }
}

/* ---- the cases ---- */

/* While a batch runs, its clients send the next request, so more connections are always ready than a batch takes. */
TEST_WITH(every_connection_is_served_when_more_are_ready_than_a_batch_takes, NULL, server_end)
{
    int fds[CLIENTS];
    unsigned served[CLIENTS] = { 0 };
    server_start(false, true, 1024);
    for (unsigned i = 0; i < CLIENTS; i++) {
        fds[i] = client_connect();
        client_ask(fds[i], i);
    }
    for (unsigned round = 0; round < ROUNDS; round++) {
        uint8_t numbers[FCGI_BATCH_MAX];
        size_t count = batch_read(numbers);
        for (size_t i = 0; i < count; i++) {
            served[numbers[i]]++;
            client_ask(fds[numbers[i]], numbers[i]);
        }
        assert_int_equal(write(server.resume[1], "", 1), 1);
        for (size_t i = 0; i < count; i++)
            assert_true(client_answer(fds[numbers[i]]));
    }
    for (unsigned i = 0; i < CLIENTS; i++) {
        assert_in_range(served[i], ROUNDS / 4, ROUNDS);
        close(fds[i]);
    }
}

TEST_WITH(a_new_connection_is_accepted_when_kept_ones_use_all_descriptors, NULL, server_end)
{
    int fds[CLIENTS];
    unsigned kept = 0;
    server_start(false, false, FILES_MAX);
    for (unsigned i = 0; i < CLIENTS; i++) {
        fds[i] = client_connect();
        client_ask(fds[i], i);
        assert_true(clients_wait(fds, i) && client_answer(fds[i]));
    }
    for (unsigned i = 0; i < CLIENTS; i++)
        kept += fds[i] >= 0 && close(fds[i]) == 0;
    assert_in_range(kept, 1, FILES_MAX);
}

/* The second client connects while the server waits for the first. */
TEST_WITH(a_peer_that_stops_within_a_request_is_closed_and_the_others_are_answered, NULL, server_end)
{
    static const enum part parts[][2] = { { PART_BEGIN, PART_PARAMS }, { PART_PARAMS, PART_HEAD } };
    for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
        if (i > 0)
            assert_int_equal(server_end(NULL), 0);
        int fds[3];
        server_start(false, false, 1024);
        fds[0] = client_connect();
        client_send(fds[0], 0, parts[i][0]);
        wait_until_read(fds[0]);
        fds[1] = client_connect();
        client_send(fds[1], 1, parts[i][1]);
        fds[2] = client_connect();
        client_ask(fds[2], 2);
        assert_true(clients_wait(fds, 2) && client_answer(fds[2]));
        assert_int_equal(fds[0], -1); /* closed */
        assert_int_equal(fds[1], -1);
        client_ask(fds[2], 2);
        assert_true(client_answer(fds[2]));
        close(fds[2]);
    }
}

TEST_WITH(a_peer_that_does_not_read_its_answer_is_closed_and_the_others_are_answered, NULL, server_end)
{
    server_start(false, false, 1024);
    int not_reading = client_connect(), other = client_connect();
    client_ask(not_reading, LARGE);
    wait_until_read(not_reading);
    client_ask(other, 1);
    assert_true(client_answer(other));
    assert_false(client_answer(not_reading)); /* cut off */
    close(not_reading);
    close(other);
}

TEST_WITH(an_answer_of_any_length_arrives_whole, NULL, server_end)
{
    size_t len = 0;
    server_start(false, false, 1024);
    int client = client_connect();
    for (unsigned i = 0; i < ARRAY_LEN(SIZES); i++) {
        client_ask(client, SIZED + i);
        assert_true(client_answer_read(client, &len));
        assert_int_equal(len, HEAD + SIZES[i]);
    }
    close(client);
}

/* The body is full of requests: a server that went on behind the discarded part would answer one. It would go on at a
 * multiple of 8192 bytes, the buffer of libfcgi, where a request begins. */
TEST_WITH(the_rest_of_a_body_that_is_too_long_to_discard_is_no_request, NULL, server_end)
{
    enum { CONTENT = 65528, REQUEST = 64, RECORDS = 16, DISCARDED = 1 << 20 };
    static uint8_t content[CONTENT];
    _Static_assert(RECORDS * CONTENT < DISCARDED && (RECORDS + 1) * CONTENT > DISCARDED, "around the limit");
    for (size_t i = 0; i + REQUEST <= CONTENT; i += REQUEST) {
        request_write(&content[i], 2);
        content[i + PART_ALL - 2] = REQUEST - PART_ALL; /* the padding of the last record */
    }
    server_start(false, false, 1024);
    for (unsigned records = RECORDS; records <= RECORDS + 1; records++) {
        char params[REQUEST * 2];
        int client = client_connect();
        int len = snprintf(params, sizeof params, "%c%cN00001%c%cCONTENT_LENGTH%064u", 1, 5, 14, 64, records * CONTENT);
        assert_int_equal((16 + RECORD_HEAD + len + 2 * RECORD_HEAD) % REQUEST, 0); /* the place of the content */
        client_send_record(client, BEGIN, (const uint8_t[]){ 0, RESPONDER, KEEP, 0, 0, 0, 0, 0 }, 8);
        client_send_record(client, PARAMS, params, (size_t)len);
        client_send_record(client, PARAMS, NULL, 0);
        for (unsigned i = 0; i < records; i++)
            client_send_record(client, STDIN, content, CONTENT);
        client_send_record(client, STDIN, NULL, 0);
        assert_true(client_answer(client));
        if (records == RECORDS)
            client_ask(client, 3);
        assert_int_equal(client_answer(client), records == RECORDS);
        close(client);
    }
}

/* A send with a timeout is interrupted by a stop and SIGCONT, although no signal is handled. The first time it has sent
 * some bytes. */
TEST_WITH(an_answer_is_whole_when_the_process_was_stopped_while_it_sent_it, NULL, server_end)
{
    enum { STOPS = 3, PAUSE_MS = 100 };
    size_t len = 0;
    int status = 0;
    server_start(false, false, 1024);
    int client = client_connect();
    client_ask(client, SIZED + ARRAY_LEN(SIZES) - 1);
    wait_until_read(client);
    for (int i = 0; i < STOPS; i++) {
        (void)poll(NULL, 0, PAUSE_MS); /* until it waits */
        assert_int_equal(kill(server.pid, SIGSTOP), 0);
        assert_int_equal(waitpid(server.pid, &status, WUNTRACED), server.pid);
        assert_true(WIFSTOPPED(status));
        assert_int_equal(kill(server.pid, SIGCONT), 0);
    }
    assert_true(client_answer_read(client, &len));
    close(client);
}

/* ---- a stop ---- */

/* The clock of the server's process while the test holds it, and the number of its readings. */
struct held_clock {
    _Atomic int64_t ms; /* 0: it runs by itself */
    _Atomic unsigned reads;
};

static struct held_clock *held_clock; /* shared with the server's process */

int64_t __real_clock_monotonic_ms(void);
int64_t __wrap_clock_monotonic_ms(void);
int64_t __wrap_clock_monotonic_ms(void)
{
    if (held_clock == NULL || held_clock->ms == 0)
        return __real_clock_monotonic_ms();
    held_clock->reads++;
    return held_clock->ms;
}

static int held_clock_make(void **state)
{
    (void)state;
    held_clock = mmap(NULL, sizeof *held_clock, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return held_clock == MAP_FAILED ? -1 : 0;
}

static int held_clock_end(void **state)
{
    int rc = server_end(state) | munmap(held_clock, sizeof *held_clock);
    held_clock = NULL;
    return rc;
}

/* Moves the server's time forward, until the server has looked at it in a whole turn of its loop. */
static void time_passes(int64_t ms)
{
    held_clock->ms += ms;
    const unsigned reads = held_clock->reads + 2;
    while ((int)(held_clock->reads - reads) < 0)
        (void)poll(NULL, 0, 1);
}

/* Begins a stop, with time standing still. */
static void server_stop_begin(void)
{
    held_clock->ms = __real_clock_monotonic_ms();
    assert_int_equal(kill(server.pid, SIGTERM), 0);
    time_passes(0);
    time_passes(0);
}

static void server_ends(int64_t after_ms)
{
    time_passes(0); /* the last answer is behind it */
    held_clock->ms += after_ms;
    assert_int_equal(waitpid(server.pid, NULL, 0), server.pid);
    server.pid = 0;
}

/* A client that asks again and again is answered; an idle one does not hold up the end. */
TEST_WITH(a_process_that_stops_answers_kept_connections_until_it_is_quiet, held_clock_make, held_clock_end)
{
    enum { PAUSE_MS = 200, QUIET_MS = 250, ASKED = 10 };
    server_start(false, false, 1024);
    int idle = client_connect(), clients[ASKED];
    client_ask(idle, 1);
    assert_true(client_answer(idle));
    for (int i = 0; i < ASKED; i++) {
        clients[i] = client_connect();
        client_ask(clients[i], 1);
        assert_true(client_answer(clients[i]));
    }
    server_stop_begin();
    for (int i = 0; i < ASKED; i++) { /* the answer closes the connection */
        time_passes(PAUSE_MS);
        client_ask(clients[i], 2);
        assert_true(client_answer(clients[i]));
        close(clients[i]);
    }
    server_ends(QUIET_MS);
    close(idle);
}

/* nginx has connected, but is delayed. */
TEST_WITH(a_process_that_stops_waits_for_the_first_request_of_a_connection, held_clock_make, held_clock_end)
{
    enum { HELD_UP_MS = 2900, QUIET_MS = 250 };
    server_start(false, false, 1024);
    int fresh = client_connect(), kept = client_connect();
    client_ask(kept, 1);
    assert_true(client_answer(kept));
    client_ask(kept, 1);
    assert_true(client_answer(kept)); /* the other one is accepted, too */
    server_stop_begin();
    time_passes(HELD_UP_MS);
    client_ask(fresh, 2);
    assert_true(client_answer(fresh));
    close(fresh);
    server_ends(QUIET_MS);
    close(kept);
}

TEST_WITH(a_process_that_stops_waits_three_seconds_at_most, held_clock_make, held_clock_end)
{
    server_start(false, false, 1024);
    int fresh = client_connect(), kept = client_connect();
    client_ask(kept, 1);
    assert_true(client_answer(kept));
    client_ask(kept, 1);
    assert_true(client_answer(kept));
    server_stop_begin();
    server_ends(3000);
    close(fresh);
    close(kept);
}

/* ---- a supervisor that keeps connections ---- */

static int supervisor_begin(void **state)
{
    return supervisor_open(state) | setenv("NOTIFY_SOCKET", supervisor_address.sun_path, 1) | setenv("FDSTORE", "1", 1);
}

static int supervisor_end(void **state)
{
    return server_end(state) | supervisor_close(state) | unsetenv("NOTIFY_SOCKET") | unsetenv("FDSTORE");
}

/* The first client has sent nothing yet, the second has. */
TEST_WITH(a_process_that_stops_leaves_all_connections_open, supervisor_begin, supervisor_end)
{
    int clients[2], kept[SUPERVISOR_FDS_MAX];
    size_t kept_count = 0;
    char byte = 0, text[SUPERVISOR_TEXT_BYTES];
    server_start(false, false, 1024);
    for (int i = 0; i < 2; i++)
        clients[i] = client_connect();
    client_ask(clients[1], 1);
    assert_true(client_answer(clients[1]));
    assert_int_equal(kill(server.pid, SIGTERM), 0);
    do
        kept_count = supervisor_take(PATIENCE_MS, text, kept);
    while (kept_count == 0 && text[0] != '\0');
    assert_int_equal(kept_count, 2);
    for (int i = 0; i < 2; i++)
        client_ask(clients[i], 2);
    assert_int_equal(waitpid(server.pid, NULL, 0), server.pid);
    server.pid = 0;
    for (int i = 0; i < 2; i++) {
        uint8_t request[PART_ALL];
        assert_int_equal(recv(kept[i], request, sizeof request, MSG_DONTWAIT), PART_ALL);
        assert_int_equal(send(kept[i], "x", 1, MSG_NOSIGNAL), 1);
        close(kept[i]);
        assert_int_equal(recv(clients[i], &byte, 1, 0), 1);
        close(clients[i]);
    }
}

/* systemd clears O_NONBLOCK of the shared socket when it starts another process of the pool. */
TEST_WITH(a_pool_serves_a_socket_of_tcp, NULL, server_end)
{
    int no_delay = 0;
    socklen_t len = sizeof no_delay;
    server_start(true, false, 1024);
    int client = client_connect();
    for (unsigned n = 0; n < ROUNDS; n++) {
        client_ask(client, n == 0 ? LARGE : n);
        assert_true(client_answer(client));
    }
    assert_int_equal(getsockopt(server.listen_fd, IPPROTO_TCP, TCP_NODELAY, &no_delay, &len), 0);
    assert_true(no_delay != 0);
    close(client);
}

TEST_WITH(a_process_serves_while_accept_would_block, NULL, server_end)
{
    server_start(false, false, 1024);
    int kept = client_connect();
    client_ask(kept, 1);
    assert_true(client_answer(kept));
    assert_int_equal(fcntl(server.listen_fd, F_SETFL, fcntl(server.listen_fd, F_GETFL) & ~O_NONBLOCK), 0);
    int fresh = client_connect();
    client_ask(fresh, 2);
    assert_true(client_answer(fresh));
    client_ask(kept, 3);
    assert_true(client_answer(kept));
    close(fresh);
    close(kept);
}

TESTS(NULL, NULL)
