/* A receipt: one grab as a text that is signed with Ed25519, so that anyone can check it without this service.
 * docs/reference/receipt.md describes the signed bytes and the JSON completely. Pure: keys are arguments. */
#ifndef HB_PACKET_RECEIPT_H
#define HB_PACKET_RECEIPT_H

#include <sodium.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/str.h"

enum {
    RECEIPT_SEED_BYTES = crypto_sign_SEEDBYTES, /* a private key */
    RECEIPT_KEY_BYTES = crypto_sign_PUBLICKEYBYTES,
    RECEIPT_SIGNATURE_BYTES = crypto_sign_BYTES
};

/* Times, hashes and the packet's id are texts, as in the JSON. Borrowed. */
struct receipt {
    struct str packet;
    uint64_t share_no;
    int64_t amount_fen; /* in smallest units */
    struct str unit;    /* its code */
    int unit_decimals;  /* 0 … MONEY_DECIMALS_MAX */
    uint64_t user_id;   /* the receiver of the share */
    struct str username;
    struct str nickname;   /* at the time of the grab */
    struct str grabbed_at; /* RFC 3339, UTC, milliseconds */
    uint64_t sender_id;
    struct str sender;     /* the sender's nickname at the time of sending */
    struct str commitment; /* of the packet's draw, 64 hex digits */
    struct str issued_by;  /* base_url of the service */
};

/* 1: the amount is in fen, and the receipt does not name its unit. 2: another unit than CNY with two decimals, which is
 * among the signed lines. */
int receipt_version(const struct receipt *r);
/* Appends the bytes that are signed, as its version has them. False, and nothing is appended: a text is lost, or has a
 * control character, which could look like the end of a line. (Without memory out->failed is set.) */
bool receipt_bytes(const struct receipt *r, struct buf *out);
/* The public key of a private one. */
void receipt_public_key(const uint8_t seed[RECEIPT_SEED_BYTES], uint8_t out[RECEIPT_KEY_BYTES]);
/* Signs bytes. The same bytes and key give the same signature. */
void receipt_sign(const uint8_t seed[RECEIPT_SEED_BYTES], struct str bytes, uint8_t out[RECEIPT_SIGNATURE_BYTES]);
/* True when the owner of the key has signed these bytes. */
bool receipt_signed(const uint8_t key[RECEIPT_KEY_BYTES], struct str bytes,
                    const uint8_t signature[RECEIPT_SIGNATURE_BYTES]);

#endif
