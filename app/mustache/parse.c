/* Turns a template's tags into a tree. The parser applies all rules about lines; for the compiler only the starts of
 * lines (NODE_LINE) and their indents are left:
 *
 * - A section, inverted section, comment, set delimiter tag or partial that is alone on its line is standalone: the
 *   rest of the line, blanks and line break, is removed. The blanks before a partial become its indent. A parent is
 *   standalone when only blanks are before its opening tag and behind its closing tag on their lines.
 * - A block outside a parent is a parameter: it can be replaced, and its content is the default. Lines of its opening
 *   and closing tag are removed in the same way. Its indent is the margin of the first line of its content; without
 *   such a line it is the blanks before the opening tag. The line break behind the last line is its tail.
 * - A block directly in a parent is an argument: it replaces a parameter. If the rest of the opening tag's line is
 *   blank, the content begins on the next line. The margin of its first line is removed from all its lines. Blanks
 *   before a closing tag that begins its line are removed.
 *
 * A margin is the blanks at the beginning of a line. All offsets are bytes of the source; nodes borrow from it. */
#include <string.h>

#include "mustache/mustache_internal.h"

/* An open section, parent or block. */
struct level {
    struct node *node;
    struct str margin;     /* removed from the lines inside */
    size_t content;        /* offset where the content begins */
    struct str tag_blanks; /* blocks: the blanks before the tag… */
    size_t first_at;       /* …and the offset where the first line's margin ends */
};

struct parser {
    struct builder *builder;
    struct source *src;
    struct scanner scan;
    size_t from; /* the text before this offset is in the tree */
    struct level levels[MUSTACHE_DEPTH_MAX + 1];
    unsigned depth; /* nodes are added to levels[depth]; level 0 is the template */
};

/* The line of a tag. */
struct tag_line {
    bool blank_before, blank_after; /* the tag has only blanks before it, behind it */
    size_t start, next;             /* offsets where the line and the next line begin */
    struct str line_break;
};

static struct level *top(struct parser *p)
{
    return &p->levels[p->depth];
}

/* Appends a new node to the innermost level. Directly in a parent only blocks are appended; any other node is created
 * and stays outside the tree. NULL: no memory. */
static struct node *node_add(struct parser *p, enum node_kind kind, struct str text, size_t at)
{
    struct node *n = arena_alloc(p->builder->arena, sizeof *n);
    struct node *up = top(p)->node;

    if (n == NULL)
        return NULL;
    *n = (struct node){ .kind = kind, .text = text, .at = at };
    if (up->kind == NODE_PARENT && kind != NODE_BLOCK)
        return n;
    if (up->last != NULL)
        up->last->next = n;
    else
        up->first = n;
    up->last = n;
    return n;
}

/* s without the beginning that it has in common with the margin of its block. */
static struct str margin_off(struct parser *p, struct str s)
{
    struct str margin = top(p)->margin;
    size_t i = 0;

    while (i < s.len && i < margin.len && s.ptr[i] == margin.ptr[i])
        i++;
    return (struct str){ s.ptr + i, s.len - i };
}

/* Adds the text from p->from to `to` to the tree, line by line. tag_follows: a tag follows that is not standalone, so
 * a line starts at `to` even if no text of it has been seen. */
static enum status text_add(struct parser *p, size_t to, bool tag_follows)
{
    struct str text = p->src->text;

    for (;;) {
        size_t from = p->from;
        bool line_starts = from == 0 || text.ptr[from - 1] == '\n';
        if (from == to && !(line_starts && tag_follows))
            return ST_OK;
        const char *newline = from < to ? memchr(text.ptr + from, '\n', to - from) : NULL;
        size_t end = newline != NULL ? (size_t)(newline - text.ptr) + 1 : to;
        struct str line = { text.ptr + from, end - from };
        if (line_starts) {
            bool empty = str_equal(line, STR("\n")) || str_equal(line, STR("\r\n"));
            line = margin_off(p, line);
            if (!empty && node_add(p, NODE_LINE, STR_NONE, from) == NULL)
                return ST_NO_MEMORY;
        }
        if (line.len > 0 && node_add(p, NODE_TEXT, line, from) == NULL)
            return ST_NO_MEMORY;
        p->from = end;
        if (newline == NULL)
            return ST_OK;
    }
}

static struct tag_line tag_line_of(const struct parser *p, const struct tag *tag)
{
    struct tag_line s;

    s.blank_before = scan_blank_before(p->src->text, tag->start, &s.start);
    s.blank_after = scan_blank_after(p->src->text, tag->end, &s.next, &s.line_break);
    return s;
}

static struct str blanks_before(const struct parser *p, const struct tag_line *line, const struct tag *tag)
{
    return (struct str){ p->src->text.ptr + line->start, tag->start - line->start };
}

/* Adds the text before a tag and moves behind the tag. *alone: the tag is alone on its line, and the whole line is
 * removed. */
