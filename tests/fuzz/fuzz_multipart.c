/* The content type and the body of an upload: it is refused, or the part is a slice of the body between two
 * delimiters. */
#include <string.h>

#include "fuzz.h"
#include "web/multipart.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str body, type = str_cut(fuzz_text(data, size), '\n', &body), content;
    body = str_or_empty(body);
    enum status st = multipart_find(type, body, "picture", &content);
    assert(st == ST_OK || st == ST_NOT_FOUND || st == ST_INVALID);
    if (st != ST_INVALID)
        assert(multipart_is(type) && str_starts(body, STR("--")));
    if (st == ST_OK) {
        assert(content.ptr >= body.ptr && content.ptr + content.len <= body.ptr + body.len);
        assert(content.ptr - body.ptr >= 4 && memcmp(content.ptr - 4, "\r\n\r\n", 4) == 0);
        assert(memcmp(content.ptr + content.len, "\r\n--", 4) == 0);
    }
    return 0;
}
