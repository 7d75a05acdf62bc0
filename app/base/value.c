#include "base/value.h"

#include <assert.h>
#include <string.h>

#include "base/utf8.h"

enum { DEPTH_MAX = 64 };

uint32_t value_hash(struct str name)
{
    uint32_t hash = 2166136261U;

    for (size_t i = 0; i < name.len; i++)
        hash = (hash ^ (unsigned char)name.ptr[i]) * 16777619U;
    return hash;
}

void model_init(struct model *m, struct arena *a)
{
    *m = (struct model){ .arena = a, .root = { .type = VALUE_OBJECT } };
}

/* Returned after a failure. Never written: later calls do nothing. */
static struct value dummy_object = { .type = VALUE_OBJECT };
static struct value dummy_list = { .type = VALUE_LIST };

static struct member *member_find(const struct value *object, struct str name, uint32_t name_hash)
{
    for (struct member *m = object->as.object.first; m != NULL; m = m->next)
        if (m->name_hash == name_hash && m->name.len == name.len && memcmp(m->name.ptr, name.ptr, name.len) == 0)
            return m;
    return NULL;
}

/* Adds a member; returns the place of its value, or NULL after a failure. */
static struct value *member_add(struct model *m, struct value *object, const char *cname, bool page_only,
                                struct value value)
{
    struct str name = str_from(cname);
    uint32_t hash = value_hash(name);

    if (m->failed || arena_failed(m->arena)) {
        m->failed = true;
        return NULL;
    }
    assert(object->type == VALUE_OBJECT && object != &dummy_object);
    assert(name.len > 0 && member_find(object, name, hash) == NULL);
    struct member *member = arena_alloc(m->arena, sizeof *member);
    if (member == NULL) {
        m->failed = true;
        return NULL;
    }
    *member = (struct member){ .name = name, .name_hash = hash, .page_only = page_only, .value = value };
    if (object->as.object.last != NULL)
        object->as.object.last->next = member;
    else
        object->as.object.first = member;
    object->as.object.last = member;
    return &member->value;
}

static void text_add(struct model *m, struct value *object, const char *name, bool page_only, enum value_type type,
                     struct str text)
{
    if (text.ptr == NULL)
        m->failed = true;
    (void)member_add(m, object, name, page_only, (struct value){ .type = type, .as.text = text });
}

static struct value *or_dummy(struct value *v, struct value *dummy)
{
    return v != NULL ? v : dummy;
}

static const struct value EMPTY_OBJECT = { .type = VALUE_OBJECT };
static const struct value EMPTY_LIST = { .type = VALUE_LIST };

void value_null(struct model *m, struct value *object, const char *name)
{
    (void)member_add(m, object, name, false, (struct value){ .type = VALUE_NULL });
}

void value_bool(struct model *m, struct value *object, const char *name, bool b)
{
    (void)member_add(m, object, name, false, (struct value){ .type = VALUE_BOOL, .as.boolean = b });
}

void value_int(struct model *m, struct value *object, const char *name, int64_t n)
{
    (void)member_add(m, object, name, false, (struct value){ .type = VALUE_INT, .as.integer = n });
}

void value_text(struct model *m, struct value *object, const char *name, struct str text)
{
    text_add(m, object, name, false, VALUE_TEXT, text);
}

void value_text_or_null(struct model *m, struct value *object, const char *name, struct str text)
{
    if (text.len > 0)
        value_text(m, object, name, text);
    else
        value_null(m, object, name);
}

void value_ready_json(struct model *m, struct value *object, const char *name, struct str json)
{
    text_add(m, object, name, false, VALUE_JSON, json);
}

struct value *value_object(struct model *m, struct value *object, const char *name)
{
    return or_dummy(member_add(m, object, name, false, EMPTY_OBJECT), &dummy_object);
}

struct value *value_list(struct model *m, struct value *object, const char *name)
{
    return or_dummy(member_add(m, object, name, false, EMPTY_LIST), &dummy_list);
}

void value_page_null(struct model *m, struct value *object, const char *name)
{
    (void)member_add(m, object, name, true, (struct value){ .type = VALUE_NULL });
}

void value_page_bool(struct model *m, struct value *object, const char *name, bool b)
{
    (void)member_add(m, object, name, true, (struct value){ .type = VALUE_BOOL, .as.boolean = b });
}

void value_page_int(struct model *m, struct value *object, const char *name, int64_t n)
{
    (void)member_add(m, object, name, true, (struct value){ .type = VALUE_INT, .as.integer = n });
}

void value_page_text(struct model *m, struct value *object, const char *name, struct str text)
{
    text_add(m, object, name, true, VALUE_TEXT, text);
}

void value_page_number(struct model *m, struct value *object, const char *name, struct str text)
{
    if (text.ptr == NULL)
        m->failed = true;
    (void)member_add(m, object, name, true, (struct value){ .type = VALUE_TEXT, .is_number = true, .as.text = text });
}

