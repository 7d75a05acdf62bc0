/* pages/looked: the cookie of packets that were looked at before their opening. */
#include "pages/looked.h"
#include "support/test_arena.h"

enum { A = 10001, B = 10002, SENDER = 10003, NOW_MS = 1000 };

static struct config config;
static struct services services = { .stores.config = &config };

/* The requests of one visitor with the cookie. */
struct visitor_case {
    struct fcgi_request request;
    struct exchange x;
    char *envp[2];
};

static void visitor_make(struct visitor_case *v, uint64_t user_id, struct str cookie)
{
    config_defaults(&config);
    public_id_key_set(&services.id_key,
                      (struct key[]){ key_derive(STR("a secret of at least 32 characters"), KEY_IDS) });
    *v = (struct visitor_case){ .request = { .arena = arena } };
    v->envp[0] = arena_cstr(arena, arena_printf(arena, "HTTP_COOKIE=looked=%.*s", STR_ARG(cookie)));
    v->request.fcgx.envp = v->envp;
    v->x = (struct exchange){
        .app = &services, .fcgi = &v->request, .arena = arena, .visitor.user_id = user_id, .now_ms = NOW_MS
    };
}

/* "USER.ID.ID" of the packets, which end with 0. */
static struct str cookie_make(uint64_t user_id, const uint64_t *ids)
{
    struct str text = arena_printf(arena, "%u", (unsigned)user_id);
    for (; *ids != 0; ids++) {
        struct str id = public_id_text(arena, &services.id_key, *ids);
        text = arena_printf(arena, "%.*s.%.*s", STR_ARG(text), STR_ARG(id));
    }
    return text;
}

static void assert_read(uint64_t user_id, struct str cookie, const uint64_t *ids)
{
    struct visitor_case v;
    struct inbox_looked got;
    visitor_make(&v, user_id, cookie);
    looked_read(&v.x, &got);
    for (size_t i = 0; i < got.count; i++)
        assert_int_equal(got.ids[i], ids[i]);
    assert_int_equal(ids[got.count], 0);
}

/* The value of the cookie in the answer after a look at the packet; STR_NONE: none. */
static struct str remembered(uint64_t user_id, struct str cookie, uint64_t id)
{
    const struct packet_view view = {
        .packet = { .id = id, .sender_id = SENDER, .kind = PACKET_LUCKY, .state = PACKET_OPEN, .opens_ms = NOW_MS + 1 },
        .now_ms = NOW_MS
    };
    struct visitor_case v;
    visitor_make(&v, user_id, cookie);
    looked_remember(&v.x, &view);
    struct str header = arena_str(arena, buf_view(&v.x.headers)), rest;
    buf_free(&v.x.headers);
    if (!str_skip_prefix(&header, STR("Set-Cookie: looked=")))
        return STR_NONE;
    return str_cut(header, ';', &rest);
}

#define IDS(...) ((const uint64_t[]){ __VA_ARGS__, 0 })
static const uint64_t NONE[] = { 0 };

TEST(a_cookie_has_four_packets_of_one_user_and_nothing_else)
{
    struct visitor_case v;
    visitor_make(&v, A, STR("")); /* the key */
    assert_read(A, cookie_make(A, IDS(1, 2)), IDS(1, 2));
    assert_read(A, cookie_make(A, IDS(1, 2, 3, 4, 5, 6)), IDS(1, 2, 3, 4));
    assert_read(A, cookie_make(A, IDS(7, 7)), IDS(7, 7)); /* nobody makes it, and it asks for one row */
    assert_read(B, cookie_make(A, IDS(1, 2)), NONE);
    assert_read(0, cookie_make(0, IDS(1, 2)), NONE);
    assert_read(0, cookie_make(A, IDS(1, 2)), NONE);
    struct inbox_looked got;
    visitor_make(&v, A, cookie_make(A, IDS(1)));
    v.x.visitor.scopes = 1;
    looked_read(&v.x, &got);
    assert_int_equal(got.count, 0);
    static const char *const texts[] = {
        "", ".", "....", "10001", "10001.", "10001........", "x.y", "-1.1", "10001.1.2"
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        assert_read(A, str_from(texts[i]), NONE);
    struct str good = public_id_text(arena, &services.id_key, 5);
    assert_read(A, arena_printf(arena, "10001...x.%.*sx.%.*s..", STR_ARG(good), STR_ARG(good)), IDS(5));
}

TEST(the_latest_packet_of_the_user_who_looked_last_comes_first)
{
    assert_true(str_equal(remembered(A, STR(""), 1), cookie_make(A, IDS(1))));
    assert_true(str_equal(remembered(A, cookie_make(A, IDS(1)), 2), cookie_make(A, IDS(2, 1))));
    assert_true(str_equal(remembered(A, cookie_make(A, IDS(4, 3, 2, 1)), 5), cookie_make(A, IDS(5, 4, 3, 2))));
    assert_null(remembered(A, cookie_make(A, IDS(4, 3, 2, 1)), 1).ptr); /* it is there */
    assert_true(str_equal(remembered(B, cookie_make(A, IDS(1, 2)), 3), cookie_make(B, IDS(3))));
    assert_null(remembered(0, STR(""), 3).ptr);
    assert_null(remembered(SENDER, STR(""), 3).ptr);
}

TESTS(arena_setup, arena_teardown)
