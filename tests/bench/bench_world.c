/* Fills the empty stores of HB_CONFIG as the program would have done:
 *   bench_world closed GRABS SHARES          closed lucky packets of SHARES shares with GRABS grabs in all
 *   bench_world open PACKETS SHARES LIFE_MS  open packets without grabs, also in Redis; they expire LIFE_MS from now
 * The settle worker must not run meanwhile. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/buf.h"
#include "base/clock.h"
#include "bench.h"
#include "live/live.h"
#include "live/load.h"
#include "packet/split.h"
#include "packet/store.h"
#include "support/test_services.h"

enum { ROWS_PER_COMMIT = 5000 };
static const int64_t PAST_MS = INT64_C(1750000000000); /* June 2025 */

struct person {
    int64_t sent_fen, received_fen;
    uint32_t sent, received, best;
};

struct world {
    struct services *app;
    struct person *people;
    uint32_t users, shares;
    uint64_t packets, made;
    bool open;
    int64_t now_ms, life_ms;
    int64_t *fen;
    struct buf packet, account, transfer, grab, user, wallet, deposit, month;
};

static void begin(struct buf *b, const char *sql)
{
    buf_reset(b);
    buf_cstr(b, sql);
}

static void packets_begin(struct world *w)
{
    begin(&w->packet, "INSERT INTO packet (id, sender_id, sender_name, kind, split, amount_fen, count, share_max_fen,"
                      " best_share_no, greeting, seed, commitment, state, grabbed_count, grabbed_fen, created_ms,"
                      " expires_ms, finished_ms, closed_ms, request_key) VALUES ");
    begin(&w->account, "INSERT INTO account (id, kind, balance_fen) VALUES ");
    begin(&w->transfer,
          "INSERT INTO transfer (kind, debit_id, credit_id, amount_fen, packet_id, seq, created_ms) VALUES ");
    begin(&w->grab, "INSERT INTO `grab` (packet_id, share_no, user_id, nickname, amount_fen, grabbed_ms) VALUES ");
}

static void hex(struct buf *b, const uint8_t *bytes)
{
    buf_cstr(b, "X'");
    for (size_t i = 0; i < HASH_BYTES; i++)
        buf_printf(b, "%02x", bytes[i]);
    buf_char(b, '\'');
}

/* Appends the rows of one packet; fen has its amounts. */
static bool packet_make(struct world *w, uint64_t index, struct packet *p)
{
    bool ok = bench_packet(p, w->fen, index, w->shares, w->open ? w->now_ms : PAST_MS + (int64_t)index);
    if (w->open) {
        p->created_ms = w->now_ms + w->life_ms - BENCH_DAY_MS;
        p->expires_ms = w->now_ms + w->life_ms;
    }
    return ok;
}

static void packet_row(struct world *w, const struct packet *p, const char *comma)
{
    buf_printf(&w->packet, "%s(%llu,%llu,'x','lucky','double-average',%lld,%u,%lld,%u,'恭喜发财，大吉大利',", comma,
               (unsigned long long)p->id, (unsigned long long)p->sender_id, (long long)p->amount_fen, p->count,
               (long long)p->share_max_fen, p->best_share_no);
    hex(&w->packet, p->seed);
    buf_char(&w->packet, ',');
    hex(&w->packet, p->commitment);
    if (w->open)
        buf_printf(&w->packet, ",'open',0,0,%lld,%lld,NULL,NULL,", (long long)p->created_ms, (long long)p->expires_ms);
    else
        buf_printf(&w->packet, ",'closed',%u,%lld,%lld,%lld,%lld,%lld,", p->count, (long long)p->amount_fen,
                   (long long)p->created_ms, (long long)p->expires_ms, (long long)p->created_ms,
                   (long long)p->created_ms);
    buf_printf(&w->packet, "'k%llu')", (unsigned long long)w->made);
}

static void grab_rows(struct world *w, const struct packet *p, const char *comma)
{
    for (uint32_t i = 0; i < w->shares; i++) {
        uint64_t user = bench_user(w->made, i, w->shares);
        struct person *one = &w->people[user - BENCH_USER_FIRST];
        buf_printf(&w->grab, "%s(%llu,%u,%llu,'x',%lld,%lld)", i == 0 ? comma : ",", (unsigned long long)p->id, i,
                   (unsigned long long)user, (long long)w->fen[i], (long long)p->created_ms);
        one->received_fen += w->fen[i];
        one->received++;
        one->best += i == p->best_share_no;
    }
}

static bool packet_add(struct world *w, const char *comma)
{
    struct packet p;
    if (!packet_make(w, w->made, &p))
        return false;
    struct person *sender = &w->people[p.sender_id - BENCH_USER_FIRST];
    packet_row(w, &p, comma);
    buf_printf(&w->account, "%s(%llu,'escrow',%lld)", comma, (unsigned long long)p.id,
               w->open ? (long long)p.amount_fen : 0);
    buf_printf(&w->transfer, "%s('send',%llu,%llu,%lld,%llu,0,%lld)", comma, (unsigned long long)p.sender_id,
               (unsigned long long)p.id, (long long)p.amount_fen, (unsigned long long)p.id, (long long)p.created_ms);
    if (!w->open)
        grab_rows(w, &p, comma);
    sender->sent_fen += p.amount_fen;
    sender->sent++;
    w->made++;
    return true;
}

