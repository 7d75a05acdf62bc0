/* user/token and account/token_page, the parts without I/O: tokens, keys, copies, the form. */
#include "account/token_page.h"
#include "support/assert_text.h"
#include "support/test_arena.h"
#include "user/token.h"
#include "web/bearer.h"

static struct public_id_key key, other_key;

static int setup(void **state)
{
    public_id_key_set(&key, (struct key[]){ key_derive(STR("a secret of at least 32 characters"), KEY_IDS) });
    public_id_key_set(&other_key, (struct key[]){ key_derive(STR("another secret of 32 characters ..."), KEY_IDS) });
    return arena_setup(state);
}

TEST(tokens_are_unique_and_a_changed_one_is_refused_without_a_store)
{
    char first[TOKEN_MAX], second[TOKEN_MAX];
    token_new(&key, first);
    token_new(&key, second);
    assert_int_equal(strlen(first), TOKEN_LEN);
    assert_true(str_starts(str_from(first), STR("hbt_")));
    assert_true(token_valid(&key, str_from(first)) && token_valid(&key, str_from(second)));
    assert_string_not_equal(first, second);
    /* A guess is refused without any store. */
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

TEST(a_copy_is_read_back_and_believed_for_an_hour_and_a_malformed_one_refused)
{
    struct token_copy back, copy = { .made_ms = 1700000000000,
                                     .user_id = 10001,
                                     .scopes = SCOPE_READ | SCOPE_OPEN,
                                     .expires_ms = 1800000000000,
                                     .username = STR("xiaoming"),
                                     .nickname = STR("小,明") };
    struct str text = token_copy_text(arena, &copy);
    assert_text(text, "v2,1700000000000,10001,5,1800000000000,xiaoming,小,明");
    assert_true(token_copy_read(text, &back));
    assert_text(token_copy_text(arena, &back), "v2,1700000000000,10001,5,1800000000000,xiaoming,小,明");
    assert_int_equal(back.user_id, 10001);
    /* A copy of the version before can be read, but is not fresh. */
    assert_true(token_copy_read(STR("10001,5,1800000000000,xiaoming,n"), &back));
    assert_int_equal(back.user_id, 10001);
    assert_false(token_copy_is_fresh(&back, 1700000000000));
    enum { HOUR_MS = 3600 * 1000, FUTURE_MS = 600 * 1000 };
    const struct token_copy aged = { .made_ms = 1700000000000 };
    assert_true(token_copy_is_fresh(&aged, aged.made_ms));
    assert_true(token_copy_is_fresh(&aged, aged.made_ms + HOUR_MS - 1));
    assert_false(token_copy_is_fresh(&aged, aged.made_ms + HOUR_MS));
    assert_true(token_copy_is_fresh(&aged, aged.made_ms - FUTURE_MS)); /* clocks differ */
    assert_false(token_copy_is_fresh(&aged, aged.made_ms - FUTURE_MS - 1));
    EACH_TEXT (value, "", "revoked", "v2,-1,10001,1,1800000000000,xiaoming,n", "v2,,10001,1,1800000000000,xiaoming,n",
               "v2,1700000000000,10001,1,1800000000000,xiaoming", "v2,1700000000000,10001,1,1800000000000,xiaoming,",
               "v2,1700000000000,10001,1,1800000000000,,n", "v2,1700000000000,0,1,1800000000000,xiaoming,n",
               "v2,1700000000000,x,1,1800000000000,xiaoming,n", "v2,1700000000000,10001,0,1800000000000,xiaoming,n",
               "v2,1700000000000,10001,8,1800000000000,xiaoming,n",
               "v2,1700000000000,10001,4294967297,1800000000000,xiaoming,n", "v2,1700000000000,10001,1,0,xiaoming,n",
               "v2,1700000000000,10001,1,-1,xiaoming,n", "v2,1700000000000,10001,1,,xiaoming,n",
               "v2,1700000000000,10001,1,1800000000000,xiaoming,\xe5\xb0")
        if (token_copy_read(str_from(value), &copy))
            fail_msg("%s is accepted", value);
}

/* Reads the form with these fields: pairs of name and value. Returns the message for the wrong field; "": none. */
#define FORM(form, ...) form_of(form, (const char *const[]){ __VA_ARGS__, NULL })
static const char *form_of(struct token_form *out, const char *const *pairs)
{
    static struct config config;
    static struct services services = { .stores.config = &config };
    struct form_errors errors;
    config_defaults(&config);
    struct exchange x = { .app = &services, .arena = arena };
    x.form.fields[x.form.count++] = (struct form_field){ STR("password"), STR("as typed") };
    for (; *pairs != NULL; pairs += 2)
        x.form.fields[x.form.count++] = (struct form_field){ str_from(pairs[0]), str_from(pairs[1]) };
    *out = (struct token_form){ 0 };
    enum status st = form_read(&x, token_fields, out, &errors);
    assert_int_equal(st, errors.count == 0 ? ST_OK : ST_INVALID);
    assert_true(errors.count <= 1);
    return errors.count == 0 ? "" : errors.items[0].text;
}

/* Expects these scopes from a valid form for seven days. */
#define assert_scopes(wanted, ...)                                                                                     \
    do {                                                                                                               \
        struct token_form form;                                                                                        \
        assert_string_equal(FORM(&form, "name", "bot", __VA_ARGS__), "");                                              \
        assert_int_equal(form.scopes, wanted);                                                                         \
        assert_int_equal(form.days, 7);                                                                                \
    } while (0)

TEST(scopes_have_names_and_come_from_boxes_from_words_or_from_both)
{
    assert_text(scopes_text(arena, SCOPE_READ | SCOPE_SEND | SCOPE_OPEN), "read send open");
    assert_text(scopes_text(arena, SCOPE_OPEN), "open");
    assert_int_equal(scopes_read(STR(" open  read open ")), SCOPE_READ | SCOPE_OPEN);
    assert_int_equal(scopes_read(STR("read admin")), 0);
    assert_int_equal(scopes_read(STR("Read")), 0);
    assert_int_equal(scopes_read(STR("read,send")), 0);
    assert_int_equal(scopes_read(STR("")), 0);
    assert_scopes(SCOPE_READ | SCOPE_SEND, "days", "7", "scopes", "send read");
    assert_scopes(SCOPE_OPEN, "days", "7", "scope_open", "1");
    assert_scopes(SCOPE_READ | SCOPE_SEND | SCOPE_OPEN, "days", "7", "scope_open", "on", "scope_read", "1", "scopes",
                  "send");
    assert_scopes(SCOPE_READ | SCOPE_SEND, "days", "７\u00a0", "scopes", "\u200bsend\u2028ｒｅａｄ\n");
}

TEST(a_token_needs_a_name_a_scope_and_an_end)
{
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
    assert_string_equal(FORM(&form, "name", "bot", "scopes", "read", "days", "366"), "");
}

TESTS(setup, arena_teardown)
