/* A batch of events and the rows of its packets, both made from the input: the batch is refused, or it keeps every rule
 * of the ledger. */
#include "fuzz.h"
#include "settle/batch.h"

enum { EVENTS_MAX = 64, PACKET_FIRST = 7000, PACKETS = 4, USERS = 8, SHARES = 16, DAY_MS = 86400000 };

/* A small number in most cases, so that events fit each other; sometimes any number. */
static int64_t fen_take(struct fuzz_bytes *in)
{
    uint64_t first = fuzz_take(in, 1);
    return first < 250 ? (int64_t)first : (int64_t)fuzz_take(in, 8);
}

static struct live_event event_take(struct fuzz_bytes *in, size_t i)
{
    uint8_t head = (uint8_t)fuzz_take(in, 1);
    struct live_event e = { .id = { (uint64_t)i * DAY_MS, 0 }, .packet_id = PACKET_FIRST + head % PACKETS };
    if (head < 64) {
        e.type = LIVE_EVENT_CLOSE;
        e.grabbed_count = (uint32_t)fuzz_take(in, 1);
        e.grabbed_fen = fen_take(in);
        e.rest_fen = fen_take(in);
    } else {
        e.type = LIVE_EVENT_GRAB;
        e.share_no = (uint32_t)fuzz_take(in, 1) % SHARES;
        e.user_id = 1 + fuzz_take(in, 1) % USERS;
        e.amount_fen = fen_take(in);
        e.nickname = STR("n");
    }
    return e;
}

static void row_take(struct fuzz_bytes *in, struct settle_packet *p)
{
    uint8_t head = (uint8_t)fuzz_take(in, 1);
    p->found = head != 0;
    p->closed = head == 1;
    p->sender_id = 1 + head % USERS;
    p->count = 1 + (uint32_t)fuzz_take(in, 1) % SHARES;
    p->row_grabs = (uint32_t)fuzz_take(in, 1) % (p->count + 1);
    p->row_grabs_fen = fen_take(in) & INT64_MAX;
    p->amount_fen = p->row_grabs_fen;
    p->best_share_no = PACKET_NO_SHARE;
    /* A row keeps its own rules: the rest is the ungrabbed amount. In most cases the amount fits these grabs. */
    int64_t more = head % 2 == 0 ? p->grabs_fen : fen_take(in) & INT64_MAX;
    if (more > INT64_MAX - p->amount_fen)
        more = INT64_MAX - p->amount_fen;
    p->amount_fen += more;
    p->returned_fen = head % 5 == 0 ? fen_take(in) & INT64_MAX : 0;
    p->row_refund_fen = p->closed ? p->amount_fen - p->row_grabs_fen : 0;
}

static void packet_rules(const struct settle_packet *p)
{
    uint64_t grabs = (uint64_t)p->row_grabs + p->grabs;
    assert(grabs <= p->count && p->refund_fen >= 0);
    if (p->closed) {
        assert(p->grabs == 0 && p->refund_fen == 0 && !p->closes);
        return;
    }
    int64_t left = p->amount_fen - p->row_grabs_fen - p->grabs_fen - p->refund_fen;
    assert(left >= 0 && (!p->closes || left == 0));
    assert(p->finishes == (grabs == p->count));
    assert(p->refund_fen == 0 || p->has_close);
}

/* Checks that the money which leaves escrows arrives in wallets, and that each account is changed once, in ascending
 * order. */
static void accounts_rules(const struct settle_batch *b)
{
    __int128 sum = 0;
    for (size_t i = 0; i < b->account_count; i++) {
        sum += b->accounts[i].change_fen;
        assert(b->accounts[i].change_fen != 0 && (i == 0 || b->accounts[i - 1].id < b->accounts[i].id));
        assert((b->accounts[i].change_fen < 0) == (b->accounts[i].id >= PACKET_FIRST));
    }
    assert(sum == 0);
}

static struct clock_date date_of(int64_t ms)
{
    return (struct clock_date){ .year = 2026, .month = 1 + (int)(ms / DAY_MS % MONTHS_PER_YEAR) };
}

static void months_rules(struct settle_batch *b, struct fuzz_bytes *in)
{
    struct settle_best best[PACKETS];
    size_t best_count = fuzz_take(in, 1) % (PACKETS + 1), grabs = 0, bests = 0;
    __int128 sum = 0;
    for (size_t i = 0; i < best_count; i++)
        best[i] = (struct settle_best){ 1 + fuzz_take(in, 1) % USERS, (int64_t)fuzz_take(in, 1) * DAY_MS };
    if (settle_batch_totals(fuzz_arena, b, best, best_count, date_of) != ST_OK)
        return;
    for (size_t i = 0; i < b->month_count; i++) {
        grabs += b->months[i].count;
        bests += b->months[i].best_count;
        sum += b->months[i].amount_fen;
    }
    for (size_t i = 0; i < b->grab_count; i++)
        sum -= b->grabs[i]->amount_fen;
    assert(sum == 0 && grabs == b->grab_count && bests == best_count);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_bytes in = { data, size };
    struct live_event events[EVENTS_MAX];
    struct settle_batch batch;
    struct settle_fault fault;
    size_t count = 1 + fuzz_take(&in, 1) % EVENTS_MAX;
    fuzz_begin();
    for (size_t i = 0; i < count; i++)
        events[i] = event_take(&in, i);
    if (settle_batch_group(fuzz_arena, events, count, INT64_C(1800000000000), &batch, &fault) != ST_OK) {
        assert(fault.kind != FAULT_NONE && settle_fault_text(fault.kind).len > 0);
        return 0;
    }
    while (batch.grab_count > 0 && fuzz_take(&in, 1) > 200)
        settle_batch_drop(&batch, fuzz_take(&in, 1) % batch.grab_count);
    for (size_t i = 0; i < batch.packet_count; i++) {
        row_take(&in, &batch.packets[i]);
        if (settle_packet_check(&batch.packets[i], &fault) != ST_OK) {
            assert(fault.kind != FAULT_NONE && fault.packet_id == batch.packets[i].id);
            return 0;
        }
        packet_rules(&batch.packets[i]);
    }
    if (settle_batch_accounts(fuzz_arena, &batch) == ST_OK)
        accounts_rules(&batch);
    months_rules(&batch, &in);
    return 0;
}
