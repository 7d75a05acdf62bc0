/* Turns trees into flat programs. A template's program is its tree with every partial, parent and block expanded in
 * place: a page with its layout is one sequence of operations, and adjacent texts are one operation.
 *
 * Blocks: an environment maps block names to arguments. A parent adds its arguments to the environment in which it is
 * expanded; a name that the environment has already keeps its argument, so the outermost template decides. A partial
 * is a parent without arguments. A block expands to its argument in the environment, or without one to its default
 * content. An argument that contains its own block, in the same template, gets the default content there.
 *
 * Recursion: a template that is already being expanded in the same environment becomes a call of a routine. A routine
 * is a program of its own, compiled once per template and environment. Environments only grow and the number of names
 * is finite, so compiling ends; MUSTACHE_STEPS_MAX bounds how long it takes.
 *
 * Indents are known at compile time and become text at the start of each line. Only a routine gets its indents from
 * its callers at run time: OP_INDENT. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "mustache/mustache_internal.h"

/* The arguments in effect: nodes of blocks in parents. */
struct env {
    size_t count;
    const struct node **blocks; /* in the order they were added; each name once */
    struct env *next;           /* in the list of all environments; no two have the same blocks */
};

/* A recursive template, compiled to be called. */
struct routine {
    const struct source *source;
    const struct env *env;
    uint32_t number;
    uint32_t entry;
    struct routine *next;
};

/* A template that is being expanded; outer is the template that includes it. */
struct expansion {
    const struct source *source;
    const struct env *env;
    const struct expansion *outer;
    unsigned depth;
};

/* An argument that is being expanded, in the innermost expansion. */
struct active {
    const struct node *body;
    const struct active *outer;
};

/* Where and how a node is expanded. */
struct place {
    const struct expansion *expansion;
    const struct active *active;
    const struct env *env;
    struct str indent; /* before every line */
    bool called;       /* in a routine: OP_INDENT goes before indent */
};

struct compiler {
    struct builder *builder;
    struct mustache_set *set;
    struct env *envs;
    struct routine *routines, *routines_last;
    uint32_t routine_count;
    uint32_t text_barrier;       /* a jump may lead to this op: text must not join the op before it */
    uint32_t expanded;           /* templates and blocks so far */
    const struct source *source; /* the template whose program is written */
    enum status status;          /* the first error; nothing is written after it */
};

static void fail(struct compiler *c, enum status st)
{
    if (c->status == ST_OK)
        c->status = st;
}

static void fail_too_large(struct compiler *c)
{
    if (c->status == ST_OK)
        c->status = builder_error(c->builder, c->source, 0, "with its partials and parents it is too large");
}

static void fail_too_deep(struct compiler *c)
{
    if (c->status == ST_OK)
        c->status = builder_error(c->builder, c->source, 0, "more than %d partials and parents within each other",
                                  MUSTACHE_DEPTH_MAX);
}

/* ---- writing ops ---- */

/* Makes room for one more item in an array of at most MUSTACHE_STEPS_MAX. The array's address; NULL: failed. */
static void *array_grow(struct compiler *c, void *items, uint32_t count, uint32_t *cap, size_t item_bytes)
{
    if (count < *cap)
        return items;
    if (count >= MUSTACHE_STEPS_MAX) {
        fail_too_large(c);
        return NULL;
    }
    uint32_t more = *cap ? *cap * 2 : 256;
    void *bigger = realloc(items, more * item_bytes);
    if (bigger == NULL) {
        fail(c, ST_NO_MEMORY);
        return NULL;
    }
    *cap = more;
    return bigger;
}

/* Copies s into the pool and returns its offset there. */
static uint32_t pool_add(struct compiler *c, struct str s)
{
    size_t at = c->set->pool.len;

    buf_str(&c->set->pool, s);
    if (c->set->pool.failed)
        fail(c, ST_NO_MEMORY);
    return (uint32_t)at;
}

