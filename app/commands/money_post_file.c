#include "base/money.h"
#include "commands/money_internal.h"
#include "money/post_file.h"

static enum status check_refused(struct money *m, const struct post_file *p, enum status st)
{
    if (st == ST_UNAVAILABLE && ferror(p->file))
        return money_refuse(m, ST_CORRUPT, "the file can't be read; nothing is changed");
    if (st != ST_INVALID)
        return st;
    if (p->why != NULL && p->stopped_line > 0)
        return money_refuse(m, st, "line %" PRIu64 ": %s; nothing is changed", p->stopped_line, p->why);
    if (p->why != NULL)
        return money_refuse(m, st, "%s; nothing is changed", p->why);
    return money_refuse(m, st, "%" PRIu64 " of %" PRIu64 " rows are wrong%s; nothing is changed", p->faults, p->rows,
                        p->faults > POST_FAULTS_SHOWN ? ", of which the first 50 are above" : "");
}

static enum status file_post(struct money *m, struct post_file *p)
{
    char sum[MONEY_TEXT_MAX];
    enum status st = post_file_check(p, m->db);
    if (st != ST_OK)
        return check_refused(m, p, st);
    (void)money_format(p->sum_fen, sum);
    if (money_has(m, MONEY_CHECK)) {
        (void)printf("%" PRIu64 " rows, %s; %" PRIu64 " were posted before; %" PRIu64 " to post\n", p->rows, sum,
                     p->before, p->rows - p->before);
        return ST_OK;
    }
    st = post_file_make(p, m->db);
    if (st != ST_OK)
        return money_refuse(m, st,
                            "stopped at line %" PRIu64 ": %s; %" PRIu64 " posted, %" PRIu64
                            " were posted before; repeat the same command for the others: nothing is posted twice",
                            p->stopped_line,
                            p->why != NULL     ? p->why
                            : st == ST_EXISTS  ? "the withdrawal or the reference was used meanwhile"
                            : st == ST_UNKNOWN ? "the outcome is unknown, because the reply of MariaDB was lost"
                                               : money_status_text(st),
                            p->made, p->before);
    (void)printf("%" PRIu64 " posted; %" PRIu64 " were posted before; together %s\n", p->made, p->before, sum);
    return ST_OK;
}

enum status money_post_file(struct money *m)
{
    struct post_file p = { .author = { m->author.name, BY_IMPORT }, .fault = money_fault_print };
    enum status st = money_file_open(m, m->args.values[MONEY_IMPORT], &p.file);
    if (st != ST_OK)
        return st;
    st = file_post(m, &p);
    (void)fclose(p.file);
    return st;
}
