/* Whether tables and Redis belong together (live/site.h). If they do not, this explains most findings of the other
 * areas, so it is reported first, and some areas then report nothing. */
#include "doctor/doctor_internal.h"
#include "live/site.h"
#include "settle/site.h"

#define RESTORE_MEND "systemctl stop hongbao.target; hongbao setup --restore BACKUP --replace # docs/how-to/lost.md"

/* The command that empties Redis, which the role migrate is allowed to do. */
static const char *flush_mend(struct doctor *d)
{
    const struct config *c = &d->roles[ROLE_MIGRATE].config;
    if (c->redis_user[0] == '\0')
        return finding_text(&d->found, "%s FLUSHALL # docs/how-to/lost.md", doctor_redis_client(d));
    return finding_text(&d->found,
                        "REDISCLI_AUTH=$(sed -n 's/^redis_password = //p' %s/migrate.conf) %s --user %s"
                        " FLUSHALL # docs/how-to/lost.md",
                        d->config->rights_dir, doctor_redis_client(d), c->redis_user);
}

static const char *restore_mend(struct doctor *d)
{
    return d->has_setup ? RESTORE_MEND : "stop the site, hongbao restore --replace BACKUP, start it";
}

void doctor_tell_site(struct doctor *d, enum site_verdict verdict, const char *because)
{
    static const struct {
        enum site_verdict verdict;
        const char *name;
    } names[] = { { SITE_OTHER, "site-other" },
                  { SITE_TABLES_GONE, "site-tables-gone" },
                  { SITE_TABLES_OLDER, "site-tables-older" },
                  { SITE_REDIS_OLDER, "site-redis-older" } };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (names[i].verdict != verdict)
            continue;
        finding_wrong(&d->found, names[i].name,
                      because[0] != '\0'            ? d->has_setup ? DOCTOR_SETUP : doctor_grants(d)
                                 : verdict == SITE_REDIS_OLDER ? flush_mend(d)
                      : verdict == SITE_OTHER       ? check_setting_mend(d->config, &d->found, "redis", "ADDRESS")
                                                    : restore_mend(d),
                      "%s%s", because, site_verdict_text(verdict));
        findings_lead(&d->found);
        d->stores_differ = true;
    }
}

bool doctor_redis_has_site(struct doctor *d)
{
    bool has = false;
    struct redis *r = d->roles[ROLE_MIGRATE].redis;
    for (uint32_t i = 0; r != NULL && !has && i < (uint32_t)d->config->partitions; i++)
        has = settle_site_has_data(r, i);
    return has;
}

void doctor_check_site(struct doctor *d)
{
    struct settle_site_look look;
    const struct doctor_role *migrate = &d->roles[ROLE_MIGRATE]; /* may see all tables */
    if (migrate->redis == NULL || migrate->db == NULL || d->stores_differ)
        return; /* the check "roles" reports it */
    if (settle_site_look(migrate->redis, migrate->db, (uint32_t)d->config->partitions, &look) == ST_OK)
        doctor_tell_site(d, look.verdict, "");
}
