#include "packet/live.h"

#include <assert.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/log.h"
#include "packet/live_event.h"

enum {
    SHARE_BYTES = 4,
    LOAD_GRABS_MAX = 1000, /* settled grabs in one call of load: some milliseconds of Redis */
    LOAD_HEAD_ARGS = 19    /* before the grabs */
};

/* ---- keys ---- */

/* What all keys of a partition begin with. out: LIVE_KEY_MAX bytes. */
static struct str key_head(char *out, uint32_t partition)
{
    return (struct str){ out, (size_t)snprintf(out, LIVE_KEY_MAX, "hb:{p%02u}:", (unsigned)partition) };
}

static struct str key_join(char *out, struct str head, struct str name, struct str id)
{
    struct str key = { out, head.len + name.len + id.len };
    assert(key.len < LIVE_KEY_MAX);
    memcpy(out, head.ptr, head.len);
    memcpy(out + head.len, name.ptr, name.len);
    memcpy(out + head.len + name.len, id.ptr, id.len);
    out[key.len] = '\0';
    return key;
}

struct str live_events_key(char *out, uint32_t partition)
{
    char head[LIVE_KEY_MAX];
    return key_join(out, key_head(head, partition), STR("events"), STR(""));
}

struct str live_settled_key(char *out, uint32_t partition)
{
    char head[LIVE_KEY_MAX];
    return key_join(out, key_head(head, partition), STR("settled"), STR(""));
}

void live_keys(struct live_keys *out, uint64_t packet_id, int64_t partitions)
{
    static const struct str names[LIVE_KEY_COUNT] = {
        [LIVE_KEY_PACKET] = STR("packet:"), [LIVE_KEY_SHARES] = STR("shares:"), [LIVE_KEY_GRABS] = STR("grabs:"),
        [LIVE_KEY_ORDER] = STR("order:"),   [LIVE_KEY_EVENTS] = STR("events"),  [LIVE_KEY_SETTLED] = STR("settled")
    };
    char head_text[LIVE_KEY_MAX], id_text[LIVE_NUMBER_MAX];
    struct str head = key_head(head_text, packet_partition(packet_id, partitions));
    struct str id = live_number_text(id_text, packet_id);
    for (size_t k = 0; k < LIVE_KEY_COUNT; k++)
        out->key[k] = key_join(out->text[k], head, names[k], k < LIVE_KEY_EVENTS ? id : STR(""));
}

/* ---- calls ---- */

enum status live_init(struct live *live, struct redis *redis, struct redis_scripts *scripts,
                      const struct config *config)
{
    *live = (struct live){ .redis = redis,
                           .load = redis_script_find(scripts, "load"),
                           .grab = redis_script_find(scripts, "grab"),
                           .close = redis_script_find(scripts, "close"),
                           .view = redis_script_find(scripts, "view"),
                           .busy = redis_script_find(scripts, "busy"),
                           .bury = redis_script_find(scripts, "bury"),
                           .mark = redis_script_find(scripts, "mark"),
                           .vouch = redis_script_find(scripts, "vouch"),
                           .partitions = config->partitions };
    const struct {
        const struct redis_script *script;
        uint32_t keys;
    } wanted[] = { { live->load, 4 }, { live->grab, 5 }, { live->close, 3 }, { live->view, 4 },
                   { live->busy, 1 }, { live->bury, 4 }, { live->mark, 1 },  { live->vouch, 1 } };
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
        if (wanted[i].script == NULL || redis_script_key_count(wanted[i].script) != wanted[i].keys)
            return ST_INVALID;
    return ST_OK;
}

enum status live_reply_corrupt(const char *script)
{
    log_error("script answered nonsense", "script=%s", script);
    return ST_CORRUPT;
}

enum status live_code_read(const struct redis_call *call, const char *script, enum live_code *out)
{
    if (call->status == ST_INVALID) {
        char quoted[LOG_LINE_MAX / 2];
        struct str error = call->reply == NULL ? STR_NONE : (struct str){ call->reply->str, (size_t)call->reply->len };
        log_error("script failed", "script=%s error=%s", script, log_quote(error, quoted, sizeof quoted));
        return ST_CORRUPT;
    }
    if (call->status != ST_OK)
        return call->status;
    int64_t code;
    if (!redis_reply_i64(redis_reply_at(call->reply, 0), &code) || code <= LIVE_BAD || code > LIVE_VIEW)
        return live_reply_corrupt(script);
    *out = (enum live_code)code;
    return ST_OK;
}

