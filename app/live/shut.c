#include "live/shut.h"

#include <assert.h>

#include "live/keys.h"
#include "live/live_internal.h"
#include "packet/packet.h"

/* Reads the codes of all calls and frees the calls. ST_OK, or the first error. A key whose value is no packet is only
 * logged: nobody can grab there, and it must not stop the others. */
static enum status codes_read(struct redis_call *calls, size_t count, const char *name)
{
    enum status st = ST_OK;
    for (size_t i = 0; i < count; i++) {
        enum live_code code;
        enum status one = live_code_read(&calls[i], name, &code);
        if (st == ST_OK && !redis_reply_is_wrong_type(calls[i].reply))
            st = one;
        redis_call_free(&calls[i]);
    }
    return st;
}

/* Runs a function without arguments for several packets, in one round. Its keys: the first key_count of struct
 * live_keys. */
static enum status packets_each(const struct live *live, const struct redis_function *function, const char *name,
                                size_t key_count, const uint64_t *packet_ids, size_t count)
{
    struct redis_call calls[LIVE_BATCH_MAX];
    assert(count <= LIVE_BATCH_MAX);
    for (size_t i = 0; i < count; i++) {
        struct live_keys keys;
        live_keys(&keys, packet_ids[i], live->partitions);
        redis_queue_function(live->redis, &calls[i], function, REDIS_CONFIRMED, keys.key, key_count, NULL, 0);
    }
    redis_round(live->redis);
    return codes_read(calls, count, name);
}

enum status live_shut(const struct live *live, const uint64_t *packet_ids, size_t count)
{
    return packets_each(live, live->busy, "busy", 1, packet_ids, count);
}

enum status live_hold_all(const struct live *live, const struct live_hold *holds, size_t count)
{
    struct redis_call calls[LIVE_BATCH_MAX];
    assert(count <= LIVE_BATCH_MAX);
    for (size_t i = 0; i < count; i++) {
        struct live_keys keys;
        char share_text[STR_U64_MAX];
        live_keys(&keys, holds[i].packet_id, live->partitions);
        const struct str arg =
            holds[i].from_share == PACKET_NO_SHARE ? STR("") : str_u64(share_text, holds[i].from_share);
        redis_queue_function(live->redis, &calls[i], live->hold, REDIS_CONFIRMED, &keys.key[LIVE_KEY_PACKET], 1, &arg,
                             1);
    }
    redis_round(live->redis);
    enum status st = ST_OK;
    for (size_t i = 0; i < count; i++) {
        enum live_code code;
        enum status one = live_code_read(&calls[i], "hold", &code);
        if (st == ST_OK && one != ST_CORRUPT) /* logged; a damaged key must not stop the others */
            st = one;
        redis_call_free(&calls[i]);
    }
    return st;
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
        redis_queue_confirmed(live->redis, &calls[i], args, 5);
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

enum status live_tombstone_all(const struct live *live, const uint64_t *packet_ids, size_t count)
{
    return packets_each(live, live->tombstone, "tombstone", 4, packet_ids, count);
}

enum status live_tombstone(const struct live *live, uint64_t packet_id)
{
    return live_tombstone_all(live, &packet_id, 1);
}
