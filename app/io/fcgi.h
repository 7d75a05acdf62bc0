/* The loop: one process serves many kept FastCGI connections. It reads a batch of requests from the readable
 * connections, calls the step function of each, runs one Redis round for all of them, calls the next steps, and so on
 * until every request of the batch is answered. An idle connection blocks nothing. docs/explanation/loop.md says why.
 * Fill struct fcgi_app with the callbacks and call fcgi_serve; it returns when the process is to stop.
 *
 * Reading a request and writing an answer block (libfcgi). The loop relies on nginx, which sends a request only once
 * it is complete (fastcgi_request_buffering) and accepts an answer without waiting for the visitor (fastcgi_buffering).
 * A peer that stops within a request or an answer blocks the process for FCGI_PEER_TIMEOUT_S and is then closed. */
#ifndef HB_IO_FCGI_H
#define HB_IO_FCGI_H

#include <fcgiapp.h>
#include <stdbool.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/status.h"
#include "base/str.h"

#define FCGI_CONNECTIONS_MAX 4096 /* per process; fewer if the limit of open files is lower */
#define FCGI_SPARE_MAX       64   /* slots that kept connections leave free for new ones */
#define FCGI_BATCH_MAX       64   /* largest fcgi_options.batch_max */
#define FCGI_PEER_TIMEOUT_S  2    /* per read within a request and per write of an answer */

/* One request on one connection. */
struct fcgi_request {
    FCGX_Request fcgx;
    struct arena *arena; /* reset after the answer */
    struct str body;     /* read to its end before the first step; over the limit: empty, body_too_large */
    bool body_too_large;
    bool body_broken;   /* the peer closed in the middle, or CONTENT_LENGTH does not agree */
    bool fresh;         /* the loop's: no request came over this connection yet */
    struct buf *answer; /* the loop's: written and not sent yet */
    bool broken;        /* the loop's: the answer can't be completed, the connection will be closed */
    int64_t begun_us;   /* monotonic: the loop began to read the batch of this request */
    void *state;        /* the application's, NULL before the first step; memory from the arena */
};

enum fcgi_step { FCGI_WAIT, FCGI_DONE };

/* The callbacks of the loop. ctx is passed to each.
 * step: works on a request. FCGI_DONE: the answer is written; FCGI_WAIT: call again after the next round.
 * round: executes what the steps have queued. · finish: cleans up r->state after FCGI_DONE.
 * batch: after a batch of count requests, which took this time; may be NULL.
 * idle: called at most once a second, between batches; may be NULL. */
struct fcgi_app {
    void *ctx;
    enum fcgi_step (*step)(void *ctx, struct fcgi_request *r);
    void (*round)(void *ctx);
    void (*finish)(void *ctx, struct fcgi_request *r);
    void (*batch)(void *ctx, size_t count, int64_t us);
    void (*idle)(void *ctx);
};

struct fcgi_options {
    int listen_fd;         /* 0 under spawn-fcgi */
    int batch_max;         /* 1 for pools whose handlers may block */
    size_t body_bytes_max; /* a larger body is discarded: body_too_large */
};

/* Serves until SIGTERM, SIGUSR1 or SIGINT; answers the requests of kept connections until none has come for 250 ms, and
 * the first one of each new connection, for up to 3 s, then returns ST_OK. SIGHUP restarts the program and keeps every
 * connection (io/process.h). ST_UNAVAILABLE: libfcgi or the listening socket can't be used · ST_NO_MEMORY. options and
 * app are borrowed. */
enum status fcgi_serve(const struct fcgi_options *options, const struct fcgi_app *app);

/* The value of a FastCGI parameter, valid until the answer; STR_NONE when absent. Of duplicates the first counts. */
struct str fcgi_param(const struct fcgi_request *r, const char *name);

#endif
