#include "pages/grab.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/crash.h"
#include "io/metrics.h"
#include "live/capped.h"
#include "live/grab.h"
#include "live/live.h"
#include "live/view.h"
#include "packet/grab.h"
#include "packet/receivers.h"
#include "packet/store.h"
#include "pages/packet_answer.h"
#include "pages/phrase_field.h"
#include "pages/show.h"
#include "pages/show_model.h"
#include "web/limits.h"
#include "web/respond.h"
#include "web/view.h"

enum { MS_PER_S = 1000 };

static const struct problem PROBLEM_EMPTY = { 410, "empty", "text/sold_out", NULL, 0 };
static const struct problem PROBLEM_EXPIRED = { 410, "expired", "text/late", NULL, 0 };
static const struct problem PROBLEM_NOT_YET = { 403, "not-open-yet", "text/not_open_yet", NULL, 0 };
static const struct problem PROBLEM_PHRASE_MISSING = { 422, "wrong-phrase", "text/phrase_missing", NULL, 0 };
static const struct problem PROBLEM_WRONG_PHRASE = { 422, "wrong-phrase", "text/phrase_wrong", NULL, 0 };
static const struct problem PROBLEM_TRIED_OUT = { 429, "too-many-tries", "text/phrase_tried_out", NULL, 0 };
static const struct problem PROBLEM_PAUSE = { 429, "too-many-tries", "text/phrase_pause", NULL, 0 };
static const struct problem PROBLEM_NOT_FOR_YOU = { 403, "not-for-you", "text/not_for_you", NULL, 0 };
static const struct problem PROBLEM_RECEIVED = { 403, "received-enough", "text/received_enough", NULL, 0 };

const struct field open_fields[] = {
    { .name = "phrase", .type = &FIELD_PHRASE_TRIED, .says = "the passphrase, of a packet that needs one" },
    { .name = NULL },
};

static void answer_share(struct exchange *x, const char *result, const struct live_grab *grab)
{
    struct model m;
    model_init(&m, x->arena);
    value_text(&m, &m.root, "result", str_from(result));
    value_int(&m, &m.root, "share_no", grab->share_no);
    value_int(&m, &m.root, "amount_fen", grab->amount_fen);
    value_int(&m, &m.root, "left_count", grab->left_count);
    if (grab->code == LIVE_ALREADY)
        value_bool(&m, &m.root, "returned", grab->returned);
    packet_answer_done(x, &m);
}

static void answer_refusal(struct exchange *x, const struct problem *p)
{
    struct model m;
    metrics_add(p == &PROBLEM_EMPTY ? METRIC_EMPTY : METRIC_GRAB_REFUSED, 1);
    model_init(&m, x->arena);
    packet_answer_refused(x, p, &m);
}

/* Answers that the packet opens later, with the time. */
static void answer_not_yet(struct exchange *x, int64_t opens_ms)
{
    struct model m;
    metrics_add(METRIC_GRAB_REFUSED, 1);
    model_init(&m, x->arena);
    value_text(&m, &m.root, "opens_at", clock_rfc3339(x->arena, opens_ms));
    packet_answer_refused(x, &PROBLEM_NOT_YET, &m);
}

/* Why the typed phrase does not open the packet. */
static const struct problem *phrase_problem(const struct exchange *x, const struct live_grab *grab)
{
    struct str folded;
    if (grab->code == LIVE_TRIED_OUT)
        return grab->pause_ms > 0 ? &PROBLEM_PAUSE : &PROBLEM_TRIED_OUT;
    enum status st = phrase_fold(x->arena, form_get(&x->form, "phrase", NULL), &folded);
    return st == ST_OK && folded.len == 0 ? &PROBLEM_PHRASE_MISSING : &PROBLEM_WRONG_PHRASE;
}

static int pause_s(const struct live_grab *grab)
{
    return (int)((grab->pause_ms + MS_PER_S - 1) / MS_PER_S);
}

static void pause_tell(struct exchange *x, const struct live_grab *grab)
{
    if (grab->pause_ms > 0)
        respond_retry_after(x, pause_s(grab));
}

