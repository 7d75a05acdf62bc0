/* Checks of the machine by its own tools: deploy/commands/doctor.sh calls systemctl, logrotate and openssl, and prints
 * a line for each finding of the areas units, nginx, logs and certificates. It runs before the filter of system calls,
 * behind which the doctor can't execute a program; its findings are reported in the turn of their area. */
#include "base/buf.h"
#include "doctor/command_output.h"
#include "doctor/doctor_internal.h"

#define NGINX_PID_FILE    "/run/nginx.pid"                /* of Debian's nginx */
#define NGINX_LOADED_FILE "/var/lib/hongbao/nginx-loaded" /* of setup/nginx.sh */

enum { ANSWER_BYTES_MAX = 256 << 10, ANSWER_MS_MAX = 180 * 1000, ARGUMENTS_MAX = 1024 };

struct arguments {
    const char *items[ARGUMENTS_MAX + 1]; /* a NULL follows the last one */
    size_t count;
};

static void argument_add(struct arguments *a, const char *text)
{
    if (a->count < ARGUMENTS_MAX)
        a->items[a->count++] = text == NULL ? "" : text;
}

static void certificates_add(struct doctor *d, struct arguments *a)
{
    const struct nginx_conf *nginx = &d->nginx;
    const size_t before = a->count;
    char host[DOCTOR_HOST_MAX];
    bool tls;
    for (size_t i = 0; i < nginx->certificates.count; i++) {
        argument_add(a, "certificate");
        argument_add(a, nginx->certificates.items[i]);
        argument_add(a, i < nginx->keys.count ? nginx->keys.items[i] : "");
    }
    for (size_t i = 0; i < nginx->listens.count; i++)
        if (doctor_listen_has(nginx->listens.items[i], STR("ssl"))) {
            argument_add(a, "listen");
            argument_add(a, nginx->listens.items[i]);
        }
    if (a->count == before)
        return;
    (void)doctor_base_url(d->config, &tls, host);
    argument_add(a, "host");
    argument_add(a, finding_text(&d->found, "%s", host));
    argument_add(a, tls ? "tls" : "plain");
}

/* Files of an instance of ./dev are written at each start, so only its log says whether nginx refused them. */
static void nginx_add(struct doctor *d, struct arguments *a)
{
    const struct nginx_conf *nginx = &d->nginx;
    const char *pid_file = nginx->pid_file != NULL ? nginx->pid_file : d->is_service ? NGINX_PID_FILE : NULL;
    if (pid_file == NULL)
        return;
    argument_add(a, "nginx");
    argument_add(a, pid_file);
    argument_add(a, nginx->error_log);
    if (!d->is_service)
        return;
    argument_add(a, "loaded");
    argument_add(a, NGINX_LOADED_FILE);
    for (size_t i = 0; i < nginx->files.count; i++) {
        argument_add(a, "conf");
        argument_add(a, nginx->files.items[i]);
    }
}

bool doctor_script_run(struct doctor *d)
{
    static struct arguments a;
    struct buf answer = { .limit = ANSWER_BYTES_MAX };
    const char *path = finding_text(&d->found, "%s/doctor.sh", d->config->command_dir);
    a = (struct arguments){ .items = { path }, .count = 1 };
    if (d->is_service)
        argument_add(&a, "service");
    if (d->nginx_is_read)
        nginx_add(d, &a);
    if (d->nginx_is_read && !findings_skip(&d->found, "certificates"))
        certificates_add(d, &a);
    for (size_t i = 0; d->nginx_is_read && d->is_service && i < d->nginx.logs.count; i++) {
        argument_add(&a, "log");
        argument_add(&a, d->nginx.logs.items[i]);
    }
    d->script_ended = a.count == 1 || (path != NULL && command_output(a.items, ANSWER_MS_MAX, &answer));
    d->script = arena_str(d->arena, d->script_ended ? str_or_empty(buf_view(&answer)) : STR(""));
    buf_free(&answer);
    return d->script.ptr != NULL;
}

/* Cuts the next field off the line, as a text in the arena. */
static const char *field_next(struct doctor *d, struct str *line)
{
    return arena_cstr(d->arena, str_cut(str_or_empty(*line), '\t', line));
}

void doctor_script_tell(struct doctor *d, const char *area)
{
    if (!d->script_ended)
        finding_unchecked(&d->found, area, "%s/doctor.sh can't be executed, or does not end", d->config->command_dir);
    for (struct str rest = d->script; rest.len > 0;) {
        struct str line = str_cut(rest, '\n', &rest), kind = str_cut(line, '\t', &line);
        if (!str_equal(str_cut(str_or_empty(line), '\t', &line), str_from(area)))
            continue;
        const char *name = field_next(d, &line), *text = field_next(d, &line), *mend = field_next(d, &line);
        if (name == NULL || text == NULL)
            return; /* no memory */
        if (str_equal(kind, STR("wrong")))
            finding_wrong(&d->found, name, mend, "%s", text);
        else
            finding_unchecked(&d->found, name, "%s", text);
    }
}

bool doctor_script_says(const struct doctor *d, const char *fact)
{
    for (struct str rest = d->script; rest.len > 0;) {
        struct str line = str_cut(rest, '\n', &rest);
        if (str_skip_prefix(&line, STR("fact\t")) && str_equal(line, str_from(fact)))
            return true;
    }
    return false;
}

/* ---- the areas ---- */

void doctor_check_units(struct doctor *d)
{
    if (d->is_service)
        doctor_script_tell(d, "units");
    d->is_stopped = doctor_script_says(d, "stopped");
}

void doctor_check_logs(struct doctor *d)
{
    if (d->is_service)
        doctor_script_tell(d, "logs");
}

void doctor_check_certificates(struct doctor *d)
{
    const size_t wrong_before = d->found.wrong;
    doctor_script_tell(d, "certificates");
    d->certificates_wrong = d->found.wrong - wrong_before;
}
