/* Builds the arguments of lua/load-4.lua. */
#include "live/load.h"

#include <assert.h>
#include <sodium.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/buf.h"
#include "live/keys.h"
#include "live/live_internal.h"
#include "live/options_internal.h"
#include "packet/packet.h"
#include "redis/reply.h"

enum {
    SHARE_BYTES = 4,
    LOAD_GRABS_MAX = 1000, /* settled grabs per call; these take Redis some milliseconds */
    LOAD_FIELDS = 16,      /* fields of the hash that every packet has, without those that the function sets */
    LOAD_HEAD = 7,         /* arguments before the fields */
    LOAD_ARGS_MAX = LOAD_HEAD + 2 * (LOAD_FIELDS + LIVE_OPTION_COUNT) /* arguments before the grabs */
};

/* Encodes the shares for Redis, SHARE_BYTES each. False: a share is out of range, or their sum is not the total. */
static bool shares_pack(const struct packet *p, const int64_t *shares_fen, uint8_t *bytes)
{
    int64_t sum_fen = 0;
    for (size_t i = 0; i < packet_share_total(p); i++) {
        int64_t fen = shares_fen[i];
        if (fen < 1 || fen > UINT32_MAX || sum_fen > packet_total_fen(p) - fen)
            return false;
        sum_fen += fen;
        for (size_t b = 0; b < SHARE_BYTES; b++)
            bytes[i * SHARE_BYTES + b] = (uint8_t)(fen >> (8 * (SHARE_BYTES - 1 - b)));
    }
    return sum_fen == packet_total_fen(p);
}

/* The arguments of a call and the memory of their texts. */
struct load {
    struct str args[LOAD_ARGS_MAX + LOAD_GRABS_MAX];
    size_t head; /* arguments before the grabs */
    char numbers[6][STR_U64_MAX];
    char field_args[STR_U64_MAX], sender_until[STR_U64_MAX];
    struct live_options options;
    char commitment[2 * HASH_BYTES + 1], seed[2 * SEED_BYTES + 1];
    struct buf badge, entries;
    bool rebuild;
    uint8_t shares[];
};

/* The arguments behind the head: the fields of the hash, first the fields that a grab reads. */
static void load_fields(struct load *l, const struct packet *p)
{
    const struct str none = STR("");
    struct str options[2 * LIVE_OPTION_COUNT];
    size_t option_args = live_options_write(p, &l->options, options);
    badge_append(&l->badge, p->sender_name, &p->sender_face);
    (void)sodium_bin2hex(l->commitment, sizeof l->commitment, p->commitment, sizeof p->commitment);
    (void)sodium_bin2hex(l->seed, sizeof l->seed, p->seed, sizeof p->seed);
    const struct {
        struct str name, value;
    } fields[] = {
        { STR("receiver"), p->receiver_id == 0 ? none : str_u64(l->numbers[0], p->receiver_id) },
        { STR("expires_ms"), str_u64(l->numbers[1], (uint64_t)p->expires_ms) },
        { STR("conditions"), live_conditions(p) ? STR("1") : none },
        { STR("options"), option_args > 0 ? STR("1") : none },
        { STR("sender"), str_u64(l->numbers[2], p->sender_id) },
        { STR("nickname"), buf_view(&l->badge) },
        { STR("kind"), packet_kind_name(p->kind) },
        { STR("split"), split_method_name(p->split) },
        { STR("amount"), str_u64(l->numbers[3], (uint64_t)packet_total_fen(p)) },
        { STR("greeting"), p->greeting },
        { STR("receiver_name"), p->receiver_id == 0 ? none : p->receiver_name },
        { STR("created_ms"), str_u64(l->numbers[4], (uint64_t)p->created_ms) },
        { STR("commitment"), str_from(l->commitment) },
        { STR("seed"), str_from(l->seed) },
        { STR("best"), p->best_share_no == PACKET_NO_SHARE ? none : str_u64(l->numbers[5], p->best_share_no) },
        { STR("close_event"), none },
    };
    _Static_assert(ARRAY_LEN(fields) == LOAD_FIELDS, "room for every field");
    l->head = LOAD_HEAD;
    for (size_t i = 0; i < ARRAY_LEN(fields); i++) {
        l->args[l->head++] = fields[i].name;
        l->args[l->head++] = fields[i].value;
    }
    for (size_t i = 0; i < option_args; i++)
        l->args[l->head++] = options[i];
    l->args[LOAD_HEAD - 1] = str_u64(l->field_args, l->head - LOAD_HEAD);
}

