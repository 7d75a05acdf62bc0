/* One line per event on stderr, logfmt: ts=… level=… msg="…" key=value …. Values from outside are quoted and
 * escaped, so that a line can't be forged. Lines are written with one write(2). When stderr is the journal of systemd,
 * a line begins with its priority, <3> for an error, which the journal removes. */
#ifndef HB_BASE_LOG_H
#define HB_BASE_LOG_H

#include "base/str.h"

enum log_level { LOG_DEBUG, LOG_INFO, LOG_WARN, LOG_ERROR, LOG_SILENT /* as a minimum: nothing is logged */ };

#define LOG_LINE_MAX 2048

/* role: "hot", "settle" …, appears on every line; static storage. */
void log_init(const char *role, enum log_level minimum);
/* msg: our own constant words. format/…: further `key=value` pairs, already safe (numbers, our own words); strings
 * from outside go through log_quote first. format may be NULL. */
void log_write(enum log_level level, const char *msg, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* Sets the request that the process works on from now on: log lines then end with request_id=ID, so that `hongbao
 * trace` finds them. id: nginx's, 32 hex digits, borrowed until the next call; anything else: no request. It is looked
 * at only when a line is written, so each step of a request may call this. */
void log_request(struct str id);
/* Quotes and escapes s for one value, cut at out_size. Returns out. */
const char *log_quote(struct str s, char *out, size_t out_size);

#define log_info(...)  log_write(LOG_INFO, __VA_ARGS__)
#define log_warn(...)  log_write(LOG_WARN, __VA_ARGS__)
#define log_error(...) log_write(LOG_ERROR, __VA_ARGS__)

#endif
