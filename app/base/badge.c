#include "base/badge.h"

#include <string.h>

#include "base/utf8.h"

#define MARK "\xf3\xa0\x80\x81" /* U+E0001 */

enum { TAG_BYTES = 4 }; /* of each tag character: f3 a0 80 80 + the low six bits, or 81 with the seventh */

static bool is_of_face(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-' || c == '@';
}

struct face face_from(struct str word)
{
    struct face face = FACE_NONE;
    if (word.len > FACE_MAX)
        return face;
    for (size_t i = 0; i < word.len; i++)
        if (!is_of_face(word.ptr[i]))
            return face;
    face.len = (uint8_t)word.len;
    if (word.len > 0)
        memcpy(face.word, word.ptr, word.len);
    return face;
}

struct str face_word(const struct face *face)
{
    return (struct str){ face->word, face->len };
}

void badge_append(struct buf *out, struct str nickname, const struct face *face)
{
    buf_str(out, nickname);
    if (face->len == 0 || utf8_codepoints(nickname) + 1 + face->len > BADGE_CODEPOINTS_MAX)
        return;
    buf_cstr(out, MARK);
    for (size_t i = 0; i < face->len; i++) {
        const unsigned char c = (unsigned char)face->word[i];
        buf_cstr(out, c < 0x40 ? "\xf3\xa0\x80" : "\xf3\xa0\x81");
        buf_char(out, (char)(0x80 | (c & 0x3f)));
    }
}

struct str badge_text(struct arena *a, struct str nickname, const struct face *face)
{
    if (face->len == 0)
        return nickname;
    struct buf b = BUF_EMPTY;
    badge_append(&b, nickname, face);
    struct str text = b.failed ? STR_NONE : arena_str(a, buf_view(&b));
    buf_free(&b);
    return text;
}

/* The ASCII character of a tag character; 0: it is none. */
static char tag_read(const char *at)
{
    const unsigned char *tag = (const unsigned char *)at;
    if (memcmp(at, MARK, 2) != 0 || (tag[2] & 0xfe) != 0x80 || (tag[3] & 0xc0) != 0x80)
        return 0;
    return (char)((tag[2] & 1) << 6 | (tag[3] & 0x3f));
}

static struct face tags_read(struct str tags)
{
    char word[FACE_MAX];
    if (tags.len % TAG_BYTES != 0 || tags.len / TAG_BYTES > FACE_MAX)
        return FACE_NONE;
    for (size_t i = 0; i < tags.len / TAG_BYTES; i++)
        word[i] = tag_read(tags.ptr + TAG_BYTES * i);
    return face_from((struct str){ word, tags.len / TAG_BYTES });
}

struct str badge_parse(struct str badge, struct face *face)
{
    size_t mark = badge.len == 0 ? 0 : str_find(badge, STR(MARK));
    struct face read = mark == badge.len ? FACE_NONE : tags_read(str_skip(badge, mark + TAG_BYTES));
    if (face != NULL)
        *face = read;
    return read.len == 0 ? badge : str_slice(badge, 0, mark);
}
