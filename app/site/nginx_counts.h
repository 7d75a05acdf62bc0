/* The requests that nginx's limits have refused, for /metrics. nginx appends one byte for each to a file of its limit
 * (an access_log in an empty format, nginx/http.conf), so the size of the file is the count. This costs other requests
 * nothing, needs no listening process, loses nothing at a restart of nginx or of a pool, and reads no text of a
 * client. */
#ifndef HB_SITE_NGINX_COUNTS_H
#define HB_SITE_NGINX_COUNTS_H

#include "io/metrics.h"

enum { NGINX_COUNTS_MAX = 4 };

/* Reads the counts of the files in dir (setting nginx_counts_dir) into out and returns their number. A file that is
 * missing, is no regular file or can't be reached has no count. */
size_t nginx_counts_read(const char *dir, struct metric_sample out[NGINX_COUNTS_MAX]);

#endif
