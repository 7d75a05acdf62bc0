/* Shared by the benchmark programs: realistic packets, the services they need, and a meter of time and CPU. Every
 * program prints one line of JSON and exits with 0, or prints the error on stderr and exits with another status. */
#ifndef HB_TESTS_BENCH_H
#define HB_TESTS_BENCH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/config.h"
#include "io/redis.h"
#include "io/redis_crowd.h"
#include "io/redis_function_load.h"
#include "live/live.h"
#include "packet/packet.h"

enum {
    BENCH_USER_FIRST = 10001,
    BENCH_USERS_MIN = 10000,
    BENCH_SHARE_FEN = 100, /* on average */
    BENCH_DAY_MS = 24 * 3600 * 1000,
    BENCH_PIPELINE = 16, /* calls in a round: about as many as the hot pool batches under load */
    BENCH_CROWD_MAX = REDIS_CROWD_MAX
};
#define BENCH_PACKET_FIRST (UINT64_C(1) << 58)

/* Redis and its functions. The settings are those of HB_CONFIG and of the environment. */
struct bench {
    struct config config;
    struct redis *redis;
    struct redis_functions *functions;
    struct live live;
};
/* False: the reason is on stderr. */
bool bench_open(struct bench *b);
void bench_close(struct bench *b);

/* Between start and stop: wall time, CPU of this process, CPU of the Redis server with all its threads. */
struct bench_meter {
    int64_t wall_ns, own_ns, redis_ns;
    int64_t redis_pid;
};
bool bench_meter_start(struct bench_meter *m, struct bench *b);
bool bench_meter_stop(struct bench_meter *m);
/* Adds a stopped meter to a sum. */
void bench_meter_add(struct bench_meter *sum, const struct bench_meter *m);
/* One line of JSON: {"count":…,"wall_ns":…,"own_ns":…,"redis_ns":…}. */
void bench_meter_print(const struct bench_meter *m, uint64_t count);

/* Makes the packet of this index: lucky, open for a day; its id is BENCH_PACKET_FIRST + index. fen: the caller's array
 * of `shares` items, which gets the amounts. */
bool bench_packet(struct packet *p, int64_t *fen, uint64_t index, uint32_t shares, int64_t created_ms);
/* The number of users for packets of so many shares, and the id of the user who takes a share. */
uint32_t bench_users(uint64_t shares);
uint64_t bench_user(uint64_t packet_index, uint32_t share_no, uint64_t shares);

/* Queues one call of the function of a grab: `crowd` users, from first_user on, open the packet. The program itself
 * makes one call of all grabs of a packet in a round; this one is always a call of its own. */
void bench_grab_queue(struct bench *b, struct redis_call *call, uint64_t packet_id, uint64_t first_user, size_t crowd);
/* Reads the reply: *fen is the sum of the shares. ST_CONFLICT: not every user has got one. */
enum status bench_grab_read(const struct redis_call *call, size_t crowd, int64_t *fen);

/* Reads a number of the command line; false when it is no number or not between min and max. */
bool bench_number(const char *text, uint64_t min, uint64_t max, uint64_t *out);
/* Prints the error; returns the exit status. */
int bench_fail(const char *what, enum status st);

#endif
