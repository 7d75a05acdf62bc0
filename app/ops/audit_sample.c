#include "ops/audit_sample.h"

#include <inttypes.h>

#include "base/log.h"
#include "base/random.h"
#include "io/metrics.h"
#include "live/stores.h"

static const size_t ARENA_CHUNK_BYTES = (size_t)4 << 10;
static const size_t ARENA_LIMIT_BYTES = (size_t)64 << 10;
enum { NEWEST_PACKETS = 100 };

/* Every other time one of the newest at random, else the next one of a walk over all that begins again at its end. */
static enum status packet_draw(struct audit_sample *s, struct db *db, uint64_t *out)
{
    struct db_rows rows;
    struct arena *a = arena_new(ARENA_CHUNK_BYTES, ARENA_LIMIT_BYTES);
    bool newest = s->draws++ % 2 == 1;
    if (a == NULL)
        return ST_NO_MEMORY;
    enum status st =
        newest ? db_query(db, a, &rows, "SELECT id FROM packet WHERE count <= ? ORDER BY id DESC LIMIT ?",
                          DB_PARAMS(DB_I64(AUDIT_SAMPLE_SHARES_MAX), DB_I64(NEWEST_PACKETS)))
               : db_query(db, a, &rows, "SELECT id FROM packet WHERE id > ? AND count <= ? ORDER BY id LIMIT 1",
                          DB_PARAMS(DB_U64(s->after), DB_I64(AUDIT_SAMPLE_SHARES_MAX)));
    if (st == ST_OK && rows.count > 0)
        *out = db_cell_u64(&rows, newest ? (size_t)(random_u64() % rows.count) : 0, 0);
    if (st == ST_OK && !newest)
        s->after = rows.count > 0 ? *out : 0;
    if (st == ST_OK && rows.count == 0)
        st = ST_NOT_FOUND;
    arena_free(a);
    return st;
}

static enum status tables_body(struct db *db, void *ctx)
{
    return audit_tables(ctx, db);
}

/* A packet in quarantine is known to be wrong: dead letters have a gauge of their own. */
static bool looks_right(const struct audit *audit)
{
    return audit->checks[AUDIT_LETTERS].violations > 0 || audit_clean(audit);
}

static void violations_tell(const struct audit *audit)
{
    char quoted[AUDIT_DETAIL_MAX * 2];
    for (size_t i = 0; i < AUDIT_CHECK_COUNT; i++)
        if (audit->checks[i].violations > 0)
            log_error("the standing check found a violation", "check=%s packet=%" PRIu64 " detail=%s",
                      audit_check_name((enum audit_check)i), audit->packet_id,
                      log_quote(str_from(audit->checks[i].rows[0].detail), quoted, sizeof quoted));
}

enum status audit_sample_look(struct audit_sample *s, struct stores *stores)
{
    uint64_t packet_id = s->suspect_id;
    enum status st = packet_id != 0 ? ST_OK : packet_draw(s, stores->db, &packet_id);
    s->audit = (struct audit){ .packet_id = packet_id };
    if (st == ST_OK)
        st = db_snapshot(stores->db, tables_body, &s->audit);
    if (st == ST_OK)
        st = audit_live_once(&s->audit, stores, packet_id);
    if (st != ST_OK)
        return st;
    s->looks = packet_id == s->suspect_id ? s->looks + 1 : 1;
    bool right = looks_right(&s->audit);
    s->suspect_id = right || s->looks == AUDIT_SAMPLE_LOOKS ? 0 : packet_id;
    if (s->suspect_id != 0)
        return ST_OK;
    metrics_add(METRIC_AUDIT_SAMPLED, 1);
    if (!right) {
        metrics_add(METRIC_AUDIT_VIOLATED, 1);
        violations_tell(&s->audit);
    }
    return ST_OK;
}
