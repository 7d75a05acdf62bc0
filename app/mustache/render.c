/* Runs a program over a context. The machine has two stacks of fixed size, one for open sections and one for calls of
 * recursive templates; together they hold at most MUSTACHE_DEPTH_MAX entries. Names are compared by their hash first,
 * from the innermost context outwards. Bytes that need no escape are copied in runs. */
#include "mustache/mustache_internal.h"

/* An open section. The first one is the context of the whole template. */
struct scope {
    const struct value *value;
    bool in_list; /* the section is repeated for value->next */
};

struct call {
    uint32_t back;      /* the op after the call */
    unsigned inherited; /* the number of the call whose indents go before this one's; 0: none */
    struct str indent;
};

struct machine {
    const struct mustache_set *set;
    struct buf *out;
    unsigned scope_count, call_count;
    struct scope scopes[MUSTACHE_DEPTH_MAX + 1];
    struct call calls[MUSTACHE_DEPTH_MAX + 1]; /* numbered from 1 */
};

/* ---- values ---- */

/* The value of an op's name, or NULL. The first part of a dotted name is searched from the innermost context outwards,
 * each further part only in the value found before. */
static const struct value *lookup(const struct machine *m, const struct op *op)
{
    const struct mustache_set *set = m->set;
    const struct value *v = NULL;

    if (op->parts == 0)
        return m->scopes[m->scope_count - 1].value;
    const struct str first = { set->pool.ptr + op->text, op->text_len };
    for (unsigned i = m->scope_count; i > 0 && v == NULL; i--)
        v = value_get(m->scopes[i - 1].value, first, op->hash);
    for (uint32_t i = 0; v != NULL && i + 1 < op->parts; i++) {
        const struct op_name *name = &set->names[op->rest + i];
        v = value_get(v, (struct str){ set->pool.ptr + name->text, name->text_len }, name->hash);
    }
    return v;
}

static bool is_true(const struct value *v)
{
    if (v == NULL)
        return false;
    switch (v->type) {
    case VALUE_NULL:
    case VALUE_JSON: return false;
    case VALUE_BOOL: return v->as.boolean;
    case VALUE_INT: return v->as.integer != 0;
    case VALUE_TEXT: return v->as.text.len > 0;
    case VALUE_LIST: return v->as.list.first != NULL;
    case VALUE_OBJECT: return true;
    }
    return false;
}

/* ---- writing ---- */

/* The entity that a byte is written as: an index of entities; 0: the byte as it is. */
static const uint8_t entity_of[256] = { ['&'] = 1, ['<'] = 2, ['>'] = 3, ['"'] = 4, ['\''] = 5, ['`'] = 6 };
static const struct str entities[] = {
    { "", 0 }, { "&amp;", 5 }, { "&lt;", 4 }, { "&gt;", 4 }, { "&quot;", 6 }, { "&#39;", 5 }, { "&#96;", 5 },
};

static void write_escaped(struct buf *out, struct str text)
{
    const unsigned char *p = (const unsigned char *)text.ptr;
    size_t clean = 0; /* where the run of bytes without escapes began */

    for (size_t i = 0; i < text.len; i++) {
        uint8_t entity = entity_of[p[i]];
        if (entity == 0)
            continue;
        buf_bytes(out, text.ptr + clean, i - clean);
        buf_str(out, entities[entity]);
        clean = i + 1;
    }
    if (clean < text.len)
        buf_bytes(out, text.ptr + clean, text.len - clean);
}

static void write_value(const struct machine *m, const struct value *v, bool escaped)
{
    struct buf *out = m->out;

    if (v == NULL)
        return;
    switch (v->type) {
    case VALUE_TEXT:
        if (v->is_number && m->set->separator_len > 0)
            buf_number(out, v->as.text, mustache_set_separator(m->set));
        else if (escaped)
            write_escaped(out, v->as.text);
        else
            buf_str(out, v->as.text);
        break;
    case VALUE_INT: buf_i64(out, v->as.integer); break;
    case VALUE_BOOL: buf_str(out, v->as.boolean ? STR("true") : STR("false")); break;
    case VALUE_NULL:
    case VALUE_JSON:
    case VALUE_LIST:
    case VALUE_OBJECT: break;
    }
}

/* The indents of the innermost call and of those it inherits, outermost first. */
static void write_indents(struct machine *m)
{
    unsigned chain[MUSTACHE_DEPTH_MAX + 1];
    unsigned count = 0;

    for (unsigned i = m->call_count; i > 0; i = m->calls[i].inherited)
        chain[count++] = i;
    while (count > 0)
        buf_str(m->out, m->calls[chain[--count]].indent);
}

/* ---- stacks ---- */

static bool stacks_full(const struct machine *m)
{
    return m->scope_count - 1 + m->call_count == MUSTACHE_DEPTH_MAX;
}

/* Opens a section over a true value; false when the stacks are full. */
static bool section_open(struct machine *m, const struct value *v)
{
    bool list = v->type == VALUE_LIST;

    if (stacks_full(m))
        return false;
    m->scopes[m->scope_count++] = (struct scope){ list ? v->as.list.first : v, list };
    return true;
}

/* Moves the innermost section to the next item of its list: true; without a next item closes it: false. */
static bool section_next(struct machine *m)
{
    struct scope *s = &m->scopes[m->scope_count - 1];

    if (s->in_list && s->value->next != NULL) {
        s->value = s->value->next;
        return true;
    }
    m->scope_count--;
    return false;
}

static bool call_enter(struct machine *m, const struct op *op, uint32_t back)
{
    if (stacks_full(m))
        return false;
    struct call call = { .back = back, .inherited = op->inherit ? m->call_count : 0 };
    call.indent = (struct str){ m->set->pool.ptr + op->text, op->text_len };
    m->calls[++m->call_count] = call;
    return true;
}

static enum status run(struct machine *m, uint32_t at)
{
    const struct op *ops = m->set->ops;
    const char *pool = m->set->pool.ptr;

    for (;;) {
        const struct op *op = &ops[at++];
        switch ((enum op_kind)op->kind) {
        case OP_TEXT: buf_bytes(m->out, pool + op->text, op->text_len); break;
        case OP_ESCAPED: write_value(m, lookup(m, op), true); break;
        case OP_RAW: write_value(m, lookup(m, op), false); break;
        case OP_SECTION: {
            const struct value *v = lookup(m, op);
            if (!is_true(v))
                at = op->jump;
            else if (!section_open(m, v))
                return ST_INVALID;
            break;
        }
        case OP_END:
            if (section_next(m))
                at = op->jump;
            break;
        case OP_INVERTED:
            if (is_true(lookup(m, op)))
                at = op->jump;
            break;
        case OP_INDENT: write_indents(m); break;
        case OP_CALL:
            if (!call_enter(m, op, at))
                return ST_INVALID;
            at = op->jump;
            break;
        case OP_RETURN:
            if (m->call_count == 0)
                return m->out->failed ? ST_NO_MEMORY : ST_OK;
            at = m->calls[m->call_count--].back;
            break;
        }
    }
}

enum status mustache_render(const struct mustache *t, const struct value *context, struct buf *out)
{
    struct machine m;
    size_t len = out->len;

    m.set = t->set;
    m.out = out;
    m.call_count = 0;
    m.scope_count = 1;
    m.scopes[0] = (struct scope){ context, false };
    enum status st = run(&m, t->entry);
    if (st != ST_OK)
        out->len = len;
    return st;
}
