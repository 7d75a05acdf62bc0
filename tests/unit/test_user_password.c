/* user/password: Argon2id, its costs, and the dummy hash for unknown users. */
#include <errno.h>
#include <sodium.h>
#include <sys/resource.h>
#include <time.h>

#include "support/test_arena.h"
#include "user/password.h"

static const clock_t PATIENCE = (clock_t)10 * CLOCKS_PER_SEC,
                     SOME_WORK = (clock_t)CLOCKS_PER_SEC / 50; /* in CPU time */

static const char COSTS[] = "$argon2id$v=19$m=19456,t=2,p=1$";

/* The linker replaces libsodium's functions by the wrappers below. They record the verified hashes, and whether other
 * processes got the CPU in between. */
static unsigned verified_count;
static char verified_hash[crypto_pwhash_STRBYTES];
static bool memory_missing, yielded;

/* True when this process, which never waits, loses the CPU within so much CPU time. */
static bool paused_within(clock_t patience)
{
    struct rusage before, now;
    const clock_t end = clock() + patience;
    assert_int_equal(getrusage(RUSAGE_SELF, &before), 0);
    do
        assert_int_equal(getrusage(RUSAGE_SELF, &now), 0);
    while (now.ru_nvcsw == before.ru_nvcsw && clock() < end);
    return now.ru_nvcsw != before.ru_nvcsw;
}

int __real_crypto_pwhash_str_alg(char *out, const char *password, unsigned long long len, unsigned long long passes,
                                 size_t bytes, int alg);
int __wrap_crypto_pwhash_str_alg(char *out, const char *password, unsigned long long len, unsigned long long passes,
                                 size_t bytes, int alg);

int __wrap_crypto_pwhash_str_alg(char *out, const char *password, unsigned long long len, unsigned long long passes,
                                 size_t bytes, int alg)
{
    yielded = paused_within(PATIENCE);
    return __real_crypto_pwhash_str_alg(out, password, len, passes, bytes, alg);
}

int __real_crypto_pwhash_str_verify(const char *hash, const char *password, unsigned long long len);
int __wrap_crypto_pwhash_str_verify(const char *hash, const char *password, unsigned long long len);

int __wrap_crypto_pwhash_str_verify(const char *hash, const char *password, unsigned long long len)
{
    verified_count++;
    yielded = paused_within(PATIENCE);
    if (memory_missing) {
        errno = ENOMEM;
        return -1;
    }
    memcpy(verified_hash, hash, sizeof verified_hash);
    return __real_crypto_pwhash_str_verify(hash, password, len);
}

#define ONCE  (&(struct hash_permit){ 1 })
#define TWICE (&(struct hash_permit){ 2 })

static const char *hash_of(struct str password)
{
    char *hash = arena_alloc(arena, PASSWORD_HASH_MAX);
    assert_int_equal(password_hash(ONCE, password, hash), ST_OK);
    return hash;
}

TEST(a_password_matches_its_own_hash_only_which_has_a_salt_and_the_agreed_costs)
{
    const char *hash = hash_of(STR("correct horse"));
    assert_int_equal(password_verify(ONCE, str_from(hash), STR("correct horse")), ST_OK);
    assert_int_equal(password_verify(ONCE, str_from(hash), STR("correct horsf")), ST_NOT_FOUND);
    assert_int_equal(password_verify(ONCE, str_from(hash), STR("correct horse ")), ST_NOT_FOUND);
    assert_int_equal(password_verify(ONCE, str_from(hash), STR("")), ST_NOT_FOUND);
    const char *first = hash_of(STR("correct horse")), *second = hash_of(STR("correct horse"));
    assert_memory_equal(first, COSTS, sizeof COSTS - 1);
    assert_string_not_equal(first, second);
    assert_false(password_needs_rehash(str_from(first)));
    char cheap[crypto_pwhash_STRBYTES];
    assert_int_equal(crypto_pwhash_str(cheap, "correct horse", 13, 1, 8192 * 1024), 0);
    assert_int_equal(password_verify(ONCE, str_from(cheap), STR("correct horse")), ST_OK);
    assert_true(password_needs_rehash(str_from(cheap)));
}