static enum step phrase_page(struct exchange *x)
{
    const struct live_grab *grab = x->state;
    const struct problem *p = phrase_problem(x, grab);
    struct form_errors errors = { .count = 0 };
    if (p == &PROBLEM_WRONG_PHRASE)
        form_fail_with(&errors, "phrase", "text/phrase_wrong_left",
                       arena_printf(x->arena, "%u", (unsigned)grab->tries_left));
    else if (p == &PROBLEM_PAUSE)
        form_fail_with(&errors, "phrase", "text/phrase_pause_for", arena_printf(x->arena, "%d", pause_s(grab)));
    else
        form_fail(&errors, "phrase", p->title);
    show_refused(x, p->status, &errors, "phrase", "phrase_typed");
    pause_tell(x, grab);
    return STEP_DONE;
}

/* Answers a wrong phrase. HTML: queues a view of the packet; phrase_page then answers with the packet's page and the
 * message beside the field. */
static enum step answer_wrong_phrase(struct exchange *x, const struct live_grab *grab)
{
    const struct problem *p = phrase_problem(x, grab);
    metrics_add(METRIC_GRAB_REFUSED, 1);
    metrics_add(METRIC_LIMITED_PHRASE, grab->code == LIVE_TRIED_OUT ? 1 : 0);
    if (!x->wants_json) {
        struct live_grab *kept = arena_alloc(x->arena, sizeof *kept);
        if (kept == NULL) {
            respond_status(x, ST_NO_MEMORY);
            return STEP_DONE;
        }
        *kept = *grab;
        x->state = kept;
        show_refused_queue(x);
        return exchange_then(x, phrase_page);
    }
    struct model m;
    model_init(&m, x->arena);
    if (grab->code == LIVE_WRONG_PHRASE)
        value_int(&m, &m.root, "tries_left", grab->tries_left);
    respond_problem_with(x, p, &m);
    pause_tell(x, grab);
    return STEP_DONE;
}

/* Answers 503 with a link to the packet's page, which shows whether the grab happened. Never says "failed". */
static void answer_failure(struct exchange *x, enum status st)
{
    if (st != ST_UNKNOWN) {
        respond_status(x, st);
        return;
    }
    struct model m;
    model_init(&m, x->arena);
    metrics_add(METRIC_GRAB_UNKNOWN, 1);
    value_page_bool(&m, &m.root, "outcome", true); /* the page shows the outcome as a waiting envelope */
    respond_problem_with(x, &PROBLEM_UNKNOWN, &m);
}

static void answer_grab(struct exchange *x, const struct live_grab *grab)
{
    switch (grab->code) {
    case LIVE_GRABBED:
        metrics_add(METRIC_GRABBED, 1);
        answer_share(x, "grabbed", grab);
        break;
    case LIVE_ALREADY:
        metrics_add(METRIC_ALREADY, 1);
        answer_share(x, "already", grab);
        break;
    case LIVE_EMPTY: answer_refusal(x, &PROBLEM_EMPTY); break;
    case LIVE_EXPIRED: answer_refusal(x, &PROBLEM_EXPIRED); break;
    case LIVE_NOT_FOR_YOU: answer_refusal(x, &PROBLEM_NOT_FOR_YOU); break;
    case LIVE_NOT_YET: answer_not_yet(x, grab->opens_ms); break;
    case LIVE_MISSING: respond_to_page_pool(x); break;
    case LIVE_BUSY: answer_failure(x, ST_UNAVAILABLE); break;
    default: respond_status(x, ST_CORRUPT);
    }
}

/* Reads the typed phrase, if any: most packets have none. ST_OK · ST_NO_MEMORY. */
static enum status phrase_typed(struct exchange *x, struct live_phrase *out)
{
    struct phrase phrase = { STR(""), STR("") };
    struct form_errors none;
    const struct str address = exchange_param(x, "REMOTE_ADDR");
    const struct key_pair keys = keys_pair(&x->app->stores.config->keys, KEY_PHRASE_HASH);
    *out = (struct live_phrase){ STR(""), STR("") };
    enum status st = form_read(x, open_fields, &phrase, &none);
    if (st != ST_OK || phrase.folded.len == 0)
        return st == ST_OK ? ST_OK : ST_NO_MEMORY;
    out->hash = phrase_hashes(x->arena, keys, x->id, &phrase);
    if (address.ptr != NULL) { /* otherwise all requests without an address would count as one */
        const struct str one = limit_address(x->arena, address), network = limit_network(x->arena, address);
        if (one.ptr == NULL || network.ptr == NULL)
            return ST_NO_MEMORY;
        out->source = phrase_source(x->arena, keys.now, x->id, one, network);
    }
    return out->hash.ptr == NULL || out->source.ptr == NULL ? ST_NO_MEMORY : ST_OK;
}