struct value *value_page_object(struct model *m, struct value *object, const char *name)
{
    return or_dummy(member_add(m, object, name, true, EMPTY_OBJECT), &dummy_object);
}

struct value *value_page_list(struct model *m, struct value *object, const char *name)
{
    return or_dummy(member_add(m, object, name, true, EMPTY_LIST), &dummy_list);
}

struct value *value_add_object(struct model *m, struct value *list)
{
    if (m->failed)
        return &dummy_object;
    assert(list->type == VALUE_LIST && list != &dummy_list);
    struct value *item = arena_alloc(m->arena, sizeof *item);
    if (item == NULL) {
        m->failed = true;
        return &dummy_object;
    }
    *item = EMPTY_OBJECT;
    if (list->as.list.last != NULL)
        list->as.list.last->next = item;
    else
        list->as.list.first = item;
    list->as.list.last = item;
    return item;
}

const struct value *value_get(const struct value *v, struct str name, uint32_t name_hash)
{
    if (v->type != VALUE_OBJECT)
        return NULL;
    const struct member *m = member_find(v, name, name_hash);
    return m != NULL ? &m->value : NULL;
}

/* ---- JSON ---- */

static void json_u_escape(struct buf *out, unsigned code)
{
    static const char hex[] = "0123456789abcdef";
    char escape[6] = { '\\', 'u', hex[code >> 12 & 15], hex[code >> 8 & 15], hex[code >> 4 & 15], hex[code & 15] };

    buf_bytes(out, escape, sizeof escape);
}

static void json_escape_ascii(struct buf *out, unsigned char c)
{
    switch (c) {
    case '"': buf_cstr(out, "\\\""); break;
    case '\\': buf_cstr(out, "\\\\"); break;
    case '\b': buf_cstr(out, "\\b"); break;
    case '\f': buf_cstr(out, "\\f"); break;
    case '\n': buf_cstr(out, "\\n"); break;
    case '\r': buf_cstr(out, "\\r"); break;
    case '\t': buf_cstr(out, "\\t"); break;
    default: json_u_escape(out, c);
    }
}

static bool is_plain_ascii(unsigned char c)
{
    return c >= 0x20 && c < 0x7f && c != '"' && c != '\\' && c != '<' && c != '>' && c != '&';
}

void value_json_string(struct buf *out, struct str s)
{
    const unsigned replacement = 0xfffd;
    size_t start = 0, i = 0; /* start … i is copied as it is */

    buf_char(out, '"');
    while (i < s.len) {
        const unsigned char *p = (const unsigned char *)s.ptr + i;
        if (is_plain_ascii(*p)) {
            i++;
            continue;
        }
        size_t n = utf8_sequence(str_skip(s, i));
        /* U+2028 and U+2029 end a line in old JavaScript. */
        bool line_end = n == 3 && p[0] == 0xe2 && p[1] == 0x80 && (p[2] == 0xa8 || p[2] == 0xa9);
        if (n > 1 && !line_end) {
            i += n;
            continue;
        }
        buf_bytes(out, s.ptr + start, i - start);
        if (n == 1)
            json_escape_ascii(out, *p);
        else
            json_u_escape(out, line_end ? 0x2000U + (p[2] & 0x3fU) : replacement);
        i += n ? n : 1;
        start = i;
    }
    if (s.len)
        buf_bytes(out, s.ptr + start, i - start);
    buf_char(out, '"');
}

static void json_value(struct buf *out, const struct value *v, unsigned depth);

static void json_object(struct buf *out, const struct value *object, unsigned depth)
{
    bool first = true;

    buf_char(out, '{');
    for (const struct member *m = object->as.object.first; m != NULL; m = m->next) {
        if (m->page_only)
            continue;
        if (!first)
            buf_char(out, ',');
        first = false;
        value_json_string(out, m->name);
        buf_char(out, ':');
        json_value(out, &m->value, depth + 1);
    }
    buf_char(out, '}');
}

static void json_list(struct buf *out, const struct value *list, unsigned depth)
{
    buf_char(out, '[');
    for (const struct value *item = list->as.list.first; item != NULL; item = item->next) {
        if (item != list->as.list.first)
            buf_char(out, ',');
        json_value(out, item, depth + 1);
    }
    buf_char(out, ']');
}

static void json_value(struct buf *out, const struct value *v, unsigned depth)
{
    assert(depth < DEPTH_MAX); /* our own code builds the tree */
    switch (v->type) {
    case VALUE_NULL: buf_cstr(out, "null"); break;
    case VALUE_BOOL: buf_cstr(out, v->as.boolean ? "true" : "false"); break;
    case VALUE_INT: buf_i64(out, v->as.integer); break;
    case VALUE_TEXT: value_json_string(out, v->as.text); break;
    case VALUE_JSON: buf_str(out, v->as.text); break;
    case VALUE_LIST: json_list(out, v, depth); break;
    case VALUE_OBJECT: json_object(out, v, depth); break;
    }
}

void value_json(struct buf *out, const struct value *v)
{
    json_value(out, v, 0);
}
