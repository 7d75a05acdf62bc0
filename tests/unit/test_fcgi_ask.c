/* ops/fcgi_ask: one request to a pool. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <fastcgi.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ops/fcgi_ask.h"

enum { READ_MAX = 1024, ANSWER_MS_MAX = 60 * 1000, LIMIT_MS = 200, DRIP_MS = 20 };

/* Asks a pool that answers these bytes and closes. Copies what it was asked to asked (READ_MAX bytes). */
static struct str ask(struct arena *a, const char *answer, size_t len, char *asked, size_t *asked_len)
{
    int pair[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    assert_int_equal(write(pair[1], answer, len), (ssize_t)len);
    assert_int_equal(shutdown(pair[1], SHUT_WR), 0);
    struct str text = fcgi_ask(pair[0], "/readyz", ANSWER_MS_MAX, a);
    ssize_t n = read(pair[1], asked, READ_MAX);
    assert_true(n > 0);
    *asked_len = (size_t)n;
    assert_int_equal(close(pair[0]), 0);
    assert_int_equal(close(pair[1]), 0);
    return text;
}

static void an_answer_is_what_its_records_say_together(void **state)
{
    static const char answer[] = "\1\6\0\1\0\4\2\0Stat__" /* padded */
                                 "\1\7\0\1\0\3\0\0log"    /* standard error */
                                 "\1\6\0\1\0\5\0\0us: 5"
                                 "\1\6\0\1\0\0\0\0"
                                 "\1\3\0\1\0\10\0\0\0\0\0\0\0\0\0\0";
    struct arena *a = arena_new(1024, 1 << 20);
    char asked[READ_MAX];
    size_t len;
    (void)state;
    assert_true(str_equal(ask(a, answer, sizeof answer - 1, asked, &len), STR("Status: 5")));
    assert_int_equal(asked[0], FCGI_VERSION_1);
    assert_int_equal(asked[1], FCGI_BEGIN_REQUEST);
    assert_true(str_after((struct str){ asked, len }, STR("\x0b\x07REQUEST_URI/readyz")).ptr != NULL);
    assert_true(str_after((struct str){ asked, len }, STR("\x0e\x03REQUEST_METHODGET")).ptr != NULL);
    arena_free(a);
}

static void half_an_answer_is_as_much_as_came_whole(void **state)
{
    static const char answer[] = "\1\6\0\1\0\2\0\0ok\1\6\0\1\0\11\0\0cut";
    struct arena *a = arena_new(1024, 1 << 20);
    char asked[READ_MAX];
    size_t len;
    (void)state;
    assert_true(str_equal(ask(a, answer, sizeof answer - 1, asked, &len), STR("ok")));
    assert_int_equal(ask(a, answer, 5, asked, &len).len, 0);
    assert_int_equal(ask(a, answer, 0, asked, &len).len, 0);
    arena_free(a);
}

static void a_peer_that_is_gone_gives_no_answer(void **state)
{
    struct arena *a = arena_new(1024, 1 << 20);
    int pair[2];
    (void)state;
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    assert_int_equal(close(pair[1]), 0);
    assert_int_equal(fcgi_ask(pair[0], "/readyz", ANSWER_MS_MAX, a).len, 0);
    assert_int_equal(close(pair[0]), 0);
    arena_free(a);
}

/* Sends an answer without an end, a byte at a time, until the asker is gone. */
_Noreturn static void answer_drip(int fd)
{
    while (send(fd, "\1", 1, MSG_NOSIGNAL) == 1)
        (void)poll(NULL, 0, DRIP_MS);
    _exit(0);
}

static void a_pool_that_sends_nothing_or_byte_by_byte_is_left_at_the_deadline(void **state)
{
    struct arena *a = arena_new(1024, 1 << 20);
    int pair[2];
    (void)state;
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    assert_int_equal(fcgi_ask(pair[0], "/readyz", LIMIT_MS, a).len, 0);
    pid_t pool = fork();
    if (pool == 0) {
        (void)close(pair[0]);
        answer_drip(pair[1]);
    }
    assert_true(pool > 0);
    assert_int_equal(close(pair[1]), 0);
    assert_int_equal(fcgi_ask(pair[0], "/readyz", LIMIT_MS, a).len, 0); /* it returns */
    assert_int_equal(waitpid(pool, NULL, WNOHANG), 0);                  /* while the pool still sends */
    assert_int_equal(kill(pool, SIGKILL), 0);
    assert_int_equal(waitpid(pool, NULL, 0), pool);
    assert_int_equal(close(pair[0]), 0);
    arena_free(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_answer_is_what_its_records_say_together),
        cmocka_unit_test(half_an_answer_is_as_much_as_came_whole),
        cmocka_unit_test(a_peer_that_is_gone_gives_no_answer),
        cmocka_unit_test(a_pool_that_sends_nothing_or_byte_by_byte_is_left_at_the_deadline),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
