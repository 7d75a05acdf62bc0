/* Whether the money is right and a backup exists. The doctor proves neither itself, which takes long on a large site.
 * It reports when each was last proven, and by what. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "audit/backup_record.h"
#include "audit/state.h"
#include "base/clock.h"
#include "doctor/doctor_internal.h"
#include "io/metrics.h"

/* After one night without a backup the unit has failed, which is a finding of its own; this finding is for two
 * nights. */
enum { BACKUP_AGE_MS_MAX = 2 * 24 * 3600 * 1000 };

#define TIMER      "hongbao-backup.timer"
#define BACKUP_NOW "systemctl start hongbao-backup"

static const char *time_text(struct doctor *d, int64_t ms)
{
    char text[CLOCK_TEXT_MAX];
    (void)clock_rfc3339_format(ms, text);
    return finding_text(&d->found, "%s", text);
}

/* False: there is no record, or it can't be read: errno says why. */
static bool record_read(struct doctor *d, struct backup_record *record)
{
    *record = (struct backup_record){ 0 };
    errno = 0;
    return d->config->backup_record[0] != '\0' && backup_record_read(d->config->backup_record, record);
}

void doctor_check_audit(struct doctor *d)
{
    struct backup_record record;
    struct audit_state audit;
    (void)record_read(d, &record);
    (void)metrics_read(d->config->metrics_file); /* if this fails, metrics-missing reports it, and all counters are 0 */
    audit_state_read(&record, &audit);
    d->audited_ms = audit.clean_ms;
    if (audit.violated_ms == 0 || d->stores_differ || d->has_play_money)
        return; /* the second and third condition have findings of their own, which explain this */
    const char *at = time_text(d, audit.violated_ms);
    const char *who = audit.source == AUDIT_BY_COMMAND  ? "`hongbao audit` has found violations"
                      : audit.source == AUDIT_BY_WORKER ? "the settle worker has found violations"
                                                        : "the last backup has violations";
    finding_wrong(&d->found, "audit-violations",
                  "hongbao audit # names them; a clean one ends this (docs/how-to/audit.md)",
                  "%s, and no audit was clean since then: %s%s%s", who, at, audit.source == AUDIT_BY_BACKUP ? ", " : "",
                  audit.source == AUDIT_BY_BACKUP ? record.last[BACKUP_VIOLATED].dir : "");
}

/* ---- backups ---- */

/* Whether the site is so new that it had no night for a backup yet. */
static bool site_is_new(struct doctor *d)
{
    struct db_rows rows;
    return db_query(d->roles[ROLE_MIGRATE].db, d->arena, &rows, "SELECT created_ms FROM site", NULL, 0) == ST_OK &&
           rows.count > 0 && clock_now_ms() - db_cell_i64(&rows, 0, 0) < BACKUP_AGE_MS_MAX;
}

static const char *backup_mend(struct doctor *d)
{
    if (!d->is_service)
        return "hongbao backup --verify DIR # docs/how-to/backup.md";
    return doctor_script_says(d, "backup-timer") ? BACKUP_NOW : "systemctl enable --now " TIMER "; " BACKUP_NOW;
}

static void backup_none_tell(struct doctor *d, const struct backup_record *record)
{
    const struct backup_note *unknown = &record->last[BACKUP_UNKNOWN];
    if (unknown->at_ms > 0)
        finding_wrong(&d->found, "backup-none", backup_mend(d),
                      "no verified backup is known: that of %s was not verified, %s", time_text(d, unknown->at_ms),
                      unknown->dir);
    else if (d->is_service && d->roles[ROLE_MIGRATE].db != NULL &&
             (!site_is_new(d) || !doctor_script_says(d, "backup-timer")))
        finding_wrong(&d->found, "backup-none", backup_mend(d),
                      "no backup is known: a lost disk would end this site. One that is made in another way, as by the"
                      " administrators of the stores, is not known: then set backup_record to nothing");
}

void doctor_check_backups(struct doctor *d)
{
    struct backup_record record;
    if (!record_read(d, &record)) {
        if (errno != 0)
            finding_unchecked(&d->found, "backups", "%s can't be read: %s", d->config->backup_record, strerror(errno));
        return;
    }
    const struct backup_note *clean = &record.last[BACKUP_CLEAN];
    if (clean->at_ms == 0) {
        backup_none_tell(d, &record);
        return;
    }
    const char *manifest = finding_text(&d->found, "%s/manifest", clean->dir);
    if (manifest != NULL && access(manifest, F_OK) != 0)
        finding_wrong(&d->found, "backup-none", backup_mend(d),
                      "the last verified backup, of %s, is not at its place any more: %s: %s",
                      time_text(d, clean->at_ms), clean->dir, strerror(errno));
    else if (clock_now_ms() - clean->at_ms > BACKUP_AGE_MS_MAX)
        finding_wrong(&d->found, "backup-old", backup_mend(d), "the last verified backup is of %s: %s",
                      time_text(d, clean->at_ms), clean->dir);
}
