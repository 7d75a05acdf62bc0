/* ledger/service: tokens and scopes, without the database. */
#include <string.h>

#include "ledger/service.h"
#include "support/test.h"

TEST(a_token_has_its_form_and_no_two_are_alike)
{
    char one[SERVICE_TOKEN_MAX], other[SERVICE_TOKEN_MAX], wrong[SERVICE_TOKEN_MAX + 1];
    uint8_t hash[HASH_BYTES], again[HASH_BYTES];
    assert_true(random_init());
    service_token_new(other, hash);
    service_token_new(one, hash);
    hash_sha256(one, SERVICE_TOKEN_LEN, again);
    assert_memory_equal(hash, again, HASH_BYTES);
    assert_string_not_equal(one, other);
    assert_true(service_token_is_valid(str_from(one)));
    assert_memory_equal(one, "hbs_", 4);
    (void)snprintf(wrong, sizeof wrong, "%sx", one);
    assert_false(service_token_is_valid(str_from(wrong)));
    for (size_t i = 0; i < 4; i++) {
        memcpy(wrong, one, sizeof one);
        wrong[i]++;
        assert_false(service_token_is_valid(str_from(wrong)));
    }
    EACH_TEXT (bad, "", "hbs_", "hbt_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
               "hbs_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=", "hbs_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA+",
               "hbs_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAB")
        assert_of(bad, !service_token_is_valid(str_from(bad)));
    assert_false(service_token_is_valid(STR_NONE));
}

TEST(scopes_are_read_in_any_order_and_written_in_one)
{
    static const struct {
        const char *typed;
        unsigned scopes;
    } cases[] = {
        { "credit", SERVICE_CREDIT },
        { "topup,read", SERVICE_READ | SERVICE_TOPUP },
        { " withdraw  debit , debit ", SERVICE_WITHDRAW | SERVICE_DEBIT },
        { "", 0 },
        { " , ", 0 },
        { "credit all", 0 },
        { "Credit", 0 },
        { "credits", 0 },
        { "credit;debit", 0 },
    };
    struct arena *a = arena_new(4096, 4096);
    EACH (c, cases)
        assert_of(c->typed, service_scopes_read(str_from(c->typed)) == c->scopes);
    const struct str all = service_scopes_text(a, (1U << SERVICE_SCOPES) - 1, ' ');
    assert_true(str_equal(all, STR("credit debit read withdraw topup")));
    assert_true(str_equal(service_scopes_text(a, SERVICE_TOPUP | SERVICE_DEBIT, ','), STR("debit,topup")));
    assert_true(str_equal(service_scopes_text(a, 0, ','), STR("")));
    assert_string_equal(service_scope_name(SERVICE_WITHDRAW), "withdraw");
    arena_free(a);
}

TESTS(NULL, NULL)
