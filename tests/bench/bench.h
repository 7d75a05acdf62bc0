/* What the measuring programs share: packets that look like real ones, the services they need, and a meter of time and
 * CPU. Every program prints one line of JSON and exits 0, or says on stderr what went wrong and exits otherwise. */
#ifndef HB_TESTS_BENCH_H
#define HB_TESTS_BENCH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/config.h"
#include "io/redis.h"
#include "live/live.h"
#include "packet/packet.h"

enum {
    BENCH_USER_FIRST = 10001,
    BENCH_USERS_MIN = 10000,
    BENCH_SHARE_FEN = 100, /* on average */
    BENCH_DAY_MS = 24 * 3600 * 1000,
    BENCH_PIPELINE = 16 /* calls in a round: about what the hot pool gathers under load */
};
#define BENCH_PACKET_FIRST (UINT64_C(1) << 58)

/* Redis and its scripts. The settings are those of HB_CONFIG and of the environment. */
struct bench {
    struct config config;
    struct redis *redis;
    struct redis_scripts *scripts;
    struct live live;
};
/* False: why is on stderr. */
bool bench_open(struct bench *b);
void bench_close(struct bench *b);

/* Between start and stop: wall time, CPU of this process, CPU of the Redis server with all its threads. */
struct bench_meter {
    int64_t wall_ns, own_ns, redis_ns;
    int64_t redis_pid;
};
bool bench_meter_start(struct bench_meter *m, struct bench *b);
bool bench_meter_stop(struct bench_meter *m);
/* Adds a stopped one to a sum. */
void bench_meter_add(struct bench_meter *sum, const struct bench_meter *m);
/* One line of JSON: {"count":…,"wall_ns":…,"own_ns":…,"redis_ns":…}. */
void bench_meter_print(const struct bench_meter *m, uint64_t count);

/* The packet of this number, lucky, open for a day; its id is BENCH_PACKET_FIRST + index. fen: shares items,
 * caller's. */
bool bench_packet(struct packet *p, int64_t *fen, uint64_t index, uint32_t shares, int64_t created_ms);
/* How many people take part where packets have so many shares, and who of them takes the share. */
uint32_t bench_users(uint64_t shares);
uint64_t bench_user(uint64_t packet_index, uint32_t share_no, uint64_t shares);

/* A number of the command line; false when it is none or lies outside. */
bool bench_number(const char *text, uint64_t min, uint64_t max, uint64_t *out);
/* Says what went wrong; returns the exit status. */
int bench_fail(const char *what, enum status st);

#endif
