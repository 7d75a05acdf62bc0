/* commands/verify: its arguments. tests/e2e/flow.test.js compares its shares with the site's. */
#include "commands/verify.h"
#include <unistd.h>

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

/* What the command prints; 64 digits of the commitment are left out. */
static const char *printed(int argc, char **argv)
{
    static char text[1024];
    FILE *file = tmpfile();
    assert_non_null(file);
    (void)fflush(stdout);
    const int out = dup(STDOUT_FILENO);
    assert_int_equal(dup2(fileno(file), STDOUT_FILENO), STDOUT_FILENO);
    const int code = verify_command(argc, argv);
    (void)fflush(stdout);
    (void)dup2(out, STDOUT_FILENO);
    (void)close(out);
    rewind(file);
    const size_t len = fread(text, 1, sizeof text - 1, file);
    (void)fclose(file);
    text[len] = '\0';
    assert_int_equal(code, 0);
    return strchr(text, '\n');
}

TEST(amounts_have_the_decimals_of_the_option)
{
    char *yuan[] = { "verify", SEED, "even", "12", "3", "even", "200" };
    char *points[] = { "verify", SEED, "even", "12", "3", "even", "200", "--decimals", "0", "--returned", "1" };
    char *tenths[] = { "verify", SEED, "even", "1.2", "3", "even", "200", "--returned", "1", "--decimals", "1" };
    assert_string_equal(printed(ARRAY_LEN(points), points), "\n4\n4\n4\n4\n");
    assert_string_equal(printed(ARRAY_LEN(tenths), tenths), "\n0.4\n0.4\n0.4\n0.4\n");
    assert_string_equal(printed(ARRAY_LEN(yuan), yuan), "\n4.00\n4.00\n4.00\n");
    EACH_TEXT (wrong, "3", "-1", "x", "") {
        char *bad[] = { "verify", SEED, "even", "12", "3", "even", "200", "--decimals", (char *)(uintptr_t)wrong };
        assert_of(wrong, verify_command(ARRAY_LEN(bad), bad) == 2);
    }
    char *fraction[] = { "verify", SEED, "even", "12.00", "3", "even", "200", "--decimals", "0" };
    char *twice[] = { "verify", SEED, "even", "12", "3", "--decimals", "0", "--decimals", "2" };
    assert_int_equal(verify_command(ARRAY_LEN(fraction), fraction), 2);
    assert_int_equal(verify_command(ARRAY_LEN(twice), twice), 2);
}

TESTS(NULL, NULL)
