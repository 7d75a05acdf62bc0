/* Turns a template's tags into a tree. Here every question about lines is settled, so that the compiler only has to
 * know where a line starts (NODE_LINE) and what indents it:
 *
 * - A section, inverted section, comment, set delimiter tag or partial that is alone on its line takes the whole line
 *   with it; a partial keeps the blanks before it as its indent. A parent is alone when nothing but blanks is before
 *   its opening tag and behind its closing tag on their lines; what is between them does not count.
 * - A block that defines a parameter: its opening and closing tag take their lines with them likewise. Its indent is
 *   the margin of its first line of default content if it has such a line, else the blanks before its tag. If it
 *   fills its last line, the line break behind it is its tail.
 * - A block that gives an argument (directly in a parent): content begins behind the rest of the opening tag's line
 *   if that is blank; the margin of its first line is taken off all its lines; blanks before the closing tag vanish.
 *
 * All offsets are bytes of the source; nodes borrow from it. */
#include <string.h>

#include "mustache/mustache_internal.h"

/* An open section, parent or block. */
struct level {
    struct node *node;
    struct str margin;     /* taken off the lines inside */
    size_t content;        /* offset where it begins */
    struct str tag_blanks; /* blocks: the blanks before the tag… */
    size_t first_at;       /* …and where the first line's margin ends */
};

struct parser {
    struct workshop *w;
    struct source *src;
    struct scanner scan;
    size_t from; /* text before it is in the tree */
    struct level levels[MUSTACHE_DEPTH_MAX + 1];
    unsigned depth; /* levels[depth] is where nodes go; 0 is the template */
};

/* What is around a tag on its line. */
struct surroundings {
    bool before, after; /* only blanks there */
    size_t line_start, next_line;
    struct str line_break;
};

static struct level *top(struct parser *p)
{
    return &p->levels[p->depth];
}

/* Appends a node to the innermost level; in a parent all but blocks are made but not kept. NULL without memory. */
static struct node *node_add(struct parser *p, enum node_kind kind, struct str text, size_t at)
{
    struct node *n = arena_alloc(p->w->arena, sizeof *n);
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

/* s without what it shares with the margin of the block it is in. */
static struct str margin_off(struct parser *p, struct str s)
{
    struct str margin = top(p)->margin;
    size_t i = 0;

    while (i < s.len && i < margin.len && s.ptr[i] == margin.ptr[i])
        i++;
    return (struct str){ s.ptr + i, s.len - i };
}

/* Puts the source from p->from to `to` into the tree, line by line. tag_follows: a tag that stays on its line comes
 * next, so an unfinished line has begun even if it is empty so far. */
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

static struct surroundings look_around(const struct parser *p, const struct tag *tag)
{
    struct surroundings s;

    s.before = scan_blank_before(p->src->text, tag->start, &s.line_start);
    s.after = scan_blank_after(p->src->text, tag->end, &s.next_line, &s.line_break);
    return s;
}

static struct str blanks_before(const struct parser *p, const struct surroundings *around, const struct tag *tag)
{
    return (struct str){ p->src->text.ptr + around->line_start, tag->start - around->line_start };
}

/* Adds the text before a tag that takes its line with it if it is alone there; says whether it was. */
static enum status text_add_standalone(struct parser *p, const struct tag *tag, const struct surroundings *around,
                                       bool *alone)
{
    *alone = around->before && around->after;
    enum status st = text_add(p, *alone ? around->line_start : tag->start, !*alone);
    p->from = *alone ? around->next_line : tag->end;
    return st;
}

static enum status level_open(struct parser *p, struct node *n)
{
    struct str margin = top(p)->margin;

    if (n == NULL)
        return ST_NO_MEMORY;
    if (p->depth == MUSTACHE_DEPTH_MAX)
        return workshop_error(p->w, p->src, n->at, "more than %d sections within each other", MUSTACHE_DEPTH_MAX);
    p->levels[++p->depth] = (struct level){ .node = n, .margin = margin, .content = p->from };
    return ST_OK;
}

static enum status open_section(struct parser *p, const struct tag *tag)
{
    struct surroundings around = look_around(p, tag);
    bool alone;
    enum status st = text_add_standalone(p, tag, &around, &alone);

    if (st != ST_OK)
        return st;
    return level_open(p, node_add(p, tag->kind == TAG_SECTION ? NODE_SECTION : NODE_INVERTED, tag->name, tag->start));
}

/* Finds the template a partial or parent names. */
static enum status node_resolve(struct parser *p, struct node *n)
{
    n->target = workshop_find(p->w, n->text);
    if (n->target != NULL || p->w->missing_ok)
        return ST_OK;
    return workshop_error(p->w, p->src, n->at, "there is no template %.*s", STR_ARG(n->text));
}

static enum status add_partial(struct parser *p, const struct tag *tag)
{
    struct surroundings around = look_around(p, tag);
    bool alone;
    enum status st = text_add_standalone(p, tag, &around, &alone);
    struct node *n = st == ST_OK ? node_add(p, NODE_PARTIAL, tag->name, tag->start) : NULL;

    if (n == NULL)
        return ST_NO_MEMORY;
    n->whole = alone;
    if (alone)
        n->indent = margin_off(p, blanks_before(p, &around, tag));
    return node_resolve(p, n);
}

static enum status open_parent(struct parser *p, const struct tag *tag)
{
    struct surroundings around = look_around(p, tag);
    enum status st = text_add(p, around.before ? around.line_start : tag->start, !around.before);
    struct node *n = st == ST_OK ? node_add(p, NODE_PARENT, tag->name, tag->start) : NULL;

