#include "ops/findings.h"

#include <ctype.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/value.h"

#define MANUAL_INSTALLED "/usr/share/doc/hongbao/docs"

enum { TEXT_BYTES_MAX = 4096 };

struct finding {
    struct finding *next;
    bool is_wrong;
    const char *name;
    struct str text, mend; /* mend: of what is wrong */
};

static const char *text_of(struct findings *f, const char *format, va_list args)
{
    char text[TEXT_BYTES_MAX];
    (void)vsnprintf(text, sizeof text, format, args);
    for (char *c = text; *c != '\0'; c++)
        if (*c == '\n' || *c == '\r')
            *c = ' ';
    return arena_cstr(f->arena, str_from(text));
}

static void finding_add(struct findings *f, const struct finding *found)
{
    if (findings_skip(f, found->name))
        return;
    struct finding *one = arena_alloc(f->arena, sizeof *one);
    if (one == NULL)
        return;
    *one = *found;
    if (f->last == NULL)
        f->first = one;
    else
        f->last->next = one;
    f->last = one;
    *(one->is_wrong ? &f->wrong : &f->unchecked) += 1;
}

void finding_wrong(struct findings *f, const char *name, const char *mend, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const char *text = text_of(f, format, args);
    va_end(args);
    finding_add(f, &(struct finding){ .is_wrong = true, .name = name, .text = str_from(text), .mend = str_from(mend) });
}

void findings_lead(struct findings *f)
{
    struct finding *before = f->first, *lead = f->last;
    if (before == lead)
        return;
    while (before->next != lead)
        before = before->next;
    before->next = NULL;
    f->last = before;
    lead->next = f->first;
    f->first = lead;
}

void finding_unchecked(struct findings *f, const char *name, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const char *text = text_of(f, format, args);
    va_end(args);
    finding_add(f, &(struct finding){ .name = name, .text = str_from(text) });
}

const char *finding_text(struct findings *f, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const char *text = text_of(f, format, args);
    va_end(args);
    return text;
}

bool findings_skip(const struct findings *f, const char *name)
{
    for (size_t i = 0; i < f->skip_count; i++)
        if (strcmp(f->skip[i], name) == 0)
            return true;
    return false;
}

const char *findings_manual(void)
{
    return access(MANUAL_INSTALLED, F_OK) == 0 ? MANUAL_INSTALLED : NULL;
}

/* The text with the folder of the manual in place of each "docs" that begins a path, in the arena. */
static struct str manual_named(const struct findings *f, struct str text)
{
    static const struct str name = { "docs/", 5 };
    struct buf out = BUF_EMPTY;
    if (f->manual == NULL)
        return text;
    for (size_t i = 0; i < text.len; i++) {
        const char before = i == 0 ? ' ' : text.ptr[i - 1];
        if (before != '/' && !isalnum((unsigned char)before) && str_starts(str_skip(text, i), name)) {
            buf_cstr(&out, f->manual);
            i += name.len - 2; /* goes on with the slash */
        } else {
            buf_char(&out, text.ptr[i]);
        }
    }
    struct str copy = arena_str(f->arena, str_or_empty(buf_view(&out)));
    buf_free(&out);
    return copy;
}

static void kind_print(const struct findings *f, bool is_wrong, struct buf *out)
{
    for (const struct finding *one = f->first; one != NULL; one = one->next) {
        if (one->is_wrong != is_wrong)
            continue;
        buf_printf(out, "%s %s: %.*s\n", is_wrong ? "wrong:" : "not checked:", one->name,
                   STR_ARG(manual_named(f, one->text)));
        if (is_wrong)
            buf_printf(out, "    mend: %.*s\n", STR_ARG(manual_named(f, one->mend)));
    }
}

static void kind_json(const struct findings *f, bool is_wrong, struct buf *out)
{
    const char *comma = "";
    for (const struct finding *one = f->first; one != NULL; one = one->next) {
        if (one->is_wrong != is_wrong)
            continue;
        buf_printf(out, "%s{\"name\":\"%s\",\"text\":", comma, one->name);
        value_json_string(out, manual_named(f, one->text));
        if (is_wrong) {
            buf_cstr(out, ",\"mend\":");
            value_json_string(out, manual_named(f, one->mend));
        }
        buf_char(out, '}');
        comma = ",";
    }
}

/* Writes and frees b. */
static bool write_out(const struct findings *f, struct buf *b, FILE *out)
{
    bool ok = !b->failed && !arena_failed(f->arena) && (b->len == 0 || fwrite(b->ptr, 1, b->len, out) == b->len) &&
              fflush(out) == 0;
    buf_free(b);
    return ok;
}

bool findings_print(const struct findings *f, FILE *out)
{
    struct buf b = BUF_EMPTY;
    kind_print(f, true, &b);
    kind_print(f, false, &b);
    return write_out(f, &b, out);
}

bool findings_print_json(const struct findings *f, struct str audited_at, FILE *out)
{
    struct buf b = BUF_EMPTY;
    buf_printf(&b, "{\"ok\":%s,\"wrong\":[", f->wrong == 0 ? "true" : "false");
    kind_json(f, true, &b);
    buf_cstr(&b, "],\"unchecked\":[");
    kind_json(f, false, &b);
    buf_cstr(&b, "],\"audited_at\":");
    if (audited_at.ptr == NULL)
        buf_cstr(&b, "null");
    else
        value_json_string(&b, audited_at);
    buf_cstr(&b, "}\n");
    return write_out(f, &b, out);
}
