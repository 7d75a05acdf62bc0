/* Forms and queries are described by tables. Each row describes one field: name, type, member that takes the value,
 * limits, a message for each error, and its description for programs. form_read or query_read reads all fields, so that
 * a handler sees only valid, typed values; form_write does the reverse. The general types are in web/field_types.h;
 * other folders add more. */
#ifndef HB_WEB_FIELDS_H
#define HB_WEB_FIELDS_H

#include "base/value.h"
#include "config/config.h"
#include "web/exchange.h"

struct field_input;

/* Describes how a field is read. */
struct field_type {
    /* Parses in->typed into *in->out. ST_OK: also when the text is empty and *out stays unchanged · ST_INVALID: refused
     * by field_fail; *out is not used · ST_NO_MEMORY. Must not access a store. */
    enum status (*read)(struct field_input *in);
    bool as_typed; /* in->typed is the text as sent; false: as utf8_fold_pasted gives it */
    /* The reverse, for form_write: the text that would be read as *value. Empty: the field stays empty. NULL: it always
     * stays empty. */
    struct str (*write)(const struct field_input *in, const void *value);
    /* Turns the folded text into the one form that the field's input can show. Empty: it has no such form, or no
     * memory. NULL: the input shows any text. */
    struct str (*shown)(struct arena *a, struct str folded);
    const struct field_type *like; /* the general type by which /openapi.json describes it; NULL: itself */
};

/* Whether an address that fills the form (web/kept_form.h) has the text of this field. When not all texts fit,
 * KEPT_LAST are left out first. Never for a password, code, passphrase or request key. */
enum field_kept { KEPT_NOT, KEPT_FIRST, KEPT, KEPT_LAST };

/* One row of a table. The last row has no name. */
struct field {
    const char *name;
    const struct field_type *type;
    size_t member; /* offset of the value in the handler's struct */
    bool required; /* only in forms, and only when the field applies */
    bool no_echo;  /* the typed text is not shown again (password, request key) */
    enum field_kept kept;
    /* False: the field is ignored and its value stays unchanged. May use the values of the rows above. NULL: always
     * applies. */
    bool (*applies)(const struct field_input *in);

    /* Limits in the type's unit. max 0: no upper limit. */
    int64_t min, max;
    int64_t (*max_of)(const struct config *config); /* replaces max when a setting decides */
    int64_t code_points_max;                        /* FIELD_LINE: the width of the SQL column; 0: none */
    struct str (*word)(unsigned i);                 /* FIELD_WORD: the allowed word number i; STR_NONE ends the list */

    /* For /openapi.json. Limits and words need not be repeated. example: NULL: the example leaves the field out. */
    const char *says, *example;

    /* number, from 1, of the part of its page that is folded away while the field has its first text; 0: none */
    unsigned fold;
    struct str (*first)(const struct config *config); /* that text; NULL: the first word, or empty */

    /* Messages: names of texts ("text/KEY"). NULL when the error is impossible, and in a query, whose errors are
     * answered by 400. */
    const char *missing;   /* required, but empty */
    const char *malformed; /* can't be parsed */
    const char *low;       /* below min */
    const char *high;      /* above max; {{value}} is max */
    const char *wide;      /* more than code_points_max; {{value}} is max */
};

/* The arguments of the functions of types and rows. Only read has typed and out. */
struct field_input {
    struct exchange *x;
    const struct field *field;
    struct str typed;   /* see as_typed; empty also when the field is absent */
    const void *values; /* the handler's struct, with the values of the rows above */
    void *out;          /* the member that takes the value */
    struct form_errors *errors;
};

/* Reads the posted form into *values. The caller first sets each member to its default, which stays when the field is
 * empty. errors: at most one message a field, in the order of the table. ST_OK: no errors · ST_INVALID: the values must
 * not be used · ST_NO_MEMORY: neither values nor errors may be used. */
enum status form_read(struct exchange *x, const struct field *fields, void *values, struct form_errors *errors);
/* Queries: these functions read only the fields that they name. Other fields of an address are ignored, because chats
 * and advertisers add some. A named field that is malformed or there twice makes the answer a 400 (web/router.c),
 * whatever the handler has written. The address of a POST has no fields. */

/* The value of a field. Absent: STR(""), and *present is false. present may be NULL.
 * The value is kept in x and lives in x->arena. Each part of a streamed answer (web/stream.h) has its own arena, in
 * which a value would not outlive the part: only code before the stream may read the query. */
struct str query_get(struct exchange *x, const char *name, bool *present);
/* The fields of the table, as typed. The memory is x's. */
const struct form *query_form(struct exchange *x, const struct field *fields);
/* Reads, like form_read, a form that was sent by GET and whose fields are in the query. */
enum status query_form_read(struct exchange *x, const struct field *fields, void *values, struct form_errors *errors);
/* Reads the query of a link. False: a field is present and malformed or empty. */
bool query_read(struct exchange *x, const struct field *fields, void *values);

/* The reverse of form_read: adds the texts that it would read as *values, for the fields that apply; an empty text adds
 * nothing. */
void form_write(struct exchange *x, const struct field *fields, const void *values, struct form *out);

/* Adds the typed texts to object, so that the form can be shown again: one page-only member for each field without
 * no_echo. */
void form_typed_model(struct model *m, struct value *object, const struct field *fields, const struct form *form);

/* True when this text would unfold the field's part: it is neither empty nor the first text. */
bool field_unfolds(const struct field *field, const struct config *config, struct str text);

/* The row's upper limit under these settings. 0: none. */
int64_t field_max(const struct field *field, const struct config *config);

/* ---- for the read functions of types ---- */

/* For a read function whose field is empty. When it is required, records the message and returns ST_INVALID; otherwise
 * returns ST_OK. */
enum status field_absent(struct field_input *in);
/* Records the message text for the field (NULL: no message) and returns ST_INVALID. */
enum status field_fail(struct field_input *in, const char *text);
/* The same with the value for {{value}} in the message. ST_NO_MEMORY when value is STR_NONE. */
enum status field_fail_with(struct field_input *in, const char *text, struct str value);
/* Compares n with the row's min and max. ST_OK · ST_INVALID: out of range, and the message is recorded ·
 * ST_NO_MEMORY. */
enum status field_limits(struct field_input *in, int64_t n);

#endif
