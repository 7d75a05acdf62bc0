#include "web/unit_texts.h"

#include "base/buf.h"
#include "base/money.h"
#include "base/utf8.h"

#define AMOUNT STR("¥(")

/* Between two characters: no line ends here (word joiner, no-break space). */
#define JOINER "\u2060"
#define BLANK  "\u00a0"
enum { NAME_WHOLE_MAX = 4 }; /* a longer name may be broken, but not from its amount */

enum { EXAMPLE_FEN = 8888, EXAMPLE_WHOLE_FEN = 88 };

/* For so many decimals. */
static const char *const DECIMALS_BLOCKS[] = { "{{$none}}{{/none}}", "{{$one}}{{/one}}", "{{$two}}{{/two}}" };

/* A Chinese name behind an amount, on the same line. STR_NONE without memory. */
static struct str name_joined(struct arena *a, struct str name)
{
    struct buf out = BUF_EMPTY;
    const bool whole = utf8_codepoints(name) <= NAME_WHOLE_MAX;
    for (size_t i = 0; i < name.len; i++) {
        const bool begins = ((unsigned char)name.ptr[i] & 0xc0) != 0x80; /* a character */
        if (begins && (i == 0 || whole))
            buf_str(&out, STR(JOINER));
        buf_str(&out, str_slice(name, i, i + 1));
    }
    const struct str joined = out.failed ? STR_NONE : arena_str(a, buf_view(&out));
    buf_free(&out);
    return joined;
}

bool unit_texts(struct arena *a, enum language language, struct mustache_source out[static UNIT_TEXTS])
{
    const struct money_unit *unit = money_unit();
    const bool zh = language == LANGUAGE_ZH_CN;
    const struct str none = STR(""), symbol = str_from(unit->symbol),
                     name = str_from(zh ? unit->name_zh : unit->name_en);
    const struct str behind = zh ? name_joined(a, name) : arena_printf(a, BLANK "%s", unit->name_en);
    const int64_t example_fen = unit->decimals == 0 ? EXAMPLE_WHOLE_FEN : EXAMPLE_FEN;
    const bool has_symbol = symbol.len > 0, in_front = has_symbol && !zh;
    const struct {
        const char *name;
        struct str text;
    } texts[UNIT_TEXTS] = { { "text/unit_before", in_front ? symbol : none },
                            { "text/unit_after", in_front ? none : behind },
                            { "text/unit_large_before", symbol },
                            { "text/unit_large_after", has_symbol ? none : behind },
                            { "text/unit", in_front ? symbol : name },
                            { "text/unit_least", money_text(a, 1) },
                            { "text/unit_zero", money_text(a, 0) },
                            { "text/unit_example", money_text(a, example_fen) },
                            { "text/unit_decimals", str_from(DECIMALS_BLOCKS[unit->decimals]) },
                            { "text/unit_code", str_from(unit->code) },
                            { "text/unit_typed", arena_printf(a, "%d~%s~%s~%s~%s", unit->decimals, unit->code,
                                                              unit->name_zh, unit->name_en, unit->symbol) } };
    for (size_t i = 0; i < UNIT_TEXTS; i++) {
        if (texts[i].text.ptr == NULL)
            return false;
        out[i] =
            (struct mustache_source){ .name = str_from(texts[i].name), .file = STR("settings"), .text = texts[i].text };
    }
    return true;
}

const char *unit_amounts_expand(struct arena *a, struct str *text)
{
    struct buf out = BUF_EMPTY;
    struct str rest = *text;
    size_t at = str_find(rest, AMOUNT);
    if (at == rest.len)
        return NULL;
    for (; at < rest.len; at = str_find(rest, AMOUNT)) {
        struct str after, amount = str_cut(str_skip(rest, at + AMOUNT.len), ')', &after);
        if (after.ptr == NULL) {
            buf_free(&out);
            return "\"¥(\" has no \")\" behind it";
        }
        buf_printf(&out, "%.*s{{>text/unit_before}}%.*s{{>text/unit_after}}", (int)at, rest.ptr, STR_ARG(amount));
        rest = after;
    }
    buf_printf(&out, "%.*s", STR_ARG(rest));
    *text = out.failed ? STR_NONE : arena_str(a, buf_view(&out));
    buf_free(&out);
    return NULL;
}
