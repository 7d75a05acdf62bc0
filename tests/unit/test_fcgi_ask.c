/* doctor/fcgi_ask: one request to a pool. */
#include <fastcgi.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "doctor/fcgi_ask.h"
#include "support/test_arena.h"

enum { READ_MAX = 1024, ANSWER_MS_MAX = 60 * 1000, LIMIT_MS = 200, DRIP_MS = 20 };

static char asked[READ_MAX];
static size_t asked_len;

/* Sends a request to a pool that answers these bytes and closes. asked: the request that the pool received. */
static struct str ask(const char *answer, size_t len)
{
    int pair[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    assert_int_equal(write(pair[1], answer, len), (ssize_t)len);
    assert_int_equal(shutdown(pair[1], SHUT_WR), 0);
    struct str text = fcgi_ask(pair[0], "/readyz", ANSWER_MS_MAX, arena);
    ssize_t n = read(pair[1], asked, READ_MAX);
    assert_true(n > 0);
    asked_len = (size_t)n;
    assert_int_equal(close(pair[0]), 0);
    assert_int_equal(close(pair[1]), 0);
    return text;
}

TEST(an_answer_is_what_its_records_say_together_or_as_much_as_came_whole)
{
    static const char answer[] = "\1\6\0\1\0\4\2\0Stat__" /* padded */
                                 "\1\7\0\1\0\3\0\0log"    /* standard error */
                                 "\1\6\0\1\0\5\0\0us: 5"
                                 "\1\6\0\1\0\0\0\0"
                                 "\1\3\0\1\0\10\0\0\0\0\0\0\0\0\0\0";
    assert_true(str_equal(ask(answer, sizeof answer - 1), STR("Status: 5")));
    assert_int_equal(asked[0], FCGI_VERSION_1);
    assert_int_equal(asked[1], FCGI_BEGIN_REQUEST);
    assert_true(str_after((struct str){ asked, asked_len }, STR("\x0b\x07REQUEST_URI/readyz")).ptr != NULL);
    assert_true(str_after((struct str){ asked, asked_len }, STR("\x0e\x03REQUEST_METHODGET")).ptr != NULL);
    static const char half[] = "\1\6\0\1\0\2\0\0ok\1\6\0\1\0\11\0\0cut";
    assert_true(str_equal(ask(half, sizeof half - 1), STR("ok")));
    assert_int_equal(ask(half, 5).len, 0);
    assert_int_equal(ask(half, 0).len, 0);
    int pair[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    assert_int_equal(close(pair[1]), 0);
    assert_int_equal(fcgi_ask(pair[0], "/readyz", ANSWER_MS_MAX, arena).len, 0);
    assert_int_equal(close(pair[0]), 0);
}

/* Sends an answer without an end, a byte at a time, until the asker is gone. */
_Noreturn static void answer_drip(int fd)
{
    while (send(fd, "\1", 1, MSG_NOSIGNAL) == 1)
        (void)poll(NULL, 0, DRIP_MS);
    _exit(0);
}

TEST(a_pool_that_sends_nothing_or_byte_by_byte_is_left_at_the_deadline)
{
    int pair[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    assert_int_equal(fcgi_ask(pair[0], "/readyz", LIMIT_MS, arena).len, 0);
    pid_t pool = fork();
    if (pool == 0) {
        (void)close(pair[0]);
        answer_drip(pair[1]);
    }
    assert_true(pool > 0);
    assert_int_equal(close(pair[1]), 0);
    assert_int_equal(fcgi_ask(pair[0], "/readyz", LIMIT_MS, arena).len, 0); /* it returns */
    assert_int_equal(waitpid(pool, NULL, WNOHANG), 0);                      /* while the pool still sends */
    assert_int_equal(kill(pool, SIGKILL), 0);
    assert_int_equal(waitpid(pool, NULL, 0), pool);
    assert_int_equal(close(pair[0]), 0);
}

TESTS(arena_setup, arena_teardown)
