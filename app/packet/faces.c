#include "packet/faces.h"

#include <stdlib.h>

enum { IDS_MAX = 500 }; /* users that one query looks for */

struct known {
    uint64_t id;
    struct face face;
};

static int known_order(const void *left, const void *right)
{
    const struct known *a = left, *b = right;
    return (a->id > b->id) - (a->id < b->id);
}

/* The chosen faces among count users, ordered by id. */
static enum status chosen_find(struct db *db, struct arena *a, const uint64_t *ids, size_t count, struct known **out,
                               size_t *out_count)
{
    struct db_rows rows;
    struct buf sql = BUF_EMPTY;
    buf_cstr(&sql, "SELECT id, face FROM user WHERE face IS NOT NULL AND id IN ");
    db_ids(&sql, ids, count);
    enum status st = db_query_buf(db, a, &rows, &sql);
    buf_free(&sql);
    if (st != ST_OK)
        return st;
    struct known *known = arena_array(a, rows.count + 1, sizeof *known);
    if (known == NULL)
        return ST_NO_MEMORY;
    for (size_t i = 0; i < rows.count; i++)
        known[i] = (struct known){ db_cell_u64(&rows, i, 0), face_from(db_cell(&rows, i, 1)) };
    qsort(known, rows.count, sizeof *known, known_order);
    *out = known;
    *out_count = rows.count;
    return ST_OK;
}

static void face_set(struct face *face, const struct known *known, size_t count, uint64_t id)
{
    const struct known *found =
        count == 0 ? NULL : bsearch(&(struct known){ .id = id }, known, count, sizeof *known, known_order);
    *face = found != NULL ? found->face : FACE_NONE;
}

enum status faces_find(struct db *db, struct arena *a, struct packet *p, struct grab *grabs, size_t count)
{
    uint64_t ids[IDS_MAX + 1];
    for (size_t first = 0; first == 0 || first < count; first += IDS_MAX) {
        size_t some = count - first < IDS_MAX ? count - first : IDS_MAX, known_count;
        struct known *known;
        for (size_t i = 0; i < some; i++)
            ids[i] = grabs[first + i].user_id;
        ids[some] = p->sender_id;
        enum status st = chosen_find(db, a, ids, some + 1, &known, &known_count);
        if (st != ST_OK)
            return st;
        face_set(&p->sender_face, known, known_count, p->sender_id);
        for (size_t i = 0; i < some; i++)
            face_set(&grabs[first + i].face, known, known_count, grabs[first + i].user_id);
    }
    return ST_OK;
}
