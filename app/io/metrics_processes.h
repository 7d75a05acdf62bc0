/* The long-lived processes of an instance, in the file of io/metrics.h: who runs, since when, and who is at work. A
 * process is alive while it has beaten in the last ten seconds; while it works on a request, two minutes. kill(pid, 0)
 * can't show whether a process of another user lives, so a killed process counts for that long. */
#ifndef HB_IO_METRICS_PROCESSES_H
#define HB_IO_METRICS_PROCESSES_H

#include "io/metrics.h"

/* Sets the program (io/program_id.h) and the configuration (config.file_digest) that this process publishes as those
 * with which it began. Call it before metrics_process_begin. */
void metrics_process_with(uint64_t program_id, uint64_t config_digest);
/* Enters this process; counts a start. A process that restarts in its own place keeps its entry. */
void metrics_process_begin(enum metrics_role role);
/* Says that the process lives. Call it about once a second, and in the middle of long work. */
void metrics_process_beat(void);
/* Says whether the process works on requests. */
void metrics_process_busy(bool busy);
/* Removes the entry, at the end of the process. */
void metrics_process_end(void);

/* The living processes of a role. */
struct metrics_crew {
    unsigned count, busy;
    int64_t start_s; /* of the youngest, in seconds since 1970; 0: there is none */
    int64_t beat_ms; /* age of the latest beat, also of a process that is not alive any more; -1: none is known */
};
void metrics_crew_read(enum metrics_role role, struct metrics_crew *out);

/* A process that is alive. */
struct metrics_member {
    enum metrics_role role;
    int pid;
    bool says; /* it has published what it began with; an older program does not publish */
    uint64_t program_id, config_digest;
};
/* All processes that are alive, in out (METRICS_MEMBERS_MAX); returns their number. */
enum { METRICS_MEMBERS_MAX = 256 };
size_t metrics_members_read(struct metrics_member *out);

#endif
