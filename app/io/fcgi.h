/* The loop: FastCGI requests in batches, each advanced step by step; between the steps one Redis round for all of
 * them. One process serves many kept connections and none of them ever pins it. docs/ARCHITECTURE.md tells why.
 *
 * Requests are read and answers are written blocking (libfcgi). The loop relies on nginx for that: nginx sends a
 * request only when it has all of it (fastcgi_request_buffering) and takes an answer without waiting for its visitor
 * (fastcgi_buffering). A peer that does otherwise holds up the process for FCGI_PEER_TIMEOUT_S, and is closed then. */
#ifndef HB_IO_FCGI_H
#define HB_IO_FCGI_H

#include <fcgiapp.h>
#include <stdbool.h>

#include "base/arena.h"
#include "base/status.h"
#include "base/str.h"

#define FCGI_CONNECTIONS_MAX 4096 /* per process, fewer when it may not open that many files */
#define FCGI_SPARE_MAX       64   /* of them are not kept: somebody new always gets in */
#define FCGI_BATCH_MAX       64   /* requests per batch in the hot pool */
#define FCGI_PEER_TIMEOUT_S  2    /* silence in the middle of a request, or an answer that is not read */

/* One request on one connection. */
struct fcgi_request {
    FCGX_Request fcgx;
    struct arena *arena; /* the request's memory, reset after the answer */
    struct str body;     /* read whole before the first step; over the limit: empty, and body_too_large */
    bool body_too_large;
    bool body_broken; /* the peer closed in the middle, or CONTENT_LENGTH does not agree */
    void *state;      /* the application's, NULL before the first step; memory from the arena */
};

enum fcgi_step { FCGI_WAIT, FCGI_DONE };

/* What the loop runs. ctx is handed through. */
struct fcgi_app {
    void *ctx;
    enum fcgi_step (*step)(void *ctx, struct fcgi_request *r); /* FCGI_WAIT: call again after the next round */
    void (*round)(void *ctx);                                  /* answers everything the steps queued */
    void (*finish)(void *ctx, struct fcgi_request *r);         /* the answer has been written: clean up state */
    void (*idle)(void *ctx);                                   /* at most once a second between batches */
};

struct fcgi_options {
    int listen_fd; /* 0 under spawn-fcgi */
    int batch_max; /* 1 for pools whose handlers may block */
    size_t body_bytes_max;
};

/* Serves until SIGTERM, SIGUSR1 or SIGINT; finishes what it has accepted, then returns ST_OK. SIGHUP starts the program
 * anew with every connection kept (io/process.h). */
enum status fcgi_serve(const struct fcgi_options *options, const struct fcgi_app *app);

/* The value of a FastCGI parameter; STR_NONE when absent. When it was sent twice the first one counts. */
struct str fcgi_param(const struct fcgi_request *r, const char *name);
void fcgi_write(struct fcgi_request *r, struct str bytes);
/* Sends what was written so far, although more will follow. */
void fcgi_flush(struct fcgi_request *r);

#endif
