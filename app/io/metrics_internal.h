/* The mapped file of io/metrics.h and io/metrics_processes.h. */
#ifndef HB_IO_METRICS_INTERNAL_H
#define HB_IO_METRICS_INTERNAL_H

#include <stdatomic.h>
#include <stdint.h>

/* More slots than are in use: older and newer versions of the program can share one file. */
enum { METRICS_COUNTERS_MAX = 512, METRICS_HISTOGRAMS_MAX = 64, METRICS_BUCKETS_MAX = 16, METRICS_PROCESSES_MAX = 256 };

struct metrics_histogram {
    _Atomic uint64_t buckets[METRICS_BUCKETS_MAX]; /* not cumulative; the last one: above all bounds */
    _Atomic uint64_t sum;
};

/* A process. Times are monotonic milliseconds, which all processes of a machine share. */
struct metrics_process {
    _Atomic uint64_t owner; /* pid and role; 0: free */
    _Atomic int64_t beat_ms;
    _Atomic int64_t start_s; /* wall clock */
    _Atomic uint64_t busy;   /* 1 while it works on requests */
};

/* The program and the configuration with which a process began. It belongs to the metrics_process of the same index. An
 * older program does not write it. */
struct metrics_beginning {
    _Atomic uint64_t owner; /* metrics_process.owner of the process that wrote this */
    _Atomic uint64_t program_id;
    _Atomic uint64_t config_digest;
};

struct metrics_page {
    _Atomic uint64_t counters[METRICS_COUNTERS_MAX];
    struct metrics_histogram histograms[METRICS_HISTOGRAMS_MAX];
    struct metrics_process processes[METRICS_PROCESSES_MAX];
    struct metrics_beginning beginnings[METRICS_PROCESSES_MAX];
};

/* Private memory until metrics_open maps the file. */
extern struct metrics_page *metrics_page;

#endif
