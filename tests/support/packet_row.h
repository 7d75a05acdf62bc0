/* Rows of packets that were never sent: without money, in any state. */
#ifndef HB_TEST_PACKET_ROW_H
#define HB_TEST_PACKET_ROW_H

#include "mysql/db.h"
#include "packet/packet.h"

/* Inserts a packet with all values of p, also state and grabbed_count. Returns as db_exec. */
static enum status packet_insert(struct db *db, const struct packet *p)
{
    bool exclusive = p->receiver_id != 0;
    bool has_best = p->best_share_no != PACKET_NO_SHARE;
    return db_exec(
        db, NULL,
        "INSERT INTO packet (id, sender_id, sender_name, receiver_id, receiver_name, kind, split, amount_fen, "
        "count, share_max_fen, best_share_no, greeting, seed, commitment, state, grabbed_count, "
        "grabbed_fen, refund_fen, created_ms, expires_ms, finished_ms, closed_ms, request_key, share_min_fen, "
        "opens_ms, phrase_hash, phrase_sealed, cover, receiver_count) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        DB_PARAMS(DB_U64(p->id), DB_U64(p->sender_id), DB_TEXT(p->sender_name),
                  exclusive ? DB_U64(p->receiver_id) : DB_NULL, exclusive ? DB_TEXT(p->receiver_name) : DB_NULL,
                  DB_TEXT(packet_kind_name(p->kind)), DB_TEXT(split_method_name(p->split)), DB_I64(p->amount_fen),
                  DB_U64(p->count), DB_I64(p->share_max_fen), has_best ? DB_U64(p->best_share_no) : DB_NULL,
                  DB_TEXT(p->greeting), DB_BYTES(((struct str){ (const char *)p->seed, sizeof p->seed })),
                  DB_BYTES(((struct str){ (const char *)p->commitment, sizeof p->commitment })),
                  DB_TEXT(packet_state_name(p->state)), DB_U64(p->grabbed_count), DB_I64(p->grabbed_fen),
                  DB_I64(p->refund_fen), DB_I64(p->created_ms), DB_I64(p->expires_ms),
                  p->finished_ms != 0 ? DB_I64(p->finished_ms) : DB_NULL,
                  p->closed_ms != 0 ? DB_I64(p->closed_ms) : DB_NULL, DB_TEXT(p->request_key), DB_I64(p->share_min_fen),
                  p->opens_ms != 0 ? DB_I64(p->opens_ms) : DB_NULL,
                  p->phrase_hash.len > 0 ? DB_BYTES(p->phrase_hash) : DB_NULL,
                  p->phrase_sealed.len > 0 ? DB_BYTES(p->phrase_sealed) : DB_NULL, DB_TEXT(str_or_empty(p->cover)),
                  DB_U64(p->receiver_count)));
}

#endif
