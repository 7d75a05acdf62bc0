/* A clean world for tests of the settle worker: empty tables, empty Redis, a few users with money. */
#ifndef HB_TEST_SETTLE_FIXTURE_H
#define HB_TEST_SETTLE_FIXTURE_H

#include "audit/audit.h"
#include "base/arena.h"
#include "config/config.h"
#include "live/grab.h"
#include "live/live.h"
#include "packet/packet.h"
#include "settle/recover.h"
#include "settle/settle.h"
#include "web/exchange.h"

#define WORLD_USERS_MAX 600

struct world {
    struct services *app;                            /* an administrator's services: may write invalid rows */
    struct services *page, *hot, *settler, *auditor; /* with the rights of their roles; config is app's */
    struct config *config;
    struct live live;
    struct settle *settle; /* one worker; tests may make more */
    struct arena *arena;
    uint64_t users[WORLD_USERS_MAX];
};

/* user_count users with 1,000 yuan each. */
void world_begin(struct world *w, size_t user_count);
void world_end(struct world *w);
/* Lets page and hot respect the fence, as the pools do. */
void world_fence_set(struct world *w);
/* Compares the streams and opens the fence, as a worker does for a new Redis process. */
void world_check_redis(struct world *w);

/* Sends a packet from users[sender] and returns its id. lifetime_ms ≤ 0: expired at once. to: index of the receiver of
 * an exclusive one, else -1. */
uint64_t world_send(struct world *w, size_t sender, enum packet_kind kind, int64_t total_fen, uint32_t count,
                    int64_t lifetime_ms, int to);
/* The same for several named receivers, given as indexes of users. */
uint64_t world_send_to(struct world *w, size_t sender, enum packet_kind kind, int64_t total_fen, uint32_t count,
                       int64_t lifetime_ms, const size_t *to, size_t to_count);
/* Sends even packets from users[0] until one is in the same partition as packet_id, or in another one; returns its
 * id. */
uint64_t world_send_beside(struct world *w, uint64_t packet_id, int64_t total_fen, uint32_t count);
uint64_t world_send_apart(struct world *w, uint64_t packet_id, int64_t total_fen, uint32_t count);
/* A nickname with the face that all users have, as the badge in Redis. In the arena. */
struct str world_badge(struct world *w, const char *nickname);
/* An even packet of users[0], which is open for an hour. */
uint64_t world_even(struct world *w, int64_t total_fen, uint32_t count);
/* The same, but users[1] … users[settled] have taken a share each, and the worker has settled these. */
uint64_t world_even_settled(struct world *w, int64_t total_fen, uint32_t count, size_t settled);
/* users[user] opens the packet. */
struct live_grab world_grab(struct world *w, uint64_t packet_id, size_t user);
/* users[first] … users[first + count - 1] open it; each must get a share. */
void world_grab_all(struct world *w, uint64_t packet_id, size_t first, size_t count);
/* Runs passes of a worker until nothing is left to settle; ST_CONFLICT when passes_max are not enough. */
enum status settle_drain(struct settle *s, unsigned passes_max, uint64_t *events);
/* True while a partition of the worker is stopped. */
bool settle_is_stopped(const struct settle *s);
/* Settles all events; returns their number. Fails the test when a store is unreachable. */
uint64_t world_drain(struct world *w);
/* The same, after which the audit must be clean. */
uint64_t world_drain_clean(struct world *w);
/* Recovers all packets, some seconds later, so that the grace time of sends is over. */
struct recover_done world_recover(struct world *w);
/* Closes all packets that are due, as the worker does, and returns their number. done: counts what else was done; may
 * be NULL. Fails the test when a store is unreachable or the walk does not end. */
uint64_t world_expire(struct world *w, struct recover_done *done);
/* Makes the packet expire now, in both stores, so that earlier grabs are in time on a slow machine. */
void world_time_runs_out(struct world *w, uint64_t packet_id);
/* Sets the configured number of partitions of all processes. */
void world_partitions_set(struct world *w, int64_t partitions);
/* Replaces the worker by a new one, as after a crash. */
void world_restart_worker(struct world *w);

/* Reads one number from SQL ("SELECT …" with one row and one column; NULL is 0). */
int64_t world_number(struct world *w, const char *sql, uint64_t id);
void world_sql(struct world *w, const char *sql);
void world_sqlf(struct world *w, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Runs one Redis command, words separated by blanks; {ev}, {pk}, {sh}, {gr}, {or} and {se} stand for the packet's keys.
 * Its integer, or the length of an array, or -1. */
int64_t world_redis(struct world *w, uint64_t packet_id, const char *words);
int64_t world_redisf(struct world *w, uint64_t packet_id, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* As world_redis, with the rights of a role: w->page, w->hot … */
int64_t world_redis_as(struct world *w, struct services *role, uint64_t packet_id, const char *words);
/* As world_redis; returns the reply as text in the arena. */
struct str world_redis_text(struct world *w, uint64_t packet_id, const char *words);

/* Saves all tables, and later restores them like a dump: later changes are lost. */
void world_tables_keep(struct world *w);
void world_tables_restore(struct world *w);

/* Makes Redis lose its newest data: it lacks the grab of users[2], which MySQL has. */
void world_lose_tail(struct world *w, uint64_t packet_id);

/* The number of unresolved dead letters of a packet; 0: of all packets. */
int64_t world_letters(struct world *w, uint64_t packet_id);
int64_t world_balance(struct world *w, uint64_t account_id);
struct packet world_packet(struct world *w, uint64_t packet_id);
/* Runs the whole audit; prints it and fails the test unless it is clean. */
void world_audit_clean(struct world *w);
/* Runs the whole audit; the number of violations of one check. */
uint64_t world_audit_violations(struct world *w, const char *check);
/* Whether an audit that has run names the subject, as "packet 77", in this check. */
bool audit_names_subject(const struct audit *audit, enum audit_check check, const char *subject);
bool audit_names(const struct audit *audit, enum audit_check check, const char *kind, uint64_t id);
/* Runs the whole audit first. */
bool world_audit_names(struct world *w, enum audit_check check, const char *kind, uint64_t id);
struct settle_partition *world_partition(struct world *w, uint64_t packet_id);

#endif
