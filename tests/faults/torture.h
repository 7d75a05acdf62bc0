/* Torture test, as curl and SQLite have it: each call that can fail is made to fail once, one call per run, while the
 * program works. torture_calls.c wraps the calls of our own objects (-Wl,--wrap), torture_visitors.c sends the
 * requests, torture.c runs the program's commands and checks the result.
 *
 * Every run is a process of its own, so that it begins with an empty heap and its leaks are its own. The processes
 * share struct torture. */
#ifndef HB_TESTS_TORTURE_H
#define HB_TESTS_TORTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/config.h"

enum {
    TORTURE_CALLS_MAX = 1 << 20,
    TORTURE_FRAMES_MAX = 64,
    TORTURE_USERS = 4,
    TORTURE_NEWCOMER = TORTURE_USERS, /* the user who registers in this run */
    TORTURE_COOKIE_MAX = 80,
    TORTURE_KEY_MAX = 40
};

/* The packets of a run: all shares of the first are grabbed; the second is for one receiver; the third expires with a
 * rest; the fourth is never opened. */
enum { TORTURE_LUCKY, TORTURE_EXCLUSIVE, TORTURE_EXPIRING, TORTURE_ABANDONED, TORTURE_PACKETS };

struct told_grab {
    bool opened; /* an open was answered */
    bool told;   /* an answer has given share and amount */
    uint32_t share_no;
    int64_t fen;
};

struct told_packet {
    char key[TORTURE_KEY_MAX]; /* request_key of the send */
    char id[32];
    uint64_t number;
    bool missing; /* Redis did not have it when it was opened */
    struct told_grab grabs[TORTURE_USERS];
};

struct torture {
    /* for all runs on the same stores */
    struct {
        uint64_t id;
        char username[TORTURE_KEY_MAX];
        char cookie[TORTURE_COOKIE_MAX];
    } users[TORTURE_USERS + 1];
    /* of one run */
    struct told_packet packets[TORTURE_PACKETS];
    uint64_t calls;       /* so far; a call that can fail in two modes counts twice */
    uint64_t target_way;  /* the call with this hash (see ways) fails … */
    uint64_t target_pass; /* … at this pass, from 1; 0: no call fails */
    uint64_t target_seen; /* passes of target_way so far */
    bool fired;           /* the target has failed */
    const char *what;     /* name of the call that failed */
    void *frames[TORTURE_FRAMES_MAX];
    int frame_count;
    bool recording;
    uint64_t ways[TORTURE_CALLS_MAX]; /* when recording: for each call a hash of its name, mode and call stack */
};

extern struct torture *torture;

/* ---- torture_calls.c ---- */

/* Calls are counted, and fail, only between these two. */
void torture_on(void);
void torture_off(void);

/* ---- torture_visitors.c ---- */

/* Each runs in a child process while the parent serves on the socket (a name in the abstract namespace). It ends the
 * parent's command by SIGTERM and exits: 0, or 1 with the reason on stderr. */
typedef void visit_fn(const struct config *config, const char *socket);
visit_fn visit_senders, visit_grabbers, visit_settling, visit_readers, visit_newcomers;

#endif
