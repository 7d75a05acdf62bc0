/* application/x-www-form-urlencoded, as the WHATWG URL standard decodes it, with limits and without surprises. */
#ifndef HB_WEB_FORM_H
#define HB_WEB_FORM_H

#include "base/arena.h"
#include "base/status.h"
#include "base/str.h"

#define FORM_FIELDS_MAX 32

struct form_field {
    struct str name, value; /* valid UTF-8 without NUL */
};

struct form {
    struct form_field fields[FORM_FIELDS_MAX];
    size_t count;
};

/* ST_INVALID: bad percent escapes, broken UTF-8, NUL, a name that occurs twice, more than FORM_FIELDS_MAX fields. */
enum status form_parse(struct arena *a, struct str text, struct form *out);
/* The field's value; an absent field is STR("") with present == false. present may be NULL. */
struct str form_get(const struct form *f, const char *name, bool *present);

/* Text as a value behind `?name=`: all but unreserved characters and '/' becomes %XX. STR_NONE without memory. */
struct str form_encode(struct arena *a, struct str text);

/* A form that moves money carries a key of its own, so that a repeat of it does no harm: ^[A-Za-z0-9_-]{1,64}$. */
#define REQUEST_KEY_MAX 64
bool request_key_valid(struct str key);
/* A fresh one: 32 hex digits. STR_NONE without memory. */
struct str request_key_new(struct arena *a);

/* True when a name occurs in both: a field must not come by query and body at once. */
bool form_overlaps(const struct form *a, const struct form *b);

/* What is wrong with a form: at most one message a field, in the order they were found. */
struct form_error {
    const char *field;
    const char *text; /* the message's name in the catalogue, "text/no_balance" */
    struct str value; /* what stands for {{value}} in it; may be empty */
};
struct form_errors {
    struct form_error items[FORM_FIELDS_MAX];
    size_t count;
};
/* A second message for the same field is dropped: the first one is the one to mend first. */
void form_fail(struct form_errors *e, const char *field, const char *text);
/* The same with a number or amount that the message tells. */
void form_fail_with(struct form_errors *e, const char *field, const char *text, struct str value);
/* True when there is a message for the field. */
bool form_failed(const struct form_errors *e, const char *field);

#endif
