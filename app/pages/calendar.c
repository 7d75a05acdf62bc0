#include "pages/calendar.h"

#include "base/calendar.h"
#include "packet/store.h"
#include "pages/present.h"
#include "web/respond.h"
#include "web/text.h"

#define REMINDER "-PT5M"

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

enum step packet_calendar(struct exchange *x)
{
    struct packet p;
    struct buf out = BUF_EMPTY;
    enum status st = packet_find(x->app->stores.db, x->arena, x->id, &p);
    if (st == ST_OK) {
        p.state = packet_state_shown(&p, x->now_ms);
        st = packet_is_waiting(&p, x->now_ms) ? opening_put(x, &p, &out) : ST_NOT_FOUND;
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
