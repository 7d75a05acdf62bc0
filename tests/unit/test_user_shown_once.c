/* user/shown_once: a text that is sealed for a page can only be opened with its session, for its page, in its time. */
#include "account/shown_once.h"
#include "support/test_arena.h"

#define KEY_OF(secret) ((struct key[]){ key_derive(STR(secret), KEY_SHOWN) })
#define KEY            KEY_OF("a secret of at least 32 characters")
#define SESSION        STR("hb:session:1")
#define TEXT           STR("0-7K3M-9QXT-2B8D-C4RZ\n1-7K3M-9QXT-2B8D-C4RZ")

static const int64_t NOW_MS = 1795000000000, END_MS = 1795000000000 + SHOWN_ONCE_S * 1000;

static struct str sealed(struct str text)
{
    struct str made = shown_seal(arena, KEY, SHOWN_CODES, SESSION, NOW_MS, text);
    assert_non_null(made.ptr);
    return made;
}

TEST(what_is_sealed_is_opened_until_its_end_also_an_empty_and_the_longest_text)
{
    struct str made = sealed(TEXT);
    assert_true(str_equal(shown_open(arena, KEY, SHOWN_CODES, SESSION, NOW_MS, made), TEXT));
    assert_true(str_equal(shown_open(arena, KEY, SHOWN_CODES, SESSION, END_MS - 1, made), TEXT));
    assert_null(shown_open(arena, KEY, SHOWN_CODES, SESSION, END_MS, made).ptr);
    assert_true(str_find(made, STR("7K3M")) == made.len);
    assert_false(str_equal(made, sealed(TEXT)));
    char text[SHOWN_BYTES_MAX];
    memset(text, 'x', sizeof text);
    struct str longest = { text, sizeof text }, empty = sealed(STR(""));
    struct str opened = shown_open(arena, KEY, SHOWN_CODES, SESSION, NOW_MS, empty);
    assert_non_null(opened.ptr);
    assert_int_equal(opened.len, 0);
    assert_true(str_equal(shown_open(arena, KEY, SHOWN_CODES, SESSION, NOW_MS, sealed(longest)), longest));
}

TEST(another_session_page_or_site_and_a_changed_or_cut_text_open_nothing)
{
    struct str made = sealed(TEXT);
    assert_null(shown_open(arena, KEY, SHOWN_CODES, STR("hb:session:2"), NOW_MS, made).ptr);
    assert_null(shown_open(arena, KEY, SHOWN_CODES, STR(""), NOW_MS, made).ptr);
    assert_null(shown_open(arena, KEY, SHOWN_TOKEN, SESSION, NOW_MS, made).ptr);
    assert_null(shown_open(arena, KEY, SHOWN_REGISTERED, SESSION, NOW_MS, made).ptr);
    assert_null(shown_open(arena, KEY_OF("another secret of 32 characters!"), SHOWN_CODES, SESSION, NOW_MS, made).ptr);
    char text[1024];
    made = sealed(STR("text"));
    assert_true(made.len < sizeof text);
    for (size_t i = 0; i < made.len; i++) {
        memcpy(text, made.ptr, made.len);
        text[i] = text[i] == 'A' ? 'B' : 'A';
        assert_null(shown_open(arena, KEY, SHOWN_CODES, SESSION, NOW_MS, (struct str){ text, made.len }).ptr);
        assert_null(shown_open(arena, KEY, SHOWN_CODES, SESSION, NOW_MS, (struct str){ made.ptr, i }).ptr);
    }
    memset(text, 'A', sizeof text);
    assert_null(shown_open(arena, KEY, SHOWN_CODES, SESSION, NOW_MS, (struct str){ text, sizeof text }).ptr);
    assert_null(shown_open(arena, KEY, SHOWN_CODES, SESSION, NOW_MS, STR("no base64!")).ptr);
}

TESTS(arena_setup, arena_teardown)
