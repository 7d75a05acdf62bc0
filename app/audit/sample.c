#include "audit/sample.h"

#include "audit/audit_internal.h"
#include "audit/state.h"
#include "base/random.h"
#include "io/metrics.h"
#include "live/stores.h"

static const size_t ARENA_CHUNK_BYTES = (size_t)4 << 10;
static const size_t ARENA_LIMIT_BYTES = (size_t)64 << 10;
enum { NEWEST_PACKETS = 100 };

/* Picks the next packet: every other time a random one of the newest, else the next one of the walk. */
static enum status packet_pick(struct audit_sample *s, struct db *db, uint64_t *out)
{
    struct db_rows rows;
    struct arena *a = arena_new(ARENA_CHUNK_BYTES, ARENA_LIMIT_BYTES);
    bool newest = s->picks++ % 2 == 1;
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

/* A packet with a dead letter violates other checks, too; the gauge hongbao_dead_letters already reports it. */
static bool is_acceptable(const struct audit *audit)
{
    return audit->checks[AUDIT_LETTERS].violations > 0 || audit_clean(audit);
}

enum status audit_sample_run(struct audit_sample *s, struct stores *stores)
{
    uint64_t packet_id = s->suspect_id;
    enum status st = packet_id != 0 ? ST_OK : packet_pick(s, stores->db, &packet_id);
    s->audit = (struct audit){ .packet_id = packet_id };
    if (st == ST_OK)
        st = db_snapshot(stores->db, tables_body, &s->audit);
    if (st == ST_OK)
        st = audit_live_once(&s->audit, stores, packet_id);
    if (st != ST_OK)
        return st;
    s->attempts = packet_id == s->suspect_id ? s->attempts + 1 : 1;
    bool acceptable = is_acceptable(&s->audit);
    s->suspect_id = acceptable || s->attempts == AUDIT_SAMPLE_ATTEMPTS ? 0 : packet_id;
    if (s->suspect_id != 0)
        return ST_OK;
    metrics_add(METRIC_AUDIT_SAMPLED, 1);
    if (!acceptable) {
        (void)audit_violations_log(&s->audit);
        audit_state_note_worker(1);
    }
    return ST_OK;
}
