#include "pages/calendar.h"

#include "base/calendar.h"
#include "packet/store.h"
#include "pages/present.h"
#include "web/respond.h"
#include "web/text.h"

#define REMINDER "-PT5M"

/* For the link to an opening that has passed. */
static const struct problem PROBLEM_OPENED = { 410, "opened", "text/calendar_opened", "text/calendar_opened_detail",
                                               0 };
static const struct problem PROBLEM_OVER = { 410, "expired", "text/calendar_over", "text/calendar_over_detail", 0 };

/* "红包开抢 · 小明". */
static struct str title(struct exchange *x, const struct packet *p)
{
    struct str opens = text_of(x, "text/calendar_title");
    if (opens.ptr == NULL || p->sender_name.len == 0)
        return opens;
    return arena_printf(x->arena, "%.*s · %.*s", STR_ARG(opens), STR_ARG(p->sender_name));
}

static void alarm_put(struct buf *out, struct str text)
{
    calendar_line(out, "BEGIN", STR("VALARM"));
    calendar_line(out, "ACTION", STR("DISPLAY"));
    calendar_line(out, "TRIGGER", STR(REMINDER));
    calendar_text(out, "DESCRIPTION", text);
    calendar_line(out, "END", STR("VALARM"));
}

static enum status opening_put(struct exchange *x, const struct packet *p, struct buf *out)
{
    char opens[CALENDAR_TIME_MAX], now[CALENDAR_TIME_MAX];
    struct str url = present_packet_url(x, p->id), text = title(x, p);
    struct str about =
        p->kind == PACKET_EXCLUSIVE ? url : arena_printf(x->arena, "%.*s\n%.*s", STR_ARG(p->greeting), STR_ARG(url));
    calendar_line(out, "BEGIN", STR("VCALENDAR"));
    calendar_line(out, "VERSION", STR("2.0"));
    calendar_line(out, "PRODID", STR("-//hongbao//opening//EN"));
    calendar_line(out, "BEGIN", STR("VEVENT"));
    calendar_line(out, "UID", url);
    calendar_line(out, "DTSTAMP", calendar_time(x->now_ms, now));
    calendar_line(out, "DTSTART", calendar_time(p->opens_ms, opens));
    calendar_text(out, "SUMMARY", text);
    calendar_text(out, "DESCRIPTION", about);
    calendar_line(out, "URL", url);
    alarm_put(out, text);
    calendar_line(out, "END", STR("VEVENT"));
    calendar_line(out, "END", STR("VCALENDAR"));
    return out->failed || url.ptr == NULL || text.ptr == NULL || about.ptr == NULL ? ST_NO_MEMORY : ST_OK;
}

/* Answers with a page instead of a file: calendars add an event of the past without a message, and nobody would find it
 * there. */
static enum step answer_past(struct exchange *x, const struct packet *p)
{
    struct model m;
    model_init(&m, x->arena);
    value_page_text(&m, &m.root, "page_url", present_packet_path(x, p->id));
    respond_problem_with(x, p->state == PACKET_OPEN ? &PROBLEM_OPENED : &PROBLEM_OVER, &m);
    return STEP_DONE;
}

enum step packet_calendar(struct exchange *x)
{
    struct packet p;
    struct buf out = BUF_EMPTY;
    enum status st = packet_find(x->app->stores.db, x->arena, x->id, &p);
    if (st == ST_OK && p.opens_ms == 0)
        st = ST_NOT_FOUND;
    if (st == ST_OK) {
        p.state = packet_state_shown(&p, x->now_ms);
        if (!packet_is_waiting(&p, x->now_ms))
            return answer_past(x, &p);
        st = opening_put(x, &p, &out);
    }
    if (st == ST_OK) {
        respond_header(x, "Content-Disposition", STR("attachment; filename=\"hongbao.ics\""));
        respond_text(x, 200, STR("text/calendar; charset=utf-8"), buf_view(&out));
    } else {
        respond_status(x, st);
    }
    buf_free(&out);
    return STEP_DONE;
}
