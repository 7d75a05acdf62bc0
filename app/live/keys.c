#include "live/keys.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "live/live_internal.h"
#include "packet/packet.h"

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

struct str live_number_text(char *out, uint64_t n)
{
    char *at = out + LIVE_NUMBER_MAX;
    *--at = '\0';
    do
        *--at = (char)('0' + n % 10);
    while ((n /= 10) != 0);
    return (struct str){ at, (size_t)(out + LIVE_NUMBER_MAX - 1 - at) };
}
