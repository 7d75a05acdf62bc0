/* The types of fields that know no domain: what people type, what our own links carry, and keys. */
#ifndef HB_WEB_FIELD_TYPES_H
#define HB_WEB_FIELD_TYPES_H

#include "web/fields.h"

/* struct str: as typed. Limits in bytes. */
extern const struct field_type FIELD_TEXT;
/* struct str: one line, cleaned (utf8_clean); nothing but blanks counts as nothing. Limits in graphemes, and
 * code_points_max. */
extern const struct field_type FIELD_LINE;
/* An enum whose values number the row's words from 0. */
extern const struct field_type FIELD_WORD;
/* uint32_t: a whole number as people type it, also in full width. Its row has a max. */
extern const struct field_type FIELD_COUNT;
/* uint64_t: a whole number as our links write it. */
extern const struct field_type FIELD_NUMBER;
/* int64_t fen: an amount of yuan as people type it, also in full width. Limits in fen. */
extern const struct field_type FIELD_YUAN;
/* struct str: a request key (web/form.h). When none was typed, or a bad one, it is a fresh one all the same: a form
 * that is shown again needs one. */
extern const struct field_type FIELD_REQUEST_KEY;
/* struct str: a path of this site (web/origin.h). Anything else is never refused, but is read as the empty string. */
extern const struct field_type FIELD_OWN_PATH;

/* ---- for readers of other floors ---- */

enum status field_text_read(struct field_input *in);
enum status field_line_read(struct field_input *in);
/* Typed yuan in fen, whatever the row's limits are. ST_INVALID: malformed, told · ST_NO_MEMORY. */
enum status field_yuan_parse(struct field_input *in, int64_t *out_fen);

#endif
