/* user/token and user/token_page, the parts without I/O: tokens, keys, copies, the form. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/array.h"
#include "support/test_arena.h"
#include "user/token.h"
#include "user/token_page.h"
#include "web/bearer.h"

static struct public_id_key key, other_key;

static int setup(void **state)
{
    public_id_key_set(&key, (struct key[]){ key_derive(STR("a secret of at least 32 characters"), KEY_IDS) });
    public_id_key_set(&other_key, (struct key[]){ key_derive(STR("another secret of 32 characters ..."), KEY_IDS) });
    return arena_setup(state);
}

static void tokens_are_valid_and_unique(void **state)
{
    (void)state;
    char first[TOKEN_MAX], second[TOKEN_MAX];
    token_new(&key, first);
    token_new(&key, second);
    assert_int_equal(strlen(first), TOKEN_LEN);
    assert_true(str_starts(str_from(first), STR("hbt_")));
    assert_true(token_valid(&key, str_from(first)));
    assert_true(token_valid(&key, str_from(second)));
    assert_string_not_equal(first, second);
}

/* So no store is used for a guess. */
static void a_changed_token_is_refused_without_a_store(void **state)
{
    (void)state;
    char token[TOKEN_MAX];
    token_new(&key, token);
    assert_false(token_valid(&other_key, str_from(token)));
    for (size_t i = 0; i < TOKEN_LEN; i++) {
        char kept = token[i];
        token[i] = kept == 'A' ? 'B' : 'A';
        assert_false(token_valid(&key, str_from(token)));
        token[i] = kept;
    }
    assert_true(token_valid(&key, str_from(token)));
    assert_false(token_valid(&key, (struct str){ token, TOKEN_LEN - 1 }));
    assert_false(token_valid(&key, STR("")));
    assert_false(token_valid(&key, STR_NONE));
}

static void a_copy_is_read_back(void **state)
{
    (void)state;
    struct token_copy back, copy = { .made_ms = 1700000000000,
                                     .user_id = 10001,
                                     .scopes = SCOPE_READ | SCOPE_OPEN,
                                     .expires_ms = 1800000000000,
                                     .username = STR("xiaoming"),
                                     .nickname = STR("小,明") };
    struct str text = token_copy_text(arena, &copy);
    assert_true(str_equal(text, STR("v2,1700000000000,10001,5,1800000000000,xiaoming,小,明")));
    assert_true(token_copy_read(text, &back));
    assert_int_equal(back.made_ms, 1700000000000);
    assert_int_equal(back.user_id, 10001);
    assert_int_equal(back.scopes, SCOPE_READ | SCOPE_OPEN);
    assert_int_equal(back.expires_ms, 1800000000000);
    assert_true(str_equal(back.username, STR("xiaoming")));
    assert_true(str_equal(back.nickname, STR("小,明")));
}

static void a_copy_is_believed_for_an_hour_by_its_own_time(void **state)
{
    enum { HOUR_MS = 3600 * 1000, FUTURE_MS = 600 * 1000 };
    (void)state;
    const struct token_copy copy = { .made_ms = 1700000000000 };
    assert_true(token_copy_is_fresh(&copy, copy.made_ms));
    assert_true(token_copy_is_fresh(&copy, copy.made_ms + HOUR_MS - 1));
    assert_false(token_copy_is_fresh(&copy, copy.made_ms + HOUR_MS));
    assert_true(token_copy_is_fresh(&copy, copy.made_ms - FUTURE_MS)); /* clocks differ */
    assert_false(token_copy_is_fresh(&copy, copy.made_ms - FUTURE_MS - 1));
}

static void a_copy_of_the_version_before_is_read_and_not_fresh(void **state)
{
    struct token_copy copy;
    (void)state;
    assert_true(token_copy_read(STR("10001,5,1800000000000,xiaoming,n"), &copy));
    assert_int_equal(copy.user_id, 10001);
    assert_false(token_copy_is_fresh(&copy, 1700000000000));
}

static void malformed_copies_are_refused(void **state)
{
    (void)state;
    static const char *const values[] = { "",
                                          "revoked",
                                          "v2,-1,10001,1,1800000000000,xiaoming,n",
                                          "v2,,10001,1,1800000000000,xiaoming,n",
                                          "v2,1700000000000,10001,1,1800000000000,xiaoming",
                                          "v2,1700000000000,10001,1,1800000000000,xiaoming,",
                                          "v2,1700000000000,10001,1,1800000000000,,n",
                                          "v2,1700000000000,0,1,1800000000000,xiaoming,n",
                                          "v2,1700000000000,x,1,1800000000000,xiaoming,n",
                                          "v2,1700000000000,10001,0,1800000000000,xiaoming,n",
                                          "v2,1700000000000,10001,8,1800000000000,xiaoming,n",
                                          "v2,1700000000000,10001,4294967297,1800000000000,xiaoming,n",
                                          "v2,1700000000000,10001,1,0,xiaoming,n",
                                          "v2,1700000000000,10001,1,-1,xiaoming,n",
                                          "v2,1700000000000,10001,1,,xiaoming,n",
                                          "v2,1700000000000,10001,1,1800000000000,xiaoming,\xe5\xb0" };
    struct token_copy copy;
    for (size_t i = 0; i < ARRAY_LEN(values); i++)
        if (token_copy_read(str_from(values[i]), &copy))
            fail_msg("%s is accepted", values[i]);
}

