/* user/account: the rules of usernames, nicknames and passwords, and their messages. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/array.h"
#include "support/test_arena.h"
#include "user/account.h"
#include "user/common_password.h"
#include "user/username_proposal.h"

static struct services services;

/* Reads the form of /register with these typed texts. */
static enum status account_read(struct arena *a, struct account_form typed, struct account_form *out,
                                struct form_errors *e)
{
    struct exchange x = { .app = &services, .arena = a };
    const struct form_field fields[] = { { STR("username"), typed.username },
                                         { STR("nickname"), typed.nickname },
                                         { STR("password"), typed.password },
                                         { STR("next"), typed.next } };
    memcpy(x.form.fields, fields, sizeof fields);
    x.form.count = ARRAY_LEN(fields);
    *out = (struct account_form){ 0 };
    return form_read(&x, register_fields, out, e);
}

/* The message for the field when these texts are typed; "" for none. */
static struct str message_for(const char *field, const char *username, const char *nickname, struct str password)
{
    struct account_form typed = { str_from(username), str_from(nickname), password, STR(""), STR("") }, out;
    struct form_errors e;
    enum status st = account_read(arena, typed, &out, &e);
    assert_int_equal(st, e.count == 0 ? ST_OK : ST_INVALID);
    for (size_t i = 0; i < e.count; i++)
        if (strcmp(e.items[i].field, field) == 0)
            return str_from(e.items[i].text);
    return STR("");
}

static void assert_message(struct str got, const char *wanted)
{
    assert_int_equal(got.len, strlen(wanted));
    assert_memory_equal(got.ptr, wanted, got.len);
}

static void a_username_is_folded_to_lower_case(void **state)
{
    (void)state;
    struct str folded = username_fold(arena, STR("  Xiao.Ming_9- "));
    assert_true(str_equal(folded, STR("xiao.ming_9-")));
    assert_true(str_equal(username_fold(arena, STR("\u3000Ｘｉａｏ。ｍｉｎｇ＿９－")), STR("xiao.ming_9-")));
    assert_true(str_equal(username_fold(arena, STR("\xff")), STR("\xff"))); /* refused later by username_valid */
}

static void usernames_outside_the_rule_are_refused(void **state)
{
    (void)state;
    static const char *const good[] = { "ab", "0a", "a.b-c_d", "99", "abcdefghijklmnopqrstuvwxyz012345" };
    static const char *const bad[] = { "a",
                                       "-ab",
                                       ".ab",
                                       "_ab",
                                       "a b",
                                       "小明",
                                       "a@b",
                                       "a,b",
                                       "AB",
                                       "a/b",
                                       "a%b",
                                       "a\tb",
                                       "abcdefghijklmnopqrstuvwxyz0123456" };
    for (size_t i = 0; i < ARRAY_LEN(good); i++)
        assert_true(username_valid(str_from(good[i])));
    for (size_t i = 0; i < ARRAY_LEN(bad); i++)
        assert_false(username_valid(str_from(bad[i])));
    assert_false(username_valid(STR("")));
    assert_false(username_valid(STR_NONE));
}

static void a_nickname_is_required(void **state)
{
    (void)state;
    assert_message(message_for("nickname", "ab", "", STR("long enough")), "text/nickname_missing");
    assert_message(message_for("nickname", "ab", " \t ", STR("long enough")), "text/nickname_missing");
    assert_message(message_for("nickname", "ab", "a", STR("long enough")), "");
}

static void a_nickname_is_cleaned_and_a_password_is_not(void **state)
{
    (void)state;
    struct account_form typed = { STR("ab"), STR("  小\xe2\x80\xae明\n🧧 "), STR("  blanks count  "), STR(""),
                                  STR("") },
                        out;
    struct form_errors e;
    assert_int_equal(account_read(arena, typed, &out, &e), ST_OK);
    assert_int_equal(e.count, 0);
    assert_true(str_equal(out.nickname, STR("小明 🧧")));
    assert_true(str_equal(out.password, STR("  blanks count  ")));
}

