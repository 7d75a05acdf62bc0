/* How a total becomes shares. Pure and integer only; all chance comes from the draw stream of a 32-byte seed
 * (struct draw in packet/draw.h), so that anyone with SHA-256 can recompute a packet. What follows is complete: a
 * browser's reimplementation needs nothing else.
 *
 * Words: `total`, `count`, `max` in fen (max: the limit of one share); `below(n)` = draw_below(n), the only way a word
 * is consumed except in gaussian; every call consumes at least one word, below(1) as well. `/` rounds down.
 * Precondition of all methods: 1 ≤ count ≤ total ≤ count · max.
 *
 * even: no draw. Each share is total / count, the first total mod count shares one fen more. No shuffle.
 *
 * double-average (二倍均值): rest = total; for left = count … 2:
 *     twice = 2 · rest / left;  hi = min(max, twice − 1);  lo = max(1, twice − max)
 *     next share = lo + below(hi − lo + 1);  rest −= share.
 *   The last share is what is left, without a draw. lo and hi lie evenly around the average of what is left, and the
 *   bounds keep 1 and max within reach for all later shares, so nothing has to be clamped. Then the shuffle.
 *
 * uniform (线段切割): count − 1 cut points, each below(total − count + 1), sorted ascending, on a line of
 *   total − count fen; the shares are the count pieces in order, each plus 1. Then the fold, then the shuffle.
 *
 * gaussian: each share gets a weight w = max(0, s − 196608), s = the sum of twelve 16-bit numbers: 6 words from
 *   draw_u32, the upper and the lower half of each (Irwin–Hall: mean 393210, deviation 65536; so w has its deviation
 *   at a third of its mean). W = Σ w; when W is 0 every w is 1. share = 1 + (total − count) · w / W; the fen that the
 *   rounding left (fewer than count) go to the first shares, one each. Then the fold, then the shuffle.
 *
 * The fold brings shares above max back: E = Σ (share − max) over those above, which become max; room = max − share for
 *   every share, R = Σ room; each share grows by E · room / R; the fen that the rounding left go, one each, to the
 *   first shares still below max. When no share is above max it does nothing. It ends after one pass: the fen left are
 *   fewer than the shares still below max.
 *
 * The shuffle (Fisher–Yates, same stream, going on where the method stopped): for i = count − 1 … 1:
 *   j = below(i + 1); swap shares i and j. After it every position has the same distribution. */
#ifndef HB_PACKET_SPLIT_H
#define HB_PACKET_SPLIT_H

#include "base/random.h"
#include "base/status.h"
#include "packet/packet.h"

/* Totals and shares fit 32 bits: one word draws any of them, and Redis keeps a share in four bytes. */
#define SPLIT_TOTAL_FEN_MAX INT64_C(4294967295)
enum { SPLIT_COUNT_MAX = 100000 };

/* Fills out_fen (count items, caller's): every share in 1 … share_fen_max, their sum exactly total_fen. O(n log n).
 * ST_INVALID when there is no such split or a limit above is passed. out_fen is undefined
 * unless ST_OK. seed is not read by even. */
enum status split_shares(enum split_method method, int64_t total_fen, uint32_t count, int64_t share_fen_max,
                         const uint8_t seed[SEED_BYTES], int64_t *out_fen);

/* The shares of a packet as they were at its sending. out_fen: share_count items, caller's. */
enum status split_packet(const struct packet *p, int64_t *out_fen);

/* What binds the sender's side before the first grab: SHA-256 of the seed. out: HASH_BYTES, caller's. */
void split_commitment(const uint8_t seed[SEED_BYTES], uint8_t *out);

/* The share of 手气最佳: the first of the largest. count ≥ 1. */
uint32_t split_best_share_no(const int64_t *shares_fen, uint32_t count);

#endif