static void scopes_have_names(void **state)
{
    (void)state;
    assert_true(str_equal(scopes_text(arena, SCOPE_READ | SCOPE_SEND | SCOPE_OPEN), STR("read send open")));
    assert_true(str_equal(scopes_text(arena, SCOPE_OPEN), STR("open")));
    assert_int_equal(scopes_read(STR(" open  read open ")), SCOPE_READ | SCOPE_OPEN);
    assert_int_equal(scopes_read(STR("read admin")), 0);
    assert_int_equal(scopes_read(STR("Read")), 0);
    assert_int_equal(scopes_read(STR("read,send")), 0);
    assert_int_equal(scopes_read(STR("")), 0);
}

/* Reads the form with these fields: pairs of name and value. Returns the message for the wrong field; NULL: none. */
static const char *form_of(const char *const *pairs, size_t count, struct token_form *out)
{
    static struct services services;
    static struct config config;
    struct form_errors errors;
    config_defaults(&config);
    services.stores.config = &config;
    struct exchange x = { .app = &services, .arena = arena };
    x.form.fields[x.form.count++] = (struct form_field){ STR("password"), STR("as typed") };
    for (size_t i = 0; i < count; i += 2)
        x.form.fields[x.form.count++] = (struct form_field){ str_from(pairs[i]), str_from(pairs[i + 1]) };
    *out = (struct token_form){ 0 };
    enum status st = form_read(&x, token_fields, out, &errors);
    assert_int_equal(st, errors.count == 0 ? ST_OK : ST_INVALID);
    assert_true(errors.count <= 1);
    return errors.count == 0 ? NULL : errors.items[0].text;
}

#define FORM(out, ...)                                                                                                 \
    form_of((const char *const[]){ __VA_ARGS__ }, sizeof(const char *const[]){ __VA_ARGS__ } / sizeof(char *), out)

static void scopes_come_from_boxes_from_words_or_from_both(void **state)
{
    (void)state;
    struct token_form form;
    assert_null(FORM(&form, "name", "bot", "days", "7", "scopes", "send read"));
    assert_int_equal(form.scopes, SCOPE_READ | SCOPE_SEND);
    assert_int_equal(form.days, 7);
    assert_null(FORM(&form, "name", "bot", "days", "7", "scope_open", "1"));
    assert_int_equal(form.scopes, SCOPE_OPEN);
    assert_null(FORM(&form, "name", "bot", "days", "7", "scope_open", "on", "scope_read", "1", "scopes", "send"));
    assert_int_equal(form.scopes, SCOPE_READ | SCOPE_SEND | SCOPE_OPEN);
    assert_null(FORM(&form, "name", "bot", "days", "７\u00a0", "scopes", "\u200bsend\u2028ｒｅａｄ\n"));
    assert_int_equal(form.scopes, SCOPE_READ | SCOPE_SEND);
    assert_int_equal(form.days, 7);
}

static void a_token_needs_a_name_a_scope_and_an_end(void **state)
{
    (void)state;
    struct token_form form;
    assert_string_equal(FORM(&form, "days", "7", "scopes", "read"), "text/token_name_missing");
    assert_string_equal(FORM(&form, "name", "abcdefghijklmnopqrstuvwxyz1234567", "days", "7", "scopes", "read"),
                        "text/token_name_long");
    assert_string_equal(FORM(&form, "name", "bot", "days", "7"), "text/token_scopes_missing");
    assert_string_equal(FORM(&form, "name", "bot", "days", "7", "scopes", " "), "text/token_scopes_missing");
    assert_string_equal(FORM(&form, "name", "bot", "days", "7", "scopes", "read all"), "text/token_scopes_unknown");
    assert_string_equal(FORM(&form, "name", "bot", "days", "7", "scope_read", "1", "scopes", "all"),
                        "text/token_scopes_unknown");
    assert_string_equal(FORM(&form, "name", "bot", "scopes", "read"), "text/token_days_missing");
    assert_string_equal(FORM(&form, "name", "bot", "scopes", "read", "days", "0"), "text/token_days_zero");
    assert_string_equal(FORM(&form, "name", "bot", "scopes", "read", "days", "367"), "text/token_days_max");
    assert_string_equal(FORM(&form, "name", "bot", "scopes", "read", "days", "1.5"), "text/token_days_not_whole");
    assert_null(FORM(&form, "name", "bot", "scopes", "read", "days", "366"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tokens_are_valid_and_unique),
        cmocka_unit_test(a_changed_token_is_refused_without_a_store),
        cmocka_unit_test(a_copy_is_read_back),
        cmocka_unit_test(a_copy_of_the_version_before_is_read_and_not_fresh),
        cmocka_unit_test(a_copy_is_believed_for_an_hour_by_its_own_time),
        cmocka_unit_test(malformed_copies_are_refused),
        cmocka_unit_test(scopes_have_names),
        cmocka_unit_test(scopes_come_from_boxes_from_words_or_from_both),
        cmocka_unit_test(a_token_needs_a_name_a_scope_and_an_end),
    };
    return random_init() ? cmocka_run_group_tests(tests, setup, arena_teardown) : 1;
}