static void a_nickname_has_at_most_32_graphemes(void **state)
{
    (void)state;
    static const char hans32[] = "一二三四五六七八九十一二三四五六七八九十一二三四五六七八九十一二";
    char hans33[sizeof hans32 + 3], families[32 * 18 + 1] = "", longest[2 * 32 + 32 + 1] = "";
    memcpy(hans33, hans32, sizeof hans32 - 1);
    memcpy(hans33 + sizeof hans32 - 1, "三", 4);
    for (int i = 0; i < 32; i++) {
        strcat(families, "\U0001F468\u200D\U0001F467"); /* three code points, one grapheme */
        strcat(longest, "e\u0323");                     /* two code points without a precomposed form */
    }
    assert_message(message_for("nickname", "ab", hans32, STR("long enough")), "");
    assert_message(message_for("nickname", "ab", hans33, STR("long enough")), "text/nickname_long");
    assert_message(message_for("nickname", "ab", longest, STR("long enough")), "");
    assert_message(message_for("nickname", "ab", families, STR("long enough")), "text/nickname_combined");
}

static void a_password_has_8_to_128_characters(void **state)
{
    (void)state;
    char text[130], hans[3 * 129];
    memset(text, 'x', sizeof text);
    text[0] = 'k';
    assert_message(message_for("password", "ab", "", STR("")), "text/password_missing");
    assert_message(message_for("password", "ab", "", (struct str){ text, 7 }), "text/password_short");
    assert_message(message_for("password", "ab", "", (struct str){ text, 8 }), "");
    assert_message(message_for("password", "ab", "", (struct str){ text, 128 }), "");
    assert_message(message_for("password", "ab", "", (struct str){ text, 129 }), "text/password_long");
    for (size_t i = 0; i < 129; i++)
        memcpy(hans + 3 * i, "密", 3);
    assert_message(message_for("password", "ab", "", (struct str){ hans, 3 * 7 }), "text/password_short");
    assert_message(message_for("password", "ab", "", (struct str){ hans, 3 * 128 }), "");
    assert_message(message_for("password", "ab", "", (struct str){ hans, 3 * 129 }), "text/password_long");
}

static void a_common_password_is_refused_in_any_case(void **state)
{
    (void)state;
    static const char *const common[] = { "password", "12345678", "1q2w3e4r", "PassWord1", "!qaz2wsx", "88888888",
                                          "87654321", "23456789", "34567890", "AbcdefghI", "zzzzzzzz" };
    for (size_t i = 0; i < ARRAY_LEN(common); i++)
        assert_message(message_for("password", "ab", "", str_from(common[i])), "text/password_common");
    static const char *const rare[] = { "passwordpasswore", "1q2w3e4r5t6y7u8i9o0p-", "correct-horse", "        ",
                                        "\n\n\n\n\n\n\n\n", "password\n12345678",    "888888889",     "12345689x" };
    for (size_t i = 0; i < ARRAY_LEN(rare); i++)
        assert_message(message_for("password", "ab", "", str_from(rare[i])), "");
}

/* Every word of the list is found, also the first and the last one of the table, and no word between two of them. */
static void each_of_the_10000_is_found(void **state)
{
    (void)state;
    char line[256];
    size_t count = 0;
    FILE *list = fopen(COMMON_PASSWORDS, "re");
    assert_non_null(list);
    while (fgets(line, sizeof line, list) != NULL) {
        size_t len = strcspn(line, "\n");
        if (line[0] == '#')
            continue;
        assert_true(len >= PASSWORD_CHARACTERS_MIN);
        assert_true(password_is_common((struct str){ line, len }));
        line[len] = '\x01'; /* sorts directly behind the word */
        assert_false(password_is_common((struct str){ line, len + 1 }));
        count++;
    }
    (void)fclose(list);
    assert_int_equal(count, 10000);
}

static void a_password_like_the_username_is_refused(void **state)
{
    (void)state;
    static const char *const like[] = {
        "xiaoming", "XiaoMing", "gnimoaix", "xiaoming2024", "!xiaoming-xiaoming!", "xiaomingxiaoming"
    };
    static const char *const unlike[] = { "xiaoming20241", "xiaomin-xiaomin", "my name is xiaoming" };
    for (size_t i = 0; i < ARRAY_LEN(like); i++)
        assert_message(message_for("password", " Xiaoming ", "", str_from(like[i])), "text/password_like_name");
    for (size_t i = 0; i < ARRAY_LEN(unlike); i++)
        assert_message(message_for("password", "xiaoming", "", str_from(unlike[i])), "");
    assert_false(password_is_like_username(STR("some words"), STR("")));
}

static void a_password_like_the_service_is_refused(void **state)
{
    (void)state;
    static const char *const like[] = { "HongBao1", "hongbaohongbao", "redpacket", "!redenvelope", "红包红包2024" };
    for (size_t i = 0; i < ARRAY_LEN(like); i++)
        assert_message(message_for("password", "xiaoming", "", str_from(like[i])), "text/password_common");
    assert_message(message_for("password", "xiaoming", "", STR("hongbao-demo")), "");
}

