/* GET /p/ID/calendar.ics: the opening of a packet that still waits for it, as a file for a calendar, with a reminder.
 * Everybody with the link gets the file, which shows no more than the envelope: sender, time and link, and the greeting
 * unless the packet is exclusive; no amount. 410 with a page that leads to the packet as soon as it can be opened, or
 * is over.
 * 404: it has no scheduled opening. */
#ifndef HB_PAGES_CALENDAR_H
#define HB_PAGES_CALENDAR_H

#include "web/exchange.h"

enum step packet_calendar(struct exchange *x);

#endif
