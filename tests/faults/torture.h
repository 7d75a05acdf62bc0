/* Torture test, as curl and SQLite have it: each call that can fail is made to fail once, one call per run, while the
 * program works. torture_calls.c wraps the calls of our own objects (-Wl,--wrap), torture_visitors.c sends the
 * requests, torture_treasury.c works as the operator, torture.c runs the program's commands and checks the result.
 *
 * Every run is a separate process: it begins with an empty heap, and its leaks are its own. The processes share struct
 * torture. */
#ifndef HB_TESTS_TORTURE_H
#define HB_TESTS_TORTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "config/config.h"

enum {
    TORTURE_CALLS_MAX = 1 << 20,
    TORTURE_FRAMES_MAX = 64,
    TORTURE_USERS = 5,
    TORTURE_NEWCOMER = TORTURE_USERS, /* the user who registers in this run, and deletes the account */
    TORTURE_PEOPLE,
    TORTURE_COOKIE_MAX = 80,
    TORTURE_KEY_MAX = 40
};

/* The packets of a run: all shares of the first are grabbed; the second is for one receiver; the third expires with a
 * rest; the fourth is never opened; of the fifth one share is given back, then its sender ends it, then another share
 * is given back; the sixth is the newcomer's, who deletes the account while it is open, and has shares of the first and
 * the fifth. */
enum {
    TORTURE_LUCKY,
    TORTURE_EXCLUSIVE,
    TORTURE_EXPIRING,
    TORTURE_ABANDONED,
    TORTURE_ENDED,
    TORTURE_LEFT,
    TORTURE_PACKETS
};

enum { TORTURE_DEPOSIT_FEN = 5000 }; /* of each sender */

struct told_grab {
    bool opened; /* an open was answered */
    bool told;   /* an answer had share and amount */
    uint32_t share_no;
    int64_t fen;
    bool thanked;   /* an answer has confirmed the thanks */
    bool returned;  /* an answer has confirmed the return … */
    bool to_sender; /* … to the sender; else into the packet */
};

struct told_packet {
    char key[TORTURE_KEY_MAX]; /* request_key of the send */
    char id[32];
    uint64_t number;
    bool missing; /* Redis did not have it when it was opened */
    bool ended;   /* an answer has confirmed the end */
    struct told_grab grabs[TORTURE_PEOPLE];
};

struct torture {
    /* for all runs on the same stores */
    struct {
        uint64_t id;
        char username[TORTURE_KEY_MAX];
        char cookie[TORTURE_COOKIE_MAX];
    } users[TORTURE_PEOPLE];
    /* of one run */
    struct told_packet packets[TORTURE_PACKETS];
    bool left;            /* an answer has confirmed that the newcomer deletes the account */
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

/* A formatted text, which stays as long as the process, or until torture_texts is reset. */
#define TEXT(...) arena_printf(torture_texts, __VA_ARGS__).ptr
extern struct arena *torture_texts;

/* ---- torture_calls.c ---- */

/* Calls are counted, and fail, only between these two. */
void torture_on(void);
void torture_off(void);

/* ---- torture_visitors.c ---- */

/* Each runs in a child process while the parent serves on the socket (a name in the abstract namespace). It ends the
 * parent's command by SIGTERM and exits: 0, or 1 with the reason on stderr. */
typedef void visit_fn(const struct config *config, const char *socket);
visit_fn visit_senders, visit_grabbers, visit_settling, visit_leavers, visit_givers, visit_readers, visit_newcomers,
    visit_payees;
visit_fn visit_programs; /* behind treasury_work, which has made the channel */

/* ---- torture_treasury.c ---- */

#define TORTURE_CHANNEL "payroll"

/* Works as an operator who makes a channel, pays in and out, and reports; key: begins each reference. Ends the process
 * with 1 when the money is not right. */
void treasury_work(const struct config *config, const char *key);
/* Voids the withdrawal that visit_payees has asked for. */
void treasury_void(const struct config *config);

#endif