/* ---- grab ---- */

void live_grab_queue(const struct live *live, struct redis_call *call, uint64_t packet_id, uint64_t user_id,
                     struct str nickname)
{
    struct live_keys keys;
    live_keys(&keys, packet_id, live->partitions);
    const struct str script_keys[] = { keys.key[LIVE_KEY_PACKET], keys.key[LIVE_KEY_SHARES], keys.key[LIVE_KEY_GRABS],
                                       keys.key[LIVE_KEY_ORDER], keys.key[LIVE_KEY_EVENTS] };
    char packet_text[LIVE_NUMBER_MAX], user_text[LIVE_NUMBER_MAX];
    const struct str args[] = { live_number_text(packet_text, packet_id), live_number_text(user_text, user_id),
                                nickname };
    redis_queue_script(live->redis, call, live->grab, script_keys, 5, args, 3);
    redis_queue_vouched(live->redis, call);
}

enum status live_grab_read(const struct redis_call *call, struct live_grab *out)
{
    int64_t share_no, fen, count;
    *out = (struct live_grab){ .code = LIVE_BAD };
    enum status st = live_code_read(call, "grab", &out->code);
    if (st != ST_OK)
        return st;
    switch (out->code) {
    case LIVE_MISSING:
    case LIVE_NOT_FOR_YOU:
    case LIVE_EXPIRED:
    case LIVE_BUSY: return ST_OK;
    case LIVE_EMPTY:
        if (!redis_reply_i64(redis_reply_at(call->reply, 1), &count) || count < 1 || count >= PACKET_NO_SHARE)
            return live_reply_corrupt("grab");
        out->share_count = (uint32_t)count;
        return ST_OK;
    case LIVE_GRABBED:
    case LIVE_ALREADY: break;
    default: return live_reply_corrupt("grab");
    }
    if (!redis_reply_i64(redis_reply_at(call->reply, 1), &share_no) || share_no < 0 || share_no >= PACKET_NO_SHARE ||
        !redis_reply_i64(redis_reply_at(call->reply, 2), &fen) || fen < 1)
        return live_reply_corrupt("grab");
    out->share_no = (uint32_t)share_no;
    out->amount_fen = fen;
    return ST_OK;
}

/* ---- load ---- */

/* The shares as Redis keeps them; false when they are not this packet's. bytes: SHARE_BYTES each. */
static bool shares_pack(const struct packet *p, const int64_t *shares_fen, uint8_t *bytes)
{
    int64_t sum_fen = 0;
    for (size_t i = 0; i < p->share_count; i++) {
        int64_t fen = shares_fen[i];
        if (fen < 1 || fen > UINT32_MAX || sum_fen > p->amount_fen - fen)
            return false;
        sum_fen += fen;
        for (size_t b = 0; b < SHARE_BYTES; b++)
            bytes[i * SHARE_BYTES + b] = (uint8_t)(fen >> (8 * (SHARE_BYTES - 1 - b)));
    }
    return sum_fen == p->amount_fen;
}

/* Memory of one load: the arguments of a call and the texts they point to. */
struct load {
    struct str args[LOAD_HEAD_ARGS + LOAD_GRABS_MAX];
    char numbers[7][LIVE_NUMBER_MAX];
    char commitment[2 * HASH_BYTES + 1], seed[2 * SEED_BYTES + 1];
    struct buf entries;
    uint8_t shares[];
};

static void load_head(struct load *l, const struct packet *p, enum live_state state)
{
    (void)sodium_bin2hex(l->commitment, sizeof l->commitment, p->commitment, sizeof p->commitment);
    (void)sodium_bin2hex(l->seed, sizeof l->seed, p->seed, sizeof p->seed);
    const struct str none = STR("");
    struct str *args = l->args;
    args[0] = state == LIVE_STATE_CLOSED ? STR("closed") : STR("open");
    args[3] = live_number_text(l->numbers[0], p->sender_id);
    args[4] = p->sender_name;
    args[5] = packet_kind_name(p->kind);
    args[6] = split_method_name(p->split);
    args[7] = live_number_text(l->numbers[1], p->share_count);
    args[8] = live_number_text(l->numbers[2], (uint64_t)p->amount_fen);
    args[9] = p->greeting;
    args[10] = p->receiver_id == 0 ? none : live_number_text(l->numbers[3], p->receiver_id);
    args[11] = p->receiver_id == 0 ? none : p->receiver_name;
    args[12] = live_number_text(l->numbers[4], (uint64_t)p->expires_ms);
    args[13] = live_number_text(l->numbers[5], (uint64_t)p->created_ms);
    args[14] = str_from(l->commitment);
    args[15] = str_from(l->seed);
    args[16] = p->best_share_no == PACKET_NO_SHARE ? none : live_number_text(l->numbers[6], p->best_share_no);
}

