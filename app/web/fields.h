/* A form is a table, and so is a query. A row for each field says its name, its type, where the value goes, the limits,
 * and the messages for what breaks them. So a handler reads only values that fit, and a description of the form can be
 * made from the same rows. The types are in web/field_types.h; other floors add those that they know more about. */
#ifndef HB_WEB_FIELDS_H
#define HB_WEB_FIELDS_H

#include "base/config.h"
#include "base/value.h"
#include "web/exchange.h"

struct field_input;

/* How a field is read. */
struct field_type {
    const char *name; /* for a description of the form: "count", "yuan", "username" */
    /* Reads in->typed into *in->out. ST_OK: also when nothing was typed and the value stays as it was · ST_INVALID:
     * refused by field_fail, what *out holds is not used · ST_NO_MEMORY. Asks no store. */
    enum status (*read)(struct field_input *in);
};

/* One row. A table ends with a row without a name. */
struct field {
    const char *name;
    const struct field_type *type;
    size_t member; /* offset of the value in the handler's struct */
    bool required; /* in a form, wherever it applies */
    bool no_echo;  /* what was typed is not shown again: a password, a key */
    /* False: the field is ignored, and its value stays as it was. The rows above have been read. NULL: always true. */
    bool (*applies)(const struct field_input *in);

    /* Limits in the type's unit; max 0: none. */
    int64_t min, max;
    int64_t (*max_of)(const struct config *config); /* instead of max, where settings decide */
    int64_t code_points_max;                        /* of a line: the width of its column */
    struct str (*word)(unsigned i);                 /* of a word: those allowed, from 0; STR_NONE behind the last */

    /* Messages: names of texts ("text/KEY"). NULL where it can't happen, and in a query, which is answered by 400. */
    const char *missing;   /* required, and nothing was typed */
    const char *malformed; /* it can't be read */
    const char *low;       /* below min */
    const char *high;      /* above max, which stands for {{value}} */
    const char *wide;      /* more code points than the column takes; {{value}} is max */
};

/* What a type's reader is given. */
struct field_input {
    struct exchange *x;
    const struct field *field;
    struct str typed;   /* empty: absent, too */
    const void *values; /* the handler's struct, for what the rows above have read */
    void *out;          /* the member of this field */
    struct form_errors *errors;
};

/* Reads the posted form into values, whose members hold what is meant where nothing is typed. errors: at most one
 * message a field, in the order of the table. ST_OK: there is none · ST_INVALID: values are not fit for use ·
 * ST_NO_MEMORY: neither are errors. */
enum status form_read(struct exchange *x, const struct field *fields, void *values, struct form_errors *errors);
/* Reads the fields of the query in the same way. False: one of them is there and malformed, also when it is empty. */
bool query_read(struct exchange *x, const struct field *fields, void *values);

/* What was typed, for showing the form again: a page-only member of object for each field but those with no_echo. */
void form_typed_model(struct model *m, struct value *object, const struct field *fields, const struct form *form);

/* The row's max under these settings; 0: none. */
int64_t field_max(const struct field *field, const struct config *config);

/* ---- for readers ---- */

/* Nothing was typed: ST_INVALID with the message when the field is required, else ST_OK. */
enum status field_absent(struct field_input *in);
/* Tells the message beside the field; NULL: none. ST_INVALID. */
enum status field_fail(struct field_input *in, const char *text);
/* The same with what stands for {{value}} in it. ST_NO_MEMORY when that is STR_NONE. */
enum status field_fail_with(struct field_input *in, const char *text, struct str value);
/* Compares n with the row's min and max. ST_OK, ST_INVALID: told · ST_NO_MEMORY. */
enum status field_limits(struct field_input *in, int64_t n);

#endif
