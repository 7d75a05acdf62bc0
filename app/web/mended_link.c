#include "web/mended_link.h"

#include "base/buf.h"

enum { MENDED_BYTES_MAX = 256 };

static bool is_alphanumeric(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool has_alphanumeric(struct str s)
{
    for (size_t i = 0; i < s.len; i++)
        if (is_alphanumeric(s.ptr[i]))
            return true;
    return false;
}

/* Each function below takes one part of an address off the front of *path and writes its right form to out. False: the
 * path does not have this part. */

static bool slash_take(struct str *path, struct buf *out)
{
    size_t count = 0;
    while (count < path->len && path->ptr[count] == '/')
        count++;
    *path = str_skip(*path, count);
    buf_char(out, '/');
    return count > 0;
}

static bool id_take(struct str *path, const struct public_id_key *key, struct buf *out)
{
    char digits[PUBLIC_ID_LEN], text[PUBLIC_ID_TEXT_MAX];
    size_t count = 0;
    uint64_t id;
    for (; count < PUBLIC_ID_LEN && path->len > 0 && path->ptr[0] != '/'; *path = str_skip(*path, 1))
        if (is_alphanumeric(path->ptr[0]))
            digits[count++] = path->ptr[0];
    if (!public_id_decode(key, (struct str){ digits, count }, &id))
        return false;
    public_id_encode(key, id, text);
    buf_cstr(out, text);
    return true;
}

static bool key_take(struct str *path, struct buf *out)
{
    size_t len = 0;
    while (len < path->len && str_is_word(str_slice(*path, len, len + 1)))
        len++;
    struct str key = str_slice(*path, 0, len);
    *path = str_skip(*path, len);
    buf_str(out, key);
    return request_key_valid(key);
}

static bool word_take(struct str *path, struct str word, struct buf *out)
{
    if (path->len < word.len || !str_equal_fold(str_slice(*path, 0, word.len), word))
        return false;
    *path = str_skip(*path, word.len);
    buf_str(out, word);
    return true;
}

/* Skips an addition behind a segment that is not the last one. */
static bool addition_take(struct str *path)
{
    size_t len = str_index(*path, '/');
    bool added = !has_alphanumeric(str_slice(*path, 0, len));
    *path = str_skip(*path, len);
    return added;
}

/* Whether the rest of a path may be an addition to a link. */
static bool is_addition(struct str rest, bool behind_id)
{
    if (rest.len == 0)
        return true;
    if (is_alphanumeric(rest.ptr[0]))
        return false;
    return (behind_id && rest.ptr[0] != '/') || !has_alphanumeric(rest);
}

/* Writes the path of this route, if path begins with it. False: path begins otherwise, or goes on with more than an
 * addition. */
static bool route_take(const struct route *route, const struct public_id_key *id_key, struct str path, struct buf *out)
{
    struct str pattern = str_skip(str_from(route->path), 1); /* behind the first slash */
    bool has_id = false;
    while (pattern.ptr != NULL) {
        struct str segment = str_cut(pattern, '/', &pattern);
        bool is_id = str_equal(segment, STR(":id")), is_key = str_equal(segment, STR(":key"));
        has_id = has_id || is_id;
        if (!slash_take(&path, out) || !(is_id    ? id_take(&path, id_key, out)
                                         : is_key ? key_take(&path, out)
                                                  : word_take(&path, segment, out)))
            return false;
        if (pattern.ptr != NULL && !addition_take(&path))
            return false;
    }
    return is_addition(path, has_id);
}

struct str mended_link(const struct router *router, struct arena *a, struct str path)
{
    char best[MENDED_BYTES_MAX], text[MENDED_BYTES_MAX];
    struct buf longest = { .ptr = best, .cap = sizeof best, .limit = sizeof best };
    struct buf out = { .ptr = text, .cap = sizeof text, .limit = sizeof text };
    struct str decoded = form_decode_loosely(a, path);
    if (decoded.ptr == NULL)
        return STR_NONE;
    for (size_t i = 0; i < router->count; i++) {
        buf_reset(&out);
        if (!route_take(&router->routes[i], &router->app->id_key, decoded, &out) || out.failed ||
            out.len <= longest.len)
            continue;
        buf_reset(&longest);
        buf_str(&longest, buf_view(&out));
    }
    struct str meant = buf_view(&longest);
    return meant.len == 0 || str_equal(meant, path) ? STR_NONE : arena_str(a, meant);
}

/* Takes the next non-empty segment. Empty: there is none. */
static struct str segment_take(struct str *path)
{
    while (path->len > 0 && path->ptr[0] == '/')
        *path = str_skip(*path, 1);
    return str_cut(*path, '/', path);
}

bool mended_link_slashes(struct str path, struct str meant)
{
    while (path.len > 0 || meant.len > 0)
        if (!str_equal(segment_take(&path), segment_take(&meant)))
            return false;
    return true;
}

struct str mended_link_value(struct str typed)
{
    while (typed.len > 0 && !is_alphanumeric(typed.ptr[typed.len - 1]))
        typed.len--;
    return typed;
}
