#include "records/months.h"

#include "web/text.h"

enum { CHART_UNITS = 100, CHART_UNITS_MIN = 2 };

int64_t chart_part(int64_t part_fen, int64_t whole_fen)
{
    if (part_fen <= 0 || whole_fen <= 0)
        return 0;
    for (; whole_fen > INT32_MAX; whole_fen /= 2)
        part_fen /= 2;
    int64_t units = part_fen * CHART_UNITS / whole_fen;
    return units > CHART_UNITS_MIN ? units : CHART_UNITS_MIN;
}

int64_t months_chart_model(struct exchange *x, struct model *m, const struct value *months,
                           const int64_t fen[MONTHS_PER_YEAR])
{
    int64_t max_fen = 0;
    for (int i = 0; i < MONTHS_PER_YEAR; i++)
        max_fen = fen[i] > max_fen ? fen[i] : max_fen;
    struct value *month = months->as.list.first;
    for (int i = 0; i < MONTHS_PER_YEAR && month != NULL && !x->wants_json; i++, month = month->next) {
        value_page_text(m, month, "name", text_month(x, i + 1));
        if (fen[i] <= 0)
            continue;
        struct value *bar = value_page_object(m, month, "bar");
        int64_t height = chart_part(fen[i], max_fen);
        value_page_int(m, bar, "top", CHART_UNITS - height);
        value_page_int(m, bar, "height", height);
        value_page_bool(m, bar, "most", fen[i] == max_fen);
    }
    return max_fen;
}