/* Appends an op; NULL: failed. */
static struct op *op_add(struct compiler *c, enum op_kind kind)
{
    struct mustache_set *set = c->set;

    if (c->status != ST_OK)
        return NULL;
    struct op *ops = array_grow(c, set->ops, set->op_count, &set->op_cap, sizeof *ops);
    if (ops == NULL)
        return NULL;
    set->ops = ops;
    ops[set->op_count] = (struct op){ .kind = (uint8_t)kind };
    return &ops[set->op_count++];
}

static void write_text(struct compiler *c, struct str text)
{
    struct mustache_set *set = c->set;

    if (text.len == 0 || c->status != ST_OK)
        return;
    struct op *last = set->op_count > c->text_barrier ? &set->ops[set->op_count - 1] : NULL;
    bool joins = last != NULL && last->kind == OP_TEXT;
    uint32_t at = pool_add(c, text);
    if (joins) { /* since the other text was added, the pool has grown by this text only */
        assert(last->text + last->text_len == at);
        last->text_len += (uint32_t)text.len;
        return;
    }
    struct op *op = op_add(c, OP_TEXT);
    if (op == NULL)
        return;
    op->text = at;
    op->text_len = (uint32_t)text.len;
}

static void name_add(struct compiler *c, struct str part)
{
    struct mustache_set *set = c->set;
    struct op_name *names = array_grow(c, set->names, set->name_count, &set->name_cap, sizeof *names);

    if (names == NULL)
        return;
    set->names = names;
    names[set->name_count++] = (struct op_name){ pool_add(c, part), (uint32_t)part.len, value_hash(part) };
}

/* Appends an op that looks up a name, and returns its index. */
static uint32_t write_lookup(struct compiler *c, enum op_kind kind, struct str name)
{
    struct op *op = op_add(c, kind);

    if (op == NULL)
        return 0;
    uint32_t index = c->set->op_count - 1;
    if (str_equal(name, STR(".")))
        return index;
    struct str rest;
    struct str first = str_cut(name, '.', &rest);
    op->text = pool_add(c, first);
    op->text_len = (uint32_t)first.len;
    op->hash = value_hash(first);
    op->parts = 1;
    op->rest = c->set->name_count;
    while (rest.len > 0 && c->status == ST_OK) {
        struct str part = str_cut(rest, '.', &rest);
        if (op->parts == UINT16_MAX) {
            fail_too_large(c);
            break;
        }
        name_add(c, part);
        op->parts++;
    }
    return index;
}

/* ---- environments ---- */

static const struct node *env_get(const struct env *env, struct str name)
{
    for (size_t i = 0; i < env->count; i++)
        if (str_equal(env->blocks[i]->text, name))
            return env->blocks[i];
    return NULL;
}

/* The environment env plus those arguments of the parent that env lacks. Equal environments are one object, so that
 * they can be compared as pointers. NULL: failed. */
static const struct env *env_with(struct compiler *c, const struct env *env, const struct node *parent)
{
    size_t more = 0;

    for (const struct node *n = parent->first; n != NULL; n = n->next)
        more += env_get(env, n->text) == NULL;
    if (more == 0)
        return env;
    struct env *e = arena_alloc(c->builder->arena, sizeof *e);
    const struct node **blocks = arena_array(c->builder->arena, env->count + more, sizeof(struct node *));
    if (e == NULL || blocks == NULL) {
        fail(c, ST_NO_MEMORY);
        return NULL;
    }
    for (size_t i = 0; i < env->count; i++)
        blocks[e->count++] = env->blocks[i];
    for (const struct node *n = parent->first; n != NULL; n = n->next)
        if (env_get(env, n->text) == NULL)
            blocks[e->count++] = n;
    e->blocks = blocks;
    for (const struct env *same = c->envs; same != NULL; same = same->next)
        if (same->count == e->count && memcmp(same->blocks, e->blocks, e->count * sizeof(struct node *)) == 0)
            return same;
    e->next = c->envs;
    c->envs = e;
    return e;
}

