/* Whether the processes run the installed program with its settings. Each process writes the program and the
 * configuration with which it began into the file of the counters. The doctor compares their contents with its own,
 * because it is the installed program: times of files are wrong after a copy or a roll-back, and only root may read
 * /proc/PID/exe. */
#include <errno.h>
#include <string.h>

#include "base/buf.h"
#include "doctor/check.h"
#include "doctor/doctor_internal.h"
#include "io/metrics_processes.h"
#include "io/program_id.h"

typedef bool differs_fn(const struct doctor *d, const struct metrics_member *m);

static bool program_differs(const struct doctor *d, const struct metrics_member *m)
{
    (void)d;
    return !m->says || m->program_id != program_id();
}

/* A process that publishes nothing is of an older program, which is a finding of its own. */
static bool config_differs(const struct doctor *d, const struct metrics_member *m)
{
    return m->says && m->config_digest != d->config->file_digest;
}

/* The processes that differ, by role: "hot 11 12, settle 20"; empty: none. */
static const char *differing(struct doctor *d, const struct metrics_member *all, size_t count, differs_fn *differs)
{
    static const char *const names[METRICS_ROLE_COUNT] = { "hot", "page", "auth", "card", "settle", "money", "sso" };
    struct buf out = BUF_EMPTY;
    for (size_t role = 0; role < METRICS_ROLE_COUNT; role++) {
        bool named = false;
        for (size_t i = 0; i < count; i++) {
            if ((size_t)all[i].role != role || !differs(d, &all[i]))
                continue;
            if (!named)
                buf_printf(&out, "%s%s", out.len > 0 ? ", " : "", names[role]);
            buf_printf(&out, " %d", all[i].pid);
            named = true;
        }
    }
    const char *text = arena_cstr(d->arena, str_or_empty(buf_view(&out)));
    buf_free(&out);
    return text == NULL ? "" : text;
}

void doctor_check_processes(struct doctor *d)
{
    struct metrics_member all[METRICS_MEMBERS_MAX];
    if (!metrics_read(d->config->metrics_file)) {
        if (errno != ENOENT) /* reported as metrics-missing */
            finding_unchecked(&d->found, "processes", "%s can't be read: %s", d->config->metrics_file, strerror(errno));
        return;
    }
    const size_t count = metrics_members_read(all);
    const char *mend = d->is_service ? CHECK_SERVICE_RELOAD : "restart them in place (docs/how-to/restart.md)";
    const char *program = program_id() == 0 ? "" : differing(d, all, count, program_differs);
    const char *settings = differing(d, all, count, config_differs);
    if (program[0] != '\0')
        finding_wrong(&d->found, "process-program", mend, "processes run another program than the installed one: %s",
                      program);
    if (settings[0] != '\0')
        finding_wrong(&d->found, "process-settings", mend, "processes have other settings than %s now has: %s",
                      d->config->file, settings);
}