/* The grabs of one call as arguments. False without memory. */
static bool load_grabs(struct load *l, const struct live_settled *settled, size_t count)
{
    size_t ends[LOAD_GRABS_MAX];
    buf_reset(&l->entries);
    for (size_t i = 0; i < count; i++) {
        char id[LIVE_EVENT_ID_MAX];
        buf_u64(&l->entries, settled[i].user_id);
        buf_char(&l->entries, ',');
        buf_i64(&l->entries, settled[i].amount_fen);
        buf_char(&l->entries, ',');
        buf_str(&l->entries, live_event_id_text(id, settled[i].event));
        buf_char(&l->entries, ',');
        buf_str(&l->entries, settled[i].nickname);
        ends[i] = l->entries.len;
    }
    if (l->entries.failed)
        return false;
    for (size_t i = 0, start = 0; i < count; start = ends[i++])
        l->args[LOAD_HEAD_ARGS + i] = (struct str){ l->entries.ptr + start, ends[i] - start };
    return true;
}

static enum status load_call(const struct live *live, struct load *l, uint64_t packet_id, size_t grabs,
                             enum live_code *code)
{
    struct live_keys keys;
    live_keys(&keys, packet_id, live->partitions);
    struct redis_call call;
    (void)redis_do_script(live->redis, &call, live->load, keys.key, 4, l->args, LOAD_HEAD_ARGS + grabs);
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
    size_t share_bytes = (size_t)p->share_count * SHARE_BYTES;
    struct load *l = calloc(1, sizeof *l + share_bytes);
    if (l == NULL)
        return ST_NO_MEMORY;
    *code = LIVE_BAD;
    enum status st = ST_OK;
    if (settled_count > p->share_count || !shares_pack(p, shares_fen, l->shares))
        goto done;
    load_head(l, p, state);

    uint32_t first = 0;
    do {
        uint32_t left = settled_count - first;
        uint32_t now = left < LOAD_GRABS_MAX ? left : LOAD_GRABS_MAX;
        char first_text[LIVE_NUMBER_MAX];
        l->args[1] = live_number_text(first_text, first);
        l->args[2] = now < left ? STR("1") : STR("0");
        l->args[17] = first == 0 ? (struct str){ (const char *)l->shares, share_bytes } : STR("");
        l->args[18] = settled != NULL ? STR("1") : STR("0");
        st = load_grabs(l, settled + first, now) ? load_call(live, l, p->id, now, code) : ST_NO_MEMORY;
        first += now;
    } while (st == ST_OK && *code == LIVE_LOADED && first < settled_count);
done:
    buf_free(&l->entries);
    free(l);
    return st;
}

/* ---- door, end, removal ---- */

enum status live_busy(const struct live *live, const uint64_t *packet_ids, size_t count)
{
    struct redis_call calls[LIVE_BATCH_MAX];
    enum status st = ST_OK;
    assert(count <= LIVE_BATCH_MAX);
    for (size_t i = 0; i < count; i++) {
        struct live_keys keys;
        live_keys(&keys, packet_ids[i], live->partitions);
        redis_queue_script(live->redis, &calls[i], live->busy, &keys.key[LIVE_KEY_PACKET], 1, NULL, 0);
    }
    redis_round(live->redis);
    for (size_t i = 0; i < count; i++) {
        enum live_code code;
        if (st == ST_OK)
            st = live_code_read(&calls[i], "busy", &code);
        redis_call_free(&calls[i]);
    }
    return st;
}

