#include "web/language.h"

static const struct {
    const char *tag;
    struct str primary; /* tags that begin with this subtag are answered in this language */
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

/* The weight in thousandths: "0.8" is 800, no weight is 1000. A malformed weight is 0, which means "not acceptable". */
static int weight_read(struct str parameters)
{
    struct str value;
    struct str name = str_trim(str_cut(parameters, '=', &value));
    int weight = 0, unit = 1000;

    if (name.len == 0)
        return unit;
    value = str_trim(value);
    if (!str_equal_fold(name, STR("q")) || value.len == 0 || value.len > 5 || value.ptr[0] < '0' || value.ptr[0] > '1')
        return 0;
    for (size_t i = 0; i < value.len; i++) {
        if (i == 1 ? value.ptr[i] != '.' : value.ptr[i] < '0' || value.ptr[i] > '9')
            return 0;
        if (i == 1)
            continue;
        weight += (value.ptr[i] - '0') * unit;
        unit /= 10;
    }
    return weight <= 1000 ? weight : 0;
}

enum language language_choose(struct str cookie, struct str accept_language)
{
    enum language best = LANGUAGE_ZH_CN, language;
    int best_weight = 0;

    if (language_from_tag(cookie, &best))
        return best;
    while (accept_language.len > 0) {
        struct str parameters;
        struct str range = str_cut(str_cut(accept_language, ',', &accept_language), ';', &parameters);
        int weight = weight_read(parameters);
        if (weight > best_weight && language_of_range(str_trim(range), &language)) {
            best = language;
            best_weight = weight;
        }
    }
    return best;
}
