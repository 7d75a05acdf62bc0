/* What a login by an issuer is for (app/sso/journey.h). */
#include <string.h>

#include "oidc/attempt.h"
#include "sso/journey.h"
#include "support/test.h"
#include "support/test_arena.h"

TEST(a_journey_comes_back_as_it_was_written)
{
    static const struct journey all[] = { { JOURNEY_LOGIN, 0, { "", 0 } },
                                          { JOURNEY_LINK, 10001, { "/account/oidc", 13 } },
                                          { JOURNEY_AGAIN, UINT64_MAX, { "/p/x?a=1:2", 10 } } };
    EACH (j, all) {
        struct journey back = journey_read(journey_write(arena, j));
        assert_int_equal(back.kind, j->kind);
        assert_true(back.user_id == j->user_id && str_equal(back.next, j->next));
    }
}

TEST(a_next_that_does_not_fit_is_left_out)
{
    char path[OIDC_CARRIED_MAX];
    memset(path, 'x', sizeof path);
    const struct journey j = { JOURNEY_LINK, 7, { path, sizeof path } };
    struct str text = journey_write(arena, &j);
    assert_true(text.len <= OIDC_CARRIED_MAX);
    struct journey back = journey_read(text);
    assert_int_equal(back.kind, JOURNEY_LINK);
    assert_true(back.user_id == 7 && back.next.len == 0);
}

TEST(anything_else_is_a_plain_login)
{
    EACH_TEXT (text, "", ":", "l", "l1", "l:", "lx:/wallet", "l-1:/", "l18446744073709551616:/") {
        struct journey j = journey_read(str_from(text));
        assert_int_equal(j.kind, JOURNEY_LOGIN);
        assert_true(j.user_id == 0 && j.next.len == 0);
    }
    assert_int_equal(journey_read(STR_NONE).kind, JOURNEY_LOGIN);
}

TESTS(arena_setup, arena_teardown)
