/* commands/verify: its arguments. tests/e2e/flow.test.js compares its shares with the site's. */
#include "commands/verify.h"
#include "support/test.h"

enum { LARGE_BYTES = 17 << 20 }; /* more than the command's memory */

#define SEED "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"

TEST(pasted_arguments_are_read_and_without_memory_none_counts_as_absent)
{
    char *plain[] = { "verify", SEED, "lucky", "10.00", "3", "double-average", "--returned", "0,1" };
    char *pasted[] = { "verify",     "\u200b" SEED, "lucky ", "１０．００元", "３个", "double\u2011average\ufeff",
                       "--returned", "０，１" };
    assert_int_equal(verify_command(ARRAY_LEN(plain), plain), 0);
    assert_int_equal(verify_command(ARRAY_LEN(pasted), pasted), 0);
    char *wrong[] = { "verify", SEED, "lucky", "10.00", "3", "" },
         *broken[] = { "verify", SEED, "lucky", "1\xff", "3" };
    assert_int_equal(verify_command(ARRAY_LEN(wrong), wrong), 2);
    assert_int_equal(verify_command(ARRAY_LEN(broken), broken), 2);
    /* An argument that can't be folded must not count as absent: the shares of another split would be printed. */
    char *large = malloc(LARGE_BYTES + 1);
    assert_non_null(large);
    memset(large, ' ', LARGE_BYTES);
    large[LARGE_BYTES] = '\0';
    char *split[] = { "verify", SEED, "lucky", "10.00", "3", large };
    char *returned[] = { "verify", SEED, "lucky", "10.00", "3", "--returned", large };
    char *total[] = { "verify", SEED, "lucky", large, "3" };
    assert_int_equal(verify_command(ARRAY_LEN(split), split), 1);
    assert_int_equal(verify_command(ARRAY_LEN(returned), returned), 1);
    assert_int_equal(verify_command(ARRAY_LEN(total), total), 1);
    free(large);
}

TESTS(NULL, NULL)
