#include "account/packet_ahead.h"

#include "base/public_id.h"
#include "mysql/db.h"
#include "packet/cover.h"
#include "packet/faces.h"
#include "web/view.h"

/* The id in "/p/ID", also with more behind it. False: another page. */
static bool packet_of(const struct exchange *x, struct str next, uint64_t *id)
{
    struct str rest;
    if (!str_skip_prefix(&next, STR("/p/")))
        return false;
    struct str text = str_cut(str_cut(next, '?', &rest), '/', &rest);
    return public_id_decode(&x->app->id_key, text, id);
}

void packet_ahead_model(struct exchange *x, struct model *m, struct str next)
{
    uint64_t id;
    struct db_rows rows;
    if (!packet_of(x, next, &id) ||
        db_query(x->app->stores.db, x->arena, &rows,
                 "SELECT sender_id, sender_name, IF(kind = 'exclusive', NULL, greeting),"
                 " cover, " FACE_OF("packet.sender_id") " FROM packet WHERE id = ?",
                 DB_PARAMS(DB_U64(id))) != ST_OK ||
        rows.count == 0)
        return;
    struct value *ahead = value_page_object(m, &m->root, "packet_ahead");
    struct str nickname = db_cell(&rows, 0, 1);
    value_page_text(m, ahead, "nickname", nickname);
    struct face face = face_from(db_cell(&rows, 0, 4));
    view_avatar_model(m, ahead, db_cell_u64(&rows, 0, 0), nickname, &face);
    const struct str cover = db_cell(&rows, 0, 3);
    view_cover_model(m, ahead, packet_cover_shown(cover), packet_cover_hash(cover));
    if (db_cell(&rows, 0, 2).ptr != NULL)
        value_page_text(m, ahead, "greeting", db_cell(&rows, 0, 2));
}