static enum status text_add_standalone(struct parser *p, const struct tag *tag, const struct tag_line *line,
                                       bool *alone)
{
    *alone = line->blank_before && line->blank_after;
    enum status st = text_add(p, *alone ? line->start : tag->start, !*alone);
    p->from = *alone ? line->next : tag->end;
    return st;
}

static enum status level_open(struct parser *p, struct node *n)
{
    struct str margin = top(p)->margin;

    if (n == NULL)
        return ST_NO_MEMORY;
    if (p->depth == MUSTACHE_DEPTH_MAX)
        return builder_error(p->builder, p->src, n->at, "more than %d sections within each other", MUSTACHE_DEPTH_MAX);
    p->levels[++p->depth] = (struct level){ .node = n, .margin = margin, .content = p->from };
    return ST_OK;
}

static enum status open_section(struct parser *p, const struct tag *tag)
{
    struct tag_line line = tag_line_of(p, tag);
    bool alone;
    enum status st = text_add_standalone(p, tag, &line, &alone);

    if (st != ST_OK)
        return st;
    return level_open(p, node_add(p, tag->kind == TAG_SECTION ? NODE_SECTION : NODE_INVERTED, tag->name, tag->start));
}

/* Finds the template that a partial or parent names. */
static enum status node_resolve(struct parser *p, struct node *n)
{
    n->target = builder_find(p->builder, n->text);
    if (n->target != NULL || p->builder->missing_ok)
        return ST_OK;
    return builder_error(p->builder, p->src, n->at, "there is no template %.*s", STR_ARG(n->text));
}

static enum status add_partial(struct parser *p, const struct tag *tag)
{
    struct tag_line line = tag_line_of(p, tag);
    bool alone;
    enum status st = text_add_standalone(p, tag, &line, &alone);
    struct node *n = st == ST_OK ? node_add(p, NODE_PARTIAL, tag->name, tag->start) : NULL;

    if (n == NULL)
        return ST_NO_MEMORY;
    n->standalone = alone;
    if (alone)
        n->indent = margin_off(p, blanks_before(p, &line, tag));
    return node_resolve(p, n);
}

/* Adds the text before a tag and a node for the tag. The node's indent is what stands before the tag on its line, if
 * these are only blanks. NULL: no memory. */
static struct node *add_indented(struct parser *p, const struct tag *tag, const struct tag_line *line,
                                 enum node_kind kind)
{
    enum status st = text_add(p, line->blank_before ? line->start : tag->start, !line->blank_before);
    struct node *n = st == ST_OK ? node_add(p, kind, tag->name, tag->start) : NULL;

    if (n == NULL)
        return NULL;
    n->own_line = line->blank_before;
    if (n->own_line)
        n->indent = margin_off(p, blanks_before(p, line, tag));
    return n;
}

static enum status open_parent(struct parser *p, const struct tag *tag)
{
    struct tag_line line = tag_line_of(p, tag);
    struct node *n = add_indented(p, tag, &line, NODE_PARENT);

    if (n == NULL)
        return ST_NO_MEMORY;
    p->from = tag->end;
    enum status st = node_resolve(p, n);
    return st == ST_OK ? level_open(p, n) : st;
}

/* A block directly in a parent. */
static enum status open_argument(struct parser *p, const struct tag *tag)
{
    struct tag_line line = tag_line_of(p, tag);

    for (const struct node *n = top(p)->node->first; n != NULL; n = n->next)
        if (str_equal(n->text, tag->name))
            return builder_error(p->builder, p->src, tag->start, "block %.*s is given twice", STR_ARG(tag->name));
    struct node *n = node_add(p, NODE_BLOCK, tag->name, tag->start);
    p->from = line.blank_after ? line.next : tag->end;
    enum status st = level_open(p, n);
    if (st != ST_OK)
        return st;
    n->starts_line = line.blank_after;
    size_t at;
    top(p)->margin = n->starts_line ? scan_margin(p->src->text, p->from, &at) : STR_NONE;
    return ST_OK;
}

/* A block outside a parent. */
static enum status open_parameter(struct parser *p, const struct tag *tag)
{
    struct tag_line line = tag_line_of(p, tag);
    struct node *n = add_indented(p, tag, &line, NODE_BLOCK);

    if (n == NULL)
        return ST_NO_MEMORY;
    n->starts_line = line.blank_before && line.blank_after;
    p->from = n->starts_line ? line.next : tag->end;
    struct str tag_blanks = n->indent;
    enum status st = level_open(p, n);
    if (st != ST_OK)
        return st;
    struct level *level = top(p);
    level->tag_blanks = tag_blanks;
    level->first_at = SIZE_MAX;
    if (n->starts_line)
        n->indent = margin_off(p, scan_margin(p->src->text, p->from, &level->first_at));
    return ST_OK;
}

