/* The keys of this service that sign receipts, and those that have signed earlier ones.
 *
 * The private keys are derived from the setting `secret` and their number; receipt_key_days has the day from which each
 * signs. So a new key needs one more day in the configuration and no file. Once the secret is replaced, the old keys
 * can't sign any more; with receipt_keys_file their public keys stay known. */
#ifndef HB_PACKET_RECEIPT_KEYS_H
#define HB_PACKET_RECEIPT_KEYS_H

#include "config/config.h"
#include "packet/receipt_file.h"

struct receipt_keys {
    struct receipt_key items[RECEIPT_KEYS_MAX]; /* our own, in the order of their days; then the keys of the file */
    size_t own_count, count;
    int64_t from_ms[RECEIPT_KEYS_MAX]; /* of our own */
    uint8_t master[crypto_kdf_KEYBYTES];
};

/* Derives and reads all keys of the configuration. ST_INVALID with a message in error (error_size bytes, the caller's):
 * the file is missing or no list of keys · ST_NO_MEMORY. */
enum status receipt_keys_open(struct receipt_keys *keys, const struct config *config, char *error, size_t error_size);
/* Reads a file as /.well-known/hongbao-receipt-keys answers it: keys that can only verify. As receipt_keys_open. */
enum status receipt_keys_open_file(struct receipt_keys *keys, const char *path, char *error, size_t error_size);
/* Overwrites the private part. */
void receipt_keys_close(struct receipt_keys *keys);

/* The key with this id. NULL: none. */
const struct receipt_key *receipt_keys_find(const struct receipt_keys *keys, struct str id);
/* Signs bytes with the newest of our own keys whose day has begun, or with the first key when no day has begun. Returns
 * that key. */
const struct receipt_key *receipt_keys_sign(const struct receipt_keys *keys, int64_t now_ms, struct str bytes,
                                            uint8_t out[RECEIPT_SIGNATURE_BYTES]);

#endif
