/* The identity of a site: whether its tables and its Redis belong together.
 *
 * The table `site` has a random id, made once by a migration, and a generation, which the settle worker raises when it
 * starts, when it stops, and every hour (settle/site.h). Redis has both as the mark of each partition, "ID GENERATION"
 * in hb:{pNN}:site; only the worker and a restore can write it. So the two stores disagree when one of them belongs to
 * another site, was made anew, or is an older copy. Then nothing is served: ids of users are given again, so a session
 * in Redis could belong to another user in the tables.
 *
 * A worker raises the generation only when every partition has the present one, and raises the generation in the tables
 * first. So the mark of a partition has the generation of the tables, or the one before. A partition has no mark when
 * its Redis is empty, or when no worker of this version has run yet.
 *
 * A copy can be older by less than a generation. Then the worker finds that a stream was settled and trimmed beyond its
 * cursor, and says so in the marks: "ID GENERATION older".
 *
 * A pool with MySQL compares before it serves, and again each second and after each new connection to Redis. The hot
 * pool has no MySQL: it grabs behind fences, which the worker opens after it has compared (live/fence.h). */
#ifndef HB_LIVE_SITE_H
#define HB_LIVE_SITE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "base/str.h"

#define SITE_ID_LEN   32
#define SITE_OLDER    " older"
#define SITE_MARK_MAX (SITE_ID_LEN + 1 + STR_U64_MAX + sizeof SITE_OLDER)

/* The row as a mark. */
#define SITE_ROW_SQL "SELECT CONCAT(id, ' ', generation) FROM site"

struct stores;

/* The row of the tables, or a mark. */
struct site_mark {
    char id[SITE_ID_LEN + 1];
    uint64_t generation;
    bool tables_older; /* only in a mark: the worker has found that the tables lack what Redis has settled */
};

enum site_verdict {
    SITE_AGREES,
    SITE_UNMARKED,       /* Redis has no mark */
    SITE_UNCOMPARED,     /* no mark either, and no worker has compared the stores yet */
    SITE_OTHER,          /* Redis belongs to another site */
    SITE_TABLES_GONE,    /* Redis belongs to a site, but the tables have no user: they were made anew */
    SITE_TABLES_OLDER,   /* the tables are an older copy */
    SITE_REDIS_OLDER,    /* Redis is an older copy */
    SITE_OTHER_SETTINGS, /* the tables were made with another time zone or unit of money than the settings */
    SITE_UNKNOWN         /* a store did not answer */
};

/* What a process knows. Part of struct stores; zeroed at first. */
struct site {
    bool known;           /* row was read */
    struct site_mark row; /* the newest row that the tables had */
    /* why the tables were refused at the last reading of the row; SITE_AGREES: they were not */
    enum site_verdict refused;
    uint64_t redis_connections; /* redis_connections at the last comparison with Redis; 0: none yet */
    int64_t compared_ms;        /* monotonic: the time of that comparison */
    enum site_verdict verdict;  /* of the last comparison; for the log */
    uint64_t unanswered;        /* without MySQL: 1 + redis_connections when Redis did not answer last; 0: it did */
};

/* Parses "ID GENERATION", maybe with SITE_OLDER. False: it is no mark. */
bool site_mark_read(struct str text, struct site_mark *out);
/* Writes "ID GENERATION" to out (SITE_MARK_MAX bytes), and returns it. */
struct str site_mark_text(const struct site_mark *mark, char *out);
/* Compares the row with the text of a mark. SITE_UNMARKED: text is STR_NONE, or is no mark. Pure. */
enum site_verdict site_compare(const struct site_mark *row, struct str mark);
/* One sentence about what is wrong, without a full stop, and what to do about it. For logs, findings and /readyz. */
const char *site_verdict_text(enum site_verdict verdict);
/* Whether the stores belong together, or Redis is empty. */
bool site_may_serve(enum site_verdict verdict);

/* Makes each new connection to MySQL read the row before it is used. A connection is refused when its tables belong to
 * another site than the tables of the connection before, or are older, or differ from a setting of the data
 * (live/site_settings.h). stores_open calls it. */
void site_watch(struct stores *stores);
/* Reads the row. ST_OK · ST_CONFLICT: the tables belong to another site than before, or are older, or differ from a
 * setting of the data (stores->site.refused) · ST_UNAVAILABLE: MySQL does not answer, or has no row · ST_NO_MEMORY. */
enum status site_row_read(struct stores *stores);
/* Whether this process may serve. Compares the stores when the last comparison is a second old, or a connection to
 * Redis is new; logs a disagreement. Without MySQL only the unit of money is compared, with the first fence. May block.
 * ST_OK also when Redis does not answer, so that there is nothing to compare, and without Redis · ST_UNAVAILABLE: the
 * stores do not belong together (stores->site.verdict), or MySQL has not answered yet. */
enum status site_confirm(struct stores *stores);
/* Reads the mark of a partition and the row, and compares them. SITE_UNKNOWN: a store did not answer. */
enum site_verdict site_partition_look(struct stores *stores, uint32_t partition);
/* Logs a verdict that differs from the last one. */
void site_verdict_log(struct stores *stores, enum site_verdict verdict);

#endif
