#include "user/password.h"

#include <assert.h>
#include <errno.h>
#include <sodium.h>
#include <string.h>

#include "base/utf8.h"
#include "io/cpu_yield.h"
#include "io/metrics.h"

enum { PASSES = 2, MEMORY_BYTES = 19 << 20, NORMALIZED_BYTES_MAX = 4096 }; /* composing marks takes quadratic time */

static_assert(crypto_pwhash_STRBYTES <= PASSWORD_HASH_MAX, "a hash has to fit");

/* The hash of 32 random bytes, which were not kept. Made with the costs above. */
static const char DUMMY_HASH[] = "$argon2id$v=19$m=19456,t=2,p=1$BZVbv4NHgjtP8shfdOl4Tg"
                                 "$U33pfwjJN8Wr+NeTrqBU0sFdV/zPwbmpsDLe2VBqI5Y";

/* Copies the hash into out, NUL-padded to crypto_pwhash_STRBYTES as libsodium requires. False: it is empty or too
 * long. */
static bool hash_pad(struct str hash, char *out)
{
    if (hash.len == 0 || hash.len >= crypto_pwhash_STRBYTES)
        return false;
    memset(out, 0, crypto_pwhash_STRBYTES);
    memcpy(out, hash.ptr, hash.len);
    return true;
}

enum status password_normalize(struct arena *a, struct str typed, struct password *out)
{
    *out = (struct password){ typed, STR("") };
    if (typed.len > NORMALIZED_BYTES_MAX)
        return ST_OK;
    enum status st = utf8_opaque(a, typed, &out->text);
    if (st == ST_NO_MEMORY)
        return st;
    if (!str_equal(out->text, typed))
        out->raw = typed;
    return ST_OK;
}

static void permit_use(struct hash_permit *permit)
{
    assert(permit->left > 0);
    permit->left--;
}

enum status password_hash(struct hash_permit *permit, struct str password, char *out)
{
    permit_use(permit);
    metrics_add(METRIC_HASHES, 1);
    cpu_yield_begin();
    int failed =
        crypto_pwhash_str_alg(out, password.ptr, password.len, PASSES, MEMORY_BYTES, crypto_pwhash_ALG_ARGON2ID13);
    cpu_yield_end();
    return failed ? ST_NO_MEMORY : ST_OK;
}

enum status password_verify(struct hash_permit *permit, struct str hash, struct str password)
{
    char padded[crypto_pwhash_STRBYTES];
    bool hash_usable = hash_pad(hash, padded);

    if (!hash_usable)
        (void)hash_pad(str_from(DUMMY_HASH), padded);
    permit_use(permit);
    metrics_add(METRIC_HASHES, 1);
    cpu_yield_begin();
    errno = 0;
    bool matches = crypto_pwhash_str_verify(padded, password.ptr, password.len) == 0;
    cpu_yield_end();
    if (!matches && errno == ENOMEM) /* a mismatch is EINVAL */
        return ST_NO_MEMORY;
    return hash_usable && matches ? ST_OK : ST_NOT_FOUND;
}

enum status password_verify_typed(struct hash_permit *permit, struct str hash, const struct password *typed, bool *raw)
{
    enum status st = password_verify(permit, hash, typed->text);
    *raw = false;
    if (st != ST_NOT_FOUND || typed->raw.len == 0)
        return st;
    st = password_verify(permit, hash, typed->raw);
    *raw = st == ST_OK;
    return st;
}

bool password_needs_rehash(struct str hash)
{
    char padded[crypto_pwhash_STRBYTES];

    return !hash_pad(hash, padded) || crypto_pwhash_str_needs_rehash(padded, PASSES, MEMORY_BYTES) != 0;
}
