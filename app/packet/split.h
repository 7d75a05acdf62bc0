/* Splits a total into shares: split_packet for a stored packet, split_shares for single values. Pure, integers only.
 * All randomness comes from the stream of a 32-byte seed (struct draw in packet/draw.h), so everyone with SHA-256 can
 * recompute a packet. This description is complete: a reimplementation, for example in a browser, needs no other
 * source.
 *
 * Terms: `total`, `max` in fen (max: the limit of one share), `count`; `below(n)` = draw_below(n). Except in gaussian,
 * words are consumed only by below(n), at least one per call, also by below(1). `/` rounds down.
 * Precondition of all methods: 1 ≤ count ≤ total ≤ count · max.
 *
 * The floor: a packet with a smallest share `min` (1 fen unless its sender chose more) sets f = min − 1 fen aside for
 *   each share. The methods below split total − count · f, with max − f as their max; then each share grows by f. With
 *   min = 1 the floor changes nothing.
 *
 * even: no randomness. Each share is total / count; the first total mod count shares get one fen more. No shuffle.
 *
 * double-average (二倍均值): rest = total; for left = count … 2:
 *     twice = 2 · rest / left;  hi = min(max, twice − 1);  lo = max(1, twice − max)
 *     next share = lo + below(hi − lo + 1);  rest −= share.
 *   The last share is the rest, without randomness. lo and hi are symmetric around the average of the rest. The bounds
 *   ensure that all later shares can be between 1 and max, so no share has to be clamped. Then the shuffle.
 *
 * uniform (线段切割): count − 1 cut points, each below(total − count + 1), sorted ascending, on a line of
 *   total − count fen; the shares are the count pieces in order, each plus 1. Then the fold, then the shuffle.
 *
 * gaussian: each share gets a weight w = max(0, s − 196608), s = the sum of twelve 16-bit numbers: 6 words from
 *   draw_u32, the upper and the lower half of each (Irwin–Hall: mean 393210, deviation 65536, so the deviation of w is
 *   a third of its mean). W = Σ w; if W is 0, every w is 1. share = 1 + (total − count) · w / W; the fen left over by
 *   rounding (fewer than count) go to the first shares, one each. Then the fold, then the shuffle.
 *
 * The fold redistributes what exceeds max: E = Σ (share − max) over the shares above max, which become max;
 *   room = max − share for every share, R = Σ room; each share grows by E · room / R; the fen left over by rounding go
 *   to the first shares still below max, one each. If no share is above max, the fold changes nothing. One pass is
 *   enough: the fen left over are fewer than the shares still below max.
 *
 * The shuffle (Fisher–Yates, continuing the same stream): for i = count − 1 … 1:
 *   j = below(i + 1); swap shares i and j. After it every position has the same distribution. */
#ifndef HB_PACKET_SPLIT_H
#define HB_PACKET_SPLIT_H

#include "base/random.h"
#include "base/status.h"
#include "packet/packet.h"

/* Totals and shares fit 32 bits: one word of the stream covers the range, and Redis stores a share in four bytes. */
#define SPLIT_TOTAL_FEN_MAX INT64_C(4294967295)
enum { SPLIT_COUNT_MAX = 100000 };

/* Fills out_fen (count items, owned by the caller) with shares of share_fen_min … share_fen_max whose sum is total_fen.
 * seed is not read by SPLIT_EVEN. O(n log n).
 * ST_INVALID: no such split exists, or a limit above is exceeded; out_fen is undefined. */
enum status split_shares(enum split_method method, int64_t total_fen, uint32_t count, int64_t share_fen_min,
                         int64_t share_fen_max, const uint8_t seed[SEED_BYTES], int64_t *out_fen);

/* The shares of a packet as computed when it was sent. out_fen: p->count items, owned by the caller. Returns as
 * split_shares. */
enum status split_packet(const struct packet *p, int64_t *out_fen);

/* The commitment that is published before the first grab: SHA-256 of the seed. out: HASH_BYTES, owned by the caller. */
void split_commitment(const uint8_t seed[SEED_BYTES], uint8_t *out);

/* The number of the best share (手气最佳): the first of the largest. count ≥ 1. */
uint32_t split_best_share_no(const int64_t *shares_fen, uint32_t count);

#endif
