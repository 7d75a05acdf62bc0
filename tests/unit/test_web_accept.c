/* web/accept: which of two types the header Accept prefers. tests/e2e/bad_input.test.js reads these lists, too: nginx
 * has the same rule for its own errors. */
#include "support/test.h"
#include "web/accept.h"

static void assert_preferred(const char *const *accepts, size_t count, const char *type, const char *other, bool wanted)
{
    for (size_t i = 0; i < count; i++)
        if (accept_prefers(str_from(accepts[i]), str_from(type), str_from(other)) != wanted)
            fail_msg("\"%s\": %s %s %s", accepts[i], type, wanted ? "is not before" : "is before", other);
}

TEST(json_is_preferred_by_its_weight_and_then_by_its_place)
{
    static const char *const accepts[] = {
        "application/json",
        "APPLICATION/JSON",
        "application/json, text/plain, */*",
        "application/problem+json",
        "Application/Problem+JSON , text/html",
        "application/json;charset=utf-8",
        "application/json; charset=utf-8; q=0.5",
        "application/json;q=0.001",
        "application/json ; Q=1.000 , text/html",
        "application/json,text/html",
        "text/html;q=0.8, application/json;q=0.85",
        "text/html;q=0.85, application/json;q=0.9",
        "text/html;q=0.9, application/json",
        "text/html;q=0, application/json;q=0.1",
        "text/html;q=0, */*",
        "text/html;q=x, application/json;q=0.5",
        "*/*;q=0.5, application/json;q=0.5",
        "*/*, application/json",
        "application/*",
        "text/*;q=0.3, application/*;q=0.4",
        "*/*;q=0.3, text/html;q=0.2",
        ",,, application/json",
    };
    assert_preferred(accepts, ARRAY_LEN(accepts), MEDIA_JSON, MEDIA_HTML, true);
    assert_preferred(accepts, ARRAY_LEN(accepts), MEDIA_HTML, MEDIA_JSON, false);
}

TEST(html_is_the_answer_to_everybody_else)
{
    static const char *const accepts[] = {
        "",
        "*/*",
        "text/html",
        "TEXT/HTML, application/json",
        "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8",
        "text/html, application/json;q=0.9, */*;q=0.8",
        "application/json;q=0",
        "application/json;q=0.000",
        "application/json;q=0, */*",
        "application/json;q=2",
        "application/json;q=",
        "application/json;q=0.1234",
        "application/json;q=0.5, text/html",
        "text/html;q=0.50, application/json;q=0.5, x/application/json;q=1",
        "application/json;q=0.85, text/html;q=0.9",
        "application/json;q=0.8, text/html;q=0.85",
        "application/json;q=0.5, */*",
        "application/jsonx",
        "application/json5, text/html",
        "application/xml",
        "image/png",
        "text/*;q=0.5, application/*;q=0.4",
        "*",
        "/",
        "application/",
        ";;;=,",
    };
    assert_preferred(accepts, ARRAY_LEN(accepts), MEDIA_JSON, MEDIA_HTML, false);
    assert_false(accept_prefers(STR_NONE, STR(MEDIA_JSON), STR(MEDIA_HTML)));
}

TESTS(NULL, NULL)