static void only_a_local_path_is_taken_as_next(void **state)
{
    (void)state;
    struct account_form typed = { STR("ab"), STR("Ming"), STR("long enough"), STR("/p/x"), STR("") }, out;
    struct form_errors e;
    assert_int_equal(account_read(arena, typed, &out, &e), ST_OK);
    assert_true(str_equal(out.next, STR("/p/x")));
    typed.next = STR("//elsewhere.example");
    assert_int_equal(account_read(arena, typed, &out, &e), ST_OK);
    assert_true(out.next.ptr != NULL && out.next.len == 0);
}

static void every_field_gets_its_own_message(void **state)
{
    (void)state;
    struct account_form typed = { STR(""), STR("\xff"), STR(""), STR(""), STR("") }, out;
    struct form_errors e;
    assert_int_equal(account_read(arena, typed, &out, &e), ST_INVALID);
    assert_int_equal(e.count, 3);
    assert_message(message_for("username", "", "", STR("long enough")), "text/username_missing");
    assert_message(message_for("username", "a b", "", STR("long enough")), "text/username_blank");
    assert_message(message_for("username", "小 明", "", STR("long enough")), "text/username_letters");
    assert_message(message_for("username", "小明@b.example", "", STR("long enough")), "text/username_address");
    assert_message(message_for("username", "-ab", "", STR("long enough")), "text/username_invalid");
    assert_message(message_for("nickname", "ab", "\xff", STR("long enough")), "text/nickname_invalid");
}

static void an_invented_username_is_valid_and_another_one_each_time(void **state)
{
    (void)state;
    struct str before = STR("");
    for (int i = 0; i < 100; i++) {
        struct str name = username_invented(arena, i % 2 == 1);
        assert_true(username_valid(name) && name.len >= (i % 2 == 1 ? 12 : 8)); /* English words are longer */
        assert_false(str_equal(name, before));
        before = name;
    }
}

static void a_username_is_made_of_what_a_username_can_have(void **state)
{
    (void)state;
    static const char *const made[][2] = { { "Wang.Wei@example.com", "wang.wei" },
                                           { "No Good", "nogood" },
                                           { "@小明Ming", "ming" },
                                           { "-_x9", "x9" },
                                           { "小明", "" },
                                           { "x", "" },
                                           { "@", "" },
                                           { "", "" } };
    static const char longest[] = "abcdefghijklmnopqrstuvwxyz0123456789";
    for (size_t i = 0; i < ARRAY_LEN(made); i++)
        assert_message(username_made_of(arena, str_from(made[i][0])), made[i][1]);
    assert_true(username_valid(username_made_of(arena, str_from(longest))));
}

static void without_memory_the_form_is_neither_accepted_nor_refused(void **state)
{
    (void)state;
    struct arena *tiny = arena_new(16, 16);
    struct account_form typed = { STR("a-name-of-some-length"), STR("小明"), STR("long enough"), STR(""), STR("") },
                        out;
    struct form_errors e;
    assert_int_equal(account_read(tiny, typed, &out, &e), ST_NO_MEMORY);
    arena_free(tiny);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_username_is_folded_to_lower_case),
        cmocka_unit_test(usernames_outside_the_rule_are_refused),
        cmocka_unit_test(a_nickname_is_required),
        cmocka_unit_test(a_nickname_is_cleaned_and_a_password_is_not),
        cmocka_unit_test(a_nickname_has_at_most_32_graphemes),
        cmocka_unit_test(a_password_has_8_to_128_characters),
        cmocka_unit_test(a_common_password_is_refused_in_any_case),
        cmocka_unit_test(each_of_the_10000_is_found),
        cmocka_unit_test(a_password_like_the_username_is_refused),
        cmocka_unit_test(a_password_like_the_service_is_refused),
        cmocka_unit_test(only_a_local_path_is_taken_as_next),
        cmocka_unit_test(every_field_gets_its_own_message),
        cmocka_unit_test(an_invented_username_is_valid_and_another_one_each_time),
        cmocka_unit_test(a_username_is_made_of_what_a_username_can_have),
        cmocka_unit_test(without_memory_the_form_is_neither_accepted_nor_refused),
    };
    return cmocka_run_group_tests(tests, arena_setup, arena_teardown);
}
