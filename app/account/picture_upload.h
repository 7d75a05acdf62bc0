/* The picture that a form uploads (multipart/form-data): the file is its part `picture`; the part `part` is a word of
 * enum picture_part. */
#ifndef HB_ACCOUNT_PICTURE_UPLOAD_H
#define HB_ACCOUNT_PICTURE_UPLOAD_H

#include "io/picture.h"
#include "web/exchange.h"
#include "web/form.h"

#define PICTURE_FIELD "picture"

/* Makes a picture of the uploaded file and appends it to picture. ST_INVALID with a message in e: there is no file, it
 * is too large, or not readable · ST_CORRUPT: this is not the form of the page · the other errors of
 * picture_child_make. */
enum status picture_uploaded(struct exchange *x, enum picture_shape shape, struct buf *picture, struct form_errors *e);
/* The text of another part of the form; empty: it has no such part, or is malformed. */
struct str picture_upload_text(struct exchange *x, const char *name);
/* Answers when the picture was not kept and e has no message. */
void picture_upload_failed(struct exchange *x, enum status st);

#endif
