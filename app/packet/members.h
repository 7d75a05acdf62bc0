/* The members of struct packet, each written once. From this table come: struct packet (packet.h), the columns, the
 * reading of a row and the arguments of a send (store.h), the options in Redis (live/options_internal.h, for
 * lua/view-4.lua, too), the texts of a page that is kept (pages/page_cache.h), and the comparison of a repeated send
 * (packet/order.h).
 *
 * M(name, type, table, Redis, page, order):
 *   type   how it is stored: U64, U32, I64, BOOL, TEXT, FACE; KIND, SPLIT, STATE: the name of an enum's value;
 *          BYTES32: exactly 32 bytes. OPT_…: 0 or empty is NULL in the column (OPT_SHARE: PACKET_NO_SHARE is NULL)
 *   table  COLUMN: a column of the same name in the table `packet`; SENT: a column that the send sets, in the order of
 *          the parameters of the routine packet_send_with (sql/migrations); KEY: the same for the primary key; JSON: a
 *          column that the send sets through the routine's JSON object, so that a new one needs no new parameter
 *   Redis  OPTION: a field of the same name in the packet's hash, when it is not 0 or empty
 *   page   PAGE: a text of a packet from Redis that pages show, so a kept page has a copy
 *   order  COMPARED: the same in the packet of a send and of its repetition */
#ifndef HB_PACKET_MEMBERS_H
#define HB_PACKET_MEMBERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/badge.h"
#include "base/str.h"

/* clang-format off */
#define PACKET_MEMBERS(M)                                                                                              \
    M(id,              U64,       KEY,    _,      _,    _)                                                             \
    M(sender_id,       U64,       SENT,   _,      _,    _)                                                             \
    M(sender_name,     TEXT,      SENT,   _,      PAGE, _)         /* nickname at the time of sending */               \
    /* of a packet from Redis; in one from MySQL after faces_find */                                                   \
    M(sender_face,     FACE,      _,      _,      _,    _)                                                             \
    M(receiver_id,     OPT_U64,   SENT,   _,      _,    COMPARED)  /* exclusive only, else 0 */                        \
    M(receiver_name,   OPT_TEXT,  SENT,   _,      PAGE, _)                                                             \
    M(kind,            KIND,      SENT,   _,      _,    COMPARED)                                                      \
    M(split,           SPLIT,     SENT,   _,      _,    COMPARED)                                                      \
    M(amount_fen,      I64,       SENT,   _,      _,    COMPARED)  /* total */                                         \
    M(count,           U32,       SENT,   _,      _,    COMPARED)                                                      \
    /* These two are part of the draw; 0 in a packet read from Redis. */                                               \
    M(share_max_fen,   I64,       SENT,   _,      _,    _)         /* limit of one share when it was sent */           \
    M(share_min_fen,   I64,       SENT,   _,      _,    COMPARED)  /* the smallest share */                            \
    /* Lucky only: the largest share, the first of equals; else PACKET_NO_SHARE. */                                    \
    M(best_share_no,   OPT_SHARE, SENT,   _,      _,    _)                                                             \
    M(greeting,        TEXT,      SENT,   _,      PAGE, _)                                                             \
    M(seed,            BYTES32,   SENT,   _,      _,    _)                                                             \
    M(commitment,      BYTES32,   SENT,   _,      _,    _)         /* SHA-256 of the seed */                           \
    M(state,           STATE,     COLUMN, _,      _,    _)                                                             \
    M(grabbed_count,   U32,       COLUMN, _,      _,    _)         /* settled grabs */                                 \
    M(grabbed_fen,     I64,       COLUMN, _,      _,    _)                                                             \
    M(refund_fen,      I64,       COLUMN, _,      _,    _)                                                             \
    M(created_ms,      I64,       SENT,   _,      _,    _)                                                             \
    M(expires_ms,      I64,       SENT,   _,      _,    _)                                                             \
    /* It can be opened from then on; 0: from the beginning. */                                                        \
    M(opens_ms,        OPT_I64,   SENT,   OPTION, _,    COMPARED)                                                      \
    M(finished_ms,     OPT_I64,   COLUMN, _,      _,    _)         /* when the last share was grabbed; 0: not yet */   \
    M(closed_ms,       OPT_I64,   COLUMN, _,      _,    _)         /* when everything was settled; 0: not yet */       \
    M(request_key,     TEXT,      SENT,   _,      _,    _)                                                             \
    /* Options, which most packets do not have: 0 or empty then. opens_ms is one, too. */                              \
    M(phrase_hash,     OPT_BYTES, SENT,   OPTION, PAGE, _)         /* keyed hash of the passphrase */                  \
    M(phrase_sealed,   OPT_BYTES, SENT,   OPTION, PAGE, _)         /* the passphrase, encrypted */                     \
    /* only from packet_find_face, which reads no hash */                                                              \
    M(needs_phrase,    BOOL,      _,      _,      _,    _)                                                             \
    M(cover,           TEXT,      SENT,   OPTION, PAGE, COMPARED)  /* name of the envelope's cover */                  \
    M(note,            TEXT,      JSON,   OPTION, _,    COMPARED)  /* the sender's note to self: only for the sender */\
    /* Named receivers, who alone may open it; 0: everybody, or receiver_id alone. */                                  \
    M(receiver_count,  U32,       SENT,   OPTION, _,    COMPARED)                                                      \
    /* Their ids in ascending order: ",10001,10002,"; see packet/receivers.h. */                                       \
    M(receivers,       TEXT,      _,      OPTION, PAGE, COMPARED)                                                      \
    /* The nicknames of the first of them, each with a line feed behind it. */                                         \
    M(receiver_names,  TEXT,      _,      OPTION, PAGE, _)                                                             \
    M(ended_ms,        OPT_I64,   COLUMN, OPTION, _,    _)         /* when the sender ended it early */                \
    /* Shares given back into the packet, each of which became one more share at its end. */                           \
    M(returned_count,  U32,       COLUMN, OPTION, _,    _)                                                             \
    M(returned_fen,    I64,       COLUMN, OPTION, _,    _)         /* their sum */                                     \
    /* The numbers of all shares given back, "3,7": as Redis has it; empty from MySQL, where each grab has a mark. */  \
    M(returned_shares, TEXT,      _,      OPTION, PAGE, _)                                                             \
    M(thanks_count,    U32,       COLUMN, OPTION, _,    _)         /* thanks of receivers */
