/* FastCGI programs in C as they are usually written: a process takes one request at a time and waits for each store.
 * They use the site's own functions for ids, sessions and keys, so that only the way of serving differs. Run by
 * spawn-fcgi and multiwatch with any number of processes. HB_CONFIG: the configuration of the instance. */
#ifndef HB_TESTS_BLOCKING_H
#define HB_TESTS_BLOCKING_H

#include <fcgiapp.h>
#include <hiredis/hiredis.h>
#include <stdint.h>

#include "base/public_id.h"
#include "config/config.h"
#include "live/live.h"
#include "user/session.h"

struct blocking {
    struct config config;
    struct public_id_key id_key;
    redisContext *redis; /* kept; NULL after an error */
};

/* The outcome of a grab. */
struct blocking_grab {
    enum live_code code; /* LIVE_BAD: the store failed */
    long long share_no, fen, left_count;
};

/* Reads {code, share_no, fen, left, …}; the last three only with a share. LIVE_BAD for NULL and for an error. */
struct blocking_grab blocking_grab_read(const redisReply *reply);

/* POST /p/ID/open, GET /p/ID, POST /send; any other request. */
enum blocking_action { BLOCKING_OPEN, BLOCKING_VIEW, BLOCKING_SEND, BLOCKING_NONE };

/* Answers a visitor with a session by the functions below. packet_id: 0 for a send. */
typedef void blocking_handler(struct blocking *b, FCGX_Request *r, uint64_t packet_id, const struct session *session);

void blocking_answer(FCGX_Request *r, int status, const char *type, struct str body);
/* A refusal: its type and status as JSON. */
void blocking_problem(FCGX_Request *r, int status, const char *name);
/* The outcome of a grab as JSON. */
void blocking_answer_grab(FCGX_Request *r, const struct blocking_grab *grab);

/* Answers requests until the process ends; the session comes from Redis. Returns the exit status. name: for errors on
 * stderr. handlers: one for each action; NULL: it is not found. */
int blocking_serve(struct blocking *b, const char *name, blocking_handler *const handlers[BLOCKING_NONE]);

#endif
