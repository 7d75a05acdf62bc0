#include "live/live.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/log.h"
#include "live/live_internal.h"

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
    for (size_t i = 0; i < ARRAY_LEN(wanted); i++)
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

/* ---- door, end, removal ---- */

/* Runs a script without arguments, whose keys are a packet's first key_count, for several packets in one round. */
static enum status packets_each(const struct live *live, struct redis_script *script, const char *name,
                                size_t key_count, const uint64_t *packet_ids, size_t count)
{
    struct redis_call calls[LIVE_BATCH_MAX];
    enum status st = ST_OK;
    assert(count <= LIVE_BATCH_MAX);
    for (size_t i = 0; i < count; i++) {
        struct live_keys keys;
        live_keys(&keys, packet_ids[i], live->partitions);
        redis_queue_script(live->redis, &calls[i], script, keys.key, key_count, NULL, 0);
    }
    redis_round(live->redis);
    for (size_t i = 0; i < count; i++) {
        enum live_code code;
        if (st == ST_OK)
            st = live_code_read(&calls[i], name, &code);
        redis_call_free(&calls[i]);
    }
    return st;
}

enum status live_busy(const struct live *live, const uint64_t *packet_ids, size_t count)
{
    return packets_each(live, live->busy, "busy", 1, packet_ids, count);
}

/* A script with one key and one argument. */
static enum status key_set(const struct live *live, struct redis_script *script, const char *name, struct str key,
                           struct str arg, enum live_code *code)
{
    struct redis_call call;
    (void)redis_do_script(live->redis, &call, script, &key, 1, &arg, 1);
    enum status st = live_code_read(&call, name, code);
    redis_call_free(&call);
    return st;
}

enum status live_mark(const struct live *live, uint32_t partition, struct live_event_id cursor)
{
    char key[LIVE_KEY_MAX], id[LIVE_EVENT_ID_MAX];
    enum live_code code;
    enum status st =
        key_set(live, live->mark, "mark", live_events_key(key, partition), live_event_id_text(id, cursor), &code);
    return st == ST_OK && code != LIVE_LOADED ? ST_CONFLICT : st;
}

void live_vouched_by(struct redis *redis, const struct config *config)
{
    redis_vouched_by(redis, LIVE_CHECKED_KEY, config->partitions);
}

enum status live_vouch(const struct live *live, struct str voucher)
{
    enum live_code code;
    return key_set(live, live->vouch, "vouch", LIVE_CHECKED_KEY, voucher, &code);
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

enum status live_remove(const struct live *live, uint64_t packet_id)
{
    struct live_keys keys;
    struct redis_call call;
    live_keys(&keys, packet_id, live->partitions);
    const struct str args[] = { STR("UNLINK"), keys.key[LIVE_KEY_PACKET], keys.key[LIVE_KEY_SHARES],
                                keys.key[LIVE_KEY_GRABS], keys.key[LIVE_KEY_ORDER] };
    enum status st = redis_do(live->redis, &call, args, 5);
    redis_call_free(&call);
    return st == ST_INVALID ? ST_CORRUPT : st;
}

enum status live_bury_all(const struct live *live, const uint64_t *packet_ids, size_t count)
{
    return packets_each(live, live->bury, "bury", 4, packet_ids, count);
}

enum status live_bury(const struct live *live, uint64_t packet_id)
{
    return live_bury_all(live, &packet_id, 1);
}