/* Adds the grabs of one call, count from settled[first] on, to the arguments. settled may be NULL when there are none.
 * False: out of memory. */
static bool load_grabs(struct load *l, const struct live_settled *settled, size_t first, size_t count)
{
    size_t ends[LOAD_GRABS_MAX];
    buf_reset(&l->entries);
    for (size_t i = 0; i < count; i++) {
        const struct live_settled *grab = &settled[first + i];
        char id[LIVE_EVENT_ID_MAX];
        buf_u64(&l->entries, grab->user_id);
        buf_char(&l->entries, ',');
        buf_i64(&l->entries, grab->amount_fen);
        buf_char(&l->entries, ',');
        buf_str(&l->entries, live_event_id_text(id, grab->event));
        buf_char(&l->entries, ',');
        badge_append(&l->entries, grab->nickname, &grab->face);
        ends[i] = l->entries.len;
    }
    if (l->entries.failed)
        return false;
    for (size_t i = 0, start = 0; i < count; start = ends[i++])
        l->args[l->head + i] = str_slice(buf_view(&l->entries), start, ends[i]);
    return true;
}

static enum status load_call(const struct live *live, struct load *l, uint64_t packet_id, size_t grabs,
                             enum live_code *code)
{
    struct live_keys keys;
    live_keys(&keys, packet_id, live->partitions);
    struct redis_call call;
    redis_queue_function(live->redis, &call, live->load,
                         l->rebuild ? REDIS_CONFIRMED : (int)packet_partition(packet_id, live->partitions), keys.key, 4,
                         l->args, l->head + grabs);
    redis_round(live->redis);
    int64_t answer;
    enum status st = ST_OK;
    if (call.status == ST_OK && redis_reply_i64(redis_reply_at(call.reply, 0), &answer) && answer == LIVE_BAD)
        *code = LIVE_BAD;
    else
        st = live_code_read(&call, "load", code);
    redis_call_free(&call);
    return st;
}

enum status live_load(const struct live *live, const struct packet *p, const int64_t *shares_fen,
                      const struct live_settled *settled, uint32_t settled_count, enum live_state state,
                      enum live_code *code)
{
    _Static_assert(LIVE_KEY_PACKET == 0 && LIVE_KEY_SHARES == 1 && LIVE_KEY_GRABS == 2 && LIVE_KEY_ORDER == 3,
                   "load takes the first four keys in this order");
    assert(state != LIVE_STATE_BUSY && p->amount_fen > 0 && p->expires_ms >= 0 && p->created_ms >= 0);
    size_t share_bytes = (size_t)packet_share_total(p) * SHARE_BYTES;
    struct load *l = calloc(1, sizeof *l + share_bytes);
    if (l == NULL)
        return ST_NO_MEMORY;
    l->rebuild = settled != NULL;
    *code = LIVE_BAD;
    enum status st = ST_OK;
    if (settled_count > packet_share_total(p) || !shares_pack(p, shares_fen, l->shares))
        goto done;
    load_fields(l, p);
    if (l->badge.failed) {
        st = ST_NO_MEMORY;
        goto done;
    }
    l->args[0] = state == LIVE_STATE_CLOSED ? STR("closed") : STR("open");
    l->args[3] = l->rebuild ? STR("1") : STR("0");
    l->args[5] = !l->rebuild || p->state == PACKET_FUNDING
                     ? str_u64(l->sender_until, (uint64_t)p->created_ms + LIVE_LOAD_WITHIN_MS)
                     : STR("");

    uint32_t first = 0;
    do {
        uint32_t left = settled_count - first;
        uint32_t now = left < LOAD_GRABS_MAX ? left : LOAD_GRABS_MAX;
        char first_text[STR_U64_MAX];
        l->args[1] = str_u64(first_text, first);
        l->args[2] = now < left ? STR("1") : STR("0");
        l->args[4] = first == 0 ? (struct str){ (const char *)l->shares, share_bytes } : STR("");
        st = load_grabs(l, settled, first, now) ? load_call(live, l, p->id, now, code) : ST_NO_MEMORY;
        first += now;
    } while (st == ST_OK && *code == LIVE_LOADED && first < settled_count);
done:
    buf_free(&l->entries);
    buf_free(&l->badge);
    free(l);
    return st;
}
