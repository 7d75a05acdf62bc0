/* GET and POST /send: a user puts money into a red packet. */
#ifndef HB_PACKET_SEND_H
#define HB_PACKET_SEND_H

#include "packet/packet.h"
#include "packet/rules.h"
#include "web/exchange.h"

/* The money side of a send, without HTTP: one transaction debits the wallet, credits the escrow, inserts the packet in
 * state 'funding' and adds to the sender's year; then the packet is loaded into Redis and opened. A packet whose load
 * was lost is funded all the same: the settle worker loads it.
 *   sender_id, sender_name: who pays · receiver: of an exclusive packet (id 0 otherwise) · order: validated.
 *   order->request_key is set. out->packet lives in the arena.
 * ST_OK: the packet is paid for · ST_EXISTS: this request_key made out->packet before, but what was ordered differs ·
 * ST_INVALID: the balance does not suffice · ST_UNAVAILABLE, ST_CONFLICT: nothing happened, try again · ST_UNKNOWN: the
 * outcome could not be learnt; the same request_key asks again. */
struct send_party {
    uint64_t id;
    struct str name;
};
struct send_result {
    struct packet packet;
    bool repeated; /* the same order with the same request_key was there before */
};
enum status packet_send(struct services *app, struct arena *a, struct send_party sender, struct send_party receiver,
                        const struct send_order *order, int64_t now_ms, struct send_result *out);

/* Puts a funded packet into Redis and opens it, under its row lock: whoever comes second finds it open and does
 * nothing, and nobody brings back a packet whose life has gone on. Own transaction. ST_OK also when it was loaded
 * before; ST_NOT_FOUND; otherwise it stays in 'funding' and may be tried again. */
enum status packet_load_funded(struct services *app, struct arena *a, uint64_t packet_id);

/* GET /send → pages/send. NEED_USER.
 *   balance_fen      (page: balance_text "12.34")
 *   request_key      a fresh one: the form carries it as a hidden field
 *   limits           { share_fen_max, packet_fen_max, shares_max, greeting_max, lifetime_ms }
 *                    page: share_text "200", hours_text "24", hours_one
 *   greeting_default page-only: the words of that name (placeholder; an empty greeting becomes them)
 *   form             page-only: what was typed, "" at first: { kind, amount, count, greeting, to, split, request_key }
 *   kind_lucky kind_even kind_exclusive    page-only booleans: exactly one is true (radio buttons)
 *   split_double_average split_uniform split_gaussian    page-only booleans: exactly one is true (select)
 * Fields of the form: kind = lucky|even|exclusive, amount (总金额 for lucky, 单个金额 for even and exclusive), count
 * (红包个数; ignored for exclusive), greeting (祝福语), to (谁可以领: a username; exclusive only), split (拆分方式:
 * double-average|uniform|gaussian; lucky only), request_key. */
enum step send_form_get(struct exchange *x);

/* POST /send. NEED_USER | SAME_ORIGIN. HTML: 303 /p/ID. JSON: 201 {id, url, commitment} with Location.
 * Refused: 422, pages/send again with the model above (form = everything typed) plus
 *   errors           [{ field, message }]
 *   error            page-only { FIELD: message } for kind, amount, count, greeting, to, split, request_key */
enum step send_form_post(struct exchange *x);

#endif
