#include "pages/receipt.h"

#include "base/clock.h"
#include "base/money.h"
#include "packet/receipt_keys.h"
#include "packet/store.h"
#include "pages/present.h"
#include "web/qr.h"
#include "web/respond.h"
#include "web/view.h"

#define KEYS_AGE "public, max-age=3600"

static const struct problem PROBLEM_NO_RECEIPT = { 404, "no-receipt", "text/receipt_none", "text/receipt_none_detail",
                                                   0 };
static const struct problem PROBLEM_RECEIPT_RETURNED = { 404, "no-receipt", "text/receipt_returned", NULL, 0 };

static enum status receipt_find(struct exchange *x, struct grab *mine, struct packet *packet, struct receipt *out)
{
    enum status st = packet_grab_of(x->app->stores.db, x->arena, x->id, x->visitor.user_id, mine);
    if (st == ST_OK && mine->returned)
        return ST_NOT_FOUND; /* the money is no longer with this user */
    if (st == ST_OK)
        st = packet_find(x->app->stores.db, x->arena, x->id, packet);
    if (st != ST_OK)
        return st;
    *out = (struct receipt){ .packet = present_packet_id(x, x->id),
                             .share_no = mine->share_no,
                             .amount_fen = mine->amount_fen,
                             .unit = str_from(money_unit()->code),
                             .unit_decimals = money_unit()->decimals,
                             .user_id = x->visitor.user_id,
                             .username = x->visitor.username,
                             .nickname = mine->nickname,
                             .grabbed_at = clock_rfc3339(x->arena, mine->grabbed_ms),
                             .sender_id = packet->sender_id,
                             .sender = packet->sender_name,
                             .commitment = present_hex(x->arena, packet->commitment, sizeof packet->commitment),
                             .issued_by = str_from(x->app->stores.config->base_url) };
    return arena_failed(x->arena) ? ST_NO_MEMORY : ST_OK;
}

/* Adds the members in the order of the signed lines. */
static void receipt_model(struct model *m, const struct receipt *r, const struct grab *mine)
{
    struct value *object = value_object(m, &m->root, "receipt");
    value_int(m, object, "version", receipt_version(r));
    value_text(m, object, "packet", r->packet);
    value_int(m, object, "share_no", (int64_t)r->share_no);
    value_page_int(m, object, "number", (int64_t)r->share_no + 1);
    view_money_model(m, object, "amount_fen", "amount_text", r->amount_fen);
    if (receipt_version(r) > 1) {
        value_text(m, object, "unit", r->unit);
        value_int(m, object, "unit_decimals", r->unit_decimals);
    }
    value_int(m, object, "user_id", (int64_t)r->user_id);
    value_text(m, object, "username", r->username);
    value_text(m, object, "nickname", r->nickname);
    value_text(m, object, "grabbed_at", r->grabbed_at);
    value_page_text(m, object, "time_text", clock_zone_second(m->arena, mine->grabbed_ms));
    value_int(m, object, "sender_id", (int64_t)r->sender_id);
    value_text(m, object, "sender", r->sender);
    value_text(m, object, "commitment", r->commitment);
    value_text(m, object, "issued_by", r->issued_by);
}

/* Adds what the page shows besides the receipt: the packet, and a QR code with the address where its shares can be
 * checked. */
static void packet_model(struct exchange *x, struct model *m, const struct packet *p)
{
    struct value *root = &m->root;
    struct str path = present_packet_path(x, x->id);
    value_page_text(m, root, "url", path);
    value_page_text(m, root, "site_host", present_site_host(x));
    value_page_text(m, root, "greeting", p->greeting);
    value_page_bool(m, root, "kind_lucky", p->kind == PACKET_LUCKY);
    value_page_bool(m, root, "kind_even", p->kind == PACKET_EVEN);
    value_page_bool(m, root, "kind_exclusive", p->kind == PACKET_EXCLUSIVE);
    if (!x->wants_json)
        value_page_text(m, root, "html_qr",
                        qr_svg(m->arena, arena_printf(m->arena, "%.*s/verify", STR_ARG(present_packet_url(x, x->id)))));
}

/* Adds signature and key_id. */
static enum status signature_model(struct exchange *x, struct model *m, const struct receipt *r)
{
    struct buf bytes = BUF_EMPTY;
    uint8_t signature[RECEIPT_SIGNATURE_BYTES];
    char text[RECEIPT_TEXT_MAX];
    bool valid = receipt_bytes(r, &bytes);
    enum status st = bytes.failed ? ST_NO_MEMORY : valid ? ST_OK : ST_CORRUPT; /* names have no control characters */
    if (st == ST_OK) {
        const struct receipt_key *key = receipt_keys_sign(x->app->receipt_keys, x->now_ms, buf_view(&bytes), signature);
        receipt_text_write(signature, sizeof signature, text);
        value_text(m, &m->root, "signature", arena_str(x->arena, str_from(text)));
        value_text(m, &m->root, "key_id", str_from(key->id));
    }
    buf_free(&bytes);
    return st;
}

enum step receipt_show(struct exchange *x)
{
    struct grab mine = { .returned = false };
    struct packet packet;
    struct receipt r;
    struct model m;
    model_init(&m, x->arena);
    enum status st = receipt_find(x, &mine, &packet, &r);
    if (st == ST_NOT_FOUND) {
        respond_problem(x, mine.returned ? &PROBLEM_RECEIPT_RETURNED : &PROBLEM_NO_RECEIPT);
        return STEP_DONE;
    }
    if (st == ST_OK) {
        receipt_model(&m, &r, &mine);
        const struct str capitals = money_capitals(x->arena, r.amount_fen);
        if (x->language == LANGUAGE_ZH_CN && capitals.ptr != NULL)
            value_page_text(&m, &m.root, "capitals", capitals);
        packet_model(x, &m, &packet);
        st = signature_model(x, &m, &r);
    }
    if (st == ST_OK)
        respond_model(x, 200, "pages/receipt", &m);
    else
        respond_status(x, st);
    return STEP_DONE;
}

enum step receipt_download(struct exchange *x)
{
    x->wants_json = true;
    respond_header(x, "Content-Disposition",
                   arena_printf(x->arena, "attachment; filename=\"hongbao-receipt-%.*s.json\"",
                                STR_ARG(present_packet_id(x, x->id))));
    return receipt_show(x);
}

/* ---- the keys ---- */

static void time_text(struct model *m, struct value *object, const char *name, const char *time)
{
    if (time[0] == '\0')
        value_null(m, object, name);
    else
        value_text(m, object, name, str_from(time));
}

static enum status keys_make(struct exchange *x, struct model *m)
{
    const struct receipt_keys *keys = x->app->receipt_keys;
    struct value *list = value_list(m, &m->root, "keys");
    for (size_t i = 0; i < keys->count; i++) {
        char text[RECEIPT_TEXT_MAX];
        struct value *key = value_add_object(m, list);
        receipt_text_write(keys->items[i].bytes, RECEIPT_KEY_BYTES, text);
        value_text(m, key, "key_id", str_from(keys->items[i].id));
        value_text(m, key, "public_key", arena_str(x->arena, str_from(text)));
        time_text(m, key, "from", keys->items[i].from);
        time_text(m, key, "until", keys->items[i].until);
    }
    return ST_OK;
}

enum step receipt_keys_show(struct exchange *x)
{
    kept_json_respond(x, &x->app->keys_shown, keys_make, STR(KEYS_AGE));
    return STEP_DONE;
}
