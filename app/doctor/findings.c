#include "doctor/findings.h"

#include <ctype.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/value.h"

#define MANUAL_INSTALLED "/usr/share/doc/hongbao/docs"

enum { TEXT_BYTES_MAX = 4096, SUBJECTS_SHOWN_MAX = 5 };

struct finding {
    struct finding *next;
    bool is_wrong;
    const char *name;
    struct str text, mend; /* mend: of what is wrong */
    struct str subjects;   /* subjects of finding_of, a line each; absent: none */
    size_t subject_count;
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

static struct finding *finding_like(struct findings *f, const char *name, const char *text, const char *mend)
{
    struct finding *one = f->first;
    while (one != NULL && (!one->is_wrong || strcmp(one->name, name) != 0 || one->subject_count == 0 ||
                           !str_equal(one->text, str_from(text)) || !str_equal(one->mend, str_from(mend))))
        one = one->next;
    return one;
}

static bool subjects_have(struct str subjects, struct str subject)
{
    while (subjects.ptr != NULL && subjects.len > 0)
        if (str_equal(str_cut(subjects, '\n', &subjects), subject))
            return true;
    return false;
}

void finding_of(struct findings *f, const char *name, const char *mend, const char *text, const char *subject)
{
    if (mend == NULL || text == NULL || subject == NULL)
        return;
    struct finding *one = finding_like(f, name, text, mend);
    if (one == NULL) {
        finding_add(f, &(struct finding){ .is_wrong = true,
                                          .name = name,
                                          .text = str_from(text),
                                          .mend = str_from(mend),
                                          .subjects = arena_str(f->arena, str_from(subject)),
                                          .subject_count = 1 });
    } else if (!subjects_have(one->subjects, str_from(subject))) {
        one->subjects = arena_printf(f->arena, "%.*s\n%s", STR_ARG(one->subjects), subject);
        one->subject_count++;
    }
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
            i += name.len - 2; /* the loop continues at the slash */
        } else {
            buf_char(&out, text.ptr[i]);
        }
    }
    struct str copy = arena_str(f->arena, str_or_empty(buf_view(&out)));
    buf_free(&out);
    return copy;
}

/* The text, and behind it the first subjects, in the arena. */
static struct str whole_text(const struct findings *f, const struct finding *one)
{
    struct buf out = BUF_EMPTY;
    struct str rest = one->subjects;
    buf_str(&out, one->text);
    for (size_t i = 0; i < one->subject_count && i < SUBJECTS_SHOWN_MAX; i++) {
        buf_cstr(&out, i == 0 ? ": " : "; ");
        buf_str(&out, str_cut(rest, '\n', &rest));
    }
    if (one->subject_count > SUBJECTS_SHOWN_MAX)
        buf_printf(&out, "; and %zu more", one->subject_count - SUBJECTS_SHOWN_MAX);
    struct str text = arena_str(f->arena, str_or_empty(buf_view(&out)));
    buf_free(&out);
    return manual_named(f, text);
}

/* The mend with all subjects in place of "{}", in the arena. */
static struct str whole_mend(const struct findings *f, const struct finding *one)
{
    struct buf out = BUF_EMPTY;
    const size_t at = str_find(one->mend, STR("{}"));
    if (one->subject_count == 0 || at == one->mend.len)
        return manual_named(f, one->mend);
    buf_str(&out, str_slice(one->mend, 0, at));
    for (size_t i = 0; i < one->subjects.len; i++)
        buf_char(&out, one->subjects.ptr[i] == '\n' ? ' ' : one->subjects.ptr[i]);
    buf_str(&out, str_skip(one->mend, at + 2));
    struct str mend = arena_str(f->arena, str_or_empty(buf_view(&out)));
    buf_free(&out);
    return manual_named(f, mend);
}

static void kind_print(const struct findings *f, bool is_wrong, struct buf *out)
{
    for (const struct finding *one = f->first; one != NULL; one = one->next) {
        if (one->is_wrong != is_wrong)
            continue;
        buf_printf(out, "%s %s: %.*s\n", is_wrong ? "wrong:" : "not checked:", one->name, STR_ARG(whole_text(f, one)));
        if (is_wrong)
            buf_printf(out, "    mend: %.*s\n", STR_ARG(whole_mend(f, one)));
    }
}

static void kind_json(const struct findings *f, bool is_wrong, struct buf *out)
{
    const char *comma = "";
    for (const struct finding *one = f->first; one != NULL; one = one->next) {
        if (one->is_wrong != is_wrong)
            continue;
        buf_printf(out, "%s{\"name\":\"%s\",\"text\":", comma, one->name);
        value_json_string(out, whole_text(f, one));
        if (is_wrong) {
            buf_cstr(out, ",\"mend\":");
            value_json_string(out, whole_mend(f, one));
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
