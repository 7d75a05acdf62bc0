/* Lines of an iCalendar file (RFC 5545), for a file that a phone adds to its calendar. */
#ifndef HB_BASE_CALENDAR_H
#define HB_BASE_CALENDAR_H

#include <stdint.h>

#include "base/buf.h"

/* Bytes that hold any calendar_time result with its NUL. */
#define CALENDAR_TIME_MAX 32

/* Appends "NAME:value" and a line end. Lines of more than 75 bytes are folded, between the characters of UTF-8. The
 * value is appended as it is: for times, addresses and words of the format. */
void calendar_line(struct buf *out, const char *name, struct str value);
/* The same for a text: backslashes, commas, semicolons and line ends are escaped, other control characters left out. */
void calendar_text(struct buf *out, const char *name, struct str text);
/* An instant in UTC, "20261120T080000Z". out: CALENDAR_TIME_MAX bytes, the caller's. Returns the text in it. */
struct str calendar_time(int64_t ms, char *out);

#endif
