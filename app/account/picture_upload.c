#include "account/picture_upload.h"

#include "io/picture_child.h"
#include "web/multipart.h"
#include "web/respond.h"

struct str picture_upload_text(struct exchange *x, const char *name)
{
    struct str text = STR("");
    if (x->fcgi->body.len > 0)
        (void)multipart_find(exchange_param(x, "CONTENT_TYPE"), x->fcgi->body, name, &text);
    return str_or_empty(text);
}

/* Reads the field `part` of the form that picture_uploaded has checked; an unknown word is PICTURE_AUTO. */
static enum picture_part part_read(struct exchange *x)
{
    enum picture_part part = PICTURE_AUTO;
    (void)picture_part_from(picture_upload_text(x, "part"), &part);
    return part;
}

/* The uploaded file. ST_INVALID: refused, e says why · ST_CORRUPT: not the form of the page. */
static enum status file_read(struct exchange *x, struct str *file, struct form_errors *e)
{
    enum status st = ST_OK;
    bool large = x->fcgi->body_too_large || exchange_param(x, "PICTURE_TOO_LARGE").ptr != NULL;
    *file = STR("");
    if (!large && x->fcgi->body.len > 0)
        st = multipart_find(exchange_param(x, "CONTENT_TYPE"), x->fcgi->body, PICTURE_FIELD, file);
    if (st == ST_INVALID)
        return ST_CORRUPT;
    if (large || file->len > PICTURE_FILE_BYTES_MAX)
        form_fail(e, PICTURE_FIELD, "text/picture_large");
    else if (file->len == 0)
        form_fail(e, PICTURE_FIELD, "text/picture_missing");
    return e->count > 0 ? ST_INVALID : ST_OK;
}

enum status picture_uploaded(struct exchange *x, enum picture_shape shape, struct buf *picture, struct form_errors *e)
{
    struct str file;
    enum status st = file_read(x, &file, e);
    if (st != ST_OK)
        return st;
    st = picture_child_make(x->app->picture_program, file, (struct picture_want){ shape, part_read(x) }, picture);
    if (st == ST_INVALID)
        form_fail(e, PICTURE_FIELD, "text/picture_unreadable");
    return st;
}

void picture_upload_failed(struct exchange *x, enum status st)
{
    if (st == ST_CORRUPT)
        respond_problem(x, &PROBLEM_BAD_REQUEST);
    else
        respond_status(x, status_idempotent(st));
}
