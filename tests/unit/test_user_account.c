/* user/account: the rules of usernames, nicknames and passwords, and their messages. */
#include "account/username_proposal.h"
#include "support/assert_text.h"
#include "support/test_arena.h"
#include "user/account.h"
#include "user/common_password.h"

static const struct config config = { .registration = "open" };
static struct services services = { .stores.config = &config };

/* The typed texts, in the order of the form of /register, and the results. */
static struct account_form form;
static struct form_errors errors;

static enum status account_read(struct arena *a, struct str username, struct str nickname, struct str password,
                                struct str next)
{
    struct exchange x = { .app = &services, .arena = a };
    const struct form_field fields[] = { { STR("username"), username },
                                         { STR("nickname"), nickname },
                                         { STR("password"), password },
                                         { STR("next"), next } };
    memcpy(x.form.fields, fields, sizeof fields);
    x.form.count = ARRAY_LEN(fields);
    form = (struct account_form){ 0 };
    return form_read(&x, register_fields, &form, &errors);
}

/* Expects this message for the field when these texts are typed; "": none. */
static void assert_message(const char *field, struct str username, struct str nickname, struct str password,
                           const char *wanted)
{
    const char *got = "";
    enum status st = account_read(arena, username, nickname, password, STR(""));
    assert_int_equal(st, errors.count == 0 ? ST_OK : ST_INVALID);
    for (size_t i = 0; i < errors.count; i++)
        if (strcmp(errors.items[i].field, field) == 0)
            got = errors.items[i].text;
    if (strcmp(got, wanted) != 0)
        fail_msg("\"%s\" instead of \"%s\" for %.*s, %.*s, %.*s", got, wanted, STR_ARG(username), STR_ARG(nickname),
                 STR_ARG(password));
}

static void assert_username(const char *typed, const char *message)
{
    assert_message("username", str_from(typed), STR(""), STR("long enough"), message);
}

static void assert_nickname(const char *typed, const char *message)
{
    assert_message("nickname", STR("ab"), str_from(typed), STR("long enough"), message);
}

static void assert_password(const char *username, struct str typed, const char *message)
{
    assert_message("password", str_from(username), STR(""), typed, message);
}

static void assert_passwords(const char *username, const char *const *typed, size_t count, const char *message)
{
    for (size_t i = 0; i < count; i++)
        assert_password(username, str_from(typed[i]), message);
}

TEST(a_username_is_folded_to_lower_case_and_refused_outside_the_rule)
{
    assert_text(username_fold(arena, STR("  Xiao.Ming_9- ")), "xiao.ming_9-");
    assert_text(username_fold(arena, STR("\u3000Ｘｉａｏ。ｍｉｎｇ＿９－")), "xiao.ming_9-");
    assert_text(username_fold(arena, STR("\xff")), "\xff"); /* refused later by username_valid */
    EACH_TEXT (text, "ab", "0a", "a.b-c_d", "99", "abcdefghijklmnopqrstuvwxyz012345")
        assert_of(text, username_valid(str_from(text)));
    EACH_TEXT (text, "", "a", "-ab", ".ab", "_ab", "a b", "小明", "a@b", "a,b", "AB", "a/b", "a%b", "a\tb")
        assert_of(text, !username_valid(str_from(text)));
    assert_false(username_valid(STR("abcdefghijklmnopqrstuvwxyz0123456")));
    assert_false(username_valid(STR_NONE));
}

TEST(a_nickname_is_required_cleaned_and_has_at_most_32_graphemes)
{
    assert_nickname("", "text/nickname_missing");
    assert_nickname(" \t ", "text/nickname_missing");
    assert_nickname("a", "");
    assert_int_equal(
        account_read(arena, STR("ab"), STR("  小\xe2\x80\xae明\n🧧 "), STR("  blanks count  "), STR("")), ST_OK);
    assert_text(form.nickname, "小明 🧧");
    assert_text(form.password, "  blanks count  ");
    static const char hans32[] = "一二三四五六七八九十一二三四五六七八九十一二三四五六七八九十一二";
    char hans33[sizeof hans32 + 3], families[32 * 18 + 1] = "", longest[2 * 32 + 32 + 1] = "";
    memcpy(hans33, hans32, sizeof hans32 - 1);
    memcpy(hans33 + sizeof hans32 - 1, "三", 4);
    for (int i = 0; i < 32; i++) {
        strcat(families, "\U0001F468\u200D\U0001F467"); /* three code points, one grapheme */
        strcat(longest, "e\u0323");                     /* two code points without a precomposed form */
    }
    assert_nickname(hans32, "");
    assert_nickname(hans33, "text/nickname_long");
    assert_nickname(longest, "");
    assert_nickname(families, "text/nickname_combined");
}

