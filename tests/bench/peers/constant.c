/* The lower limit for every page of the FastCGI loop: the same loop with a constant answer, without any store or
 * decision. BENCH_ANSWER: a file with the answer, headers and body as a FastCGI program sends them. */
#include <stdio.h>
#include <stdlib.h>

#include "base/buf.h"
#include "io/fcgi_answer.h"

static const size_t ANSWER_BYTES_MAX = (size_t)1 << 20;
enum { REQUEST_BODY_MAX = 16384 };

static enum fcgi_step step(void *ctx, struct fcgi_request *r)
{
    fcgi_write(r, buf_view(ctx));
    return FCGI_DONE;
}

static void round_of_none(void *ctx)
{
    (void)ctx;
}

static void finish(void *ctx, struct fcgi_request *r)
{
    (void)ctx, (void)r;
}

int main(void)
{
    struct buf answer = { .limit = ANSWER_BYTES_MAX };
    const char *file = getenv("BENCH_ANSWER");
    if (file == NULL || buf_file(&answer, file) != ST_OK) {
        (void)fputs("constant: BENCH_ANSWER names no file that can be read\n", stderr);
        return 1;
    }
    const struct fcgi_options options = { .listen_fd = 0,
                                          .batch_max = FCGI_BATCH_MAX,
                                          .body_bytes_max = REQUEST_BODY_MAX };
    const struct fcgi_app app = {
        .ctx = &answer, .step = step, .round = round_of_none, .finish = finish, .idle = round_of_none
    };
    enum status st = fcgi_serve(&options, &app);
    buf_free(&answer);
    return st == ST_OK ? 0 : 1;
}
