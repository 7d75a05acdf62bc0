/* Field types for values of any domain: text, numbers, amounts, request keys and local paths. web/fields.h describes
 * how tables use them. The first words of each comment name the C type of the member that takes the value. */
#ifndef HB_WEB_FIELD_TYPES_H
#define HB_WEB_FIELD_TYPES_H

#include "web/fields.h"

/* struct str: the text, folded (utf8_fold_pasted) like all fields whose type does not set as_typed. Limits are in
 * bytes. */
extern const struct field_type FIELD_TEXT;
/* struct str: one line, cleaned by utf8_clean_shown. A line of blanks counts as absent. Limits are in graphemes;
 * code_points_max applies, too. */
extern const struct field_type FIELD_LINE;
/* The same, but limits count two narrow graphemes as one (utf8_width): an English sentence needs twice as many. */
extern const struct field_type FIELD_SENTENCE;
/* An enum: the index of the typed word in the row's list of words. {{value}} of the message is the list. */
extern const struct field_type FIELD_WORD;
/* uint32_t: a whole number (typed_count). The row must have a max. */
extern const struct field_type FIELD_COUNT;
/* uint64_t: the same, as in links of this site; what was added behind it is cut off (mended_link_value). */
extern const struct field_type FIELD_NUMBER;
/* int64_t fen: an amount (typed_amount). Limits are in fen. */
extern const struct field_type FIELD_AMOUNT;
/* int64_t ms: the first instant of a day (typed_day) in the service's zone. Limits are years. */
extern const struct field_type FIELD_DAY;
/* struct str: a request key (web/form.h). An absent or malformed key is replaced by a new key, which the form needs
 * when it is shown again. The form with the malformed key is refused all the same. */
extern const struct field_type FIELD_REQUEST_KEY;
/* struct str: a key in a link of this site, without what was added behind it (mended_link_value). Limits are in
 * bytes. */
extern const struct field_type FIELD_LINK_KEY;
/* struct str: a local path (origin_path_is_local), as typed. Any other text is read as the empty string and never
 * refused. */
extern const struct field_type FIELD_LOCAL_PATH;

/* The row of the field `next`, a member of this struct: the path to which a browser is sent after the form. */
#define NEXT_FIELD(form)                                                                                               \
    {                                                                                                                  \
        .name = "next", .type = &FIELD_LOCAL_PATH, .member = offsetof(form, next), .no_echo = true,                    \
        .kept = KEPT_FIRST, .says = "where a browser is sent then: a path of this site, of 1 KB at most"               \
    }

/* ---- for field types of other floors ---- */

enum status field_text_read(struct field_input *in);
/* The write function of a struct str that is shown as it is. */
struct str field_text_write(const struct field_input *in, const void *value);
/* As FIELD_LINE, with other functions that clean the line (utf8_clean) and measure it (utf8_width). */
typedef enum status field_line_cleaner(struct arena *a, struct str s, struct str *out);
typedef size_t field_line_meter(struct str s);
enum status field_line_read(struct field_input *in, field_line_cleaner *clean, field_line_meter *length);
/* Adds a word to the list of choices in a message: "a, b". In the arena; STR_NONE without memory. */
struct str field_choice_add(const struct field_input *in, struct str list, struct str word);
/* Parses the typed amount and ignores the row's limits. INT64_MAX: more than typed_amount reads. ST_INVALID:
 * malformed, and the message is recorded. */
enum status field_amount_parse(struct field_input *in, int64_t *out_fen);
/* Reads an amount into the int64_t at in->out, in fen: at least the row's smallest amount, at most max_fen (0: no
 * limit). An empty field is left to field_absent. ST_INVALID: the message is recorded · ST_NO_MEMORY. */
enum status field_amount_read(struct field_input *in, int64_t max_fen);

#endif
