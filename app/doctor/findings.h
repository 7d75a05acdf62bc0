/* A list of findings: `hongbao check` and `hongbao doctor` fill it. A finding is a sentence about what is wrong, with
 * the command that mends it.
 *
 * All memory comes from one arena. When it has lacked memory for a text, nothing is printed, because the list is not
 * complete. */
#ifndef HB_DOCTOR_FINDINGS_H
#define HB_DOCTOR_FINDINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/arena.h"
#include "base/str.h"

enum { FINDINGS_SKIP_MAX = 16 };

struct finding;

struct findings {
    struct arena *arena; /* the caller's */
    struct finding *first, *last;
    size_t wrong, unchecked; /* numbers of findings of each kind */
    const char *manual;      /* the folder to write in place of "docs" in texts and mends; NULL: leave "docs" */
    const char *skip[FINDINGS_SKIP_MAX]; /* findings of these names are left out */
    size_t skip_count;
};

/* Adds something that is wrong. name: a few words with hyphens, the same for each run ("redis-appendonly"). mend: the
 * command, or what to do, that mends it (finding_text; NULL: memory was lacking). Text and mend are lines without their
 * ends. */
void finding_wrong(struct findings *f, const char *name, const char *mend, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* Adds a fault that several subjects share, with one cause: it becomes one finding, whose text ends with the subjects.
 * A call with the same name, text and mend adds its subject. "{}" in the mend stands for all subjects. */
void finding_of(struct findings *f, const char *name, const char *mend, const char *text, const char *subject);
/* Adds something that can't be checked, and the reason. */
void finding_unchecked(struct findings *f, const char *name, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Puts the last finding before all others, because it explains them. */
void findings_lead(struct findings *f);
/* The folder of the installed manual; NULL: it is not installed. */
const char *findings_manual(void);
/* A formatted text in the arena, for mend. */
const char *finding_text(struct findings *f, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Whether findings of this name are left out. */
bool findings_skip(const struct findings *f, const char *name);

/* Writes the findings in the order in which they were found, but faults before everything else. False: out can't be
 * written, or there was no memory. */
bool findings_print(const struct findings *f, FILE *out);
/* The same as one JSON object in a line: ok; wrong and unchecked, each a list of {name, text, mend}; and audited_at,
 * the time of the last clean audit (STR_NONE: null). */
bool findings_print_json(const struct findings *f, struct str audited_at, FILE *out);

#endif