/* A script with one key and one argument. */
static enum status note(const struct live *live, struct redis_script *script, struct str key, struct str arg,
                        enum live_code *code)
{
    struct redis_call call;
    (void)redis_do_script(live->redis, &call, script, &key, 1, &arg, 1);
    enum status st = live_code_read(&call, "note", code);
    redis_call_free(&call);
    return st;
}

enum status live_mark(const struct live *live, uint32_t partition, struct live_event_id cursor)
{
    char key[LIVE_KEY_MAX], id[LIVE_EVENT_ID_MAX];
    enum live_code code;
    enum status st = note(live, live->mark, live_events_key(key, partition), live_event_id_text(id, cursor), &code);
    return st == ST_OK && code != LIVE_LOADED ? ST_CONFLICT : st;
}

enum status live_vouch(const struct live *live, struct str run_id)
{
    enum live_code code;
    return note(live, live->vouch, LIVE_CHECKED_KEY, run_id, &code);
}

static enum status close_read(const struct redis_call *call, struct live_close *out)
{
    int64_t count;
    *out = (struct live_close){ .code = LIVE_BAD };
    enum status st = live_code_read(call, "close", &out->code);
    if (st != ST_OK || out->code != LIVE_CLOSED)
        return st;
    if (!redis_reply_i64(redis_reply_at(call->reply, 1), &count) || count < 0 || count >= PACKET_NO_SHARE ||
        !redis_reply_i64(redis_reply_at(call->reply, 2), &out->grabbed_fen) ||
        !redis_reply_i64(redis_reply_at(call->reply, 3), &out->rest_fen))
        return live_reply_corrupt("close");
    out->grabbed_count = (uint32_t)count;
    return ST_OK;
}

void live_close_all(const struct live *live, const uint64_t *packet_ids, size_t count, struct live_close *out)
{
    struct redis_call calls[LIVE_BATCH_MAX];
    assert(count <= LIVE_BATCH_MAX);
    for (size_t i = 0; i < count; i++) {
        struct live_keys keys;
        char packet_text[LIVE_NUMBER_MAX];
        live_keys(&keys, packet_ids[i], live->partitions);
        const struct str script_keys[] = { keys.key[LIVE_KEY_PACKET], keys.key[LIVE_KEY_ORDER],
                                           keys.key[LIVE_KEY_EVENTS] };
        const struct str args[] = { live_number_text(packet_text, packet_ids[i]) };
        redis_queue_script(live->redis, &calls[i], live->close, script_keys, 3, args, 1);
        redis_queue_vouched(live->redis, &calls[i]);
    }
    redis_round(live->redis);
    for (size_t i = 0; i < count; i++) {
        enum status st = close_read(&calls[i], &out[i]);
        out[i].status = st;
        redis_call_free(&calls[i]);
    }
}

enum status live_close(const struct live *live, uint64_t packet_id, struct live_close *out)
{
    live_close_all(live, &packet_id, 1, out);
    return out->status;
}

enum status live_remove_all(const struct live *live, const uint64_t *packet_ids, size_t count)
{
    struct redis_call calls[LIVE_BATCH_MAX];
    enum status st = ST_OK;
    assert(count <= LIVE_BATCH_MAX);
    for (size_t i = 0; i < count; i++) {
        struct live_keys keys;
        live_keys(&keys, packet_ids[i], live->partitions);
        const struct str args[] = { STR("UNLINK"), keys.key[LIVE_KEY_PACKET], keys.key[LIVE_KEY_SHARES],
                                    keys.key[LIVE_KEY_GRABS], keys.key[LIVE_KEY_ORDER] };
        redis_queue(live->redis, &calls[i], args, 5);
    }
    redis_round(live->redis);
    for (size_t i = 0; i < count; i++) {
        if (st == ST_OK)
            st = calls[i].status == ST_INVALID ? ST_CORRUPT : calls[i].status;
        redis_call_free(&calls[i]);
    }
    return st;
}

enum status live_remove(const struct live *live, uint64_t packet_id)
{
    return live_remove_all(live, &packet_id, 1);
}

enum status live_bury(const struct live *live, uint64_t packet_id)
{
    struct live_keys keys;
    struct redis_call call;
    enum live_code code;
    live_keys(&keys, packet_id, live->partitions);
    (void)redis_do_script(live->redis, &call, live->bury, keys.key, 4, NULL, 0);
    enum status st = live_code_read(&call, "bury", &code);
    redis_call_free(&call);
    return st;
}
