#include "web/accept.h"

int accept_weight(struct str parameters)
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

bool accept_gzip(struct str accept_encoding)
{
    int named = -1, any = 0;

    while (accept_encoding.len > 0) {
        struct str parameters;
        struct str coding = str_trim(str_cut(str_cut(accept_encoding, ',', &accept_encoding), ';', &parameters));
        if (str_equal_fold(coding, STR("gzip")) || str_equal_fold(coding, STR("x-gzip")))
            named = accept_weight(parameters);
        else if (str_equal(coding, STR("*")))
            any = accept_weight(parameters);
    }
    return (named >= 0 ? named : any) > 0;
}

/* How a list matches a type. */
struct naming {
    int range;    /* 3: by its name, 2: by its TYPE alone, 1: by any, 0: not at all */
    int weight;   /* of the closest range */
    size_t place; /* of that range in the list */
};

/* The first q counts; other parameters are of the media type. */
static int media_weight(struct str parameters)
{
    while (parameters.len > 0) {
        struct str value;
        struct str parameter = str_cut(parameters, ';', &parameters);
        if (str_equal_fold(str_trim(str_cut(parameter, '=', &value)), STR("q")))
            return accept_weight(parameter);
    }
    return 1000;
}

/* A problem is JSON, too. */
static int range_of(struct str range, struct str media_type)
{
    size_t type_len = str_index(media_type, '/') + 1;
    if (str_equal_fold(range, STR("application/problem+json")))
        range = STR(MEDIA_JSON);
    if (str_equal_fold(range, media_type))
        return 3;
    if (range.len == type_len + 1 && range.ptr[type_len] == '*' &&
        str_equal_fold(str_slice(range, 0, type_len), str_slice(media_type, 0, type_len)))
        return 2;
    return str_equal(range, STR("*/*"));
}

static struct naming naming_of(struct str accept, struct str media_type)
{
    struct naming best = { .range = 0 };
    for (size_t place = 0; accept.len > 0; place++) {
        struct str parameters;
        struct str named = str_trim(str_cut(str_cut(accept, ',', &accept), ';', &parameters));
        int range = range_of(named, media_type);
        if (range > best.range)
            best = (struct naming){ range, media_weight(parameters), place };
    }
    return best;
}

bool accept_prefers(struct str accept, struct str media_type, struct str other)
{
    /* Short cut: what browsers and programs send begins with the answer. */
    struct str rest;
    struct str first = str_cut(accept, ',', &rest);
    if (str_equal(first, media_type) || str_equal(first, other))
        return str_equal(first, media_type);
    struct naming wanted = naming_of(accept, media_type), beside = naming_of(accept, other);
    if (wanted.weight != beside.weight)
        return wanted.weight > beside.weight;
    return wanted.weight > 0 && wanted.range == 3 && (beside.range < 3 || wanted.place < beside.place);
}
