/* Crash points for fault tests: in a build with HB_CRASH_POINTS (CMake: HB_DEV) the process with HB_CRASH=NAME:N in
 * its environment is killed (SIGKILL) the N-th time it passes crash_point("NAME"); without :N the first time. It names
 * the point on stderr before. In other builds the points compile to nothing.
 *
 * The table of points makes itself: each call puts its name into a section of the program, and `hongbao crash-points`
 * prints what the linker collected there. tests/faults goes through that list. A name is words of [a-z0-9-]; the first
 * word says what the program does there (send, grab, settle …). */
#ifndef HB_BASE_CRASH_H
#define HB_BASE_CRASH_H

#include <stdbool.h>
#include <stdio.h>

#ifdef HB_CRASH_POINTS

/* Called by crash_point only: a direct call would not be in the table. */
bool crash_is_due(const char *name);
_Noreturn void crash_now(const char *name);

/* The table: __start_… and __stop_… are the linker's names for the section's ends. */
#define CRASH_POINT_ENTRY(name)                                                                                        \
    static const char *const crash_entry __attribute__((section("hb_crash_points"), used)) = name

/* name: a string literal, used nowhere else. */
#define crash_point(name) crash_point_after(name, (void)0)
/* The same, but runs action first when the process is going to be killed here: for a state that only lasts a moment. */
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

/* Prints the name of every point, a line each, sorted; none in a build without them. False when writing fails. */
bool crash_points_print(FILE *out);

#endif