/* ---- expanding ---- */

static void write_nodes(struct compiler *c, const struct node *first, const struct place *place);

static void write_line_start(struct compiler *c, const struct place *place)
{
    if (place->called)
        op_add(c, OP_INDENT);
    write_text(c, place->indent);
}

static struct str indent_join(struct compiler *c, struct str a, struct str b)
{
    if (a.len == 0 || b.len == 0)
        return a.len ? a : b;
    char *both = arena_alloc(c->builder->arena, a.len + b.len);
    if (both == NULL) {
        fail(c, ST_NO_MEMORY);
        return STR_NONE;
    }
    memcpy(both, a.ptr, a.len);
    memcpy(both + a.len, b.ptr, b.len);
    return (struct str){ both, a.len + b.len };
}

/* The place of content that a template inserts at `place`. own_line: the content has lines of its own, which get the
 * further indent; otherwise it stands inside a line and gets none. */
static struct place place_of_content(struct compiler *c, const struct place *place, bool own_line, struct str indent)
{
    struct place inner = *place;

    inner.indent = own_line ? indent_join(c, place->indent, indent) : STR_NONE;
    inner.called = own_line && place->called;
    return inner;
}

static struct routine *routine_get(struct compiler *c, const struct source *source, const struct env *env)
{
    for (struct routine *r = c->routines; r != NULL; r = r->next)
        if (r->source == source && r->env == env)
            return r;
    struct routine *r = arena_alloc(c->builder->arena, sizeof *r);
    if (r == NULL) {
        fail(c, ST_NO_MEMORY);
        return NULL;
    }
    *r = (struct routine){ .source = source, .env = env, .number = c->routine_count++ };
    if (c->routines_last != NULL)
        c->routines_last->next = r;
    else
        c->routines = r;
    c->routines_last = r;
    return r;
}

/* Until link_calls replaces it by the entry, jump is the number of the routine. */
static void write_call(struct compiler *c, const struct source *source, const struct place *place)
{
    struct routine *r = routine_get(c, source, place->env);
    struct op *op = r != NULL ? op_add(c, OP_CALL) : NULL;

    if (op == NULL)
        return;
    op->jump = r->number;
    op->inherit = place->called;
    op->text_len = (uint32_t)place->indent.len;
    op->text = pool_add(c, place->indent);
}

/* Expands a template; place has the env and the indents of this template already. */
static void write_template(struct compiler *c, const struct source *source, const struct place *place)
{
    if (source == NULL || c->status != ST_OK)
        return;
    for (const struct expansion *e = place->expansion; e != NULL; e = e->outer) {
        if (e->source == source && e->env == place->env) {
            write_call(c, source, place);
            return;
        }
    }
    unsigned depth = place->expansion != NULL ? place->expansion->depth + 1 : 0;
    if (depth > MUSTACHE_DEPTH_MAX) {
        fail_too_deep(c);
        return;
    }
    if (++c->expanded > MUSTACHE_STEPS_MAX) {
        fail_too_large(c);
        return;
    }
    struct expansion expansion = { source, place->env, place->expansion, depth };
    struct place inner = *place;
    inner.expansion = &expansion;
    inner.active = NULL;
    write_nodes(c, source->root.first, &inner);
}

static void write_partial(struct compiler *c, const struct node *n, const struct place *place)
{
    struct place inner = place_of_content(c, place, n->standalone, n->indent);

    write_template(c, n->target, &inner);
}

static void write_parent(struct compiler *c, const struct node *n, const struct place *place)
{
    if (n->own_line && !n->standalone) { /* the line continues behind the content */
        write_line_start(c, place);
        write_text(c, n->indent);
    }
    struct place inner = place_of_content(c, place, n->standalone, n->indent);
    inner.env = env_with(c, place->env, n);
    if (inner.env != NULL)
        write_template(c, n->target, &inner);
}

