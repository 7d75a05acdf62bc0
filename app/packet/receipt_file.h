/* Reads receipts and public keys from JSON, as this service answers them (docs/reference/receipt.md): `hongbao
 * verify-receipt` and the setting receipt_keys_file. Strict: an unknown or repeated member is refused, because the
 * signature does not cover it. */
#ifndef HB_PACKET_RECEIPT_FILE_H
#define HB_PACKET_RECEIPT_FILE_H

#include "base/arena.h"
#include "base/clock.h"
#include "base/status.h"
#include "packet/receipt.h"

enum {
    RECEIPT_KEY_ID_LEN = 16, /* hex digits */
    RECEIPT_TEXT_MAX = 87,   /* a signature in base64url, with its NUL; a key is shorter */
    RECEIPT_KEYS_MAX = 64
};

struct receipt_key {
    char id[RECEIPT_KEY_ID_LEN + 1]; /* the first 8 bytes of the SHA-256 of the public key, in hex */
    uint8_t bytes[RECEIPT_KEY_BYTES];
    char from[CLOCK_TEXT_MAX];  /* RFC 3339: the key signs from then on; empty: unknown */
    char until[CLOCK_TEXT_MAX]; /* RFC 3339: the end of its time; empty: it still signs, or unknown */
};

/* A receipt with its signature. */
struct receipt_signed_file {
    struct receipt receipt;
    uint8_t signature[RECEIPT_SIGNATURE_BYTES];
    struct str key_id;
};

/* Writes the key's id, for its bytes. */
void receipt_key_id_set(struct receipt_key *key);
/* Bytes as base64url without padding, with a NUL, and back. False: text is not exactly len bytes. */
void receipt_text_write(const uint8_t *bytes, size_t len, char out[RECEIPT_TEXT_MAX]);
bool receipt_text_read(struct str text, uint8_t *bytes, size_t len);

/* Reads a receipt. Texts are in the arena. ST_INVALID: it is not a receipt of version 1 or 2 · ST_NO_MEMORY. */
enum status receipt_file_read(struct arena *a, struct str json, struct receipt_signed_file *out);
/* Reads a list of keys, at most max. ST_INVALID: it is no such list, it has more keys, or an id does not belong to its
 * key · ST_NO_MEMORY. */
enum status receipt_keys_read(struct str json, struct receipt_key *out, size_t max, size_t *count);

#endif