/* clang-format on */

enum packet_member_type {
    PACKET_TYPE_U64,
    PACKET_TYPE_OPT_U64,
    PACKET_TYPE_U32,
    PACKET_TYPE_OPT_SHARE,
    PACKET_TYPE_I64,
    PACKET_TYPE_OPT_I64,
    PACKET_TYPE_BOOL,
    PACKET_TYPE_KIND,
    PACKET_TYPE_SPLIT,
    PACKET_TYPE_STATE,
    PACKET_TYPE_BYTES32,
    PACKET_TYPE_FACE,
    PACKET_TYPE_TEXT,
    PACKET_TYPE_OPT_TEXT,
    PACKET_TYPE_OPT_BYTES
};

/* Bits of packet_member.use. */
enum {
    PACKET_USE__ = 0,
    PACKET_USE_COLUMN = 1,
    PACKET_USE_IN_SEND = 2,
    PACKET_USE_SENT = PACKET_USE_COLUMN | PACKET_USE_IN_SEND,
    PACKET_USE_KEY = PACKET_USE_SENT,
    PACKET_USE_IN_JSON = 4,
    PACKET_USE_JSON = PACKET_USE_COLUMN | PACKET_USE_IN_JSON,
    PACKET_USE_OPTION = 8,
    PACKET_USE_PAGE = 16,
    PACKET_USE_COMPARED = 32
};

/* A row of the table. */
struct packet_member {
    const char *name;
    size_t offset, size; /* in struct packet, bytes */
    enum packet_member_type type;
    unsigned use;
};

/* The index of each member in packet_members: PACKET_MEMBER_id, … */
#define PACKET_MEMBER_INDEX(name, ...) PACKET_MEMBER_##name,
enum packet_member_index { PACKET_MEMBERS(PACKET_MEMBER_INDEX) PACKET_MEMBER_COUNT };
extern const struct packet_member packet_members[PACKET_MEMBER_COUNT];

struct packet;
/* The member of p at index i of packet_members when it is a text or bytes, borrowed from p; else NULL. */
struct str *packet_member_text(struct packet *p, size_t i);
/* True when all COMPARED members of both packets are the same. Pure. */
bool packet_members_same(const struct packet *p, const struct packet *q);

#endif
