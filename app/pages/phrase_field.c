#include "pages/phrase_field.h"

#include "base/utf8.h"
#include "web/field_types.h"

static enum status phrase_set_read(struct field_input *in)
{
    struct phrase *phrase = in->out;
    struct field_input line = *in;
    struct str shown = STR("");
    line.out = &shown;
    enum status st = field_line_read(&line, utf8_clean, utf8_graphemes);
    if (st != ST_OK)
        return st;
    if (shown.len == 0)
        return in->typed.len == 0 ? ST_OK : field_fail(in, in->field->malformed); /* blanks only */
    struct phrase set = { .shown = shown };
    st = phrase_read(in->x->arena, &set);
    if (st != ST_OK)
        return st;
    if (set.folded.len == 0)
        return field_fail(in, in->field->malformed);
    *phrase = set;
    return ST_OK;
}

static enum status phrase_tried_read(struct field_input *in)
{
    struct phrase *phrase = in->out;
    phrase->shown = in->typed;
    return phrase_read(in->x->arena, phrase);
}

const struct field_type FIELD_PHRASE = { .read = phrase_set_read, .as_typed = true };
const struct field_type FIELD_PHRASE_TRIED = { .read = phrase_tried_read, .as_typed = true };
