/* Looks at the units of the installed service, as systemd sees them: what is enabled runs, and what runs is enabled. */
#include "base/array.h"
#include "base/buf.h"
#include "ops/command_output.h"
#include "ops/doctor_internal.h"

/* The target is the first; systemd knows the units that it wants as long as it runs. */
#define TARGET     "hongbao.target"
#define PROPERTIES "Id,LoadState,ActiveState,SubState,UnitFileState,NeedDaemonReload"

enum { ANSWER_BYTES_MAX = 256 << 10, ANSWER_MS_MAX = 10 * 1000, FAILED_ASKED_MAX = 5 };

struct unit {
    struct str name, load, active, sub, file;
    bool has_new_file;
};

/* The faults of a unit. All units with the same fault are one finding. */
enum fault { MASKED, FAILED, STOPPED, NOT_ENABLED, OLD_FILE, FAULT_COUNT };

/* The mend is the command, the names of the units, and what follows them. */
static const struct {
    const char *finding, *command, *after, *text;
    bool names_no_units;
} FAULTS[FAULT_COUNT] = {
    [MASKED] = { "unit-masked", "systemctl unmask", "", "these units are masked, so they never start" },
    [FAILED] = { "unit-failed", "systemctl restart", "; journalctl -u 'hongbao-*' -n 50 --no-pager",
                 "these units ended with an error" },
    [STOPPED] = { "unit-stopped", "systemctl start", "", "these units are enabled, but do not run" },
    [NOT_ENABLED] = { "unit-disabled", "systemctl enable --now", "", "these units do not start with the machine" },
    [OLD_FILE] = { "unit-old-file", "systemctl daemon-reload; systemctl try-restart",
                   " 'hongbao-*@*.service' hongbao-settle.service",
                   "the files of these units have changed since systemd read them", .names_no_units = true },
};

/* Reads the lines NAME=VALUE of a unit up to an empty line. False: there is none. */
static bool unit_read(struct str *text, struct unit *u)
{
    *u = (struct unit){ 0 };
    while (text->len > 0) {
        struct str value, line = str_cut(*text, '\n', text);
        struct str name = str_cut(line, '=', &value);
        if (line.len == 0 && u->name.len > 0)
            break;
        if (str_equal(name, STR("Id")))
            u->name = value;
        else if (str_equal(name, STR("LoadState")))
            u->load = value;
        else if (str_equal(name, STR("ActiveState")))
            u->active = value;
        else if (str_equal(name, STR("SubState")))
            u->sub = value;
        else if (str_equal(name, STR("UnitFileState")))
            u->file = value;
        else if (str_equal(name, STR("NeedDaemonReload")))
            u->has_new_file = str_equal(value, STR("yes"));
    }
    return u->name.len > 0;
}

bool doctor_unit_is_active(const struct doctor *d, const char *name)
{
    struct str text = str_or_empty(d->units);
    struct unit u;
    while (unit_read(&text, &u))
        if (str_equal(u.name, str_from(name)))
            return str_equal(u.active, STR("active"));
    return false;
}

bool doctor_units_out_of_service(struct str text)
{
    struct unit target;
    return unit_read(&text, &target) && str_equal(target.name, STR(TARGET)) &&
           str_equal(target.file, STR("disabled")) && str_equal(target.active, STR("inactive"));
}

/* FAULT_COUNT: none. Units that only others start, as that of the backup, are neither enabled nor disabled. */
static enum fault unit_fault(const struct unit *u)
{
    if (str_equal(u->load, STR("masked")))
        return MASKED;
    if (str_equal(u->active, STR("failed")) || str_equal(u->sub, STR("auto-restart")))
        return FAILED;
    if (str_equal(u->file, STR("enabled")) && str_equal(u->active, STR("inactive")))
        return STOPPED;
    if (str_equal(u->file, STR("disabled")) && str_equal(u->active, STR("active")))
        return NOT_ENABLED;
    return FAULT_COUNT;
}

/* What the unit has said, of lines "UNIT LINE"; empty: nothing. */
static struct str unit_said(struct str said, struct str unit)
{
    while (said.ptr != NULL && said.len > 0) {
        struct str words, name = str_cut(str_cut(said, '\n', &said), ' ', &words);
        if (str_equal(name, unit))
            return str_or_empty(words);
    }
    return STR("");
}

