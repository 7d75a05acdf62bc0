/* commands/user_word: the texts that an operator may paste to find a user. */
#include "base/public_id.h"
#include "commands/user_word.h"
#include "support/assert_text.h"
#include "support/test_arena.h"

#define PACKET_ID 1234567890123456789ULL

static char public_id[PUBLIC_ID_TEXT_MAX];

static int setup(void **state)
{
    struct public_id_key key;
    public_id_key_set(&key, (struct key[]){ key_derive(STR("a secret of at least thirty-two characters"), KEY_IDS) });
    public_id_encode(&key, PACKET_ID, public_id);
    return arena_setup(state);
}

static struct user_word word(const char *text)
{
    struct user_word w;
    const char *why;
    assert_int_equal(user_word_read(arena, str_from(text), &w, &why), ST_OK);
    assert_null(why);
    return w;
}

TEST(an_id_is_read_as_it_stands_in_commands_logs_and_chats)
{
    EACH_TEXT (text, "~10007", "10007", " 10007\n", "～１０００７", "user_id=10007", "id=10007")
        assert_int_equal(word(text).user_id, 10007);
    assert_int_equal(word("~10007").packet_count, 0);
    assert_int_equal(word("packet=1234567890123456789").packet_ids[0], PACKET_ID);
    EACH_TEXT (text, "0", "~", "~0", "-1", "1.5", "~99999999999999999999999", "10007x", "a b=7")
        assert_int_equal(word(text).user_id, 0);
}

TEST(a_packet_is_read_out_of_whatever_stands_around_its_id)
{
    static const struct {
        const char *before, *after;
        bool twice;
    } around[] = { { "", "", false },
                   { "https://hongbao.example/p/", "", false },
                   { "http://127.0.0.1:8080/p/", "/screen?key=0123456789abcdef0123456789abcdef#x", false },
                   { "快来抢红包：/p/", "。手慢无🧧", false },
                   { "/p/", ", /p/", true },
                   { "\"", "'", false },
                   { "/P/", "/", false } };
    char text[512];
    EACH (row, around) {
        for (int capitals = 0; capitals < 2; capitals++) {
            char id[PUBLIC_ID_TEXT_MAX];
            memcpy(id, public_id, sizeof id);
            for (char *c = id; capitals == 1 && *c != '\0'; c++)
                *c = (char)(*c >= 'a' && *c <= 'z' ? *c - 'a' + 'A' : *c);
            (void)snprintf(text, sizeof text, "%s%s%s%s", row->before, id, row->after, row->twice ? id : "");
            const struct user_word w = word(text);
            assert_ints({ w.packet_count, 1 }, { w.packet_ids[0], PACKET_ID }, { w.user_id, 0 });
        }
    }
    (void)snprintf(text, sizeof text, "%sx", public_id);
    assert_int_equal(word(text).packet_count, 0);
}

TEST(names_are_what_a_user_may_have_and_any_other_bytes_are_refused_in_a_sentence)
{
    char longer[66] = { 0 };
    memset(longer, 'a', sizeof longer - 1);
    assert_text(word(" @Ａlice ").username, "alice");
    assert_text(word("👨‍👩‍👧").nickname, "👨‍👩‍👧");
    assert_text(word("  小  明 ").nickname, "小 明");
    assert_text(word("' OR 1=1; -- \\").nickname, "' OR 1=1; -- \\");
    assert_null(word("  小  明 ").username.ptr);
    assert_null(word("' OR 1=1; -- \\").username.ptr);
    assert_true(word(longer).username.ptr == NULL && word(longer).nickname.ptr == NULL);
    static const struct {
        const char *text, *why;
    } cases[] = { { "", "empty" },         { " \t\n", "empty" },        { "\xe2\x80\x8b", "empty" },
                  { "Andr\xe9", "UTF-8" }, { "\xf0\x9f\x98", "UTF-8" }, { "\xc0\x80", "UTF-8" } };
    static char longest[USER_WORD_BYTES_MAX + 2];
    struct user_word w;
    const char *why;
    EACH (row, cases) {
        assert_int_equal(user_word_read(arena, str_from(row->text), &w, &why), ST_INVALID);
        assert_non_null(strstr(why, row->why));
    }
    memset(longest, '7', sizeof longest - 1);
    assert_int_equal(user_word_read(arena, str_from(longest), &w, &why), ST_INVALID);
    assert_non_null(strstr(why, "too long"));
    (void)word(longest + 1);
    for (int i = 0; i < 20000; i++) {
        unsigned char bytes[64];
        random_bytes(bytes, sizeof bytes);
        for (size_t k = 1; i % 2 == 0 && k < sizeof bytes; k++)
            bytes[k] = (unsigned char)(' ' + bytes[k] % 95);
        const struct str text = { (const char *)bytes + 1, bytes[0] % sizeof bytes };
        enum status st = user_word_read(arena, text, &w, &why);
        assert_true(st == ST_OK ? why == NULL : st == ST_INVALID && why != NULL);
        arena_reset(arena);
    }
}

TESTS(setup, arena_teardown)