static void write_block(struct compiler *c, const struct node *n, const struct place *place)
{
    const struct node *body = env_get(place->env, n->text);

    for (const struct active *a = place->active; a != NULL; a = a->outer)
        if (a->body == body)
            body = NULL;
    if (++c->expanded > MUSTACHE_STEPS_MAX) {
        fail_too_large(c);
        return;
    }
    if (n->own_line && !(body != NULL ? body : n)->starts_line) {
        write_line_start(c, place);
        write_text(c, n->indent);
    }
    if (body != NULL) {
        struct active active = { body, place->active };
        struct place inner = place_of_content(c, place, n->own_line, n->indent);
        inner.active = &active;
        write_nodes(c, body->first, &inner);
    } else {
        write_nodes(c, n->first, place);
    }
    if (!(body != NULL ? body : n)->ends_line)
        write_text(c, n->tail);
}

static void write_section(struct compiler *c, const struct node *n, const struct place *place)
{
    struct mustache_set *set = c->set;
    uint32_t start = write_lookup(c, n->kind == NODE_SECTION ? OP_SECTION : OP_INVERTED, n->text);

    c->text_barrier = set->op_count;
    write_nodes(c, n->first, place);
    if (n->kind == NODE_SECTION) {
        struct op *end = op_add(c, OP_END);
        if (end != NULL)
            end->jump = start + 1;
    }
    if (c->status != ST_OK)
        return;
    set->ops[start].jump = set->op_count;
    c->text_barrier = set->op_count;
}

static void write_nodes(struct compiler *c, const struct node *first, const struct place *place)
{
    for (const struct node *n = first; n != NULL && c->status == ST_OK; n = n->next) {
        switch (n->kind) {
        case NODE_LINE: write_line_start(c, place); break;
        case NODE_TEXT: write_text(c, n->text); break;
        case NODE_ESCAPED: write_lookup(c, OP_ESCAPED, n->text); break;
        case NODE_RAW: write_lookup(c, OP_RAW, n->text); break;
        case NODE_SECTION:
        case NODE_INVERTED: write_section(c, n, place); break;
        case NODE_PARTIAL: write_partial(c, n, place); break;
        case NODE_PARENT: write_parent(c, n, place); break;
        case NODE_BLOCK: write_block(c, n, place); break;
        }
    }
}

/* Writes the program of a template, or of a routine (called), and returns its entry. */
static uint32_t write_program(struct compiler *c, const struct source *source, const struct env *env, bool called)
{
    uint32_t entry = c->set->op_count;

    c->source = source;
    c->text_barrier = entry;
    write_template(c, source, &(struct place){ .env = env, .called = called });
    op_add(c, OP_RETURN);
    return entry;
}

static void link_calls(struct compiler *c)
{
    uint32_t *entries = arena_array(c->builder->arena, c->routine_count + 1, sizeof *entries);

    if (entries == NULL) {
        fail(c, ST_NO_MEMORY);
        return;
    }
    for (const struct routine *r = c->routines; r != NULL; r = r->next)
        entries[r->number] = r->entry;
    for (uint32_t i = 0; i < c->set->op_count; i++) {
        struct op *op = &c->set->ops[i];
        if (op->kind == OP_CALL)
            op->jump = entries[op->jump];
    }
}

enum status compile_sources(struct builder *b, struct mustache_set *set)
{
    static const struct env no_arguments = { 0 };
    struct compiler c = { .builder = b, .set = set };

    for (size_t i = 0; i < b->count && c.status == ST_OK; i++)
        set->templates[i].entry = write_program(&c, &b->sources[i], &no_arguments, false);
    /* Compiling a routine may append further routines to the list. */
    for (struct routine *r = c.routines; r != NULL && c.status == ST_OK; r = r->next)
        r->entry = write_program(&c, r->source, r->env, true);
    if (c.status == ST_OK)
        link_calls(&c);
    return c.status;
}