/* Reads the reply to the probe of a late grab. */
static enum step probe_read(struct exchange *x)
{
    show_probe_read(x);
    answer_refusal(x, &PROBLEM_EMPTY);
    return STEP_DONE;
}

static enum step grab_read(struct exchange *x)
{
    struct live_grab grab;
    enum status st = live_grab_read(&x->call, &grab);
    crash_point("grab-after-reply");
    /* Some late grabs probe whether the packet can be cached, so that further ones need no Redis. */
    if (st == ST_OK && grab.code == LIVE_EMPTY && x->app->page_cache != NULL &&
        page_cache_probe_due(x->app->page_cache, grab.count)) {
        show_probe_queue(x);
        return exchange_then(x, probe_read);
    }
    if (st == ST_OK && (grab.code == LIVE_WRONG_PHRASE || grab.code == LIVE_TRIED_OUT))
        return answer_wrong_phrase(x, &grab);
    if (st == ST_OK)
        answer_grab(x, &grab);
    else
        answer_failure(x, st);
    return STEP_DONE;
}

/* What a grab needs from the request. */
struct grab_order {
    struct live_phrase phrase;
    struct str badge;
};

static enum step grab_begin(struct exchange *x, const struct grab_order *order)
{
    crash_point("grab-before-script");
    live_grab_queue(&x->app->stores.live, &x->call, x->id, x->visitor.user_id, order->badge, &order->phrase);
    return exchange_then(x, grab_read);
}

/* Why a user without a share can't open a packet. BUSY: it is open. Of a packet that Redis does not have, the settle
 * worker loads it again. */
static struct live_grab refusal_find(const struct packet *p, uint64_t user_id, int64_t now_ms)
{
    enum packet_state shown = packet_state_shown(p, now_ms);
    if (!packet_is_for(p, user_id))
        return (struct live_grab){ .code = LIVE_NOT_FOR_YOU };
    if (shown == PACKET_FINISHED)
        return (struct live_grab){ .code = LIVE_EMPTY, .count = p->count };
    if (shown == PACKET_EXPIRED)
        return (struct live_grab){ .code = LIVE_EXPIRED };
    if (now_ms < p->opens_ms)
        return (struct live_grab){ .code = LIVE_NOT_YET, .opens_ms = p->opens_ms };
    return (struct live_grab){ .code = LIVE_BUSY };
}

/* Answers with the share that the visitor got before. Unsettled grabs are not in MySQL, so left_count may be too large
 * for a moment, as in all pages without Redis. */
static void answer_already(struct exchange *x, const struct packet *p, const struct grab *mine)
{
    bool open = packet_state_shown(p, x->now_ms) == PACKET_OPEN;
    struct live_grab grab = { .code = LIVE_ALREADY,
                              .share_no = mine->share_no,
                              .amount_fen = mine->amount_fen,
                              .returned = mine->returned,
                              .left_count = open ? packet_share_total(p) - p->grabbed_count : 0 };
    answer_grab(x, &grab);
}

/* ---- users who have received enough today ---- */

static void answer_received(struct exchange *x, const struct packet_view *view, const struct live_capped *capped)
{
    struct model m;
    metrics_add(METRIC_GRAB_REFUSED, 1);
    metrics_add(METRIC_CAPPED_RECEIVE_FEN, 1);
    model_init(&m, x->arena);
    if (x->wants_json) {
        value_text(&m, &m.root, "again_at", clock_rfc3339(x->arena, capped->until_ms));
        respond_problem_with(x, &PROBLEM_RECEIVED, &m);
        return;
    }
    respond_header(x, "X-Robots-Tag", STR("noindex"));
    show_model(x, view, NULL, &m);
    value_page_bool(&m, &m.root, "received_enough", true);
    view_time_model(&m, &m.root, "again_at", "again_text", capped->until_ms);
    value_page_bool(&m, &m.root, "in_time", view->packet.expires_ms > capped->until_ms);
    respond_model(x, PROBLEM_RECEIVED.status, "pages/packet", &m);
}

