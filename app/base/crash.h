/* Crash points for fault tests: in a build with HB_CRASH_POINTS (CMake: HB_DEV) the process with HB_CRASH=NAME:N in
 * its environment is killed (SIGKILL) the N-th time it passes crash_point("NAME"); without :N the first time. Its last
 * words on stderr name the point. Elsewhere the points cost nothing and leave no trace in the program.
 *
 * A point stands in the table by being written: each call puts its name into a section of the program, and
 * `hongbao crash-points` prints what the linker collected there. tests/faults walks through that list. A name is
 * noun-verb words in [a-z0-9-]; its first word says who passes it (send, grab, settle …). */
#ifndef HB_BASE_CRASH_H
#define HB_BASE_CRASH_H

#include <stdbool.h>
#include <stdio.h>

#ifdef HB_CRASH_POINTS

/* Not called directly: a call of it alone would not be in the table. */
bool crash_is_due(const char *name);
_Noreturn void crash_now(const char *name);

/* The table: __start_… and __stop_… are the linker's names for the section's ends. */
#define CRASH_POINT_ENTRY(name)                                                                                        \
    static const char *const crash_entry __attribute__((section("hb_crash_points"), used)) = name

/* name: a string literal, used nowhere else. */
#define crash_point(name) crash_point_after(name, (void)0)
/* The same for a moment that has to be made: action runs only when the process is to die behind it. */
#define crash_point_after(name, action)                                                                                \
    do {                                                                                                               \
        CRASH_POINT_ENTRY(name);                                                                                       \
        if (crash_is_due(crash_entry)) {                                                                               \
            action;                                                                                                    \
            crash_now(crash_entry);                                                                                    \
        }                                                                                                              \
    } while (0)

#else
#define crash_point(name)               ((void)0)
#define crash_point_after(name, action) ((void)0)
#endif

/* Prints the name of every point, a line each, sorted; none in a build without them. False when out takes no more. */
bool crash_points_print(FILE *out);

#endif
