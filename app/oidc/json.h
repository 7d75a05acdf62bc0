/* JSON of an issuer, which is not trusted: read by jansson, with duplicate members refused (RFC 7515 4, RFC 7519 4: two
 * readers may take different ones). */
#ifndef HB_OIDC_JSON_H
#define HB_OIDC_JSON_H

#include <jansson.h>

#include "base/arena.h"
#include "oidc/fault.h"

/* Reads an object; free it with json_decref. malformed: what to return when the text is no object. Also
 * OIDC_NO_MEMORY. *out is NULL then. */
enum oidc_fault oidc_json_read(struct str text, enum oidc_fault malformed, json_t **out);
/* The text of a member, which lives as long as the object; STR_NONE: there is none, or it is no text. */
struct str oidc_json_text(const json_t *object, const char *name);
/* The text of a value, as above. */
struct str oidc_json_value(const json_t *value);
/* True when the member is a list of texts, one of which is text. */
bool oidc_json_list_has(const json_t *object, const char *name, struct str text);
/* Reads a NumericDate (RFC 7519 2), seconds with or without a fraction, as milliseconds. False: there is no such
 * member, or it is no number from 0 to the year 9999. */
bool oidc_json_time(const json_t *object, const char *name, int64_t *out_ms);

#endif