static enum status packets_body(struct db *db, void *ctx)
{
    struct world *w = ctx;
    packets_begin(w);
    for (uint32_t rows = 0; rows < ROWS_PER_COMMIT && w->made < w->packets; rows += w->open ? 1 : w->shares)
        if (!packet_add(w, rows == 0 ? "" : ","))
            return ST_INVALID;
    enum status st = db_exec_buf(db, NULL, &w->account);
    if (st == ST_OK)
        st = db_exec_buf(db, NULL, &w->packet);
    if (st == ST_OK && !w->open)
        st = db_exec_buf(db, NULL, &w->grab);
    return st == ST_OK ? db_exec_buf(db, NULL, &w->transfer) : st;
}

/* Every user has a deposit of the amount that they sent. */
static enum status people_body(struct db *db, void *ctx)
{
    struct world *w = ctx;
    int64_t bank_fen = 0;
    size_t deposits = 0;
    /* All closed packets are of one month. */
    const struct clock_date date = clock_zone_date(w->open ? w->now_ms + w->life_ms - BENCH_DAY_MS : PAST_MS);
    begin(&w->user, "INSERT INTO user (id, username, nickname, created_ms) VALUES ");
    begin(&w->wallet, "INSERT INTO account (id, kind, balance_fen) VALUES ");
    begin(&w->deposit, "INSERT INTO transfer (kind, debit_id, credit_id, amount_fen, created_ms, request_key) VALUES ");
    begin(&w->month, "INSERT INTO user_month VALUES ");
    for (uint32_t i = 0; i < w->users; i++) {
        const struct person *one = &w->people[i];
        const unsigned id = BENCH_USER_FIRST + i;
        const char *comma = i == 0 ? "" : ",";
        bank_fen -= one->sent_fen;
        buf_printf(&w->user, "%s(%u,'u%u','x',1)", comma, id, id);
        buf_printf(&w->wallet, "%s(%u,'wallet',%lld)", comma, id, (long long)one->received_fen);
        if (one->sent_fen > 0)
            buf_printf(&w->deposit, "%s('deposit',1,%u,%lld,1,'%u:bench')", deposits++ == 0 ? "" : ",", id,
                       (long long)one->sent_fen, id);
        buf_printf(&w->month, "%s(%u,%d,%d,%u,%lld,%u,%lld,%u)", comma, id, date.year, date.month, one->sent,
                   (long long)one->sent_fen, one->received, (long long)one->received_fen, one->best);
    }
    struct buf *all[] = { &w->user, &w->wallet, &w->deposit, &w->month };
    enum status st = ST_OK;
    for (size_t i = 0; st == ST_OK && i < ARRAY_LEN(all); i++)
        st = db_exec_buf(db, NULL, all[i]);
    return st == ST_OK
               ? db_exec(db, NULL, "UPDATE account SET balance_fen = ? WHERE id = 1", DB_PARAMS(DB_I64(bank_fen)))
               : st;
}

static enum status live_make(struct world *w)
{
    struct packet p;
    enum live_code code = LIVE_LOADED;
    enum status st = ST_OK;
    test_services_fences_open(w->app); /* the packets have no grabs: no comparison is needed */
    for (uint64_t i = 0; st == ST_OK && i < w->packets; i++) {
        if (!packet_make(w, i, &p))
            return ST_INVALID;
        st = live_load(&w->app->stores.live, &p, w->fen, NULL, 0, LIVE_STATE_OPEN, &code);
        if (st == ST_OK && code != LIVE_LOADED)
            st = ST_EXISTS;
    }
    return st;
}

static enum status world_make(struct world *w)
{
    struct db *db = w->app->stores.db;
    enum status st = db_exec(db, NULL, "SET SESSION foreign_key_checks = 0", NULL, 0);
    while (st == ST_OK && w->made < w->packets)
        st = db_transaction(db, packets_body, w);
    if (st == ST_OK)
        st = db_transaction(db, people_body, w);
    return st == ST_OK && w->open ? live_make(w) : st;
}

static bool world_parse(struct world *w, int argc, char **argv)
{
    uint64_t count, shares, life_ms = 0;
    w->open = argc == 5 && strcmp(argv[1], "open") == 0;
    if (!w->open && (argc != 4 || strcmp(argv[1], "closed") != 0))
        return false;
    if (!bench_number(argv[2], 1, UINT32_MAX, &count) || !bench_number(argv[3], 1, SPLIT_COUNT_MAX, &shares) ||
        (w->open && !bench_number(argv[4], 0, UINT32_MAX, &life_ms)))
        return false;
    w->shares = (uint32_t)shares;
    w->packets = w->open ? count : (count + shares - 1) / shares;
    w->life_ms = (int64_t)life_ms;
    w->now_ms = clock_now_ms();
    w->users = bench_users(shares);
    return true;
}

int main(int argc, char **argv)
{
    static struct world w;
    if (!world_parse(&w, argc, argv)) {
        (void)fputs("usage: bench_world closed GRABS SHARES | open PACKETS SHARES LIFE_MS\n", stderr);
        return 2;
    }
    w.app = test_services_open();
    if (w.app == NULL)
        return 1;
    w.people = calloc(w.users, sizeof *w.people);
    w.fen = calloc(w.shares, sizeof *w.fen);
    enum status st = w.people == NULL || w.fen == NULL ? ST_NO_MEMORY : world_make(&w);
    struct buf *all[] = { &w.packet, &w.account, &w.transfer, &w.grab, &w.user, &w.wallet, &w.deposit, &w.month };
    for (size_t i = 0; i < ARRAY_LEN(all); i++)
        buf_free(all[i]);
    free(w.people);
    free(w.fen);
    test_services_close(w.app);
    if (st != ST_OK)
        return bench_fail("bench_world", st);
    (void)printf("{\"packets\":%llu,\"grabs\":%llu,\"users\":%u}\n", (unsigned long long)w.packets,
                 w.open ? 0ULL : (unsigned long long)(w.packets * w.shares), w.users);
    return 0;
}
