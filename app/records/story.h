/* The story of a user's year, only for this user, and a picture of it to share. */
#ifndef HB_RECORDS_STORY_H
#define HB_RECORDS_STORY_H

#include "web/exchange.h"
#include "web/fields.h"

/* The queries of the page and of the picture. */
extern const struct field story_fields[], story_share_fields[];

/* GET /records/story?year=YYYY → pages/story. NEED_USER. Without ?year the current one; a malformed year is 400.
 *   year              number
 *   sent_fen          (page: sent_text), sent_count (page: sent_one), received_fen, received_count as well: of the year
 *   best_count        手气最佳 of the year (page: best_one)
 *   thanked_count     thanks from others (page: thanked_one)
 *   months            [{ month 1 … 12, sent_fen (page: sent_text), received_fen (page: received_text; the members of
 *                     records/months.h) }]
 *   given_most        null, or { user { id, nickname (empty: deleted), page: initial, hue }, amount_fen (page:
 *                     amount_text), count (page: count_one), exchanged }: packet/story.h
 *   received_most     the same
 *   largest           null, or { sender { … }, amount_fen (page: amount_text), at (page: at_text, url) }
 *   fastest           null, or { sender { … }, after_ms (page: after_text "0.8", at_once: it would be
 *                     "0.0", url) }
 *   liveliest         null, or { date YYYY-MM-DD, sent_count, received_count, thanked_count (page: name of the month,
 *                     day, has_sent, has_received, has_thanked) }
 *   cut               the five above come from the newest records only
 * page-only:
 *   years             [{ year, url, current }], other_years: more than one
 *   person            { nickname, initial, hue }
 *   any               the year has records
 *   sent_part, received_part   widths of two bars, 0 … 100
 *   more_sent, more_received   { amount_text }: the difference; absent when it is 0, or the other is more
 *   chart             { max_text }: absent when nothing was received */
enum step story_show(struct exchange *x);

/* GET /story.png?year=YYYY[&amounts=1] → the picture, as a download. NEED_USER. It has the user's nickname and
 * the counts of the year; with ?amounts the two totals. Only the card pool can draw, but it knows no sessions and has
 * no rights on these data. So this handler reads the numbers and passes them on by an internal redirect of nginx
 * (X-Accel-Redirect), in a query that no client can send: nginx/site.conf, records/story_picture.h. */
enum step story_share(struct exchange *x);

#endif
