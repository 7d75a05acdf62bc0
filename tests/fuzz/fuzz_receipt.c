/* Receipts and lists of public keys in JSON, as `hongbao verify-receipt` reads them. */
#include "fuzz.h"
#include "packet/receipt_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct receipt_key keys[RECEIPT_KEYS_MAX];
    struct receipt_signed_file file = { 0 };
    struct str json = fuzz_text(data, size);
    size_t count = 0;
    fuzz_begin();
    enum status st = receipt_file_read(fuzz_arena, json, &file);
    assert(st == ST_OK || st == ST_INVALID);
    if (st == ST_OK) {
        static const uint8_t seed[RECEIPT_SEED_BYTES];
        uint8_t key[RECEIPT_KEY_BYTES];
        struct buf bytes = { .limit = (size_t)1 << 20 };
        receipt_public_key(seed, key);
        if (receipt_bytes(&file.receipt, &bytes))
            assert(!receipt_signed(key, buf_view(&bytes), file.signature)); /* nobody guesses a signature */
        buf_free(&bytes);
    }
    st = receipt_keys_read(json, keys, RECEIPT_KEYS_MAX, &count);
    assert(st == ST_OK || st == ST_INVALID);
    assert(st != ST_OK || count <= RECEIPT_KEYS_MAX);
    for (size_t i = 0; st == ST_OK && i < count; i++) {
        struct receipt_key again = keys[i];
        receipt_key_id_set(&again);
        assert(str_equal(str_from(again.id), str_from(keys[i].id)));
    }
    return 0;
}
