/* The model of a page: a tree of values in a request's arena. One tree becomes HTML (mustache/) or JSON
 * (value_json). A member can be marked page-only: it is there for templates and left out of JSON.
 * Building returns no error: a failed allocation sets model->failed, later calls do nothing and return a shared dummy;
 * the owner checks `failed` once at the end. A lost text (its .ptr is NULL) fails the model as well, and so does any
 * allocation that the arena refused before: a page without its text must not look whole. A text that is legitimately
 * absent is STR("") or value_null. */
#ifndef HB_BASE_VALUE_H
#define HB_BASE_VALUE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/str.h"

enum value_type { VALUE_NULL, VALUE_BOOL, VALUE_INT, VALUE_TEXT, VALUE_JSON, VALUE_LIST, VALUE_OBJECT };

struct member;

struct value {
    enum value_type type;
    bool is_number; /* of VALUE_TEXT: templates group its digits as their language does */
    union {
        bool boolean;
        int64_t integer;
        struct str text; /* of VALUE_TEXT and VALUE_JSON; borrowed: literals or the same arena */
        struct {
            struct value *first, *last; /* linked by next */
        } list;
        struct {
            struct member *first, *last;
        } object;
    } as;
    struct value *next; /* in a list */
};

struct member {
    struct str name;    /* borrowed */
    uint32_t name_hash; /* value_hash(name) */
    bool page_only;
    struct value value;
    struct member *next;
};

struct model {
    struct arena *arena;
    bool failed;
    struct value root; /* an object */
};

/* FNV-1a of the bytes; templates hash their names once, at compile time. */
uint32_t value_hash(struct str name);

/* An empty object that grows in the arena. */
void model_init(struct model *m, struct arena *a);

/* Adds a member to an object. name and text are borrowed and must outlive the model. A name is set once (asserted). */
void value_null(struct model *m, struct value *object, const char *name);
void value_bool(struct model *m, struct value *object, const char *name, bool b);
void value_int(struct model *m, struct value *object, const char *name, int64_t n);
void value_text(struct model *m, struct value *object, const char *name, struct str text);
/* An empty text is null. */
void value_text_or_null(struct model *m, struct value *object, const char *name, struct str text);
/* A value that is JSON already; templates do not see it. */
void value_ready_json(struct model *m, struct value *object, const char *name, struct str json);
struct value *value_object(struct model *m, struct value *object, const char *name);
struct value *value_list(struct model *m, struct value *object, const char *name);
/* The same, for templates only. */
void value_page_null(struct model *m, struct value *object, const char *name);
void value_page_bool(struct model *m, struct value *object, const char *name, bool b);
void value_page_int(struct model *m, struct value *object, const char *name, int64_t n);
void value_page_text(struct model *m, struct value *object, const char *name, struct str text);
/* A text that is a decimal number, maybe with a sign: "-1234.50". */
void value_page_number(struct model *m, struct value *object, const char *name, struct str text);
struct value *value_page_object(struct model *m, struct value *object, const char *name);
struct value *value_page_list(struct model *m, struct value *object, const char *name);
/* Appends an empty object to a list. */
struct value *value_add_object(struct model *m, struct value *list);

/* The named member's value; NULL when there is none or v is no object. name_hash: value_hash(name). */
const struct value *value_get(const struct value *v, struct str name, uint32_t name_hash);

/* Appends JSON (RFC 8259, UTF-8, no blanks, page-only members left out). */
void value_json(struct buf *out, const struct value *v);
/* Appends s as a JSON string with its quotes; `<`, `>`, `&`, U+2028/9 as \u escapes, so that it is safe within HTML. */
void value_json_string(struct buf *out, struct str s);

#endif