bool doctor_units_tell(struct findings *found, struct str text, struct str said)
{
    struct buf names[FAULT_COUNT] = { 0 }, quotes = BUF_EMPTY;
    bool is_stopped = false; /* the target, and so all the others */
    struct unit u;
    while (unit_read(&text, &u)) {
        enum fault fault = unit_fault(&u);
        if (u.has_new_file)
            buf_printf(&names[OLD_FILE], " %.*s", STR_ARG(u.name));
        if (fault == FAULT_COUNT || (fault == STOPPED && is_stopped))
            continue;
        is_stopped = is_stopped || (fault == STOPPED && str_equal(u.name, STR(TARGET)));
        buf_printf(&names[fault], " %.*s", STR_ARG(u.name));
        struct str words = fault == FAILED ? unit_said(said, u.name) : STR("");
        if (words.len > 0)
            buf_printf(&quotes, "; %.*s says: %.*s", STR_ARG(u.name), STR_ARG(words));
    }
    for (size_t i = 0; i < FAULT_COUNT; i++) {
        const char *list = arena_cstr(found->arena, str_or_empty(buf_view(&names[i])));
        if (names[i].len > 0 && list != NULL)
            finding_wrong(
                found, FAULTS[i].finding,
                finding_text(found, "%s%s%s", FAULTS[i].command, FAULTS[i].names_no_units ? "" : list, FAULTS[i].after),
                "%s:%s%.*s", i == STOPPED && is_stopped ? "the service is stopped" : FAULTS[i].text, list,
                STR_ARG(i == FAILED ? str_or_empty(buf_view(&quotes)) : STR("")));
        buf_free(&names[i]);
    }
    buf_free(&quotes);
    return is_stopped;
}

/* What systemd says of any unit that ends; the words of its process say more. */
static bool line_is_of_systemd(struct str line)
{
    static const struct str texts[] = { STR(": Main process exited, "),
                                        STR(": Control process exited, "),
                                        STR(": Failed with result "),
                                        STR("Failed to start "),
                                        STR(": Scheduled restart job"),
                                        STR("Stopped "),
                                        STR("Starting "),
                                        STR(": Consumed "),
                                        STR(": Deactivated "),
                                        STR("Stopping ") };
    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        if (str_find(line, texts[i]) < line.len)
            return true;
    return false;
}

/* Appends "UNIT LINE" with the last line in the journal that is not systemd's own. */
static void unit_ask(struct buf *said, const char *unit)
{
    const char *const question[] = { "journalctl", "-q", "-u", unit, "-n", "20", "-o", "cat", "--no-pager", NULL };
    struct buf answer = { .limit = ANSWER_BYTES_MAX };
    struct str last = STR("");
    if (command_output(question, ANSWER_MS_MAX, &answer))
        for (struct str rest = str_or_empty(buf_view(&answer)); rest.ptr != NULL && rest.len > 0;) {
            struct str line = str_cut(rest, '\n', &rest);
            if (line.len > 0 && !line_is_of_systemd(line))
                last = line;
        }
    if (last.len > 0)
        buf_printf(said, "%s %.*s\n", unit, STR_ARG(last));
    buf_free(&answer);
}

/* Asks the journal about the first units that failed. False: no memory. */
static bool failed_read(struct doctor *d)
{
    struct str text = str_or_empty(d->units);
    struct buf said = BUF_EMPTY;
    struct unit u;
    size_t asked = 0;
    while (unit_read(&text, &u) && asked < FAILED_ASKED_MAX) {
        const char *name = unit_fault(&u) == FAILED ? arena_cstr(d->arena, u.name) : NULL;
        if (name == NULL)
            continue;
        unit_ask(&said, name);
        asked++;
    }
    d->units_said = arena_str(d->arena, str_or_empty(buf_view(&said)));
    buf_free(&said);
    return d->units_said.ptr != NULL;
}

bool doctor_units_read(struct doctor *d)
{
    static const char *const question[] = { "systemctl", "show", "--all", "-p", PROPERTIES, TARGET, "hongbao-*", NULL };
    struct buf answer = { .limit = ANSWER_BYTES_MAX };
    if (!d->is_service)
        return true;
    bool is_read = command_output(question, ANSWER_MS_MAX, &answer);
    d->units = is_read ? arena_str(d->arena, str_or_empty(buf_view(&answer))) : STR_NONE;
    buf_free(&answer);
    return !is_read || (d->units.ptr != NULL && failed_read(d));
}

void doctor_check_units(struct doctor *d)
{
    if (d->is_service && d->units.ptr == NULL)
        finding_unchecked(&d->found, "units", "systemctl does not tell their states");
    else
        d->is_stopped = doctor_units_tell(&d->found, d->units, str_or_empty(d->units_said));
}
