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
