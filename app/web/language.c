#include "web/language.h"

#include "web/accept.h"

static const struct {
    const char *tag;
    struct str primary; /* a language tag that begins with this subtag means this language */
} languages[LANGUAGES] = {
    [LANGUAGE_ZH_CN] = { "zh-CN", { "zh", 2 } },
    [LANGUAGE_EN] = { "en", { "en", 2 } },
};

const char *language_tag(enum language language)
{
    return languages[language].tag;
}

bool language_from_tag(struct str tag, enum language *out)
{
    for (int i = 0; i < LANGUAGES; i++) {
        if (str_equal(tag, str_from(languages[i].tag))) {
            *out = (enum language)i;
            return true;
        }
    }
    return false;
}

static bool language_of_range(struct str range, enum language *out)
{
    struct str rest;
    struct str primary = str_cut(range, '-', &rest);

    for (int i = 0; i < LANGUAGES; i++) {
        if (str_equal_fold(primary, languages[i].primary)) {
            *out = (enum language)i;
            return true;
        }
    }
    return false;
}

/* True when the range names a language, unlike *: its first subtag has two to eight letters. */
static bool names_language(struct str range)
{
    struct str rest;
    struct str primary = str_cut(range, '-', &rest);

    for (size_t i = 0; i < primary.len; i++)
        if ((primary.ptr[i] | 0x20) < 'a' || (primary.ptr[i] | 0x20) > 'z')
            return false;
    return primary.len >= 2 && primary.len <= 8;
}

enum language language_choose(struct str cookie, struct str accept_language)
{
    enum language best = LANGUAGE_ZH_CN, language;
    int best_weight = 0;
    bool abroad = false;

    if (language_from_tag(cookie, &best))
        return best;
    while (accept_language.len > 0) {
        struct str parameters;
        struct str range = str_cut(str_cut(accept_language, ',', &accept_language), ';', &parameters);
        int weight = accept_weight(parameters);
        bool ours = language_of_range(str_trim(range), &language);
        abroad = abroad || (!ours && weight > 0 && names_language(str_trim(range)));
        if (ours && weight > best_weight) {
            best = language;
            best_weight = weight;
        }
    }
    return best_weight == 0 && abroad ? LANGUAGE_EN : best;
}
