#include "live/keys.h"

#include <assert.h>
#include <string.h>

#include "base/buf.h"
#include "packet/packet.h"

/* The common prefix of the keys of a partition. out: LIVE_KEY_MAX bytes. */
static struct str key_prefix(char *out, uint32_t partition)
{
    struct buf prefix = { .ptr = out, .cap = LIVE_KEY_MAX, .limit = LIVE_KEY_MAX };
    buf_str(&prefix, STR("hb:{p"));
    if (partition < 10) /* two digits at least */
        buf_char(&prefix, '0');
    buf_u64(&prefix, partition);
    buf_str(&prefix, STR("}:"));
    assert(!prefix.failed);
    return buf_view(&prefix);
}

static struct str key_join(char *out, struct str prefix, struct str name, struct str id)
{
    struct str key = { out, prefix.len + name.len + id.len };
    assert(key.len < LIVE_KEY_MAX);
    memcpy(out, prefix.ptr, prefix.len);
    memcpy(out + prefix.len, name.ptr, name.len);
    memcpy(out + prefix.len + name.len, id.ptr, id.len);
    out[key.len] = '\0';
    return key;
}

struct str live_events_key(char *out, uint32_t partition)
{
    char prefix[LIVE_KEY_MAX];
    return key_join(out, key_prefix(prefix, partition), STR("events"), STR(""));
}

struct str live_fence_key(char *out, uint32_t partition)
{
    char prefix[LIVE_KEY_MAX];
    return key_join(out, key_prefix(prefix, partition), STR("fence"), STR(""));
}

struct str live_probe_key(char *out, uint32_t partition)
{
    char prefix[LIVE_KEY_MAX];
    return key_join(out, key_prefix(prefix, partition), STR("probe"), STR(""));
}

struct str live_site_key(char *out, uint32_t partition)
{
    char prefix[LIVE_KEY_MAX];
    return key_join(out, key_prefix(prefix, partition), STR("site"), STR(""));
}

struct str live_settled_key(char *out, uint32_t partition)
{
    char prefix[LIVE_KEY_MAX];
    return key_join(out, key_prefix(prefix, partition), STR("settled"), STR(""));
}

void live_keys(struct live_keys *out, uint64_t packet_id, int64_t partitions)
{
    static const struct str names[LIVE_KEY_COUNT] = {
        [LIVE_KEY_PACKET] = STR("packet:"), [LIVE_KEY_SHARES] = STR("shares:"), [LIVE_KEY_GRABS] = STR("grabs:"),
        [LIVE_KEY_ORDER] = STR("order:"),   [LIVE_KEY_EVENTS] = STR("events"),  [LIVE_KEY_SETTLED] = STR("settled")
    };
    char prefix_text[LIVE_KEY_MAX], id_text[STR_U64_MAX];
    struct str prefix = key_prefix(prefix_text, packet_partition(packet_id, partitions));
    struct str id = str_u64(id_text, packet_id);
    for (size_t k = 0; k < LIVE_KEY_COUNT; k++)
        out->key[k] = key_join(out->text[k], prefix, names[k], k < LIVE_KEY_EVENTS ? id : STR(""));
}
