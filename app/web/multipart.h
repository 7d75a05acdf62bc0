/* Parses multipart/form-data (RFC 7578), as browsers and curl write it, with limits. What is malformed or ambiguous is
 * refused: text before the first part or behind the last one, a part without a name, two parts of one name, an
 * encoding, a part within a part. Names of files and types of parts are not read, because the sender can write anything
 * there. */
#ifndef HB_WEB_MULTIPART_H
#define HB_WEB_MULTIPART_H

#include "base/status.h"
#include "base/str.h"

#define MULTIPART_PARTS_MAX 8
#define MULTIPART_HEAD_MAX  2048 /* bytes of the header of a part: a name of a file has up to 255 characters */

/* True when the content type is multipart/form-data, whatever its boundary. */
bool multipart_is(struct str content_type);

/* Finds the part of this name; *content becomes a slice of body. The whole body is checked. ST_NOT_FOUND: it has no
 * such part · ST_INVALID: malformed, or over a limit. */
enum status multipart_find(struct str content_type, struct str body, const char *name, struct str *content);

#endif
