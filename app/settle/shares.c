#include "settle/shares.h"

#include <stdlib.h>
#include <string.h>

#include "packet/split.h"

/* The inputs of a draw. They are compared, because after a restore another packet may have the same id. */
struct terms {
    uint64_t packet_id;
    int64_t amount_fen, share_min_fen, share_max_fen;
    uint32_t count;
    enum split_method split;
    uint8_t seed[SEED_BYTES];
};

struct entry {
    struct terms terms;
    int64_t shares_fen[];
};

struct shares {
    struct entry *slots[SHARES_SLOTS];
    uint32_t total; /* number of shares in all entries */
};

struct shares *shares_new(void)
{
    return calloc(1, sizeof(struct shares));
}

static void slot_clear(struct shares *s, struct entry **slot)
{
    if (*slot == NULL)
        return;
    s->total -= (*slot)->terms.count;
    free(*slot);
    *slot = NULL;
}

static void shares_clear(struct shares *s)
{
    for (size_t i = 0; i < SHARES_SLOTS; i++)
        slot_clear(s, &s->slots[i]);
}

void shares_free(struct shares *s)
{
    if (s == NULL)
        return;
    shares_clear(s);
    free(s);
}

/* Multiplies by 2^64 divided by the golden ratio; the upper bits depend on all bits of the id. */
static struct entry **slot_of(struct shares *s, uint64_t packet_id)
{
    return &s->slots[(packet_id * UINT64_C(0x9e3779b97f4a7c15)) >> 32 & (SHARES_SLOTS - 1)];
}

static bool terms_equal(const struct terms *t, const struct packet *p)
{
    return t->packet_id == p->id && t->amount_fen == p->amount_fen && t->count == p->count && t->split == p->split &&
           t->share_min_fen == p->share_min_fen && t->share_max_fen == p->share_max_fen &&
           memcmp(t->seed, p->seed, sizeof t->seed) == 0;
}

enum status shares_drawn(struct shares *s, const struct packet *p, const int64_t **out)
{
    struct entry **slot = slot_of(s, p->id);
    if (*slot == NULL || !terms_equal(&(*slot)->terms, p)) {
        if (p->count > SPLIT_COUNT_MAX)
            return ST_INVALID;
        slot_clear(s, slot);
        if (s->total + p->count > SHARES_MAX)
            shares_clear(s);
        struct entry *e = malloc(sizeof *e + p->count * sizeof e->shares_fen[0]);
        if (e == NULL)
            return ST_NO_MEMORY;
        enum status st = split_packet(p, e->shares_fen);
        if (st != ST_OK) {
            free(e);
            return st;
        }
        e->terms = (struct terms){ .packet_id = p->id,
                                   .amount_fen = p->amount_fen,
                                   .share_min_fen = p->share_min_fen,
                                   .share_max_fen = p->share_max_fen,
                                   .count = p->count,
                                   .split = p->split };
        memcpy(e->terms.seed, p->seed, sizeof e->terms.seed);
        s->total += p->count;
        *slot = e;
    }
    *out = (*slot)->shares_fen;
    return ST_OK;
}