TEST(a_password_that_is_common_or_like_the_username_or_the_service_is_refused)
{
    static const char *const common[] = { "password", "12345678", "1q2w3e4r", "PassWord1", "!qaz2wsx", "88888888",
                                          "87654321", "23456789", "34567890", "AbcdefghI", "zzzzzzzz" };
    assert_passwords("ab", common, ARRAY_LEN(common), "text/password_common");
    static const char *const rare[] = { "passwordpasswore", "1q2w3e4r5t6y7u8i9o0p-", "correct-horse", "        ",
                                        "\n\n\n\n\n\n\n\n", "password\n12345678",    "888888889",     "12345689x",
                                        "/0123456" };
    assert_passwords("ab", rare, ARRAY_LEN(rare), "");
    static const char *const like_name[] = {
        "xiaoming", "XiaoMing", "gnimoaix", "xiaoming2024", "!xiaoming-xiaoming!", "xiaomingxiaoming"
    };
    static const char *const unlike_name[] = { "xiaoming20241", "xiaomin-xiaomin", "my name is xiaoming" };
    assert_passwords(" Xiaoming ", like_name, ARRAY_LEN(like_name), "text/password_like_name");
    assert_passwords("xiaoming", unlike_name, ARRAY_LEN(unlike_name), "");
    assert_false(password_is_like_username(STR("some words"), STR("")));
    static const char *const like_service[] = { "HongBao1", "hongbaohongbao", "redpacket", "!redenvelope",
                                                "红包红包2024" };
    assert_passwords("xiaoming", like_service, ARRAY_LEN(like_service), "text/password_common");
    assert_password("xiaoming", STR("hongbao-demo"), "");
}

/* Every word of the list is found, also the first and the last of the table, and no word in between. */
TEST(a_password_has_8_to_128_characters_and_each_of_the_10000_common_ones_is_found)
{
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
    char text[130], hans[3 * 129];
    memset(text, 'x', sizeof text);
    text[0] = 'k';
    assert_password("ab", STR(""), "text/password_missing");
    assert_password("ab", (struct str){ text, 7 }, "text/password_short");
    assert_password("ab", (struct str){ text, 8 }, "");
    assert_password("ab", (struct str){ text, 128 }, "");
    assert_password("ab", (struct str){ text, 129 }, "text/password_long");
    for (size_t i = 0; i < 129; i++)
        memcpy(hans + 3 * i, "密", 3);
    assert_password("ab", (struct str){ hans, 3 * 7 }, "text/password_short");
    assert_password("ab", (struct str){ hans, 3 * 128 }, "");
    assert_password("ab", (struct str){ hans, 3 * 129 }, "text/password_long");
}

TEST(every_field_gets_its_own_message_only_a_local_path_is_next_and_without_memory_none)
{
    assert_int_equal(account_read(arena, STR("ab"), STR("Ming"), STR("long enough"), STR("/p/x")), ST_OK);
    assert_text(form.next, "/p/x");
    assert_int_equal(account_read(arena, STR("ab"), STR("Ming"), STR("long enough"), STR("//elsewhere.example")),
                     ST_OK);
    assert_true(form.next.ptr != NULL && form.next.len == 0);
    assert_int_equal(account_read(arena, STR(""), STR("\xff"), STR(""), STR("")), ST_INVALID);
    assert_int_equal(errors.count, 3);
    assert_username("", "text/username_missing");
    assert_username("a b", "text/username_blank");
    assert_username("小 明", "text/username_letters");
    assert_username("小明@b.example", "text/username_address");
    assert_username("-ab", "text/username_invalid");
    assert_nickname("\xff", "text/nickname_invalid");
    struct arena *tiny = arena_new(16, 16);
    assert_int_equal(account_read(tiny, STR("a-name-of-some-length"), STR("小明"), STR("long enough"), STR("")),
                     ST_NO_MEMORY);
    arena_free(tiny);
}

TEST(an_invented_username_is_another_one_each_time_and_others_are_made_of_what_one_can_have)
{
    struct str before = STR("");
    for (int i = 0; i < 100; i++) {
        struct str name = username_invented(arena, i % 2 == 1);
        assert_true(username_valid(name) && name.len >= (i % 2 == 1 ? 12 : 8)); /* English words are longer */
        assert_false(str_equal(name, before));
        before = name;
    }
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
        assert_text(username_made_of(arena, str_from(made[i][0])), made[i][1]);
    assert_true(username_valid(username_made_of(arena, str_from(longest))));
}

TESTS(arena_setup, arena_teardown)