    if (n == NULL)
        return ST_NO_MEMORY;
    n->own_line = around.before;
    if (around.before)
        n->indent = margin_off(p, blanks_before(p, &around, tag));
    p->from = tag->end;
    st = node_resolve(p, n);
    return st == ST_OK ? level_open(p, n) : st;
}

/* A block directly in a parent: an argument. */
static enum status open_argument(struct parser *p, const struct tag *tag)
{
    struct surroundings around = look_around(p, tag);

    for (const struct node *n = top(p)->node->first; n != NULL; n = n->next)
        if (str_equal(n->text, tag->name))
            return workshop_error(p->w, p->src, tag->start, "block %.*s is given twice", STR_ARG(tag->name));
    struct node *n = node_add(p, NODE_BLOCK, tag->name, tag->start);
    p->from = around.after ? around.next_line : tag->end;
    enum status st = level_open(p, n);
    if (st != ST_OK)
        return st;
    n->starts_line = around.after;
    size_t at;
    top(p)->margin = n->starts_line ? scan_margin(p->src->text, p->from, &at) : STR_NONE;
    return ST_OK;
}

/* A block elsewhere: a parameter with its default content. */
static enum status open_parameter(struct parser *p, const struct tag *tag)
{
    struct surroundings around = look_around(p, tag);
    enum status st = text_add(p, around.before ? around.line_start : tag->start, !around.before);
    struct node *n = st == ST_OK ? node_add(p, NODE_BLOCK, tag->name, tag->start) : NULL;

    if (n == NULL)
        return ST_NO_MEMORY;
    n->own_line = around.before;
    n->starts_line = around.before && around.after;
    p->from = n->starts_line ? around.next_line : tag->end;
    st = level_open(p, n);
    if (st != ST_OK)
        return st;
    struct level *level = top(p);
    level->tag_blanks = around.before ? margin_off(p, blanks_before(p, &around, tag)) : STR_NONE;
    level->first_at = SIZE_MAX;
    n->indent =
        n->starts_line ? margin_off(p, scan_margin(p->src->text, p->from, &level->first_at)) : level->tag_blanks;
    return ST_OK;
}

static enum status close_section(struct parser *p, const struct tag *tag)
{
    struct surroundings around = look_around(p, tag);
    bool alone;
    enum status st = text_add_standalone(p, tag, &around, &alone);

    p->depth--;
    return st;
}

static enum status close_parent(struct parser *p, const struct tag *tag)
{
    struct surroundings around = look_around(p, tag);
    struct node *n = top(p)->node;

    n->whole = n->own_line && around.after;
    p->from = n->whole ? around.next_line : tag->end;
    p->depth--;
    return ST_OK;
}

static enum status close_argument(struct parser *p, const struct tag *tag)
{
    struct surroundings around = look_around(p, tag);
    struct level *level = top(p);

    level->node->ends_line = around.before && around.line_start >= level->content;
    enum status st = text_add(p, level->node->ends_line ? around.line_start : tag->start, false);
    p->from = tag->end;
    p->depth--;
    return st;
}

static enum status close_parameter(struct parser *p, const struct tag *tag)
{
    struct surroundings around = look_around(p, tag);
    struct level *level = top(p);
    struct node *n = level->node;

    if (level->first_at == tag->start)
        n->indent = level->tag_blanks; /* no default content to take the margin from */
    n->ends_line = around.before && around.after;
    enum status st = text_add(p, n->ends_line ? around.line_start : tag->start, !n->ends_line);
    bool fills = n->ends_line || (n->own_line && around.after);
    n->tail = fills ? around.line_break : STR_NONE;
    p->from = fills ? around.next_line : tag->end;
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
        return workshop_error(p->w, p->src, tag->start, "{{/%.*s}} closes nothing", STR_ARG(tag->name));
    if (!str_equal(n->text, tag->name))
        return workshop_error(p->w, p->src, tag->start, "{{/%.*s}} where {{%s%.*s}} is open", STR_ARG(tag->name),
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

static enum status add_nothing(struct parser *p, const struct tag *tag)
{
    struct surroundings around = look_around(p, tag);
    bool alone;

    return text_add_standalone(p, tag, &around, &alone);
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
    case TAG_DELIMITERS: return add_nothing(p, tag);
    case TAG_NONE: break; /* the caller's loop ends there */
    }
    return ST_OK;
}

enum status parse_source(struct workshop *w, struct source *src)
{
    struct parser p = { .w = w, .src = src };
    struct tag tag;

    scan_init(&p.scan, src->text);
    src->text = p.scan.text;
    src->root = (struct node){ .kind = NODE_SECTION };
    p.levels[0].node = &src->root;
    for (;;) {
        if (scan_tag(&p.scan, &tag) != ST_OK)
            return workshop_error(w, src, p.scan.problem_at, "%s", p.scan.problem);
        if (tag.kind == TAG_NONE)
            break;
        enum status st = parse_tag(&p, &tag);
        if (st != ST_OK)
            return st;
    }
    if (p.depth > 0) {
        const struct node *n = top(&p)->node;
        return workshop_error(w, src, n->at, "{{%s%.*s}} is never closed", sigil_of(n), STR_ARG(n->text));
    }
    return text_add(&p, src->text.len, false);
}