static enum status close_section(struct parser *p, const struct tag *tag)
{
    struct tag_line line = tag_line_of(p, tag);
    bool alone;
    enum status st = text_add_standalone(p, tag, &line, &alone);

    p->depth--;
    return st;
}

static enum status close_parent(struct parser *p, const struct tag *tag)
{
    struct tag_line line = tag_line_of(p, tag);
    struct node *n = top(p)->node;

    n->standalone = n->own_line && line.blank_after;
    p->from = n->standalone ? line.next : tag->end;
    p->depth--;
    return ST_OK;
}

static enum status close_argument(struct parser *p, const struct tag *tag)
{
    struct tag_line line = tag_line_of(p, tag);
    struct level *level = top(p);

    level->node->ends_line = line.blank_before && line.start >= level->content;
    enum status st = text_add(p, level->node->ends_line ? line.start : tag->start, false);
    p->from = tag->end;
    p->depth--;
    return st;
}

static enum status close_parameter(struct parser *p, const struct tag *tag)
{
    struct tag_line line = tag_line_of(p, tag);
    struct level *level = top(p);
    struct node *n = level->node;

    if (level->first_at == tag->start)
        n->indent = level->tag_blanks; /* there is no content whose margin could be used */
    n->ends_line = line.blank_before && line.blank_after;
    enum status st = text_add(p, n->ends_line ? line.start : tag->start, !n->ends_line);
    bool fills = n->ends_line || (n->own_line && line.blank_after);
    n->tail = fills ? line.line_break : STR_NONE;
    p->from = fills ? line.next : tag->end;
    p->depth--;
    return st;
}

static const char *sigil_of(const struct node *n)
{
    switch (n->kind) {
    case NODE_INVERTED: return "^";
    case NODE_PARENT: return "<";
    case NODE_BLOCK: return "$";
    default: return "#";
    }
}

static enum status close_level(struct parser *p, const struct tag *tag)
{
    const struct node *n = top(p)->node;

    if (p->depth == 0)
        return builder_error(p->builder, p->src, tag->start, "{{/%.*s}} closes nothing", STR_ARG(tag->name));
    if (!str_equal(n->text, tag->name))
        return builder_error(p->builder, p->src, tag->start, "{{/%.*s}} where {{%s%.*s}} is open", STR_ARG(tag->name),
                             sigil_of(n), STR_ARG(n->text));
    switch (n->kind) {
    case NODE_PARENT: return close_parent(p, tag);
    case NODE_BLOCK:
        return p->levels[p->depth - 1].node->kind == NODE_PARENT ? close_argument(p, tag) : close_parameter(p, tag);
    default: return close_section(p, tag);
    }
}

static enum status add_variable(struct parser *p, const struct tag *tag)
{
    enum status st = text_add(p, tag->start, true);

    p->from = tag->end;
    if (st == ST_OK && node_add(p, tag->kind == TAG_ESCAPED ? NODE_ESCAPED : NODE_RAW, tag->name, tag->start) == NULL)
        st = ST_NO_MEMORY;
    return st;
}

static enum status skip_tag(struct parser *p, const struct tag *tag)
{
    struct tag_line line = tag_line_of(p, tag);
    bool alone;

    return text_add_standalone(p, tag, &line, &alone);
}

static enum status parse_tag(struct parser *p, const struct tag *tag)
{
    switch (tag->kind) {
    case TAG_ESCAPED:
    case TAG_RAW: return add_variable(p, tag);
    case TAG_SECTION:
    case TAG_INVERTED: return open_section(p, tag);
    case TAG_PARTIAL: return add_partial(p, tag);
    case TAG_PARENT: return open_parent(p, tag);
    case TAG_BLOCK: return top(p)->node->kind == NODE_PARENT ? open_argument(p, tag) : open_parameter(p, tag);
    case TAG_CLOSE: return close_level(p, tag);
    case TAG_COMMENT:
    case TAG_DELIMITERS: return skip_tag(p, tag);
    case TAG_NONE: break; /* the caller has left its loop */
    }
    return ST_OK;
}

enum status parse_source(struct builder *b, struct source *src)
{
    struct parser p = { .builder = b, .src = src };
    struct tag tag;

    scan_init(&p.scan, src->text);
    src->text = p.scan.text;
    src->root = (struct node){ .kind = NODE_SECTION };
    p.levels[0].node = &src->root;
    for (;;) {
        if (scan_tag(&p.scan, &tag) != ST_OK)
            return builder_error(b, src, p.scan.problem_at, "%s", p.scan.problem);
        if (tag.kind == TAG_NONE)
            break;
        enum status st = parse_tag(&p, &tag);
        if (st != ST_OK)
            return st;
    }
    if (p.depth > 0) {
        const struct node *n = top(&p)->node;
        return builder_error(b, src, n->at, "{{%s%.*s}} is never closed", sigil_of(n), STR_ARG(n->text));
    }
    return text_add(&p, src->text.len, false);
}
