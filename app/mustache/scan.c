/* Finds the tags of a template. A tag is the opening delimiter, at most one sigil, a name with blanks around it, and
 * the closing delimiter. {{{name}}} has one more brace on each side, a comment contains any text except the closing
 * delimiter, and {{=<% %>=}} changes the delimiters of the tags after it. */
#include <string.h>

#include "mustache/mustache_internal.h"

static bool blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static struct str trim(struct str s)
{
    while (s.len > 0 && blank(s.ptr[0]))
        s = str_slice(s, 1, s.len);
    while (s.len > 0 && blank(s.ptr[s.len - 1]))
        s.len--;
    return s;
}

static bool has_blank(struct str s)
{
    for (size_t i = 0; i < s.len; i++)
        if (blank(s.ptr[i]))
            return true;
    return false;
}

/* The offset of the first needle at or after from; text.len: there is none. */
static size_t find(struct str text, size_t from, struct str needle)
{
    return from + str_find(str_skip(text, from), needle);
}

void scan_init(struct scanner *s, struct str text)
{
    *s = (struct scanner){ .text = text.ptr != NULL ? text : STR(""), .open = STR("{{"), .close = STR("}}") };
}

static enum status scan_problem(struct scanner *s, size_t at, const char *problem)
{
    s->problem = problem;
    s->problem_at = at;
    return ST_INVALID;
}

/* The name of the tag is what stands between the equals signs: "<% %>". */
static enum status scan_delimiters(struct scanner *s, const struct tag *tag)
{
    struct str inside = trim(tag->name);
    size_t gap = 0;

    while (gap < inside.len && !blank(inside.ptr[gap]))
        gap++;
    struct str open = str_slice(inside, 0, gap);
    struct str close = trim(str_slice(inside, gap, inside.len));
    if (open.len == 0 || close.len == 0 || has_blank(close))
        return scan_problem(s, tag->start, "a set delimiter tag holds two delimiters with a blank between them");
    if (memchr(open.ptr, '=', open.len) != NULL || memchr(close.ptr, '=', close.len) != NULL)
        return scan_problem(s, tag->start, "a delimiter must not hold an equals sign");
    s->open = open;
    s->close = close;
    return ST_OK;
}

/* False: a part of a dotted name is empty. */
static bool dots_valid(struct str name)
{
    if (str_equal(name, STR(".")))
        return true;
    for (size_t i = 0; i < name.len; i++)
        if (name.ptr[i] == '.' && (i == 0 || i + 1 == name.len || name.ptr[i + 1] == '.'))
            return false;
    return true;
}

/* The kind of tag that a sigil begins; TAG_ESCAPED: c is no sigil. */
static enum tag_kind sigil_kind(char c)
{
    switch (c) {
    case '&':
    case '{': return TAG_RAW;
    case '#': return TAG_SECTION;
    case '^': return TAG_INVERTED;
    case '>': return TAG_PARTIAL;
    case '<': return TAG_PARENT;
    case '$': return TAG_BLOCK;
    case '/': return TAG_CLOSE;
    case '!': return TAG_COMMENT;
    case '=': return TAG_DELIMITERS;
    default: return TAG_ESCAPED;
    }
}

static enum status scan_name(struct scanner *s, struct tag *tag)
{
    bool dotted =
        tag->kind == TAG_ESCAPED || tag->kind == TAG_RAW || tag->kind == TAG_SECTION || tag->kind == TAG_INVERTED;

    tag->name = trim(tag->name);
    if (tag->name.len == 0)
        return scan_problem(s, tag->start, "a tag without a name");
    if (has_blank(tag->name))
        return scan_problem(s, tag->start, "a name must not hold blanks (is the tag closed?)");
    if (tag->kind == TAG_ESCAPED && sigil_kind(tag->name.ptr[0]) != TAG_ESCAPED)
        return scan_problem(s, tag->start, "a sigil must follow the delimiter at once");
    if (dotted && !dots_valid(tag->name))
        return scan_problem(s, tag->start, "a dotted name has an empty part");
    return ST_OK;
}

/* The offset of the closing delimiter or, if extra is not NUL, of the character extra directly before it. text.len:
 * there is none. */
static size_t find_close(const struct scanner *s, size_t from, char extra)
{
    if (extra == '\0')
        return find(s->text, from, s->close);
    size_t at = from;
    for (; at < s->text.len; at++) {
        struct str rest = str_slice(s->text, at + 1, s->text.len);
        if (s->text.ptr[at] == extra && str_starts(rest, s->close))
            return at;
    }
    return at;
}

enum status scan_tag(struct scanner *s, struct tag *out)
{
    size_t start = find(s->text, s->pos, s->open);

    *out = (struct tag){ .kind = TAG_NONE, .start = start, .end = start };
    if (start == s->text.len)
        return ST_OK;
    size_t inside = start + s->open.len;
    char sigil = inside < s->text.len ? s->text.ptr[inside] : '\0';
    char extra = sigil == '{' ? '}' : sigil == '=' ? '=' : '\0';
    out->kind = sigil_kind(sigil);
    if (out->kind != TAG_ESCAPED)
        inside++;
    size_t end = find_close(s, inside, extra);
    if (end == s->text.len)
        return scan_problem(s, start, "this tag is never closed");
    out->name = str_slice(s->text, inside, end);
    out->end = s->pos = end + (extra ? 1 : 0) + s->close.len;
    if (out->kind == TAG_COMMENT)
        return ST_OK;
    return out->kind == TAG_DELIMITERS ? scan_delimiters(s, out) : scan_name(s, out);
}

bool scan_blank_before(struct str text, size_t at, size_t *line_start)
{
    while (at > 0 && (text.ptr[at - 1] == ' ' || text.ptr[at - 1] == '\t'))
        at--;
    *line_start = at;
    return at == 0 || text.ptr[at - 1] == '\n';
}

bool scan_blank_after(struct str text, size_t at, size_t *next, struct str *line_break)
{
    while (at < text.len && (text.ptr[at] == ' ' || text.ptr[at] == '\t'))
        at++;
    size_t len = 0;
    if (at < text.len && text.ptr[at] == '\n')
        len = 1;
    else if (at + 1 < text.len && text.ptr[at] == '\r' && text.ptr[at + 1] == '\n')
        len = 2;
    *next = at + len;
    *line_break = str_slice(text, at, at + len);
    return len > 0 || at == text.len;
}

struct str scan_margin(struct str text, size_t line_start, size_t *at)
{
    size_t i = line_start;

    for (; i < text.len && blank(text.ptr[i]); i++)
        if (text.ptr[i] == '\n')
            line_start = i + 1;
    *at = i;
    return str_slice(text, line_start, i);
}
