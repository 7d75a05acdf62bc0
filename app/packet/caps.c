#include "packet/caps.h"

#include "base/clock.h"

struct send_caps send_caps_at(const struct config *config, int64_t now_ms)
{
    struct send_caps caps = { .fen_max = config->user_send_day_fen, .count_max = config->user_send_day_count };
    if (send_caps_set(&caps))
        clock_zone_day(now_ms, &caps.from_ms, &caps.to_ms);
    return caps;
}

bool send_caps_set(const struct send_caps *caps)
{
    return caps->fen_max > 0 || caps->count_max > 0;
}

enum status send_day_read(struct db *db, struct arena *a, uint64_t user_id, const struct send_caps *caps,
                          struct send_day *out)
{
    struct db_rows rows;
    enum status st = db_query(db, a, &rows,
                              "SELECT COALESCE(SUM(amount_fen), 0), COUNT(*) FROM transfer FORCE INDEX (transfer_debit)"
                              " WHERE debit_id = ? AND created_ms >= ? AND created_ms < ? AND kind = 'send'",
                              DB_PARAMS(DB_U64(user_id), DB_I64(caps->from_ms), DB_I64(caps->to_ms)));
    if (st == ST_OK)
        *out = (struct send_day){ .fen = db_cell_i64(&rows, 0, 0), .count = db_cell_i64(&rows, 0, 1) };
    return st;
}

enum status receive_day_read(struct db *db, struct arena *a, uint64_t user_id, int64_t from_ms, int64_t *out_fen)
{
    struct db_rows rows;
    enum status st = db_query(db, a, &rows,
                              "SELECT COALESCE(SUM(amount_fen), 0) FROM `grab` FORCE INDEX (grab_received)"
                              " WHERE user_id = ? AND grabbed_ms >= ?",
                              DB_PARAMS(DB_U64(user_id), DB_I64(from_ms)));
    if (st == ST_OK)
        *out_fen = db_cell_i64(&rows, 0, 0);
    return st;
}

bool cap_is_near(int64_t cap, int64_t used)
{
    enum { FIFTH = 5 };
    return cap - used < cap / FIFTH || used >= cap;
}
