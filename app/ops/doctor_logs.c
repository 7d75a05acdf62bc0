/* The rotation of the site's access log, which has addresses of people: logrotate is there, has the file, and runs. */
#include <fnmatch.h>
#include <glob.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/buf.h"
#include "ops/doctor_internal.h"

#define LOGROTATE "/usr/sbin/logrotate"
#define TIMER     "/etc/systemd/system/timers.target.wants/logrotate.timer"
#define TIMER_OWN "/etc/systemd/system/logrotate.timer" /* a link to /dev/null masks it */

enum { FILE_BYTES_MAX = 1 << 20 };

static const char *const FILES[] = { "/etc/logrotate.conf", "/etc/logrotate.d/*" };

bool doctor_rotates(struct arena *a, struct str text, const char *file)
{
    static const char ENDS[] = " \t\r\n{}\"'";
    while (text.len > 0) {
        struct str line = str_trim(str_cut(text, '\n', &text));
        for (size_t i = 0, begin = 0; i <= line.len && !str_starts(line, STR("#")); i++) {
            if (i < line.len && strchr(ENDS, line.ptr[i]) == NULL)
                continue;
            const char *word = i > begin && line.ptr[begin] == '/' ? arena_cstr(a, str_slice(line, begin, i)) : NULL;
            if (word != NULL && fnmatch(word, file, FNM_PATHNAME) == 0)
                return true;
            begin = i + 1;
        }
    }
    return false;
}

/* Whether logrotate leaves out a file of this name (tabooext in logrotate(8)). */
static bool is_left_out(struct str path)
{
    static const struct str ENDS[] = {
        STR("~"),         STR(".dpkg-old"), STR(".dpkg-new"), STR(".dpkg-dist"), STR(".dpkg-backup"), STR(".dpkg-bak"),
        STR(".dpkg-tmp"), STR(".dpkg-del"), STR(".disabled"), STR(".swp"),       STR(".bak"),         STR(".ucf-old"),
        STR(".ucf-new"),  STR(".ucf-dist"), STR(".cfsaved"),  STR(",v")
    };
    for (size_t i = 0; i < ARRAY_LEN(ENDS); i++)
        if (str_ends(path, ENDS[i]))
            return true;
    return false;
}

/* Whether a file of logrotate has the log. */
static bool is_rotated(struct doctor *d, const char *log)
{
    bool found = false;
    for (size_t i = 0; i < ARRAY_LEN(FILES) && !found; i++) {
        glob_t files;
        if (glob(FILES[i], 0, NULL, &files) != 0)
            continue;
        for (size_t k = 0; k < files.gl_pathc && !found; k++) {
            if (is_left_out(str_from(files.gl_pathv[k])))
                continue;
            struct buf text = { .limit = FILE_BYTES_MAX };
            found = buf_file(&text, files.gl_pathv[k]) == ST_OK && doctor_rotates(d->arena, buf_view(&text), log);
            buf_free(&text);
        }
        globfree(&files);
    }
    return found;
}

/* Whether systemd runs logrotate every day. */
static bool timer_runs(void)
{
    struct stat own, null;
    const bool is_masked = stat(TIMER_OWN, &own) == 0 && stat("/dev/null", &null) == 0 && own.st_rdev == null.st_rdev &&
                           S_ISCHR(own.st_mode);
    return !is_masked && lstat(TIMER, &own) == 0;
}

void doctor_check_logs(struct doctor *d)
{
    static const char WHY[] = "so the addresses of visitors in it are kept for ever (docs/how-to/logs.md)";
    const struct nginx_conf_list *logs = &d->nginx.logs;
    if (!d->is_service || logs->count == 0)
        return;
    if (access(LOGROTATE, X_OK) != 0) {
        finding_wrong(&d->found, "log-rotation", "apt-get install logrotate", "nothing rotates %s, %s: there is no %s",
                      logs->items[0], WHY, LOGROTATE);
        return;
    }
    for (size_t i = 0; i < logs->count; i++)
        if (!is_rotated(d, logs->items[i]))
            finding_wrong(&d->found, "log-rotation",
                          finding_text(&d->found,
                                       "sed 's|@LOG@|%s|' /usr/share/hongbao/logrotate.in >>/etc/logrotate.d/hongbao",
                                       logs->items[i]),
                          "no file in /etc/logrotate.d has %s, %s", logs->items[i], WHY);
    if (!timer_runs())
        finding_wrong(&d->found, "log-rotation",
                      "systemctl unmask logrotate.timer && systemctl enable --now logrotate.timer",
                      "logrotate.timer is not enabled, so nothing rotates %s, %s", logs->items[0], WHY);
}