/* Refuses, unless the user has a share of the packet, or could not open it anyway: the answer is then the same as
 * without the cap. */
static enum step capped_refuse(struct exchange *x)
{
    struct packet_view view;
    enum status st = live_view_read(&x->call, x->arena, x->id, &view);
    if (st != ST_OK)
        return show_view_failed(x, st);
    if (view.has_mine) {
        answer_already(x, &view.packet, &view.mine);
        return STEP_DONE;
    }
    const struct live_grab refusal = refusal_find(&view.packet, x->visitor.user_id, x->now_ms);
    if (refusal.code == LIVE_BUSY)
        answer_received(x, &view, x->state);
    else
        answer_grab(x, &refusal);
    return STEP_DONE;
}

/* Reads whether the user has received enough today; otherwise grabs. */
static enum step capped_read(struct exchange *x)
{
    const struct grab_order *order = x->state;
    struct live_capped *capped = arena_alloc(x->arena, sizeof *capped);
    enum status st = capped == NULL ? ST_NO_MEMORY : live_capped_read(&x->call, capped);
    if (st != ST_OK) {
        respond_status(x, status_idempotent(st)); /* nothing was grabbed */
        return STEP_DONE;
    }
    redis_call_free(&x->call);
    if (x->now_ms >= capped->until_ms || capped->fen < x->app->stores.config->user_receive_day_fen)
        return grab_begin(x, order);
    x->state = capped;
    live_view_queue_confirmed(&x->app->stores.live, &x->call, x->id, x->visitor.user_id, PACKET_NO_SHARE, SHOW_ROWS);
    return exchange_then(x, capped_refuse);
}

static enum step capped_check(struct exchange *x, const struct grab_order *order)
{
    struct grab_order *kept = arena_alloc(x->arena, sizeof *kept);
    if (kept == NULL) {
        respond_status(x, ST_NO_MEMORY);
        return STEP_DONE;
    }
    *kept = *order;
    x->state = kept;
    live_capped_queue(&x->app->stores.live, &x->call, x->visitor.user_id);
    return exchange_then(x, capped_read);
}

enum step packet_open_hot(struct exchange *x)
{
    const struct cached_page *cached = show_cached(x);
    if (cached != NULL) {
        struct live_grab grab = cached_page_grab(cached, x->visitor.user_id);
        answer_grab(x, &grab);
        return STEP_DONE;
    }
    struct grab_order order = { .badge = badge_text(x->arena, x->visitor.nickname, &x->visitor.face) };
    if (phrase_typed(x, &order.phrase) != ST_OK || order.badge.ptr == NULL) {
        respond_status(x, ST_NO_MEMORY);
        return STEP_DONE;
    }
    return x->app->stores.config->user_receive_day_fen > 0 ? capped_check(x, &order) : grab_begin(x, &order);
}

/* ---- packets that Redis does not have ---- */

enum step packet_open_cold(struct exchange *x)
{
    struct grab mine;
    struct packet packet;
    enum status st = packet_find(x->app->stores.db, x->arena, x->id, &packet);
    if (st == ST_NOT_FOUND) {
        respond_problem(x, &PROBLEM_NOT_FOUND);
        return STEP_DONE;
    }
    if (st == ST_OK)
        st = receivers_find(x->app->stores.db, x->arena, &packet);
    if (st == ST_OK)
        st = packet_grab_of(x->app->stores.db, x->arena, x->id, x->visitor.user_id, &mine);
    if (st == ST_OK) {
        answer_already(x, &packet, &mine);
        return STEP_DONE;
    }
    if (st != ST_NOT_FOUND) {
        answer_failure(x, st);
        return STEP_DONE;
    }
    struct live_grab refusal = refusal_find(&packet, x->visitor.user_id, x->now_ms);
    answer_grab(x, &refusal);
    return STEP_DONE;
}
