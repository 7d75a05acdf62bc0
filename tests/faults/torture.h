/* Torture, as curl and SQLite do it: whatever can fail is made to fail once, one call after the other, while the
 * program does its work. torture_calls.c stands between our objects and the calls (-Wl,--wrap), torture_visitors.c is
 * the people who ask, torture.c runs the program's commands and judges.
 *
 * A run forks a process for each failure, so that it begins from nothing and its leaks are its own. What they tell each
 * other lies in memory that all of them share. */
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
    TORTURE_NEWCOMER = TORTURE_USERS, /* whoever registers in this run */
    TORTURE_COOKIE_MAX = 80,
    TORTURE_KEY_MAX = 40
};

/* Everything of the first is grabbed; the second is for one receiver; the third expires with a rest; nobody opens the
 * fourth. */
enum { TORTURE_LUCKY, TORTURE_EXCLUSIVE, TORTURE_EXPIRING, TORTURE_ABANDONED, TORTURE_PACKETS };

struct told_grab {
    bool opened; /* answered */
    bool told;   /* by whichever answer: share and amount are known */
    uint32_t share_no;
    int64_t fen;
};

struct told_packet {
    char key[TORTURE_KEY_MAX]; /* request_key of the send */
    char id[32];
    uint64_t number;
    bool away; /* Redis did not know it when it was opened */
    struct told_grab grabs[TORTURE_USERS];
};

struct torture {
    /* of the world */
    struct {
        uint64_t id;
        char username[TORTURE_KEY_MAX];
        char cookie[TORTURE_COOKIE_MAX];
    } users[TORTURE_USERS + 1];
    /* of one run */
    struct told_packet packets[TORTURE_PACKETS];
    uint64_t calls;       /* so far; a call that can fail in two modes counts twice */
    uint64_t target_way;  /* the call reached this way fails … */
    uint64_t target_pass; /* … when it is reached so often; 0: never */
    uint64_t target_seen;
    bool fired;
    const char *what; /* that failed */
    void *frames[TORTURE_FRAMES_MAX];
    int frame_count;
    bool recording;
    uint64_t ways[TORTURE_CALLS_MAX]; /* of each call when recording: a hash of its name, mode and callers */
};

extern struct torture *torture;

/* ---- torture_calls.c ---- */

/* Calls count, and fail, only between these two. */
void torture_on(void);
void torture_off(void);

/* ---- torture_visitors.c ---- */

/* Each is run in a process of its own while the parent serves on the socket (a name in the abstract space); ends it by
 * SIGTERM and exits: 0, or 1 with the reason on stderr. */
typedef void visit_fn(const struct config *config, const char *socket);
visit_fn visit_senders, visit_grabbers, visit_settling, visit_readers, visit_newcomers;

#endif
