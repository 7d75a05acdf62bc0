/* Parses and writes application/x-www-form-urlencoded (WHATWG URL standard), with limits: malformed or ambiguous input
 * is refused, except in fields of an address that no handler reads. Also request keys, and the list of messages of a
 * refused form. */
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

/* Parses a body. The decoded texts are in the arena. ST_INVALID: malformed percent escape, invalid UTF-8, NUL,
 * the same name twice, or more than FORM_FIELDS_MAX fields · ST_NO_MEMORY. */
enum status form_parse(struct arena *a, struct str text, struct form *out);
/* Adds the field of this name from a query, if it is there; the rest of the query is not read. ST_INVALID: the field is
 * malformed or there twice, as above · ST_NO_MEMORY. */
enum status form_pick(struct arena *a, struct str text, struct str name, struct form *out);
/* The field's value. Absent: STR(""), and *present is false. present may be NULL. */
struct str form_get(const struct form *f, const char *name, bool *present);

/* Decodes each %XX of a path. A malformed one stays as it is, and the bytes may be no UTF-8. STR_NONE without
 * memory. */
struct str form_decode_loosely(struct arena *a, struct str text);
/* Encodes text as a value of a query: every character becomes %XX, except unreserved ones and '/'. STR_NONE without
 * memory. */
struct str form_encode(struct arena *a, struct str text);

/* The same address in ASCII: each other byte becomes %XX. The text itself when it is ASCII already. STR_NONE without
 * memory. */
struct str form_ascii(struct arena *a, struct str text);

/* A form that moves money has a request key, which makes a repeated request harmless: ^[A-Za-z0-9_-]{1,64}$. */
#define REQUEST_KEY_MAX 64
bool request_key_valid(struct str key);
/* A new random key of 32 hex digits. STR_NONE without memory. */
struct str request_key_new(struct arena *a);
/* How soon a form that comes again counts as pressed twice, or as repeated after a lost answer: it then gets the answer
 * of the first time. A form that comes later was opened again (Back, reload): its answer says that it was sent
 * before. */
#define REQUEST_PRESSED_MS (10 * 1000)

/* True when a field of the form is in the query, too. A request must not have the same field in query and body. */
bool form_overlaps(const struct form *form, struct str query);

/* The errors of a form: at most one message a field, in the order in which they were found. */
struct form_error {
    const char *field;
    const char *text; /* the message's name in the catalogue, "text/no_balance" */
    struct str value; /* replaces {{value}} in the message; may be empty */
};
struct form_errors {
    struct form_error items[FORM_FIELDS_MAX];
    size_t count;
};
/* Adds a message. A further message for the same field is dropped. */
void form_fail(struct form_errors *e, const char *field, const char *text);
/* The same with a number or amount for {{value}} in the message. */
void form_fail_with(struct form_errors *e, const char *field, const char *text, struct str value);
/* True when there is a message for the field. */
bool form_failed(const struct form_errors *e, const char *field);

#endif
