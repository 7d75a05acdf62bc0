#include "packet/id_lease.h"

#include <assert.h>
#include <unistd.h>

#include "base/log.h"
#include "base/random.h"

enum { LEASE_ARENA_BYTES = 4096 };

struct lease_try {
    struct arena *arena;
    uint64_t holder;
    int64_t now_ms;
    uint16_t instance;
    int64_t floor_ms; /* end of the previous lease */
};

void id_lease_init(struct id_lease *l, uint64_t holder)
{
    assert(holder != 0);
    *l = (struct id_lease){ .holder = holder };
}

static enum status lease_take_body(struct db *db, void *ctx)
{
    struct lease_try *t = ctx;
    struct db_rows rows;
    /* The lock is local to a node of Galera. The UPDATE of the same row makes one of two nodes fail at COMMIT. */
    enum status st = db_find(db, t->arena, &rows,
                             "SELECT instance_no, until_ms FROM instance_lease WHERE until_ms <= ? "
                             "ORDER BY until_ms, instance_no LIMIT 1 FOR UPDATE SKIP LOCKED",
                             DB_PARAMS(DB_I64(t->now_ms)));
    if (st != ST_OK)
        return st;
    uint64_t instance = db_cell_u64(&rows, 0, 0);
    if (instance >= ID_INSTANCES)
        return ST_CORRUPT;
    t->instance = (uint16_t)instance;
    t->floor_ms = db_cell_i64(&rows, 0, 1);
    return db_exec(db, NULL, "UPDATE instance_lease SET holder = ?, until_ms = ? WHERE instance_no = ?",
                   DB_PARAMS(DB_U64(t->holder), DB_I64(t->now_ms + ID_LEASE_MS), DB_U64(instance)));
}

static enum status lease_take(struct id_lease *l, struct db *db, int64_t now_ms)
{
    struct arena *a = arena_new(LEASE_ARENA_BYTES, LEASE_ARENA_BYTES * 16);
    if (a == NULL)
        return ST_NO_MEMORY;
    struct lease_try t = { .arena = a, .holder = l->holder, .now_ms = now_ms };
    enum status st = db_transaction(db, lease_take_body, &t);
    arena_free(a);
    if (st == ST_OK) {
        id_gen_init(&l->gen, t.instance, t.floor_ms);
        l->until_ms = now_ms + ID_LEASE_MS;
        l->held = true;
        log_info("instance leased", "instance=%u", (unsigned)t.instance);
        return ST_OK;
    }
    if (st == ST_NOT_FOUND)
        log_error("no instance number free", NULL);
    /* After an unknown COMMIT the number may be leased but unused; it is free again when the lease expires. */
    return st == ST_NOT_FOUND || st == ST_UNKNOWN ? ST_UNAVAILABLE : st;
}

/* Extends the lease. ST_NOT_FOUND: the number now has another holder. */
static enum status lease_renew(struct id_lease *l, struct db *db, int64_t now_ms)
{
    int64_t until_ms = now_ms + ID_LEASE_MS;
    if (until_ms <= l->until_ms)
        return ST_OK; /* the clock went back; a lease is never shortened */
    uint64_t changed = 0;
    enum status st =
        db_exec(db, &changed, "UPDATE instance_lease SET until_ms = ? WHERE instance_no = ? AND holder = ?",
                DB_PARAMS(DB_I64(until_ms), DB_U64(l->gen.instance), DB_U64(l->holder)));
    if (st != ST_OK)
        return st;
    if (changed == 0)
        return ST_NOT_FOUND;
    l->until_ms = until_ms;
    return ST_OK;
}

enum status id_lease_next(struct id_lease *l, struct db *db, int64_t now_ms, uint64_t *out_id)
{
    if (l->held && now_ms >= l->until_ms - ID_LEASE_RENEW_MS) {
        enum status st = lease_renew(l, db, now_ms);
        if (st == ST_NOT_FOUND)
            l->held = false;
        else if (st != ST_OK && now_ms >= l->until_ms)
            return status_idempotent(st);
    }
    bool was_held = l->held;
    enum status st = l->held ? ST_OK : lease_take(l, db, now_ms);
    if (st == ST_OK)
        st = id_next(&l->gen, now_ms, random_u64(), l->until_ms, out_id);
    if (st != ST_UNAVAILABLE || !was_held)
        return st;
    /* The clock was set back too far for this number: take one whose previous lease ended earlier. */
    st = lease_take(l, db, now_ms);
    return st == ST_OK ? id_next(&l->gen, now_ms, random_u64(), l->until_ms, out_id) : st;
}

enum status packet_id_next(struct db *db, int64_t now_ms, uint64_t *out_id)
{
    static struct id_lease lease;
    static pid_t owner;
    if (owner != getpid()) { /* the first call of this process: a child must not use its parent's lease */
        id_lease_init(&lease, random_u64() | 1);
        owner = getpid();
    }
    return id_lease_next(&lease, db, now_ms, out_id);
}
