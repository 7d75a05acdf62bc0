#include "pages/phrase_field.h"

#include "web/field_types.h"

static enum status phrase_read(struct field_input *in)
{
    struct phrase *phrase = in->out;
    struct field_input line = *in;
    struct str shown = STR(""), folded;
    line.out = &shown;
    enum status st = field_line_read(&line);
    if (st != ST_OK)
        return st;
    if (shown.len == 0)
        return in->typed.len == 0 ? ST_OK : field_fail(in, in->field->malformed); /* blanks only */
    st = phrase_fold(in->x->arena, shown, &folded);
    if (st != ST_OK)
        return st;
    if (folded.len == 0)
        return field_fail(in, in->field->malformed);
    *phrase = (struct phrase){ shown, folded };
    return ST_OK;
}

static enum status phrase_tried_read(struct field_input *in)
{
    struct phrase *phrase = in->out;
    phrase->shown = in->typed;
    return phrase_fold(in->x->arena, in->typed, &phrase->folded);
}

const struct field_type FIELD_PHRASE = { phrase_read };
const struct field_type FIELD_PHRASE_TRIED = { phrase_tried_read };