/* Devices differ in how they write the same letters (NFC, NFD) and blanks. */
TEST(one_password_has_one_text)
{
    static const char *const same[][2] = { { "caf\u00e9 au lait", "cafe\u0301 au lait" },
                                           { "\u1112\u1161\u11ab\uae00 one", "\ud55c\uae00 one" },
                                           { "correct horse", "correct\u00a0horse" },
                                           { "correct horse", "correct\u3000horse" },
                                           { "\u212bngstr\u00f6m", "\u00c5ngstro\u0308m" } };
    static const char *const other[][2] = { { "correct horse", "correct horse " },
                                            { "Correct horse", "correct horse" },
                                            { "ａｂｃ", "abc" },
                                            { "a\u200bb", "ab" },
                                            { "\ufb01sh", "fish" } };
    struct password one, two;
    for (size_t i = 0; i < ARRAY_LEN(same); i++) {
        assert_int_equal(password_normalize(arena, str_from(same[i][0]), &one), ST_OK);
        assert_int_equal(password_normalize(arena, str_from(same[i][1]), &two), ST_OK);
        assert_true(str_equal(one.text, two.text));
        assert_true(str_equal(two.text, str_from(same[i][1])) || str_equal(two.raw, str_from(same[i][1])));
    }
    for (size_t i = 0; i < ARRAY_LEN(other); i++) {
        assert_int_equal(password_normalize(arena, str_from(other[i][0]), &one), ST_OK);
        assert_int_equal(password_normalize(arena, str_from(other[i][1]), &two), ST_OK);
        assert_false(str_equal(one.text, two.text));
        assert_int_equal(one.raw.len + two.raw.len, 0);
    }
}

TEST(an_older_hash_of_the_typed_bytes_still_matches)
{
    static const struct str typed = STR("cafe\u0301 au lait");
    bool raw;
    struct password password;
    assert_int_equal(password_normalize(arena, typed, &password), ST_OK);
    const char *old = hash_of(typed), *now = hash_of(password.text);
    assert_int_equal(password_verify_typed(TWICE, str_from(old), &password, &raw), ST_OK);
    assert_true(raw);
    assert_int_equal(password_verify_typed(TWICE, str_from(now), &password, &raw), ST_OK);
    assert_false(raw);
    verified_count = 0; /* an unknown user takes as long */
    assert_int_equal(password_verify_typed(TWICE, STR_NONE, &password, &raw), ST_NOT_FOUND);
    assert_int_equal(verified_count, 2);
}

TEST(an_unknown_user_costs_a_whole_hash_and_without_memory_nobody_is_wrong)
{
    char too_long[2 * PASSWORD_HASH_MAX];
    memset(too_long, 'x', sizeof too_long);
    const struct str unknown[] = { STR_NONE, STR(""), { too_long, sizeof too_long } };
    for (size_t i = 0; i < ARRAY_LEN(unknown); i++) {
        verified_count = 0;
        assert_int_equal(password_verify(ONCE, unknown[i], STR("correct horse")), ST_NOT_FOUND);
        assert_int_equal(verified_count, 1);
        assert_memory_equal(verified_hash, COSTS, sizeof COSTS - 1);
    }
    /* libsodium would refuse a malformed hash at once, and the time of the answer would reveal which users exist. */
    assert_false(password_needs_rehash(str_from(verified_hash)));
    const char *hash = hash_of(STR("correct horse"));
    memory_missing = true;
    enum status known = password_verify(ONCE, str_from(hash), STR("correct horse"));
    enum status stranger = password_verify(ONCE, STR_NONE, STR("correct horse"));
    memory_missing = false;
    assert_ints({ known, ST_NO_MEMORY }, { stranger, ST_NO_MEMORY });
}

TEST(hashing_yields_the_cpu)
{
    yielded = false;
    const char *hash = hash_of(STR("correct horse"));
    assert_true(yielded);
    assert_false(paused_within(SOME_WORK));
    yielded = false;
    assert_int_equal(password_verify(ONCE, str_from(hash), STR("correct horse")), ST_OK);
    assert_true(yielded);
    assert_false(paused_within(SOME_WORK));
}

TESTS(arena_setup, arena_teardown)
