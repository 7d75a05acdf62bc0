#include "base/money.h"
#include "commands/money_internal.h"
#include "money/post_file.h"

static enum status file_post(struct money *m, struct payment_file *p)
{
    char sum[MONEY_TEXT_MAX];
    enum status st = post_file_check(p, m->db);
    if (st != ST_OK)
        return money_file_refused(m, p, st);
    (void)money_format(p->sum_fen, sum);
    if (money_has(m, MONEY_CHECK)) {
        (void)printf("%" PRIu64 " rows, %s; %" PRIu64 " were posted before; %" PRIu64 " to post\n", p->rows, sum,
                     p->repeated, p->rows - p->repeated);
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
                            : st == ST_UNKNOWN ? "the outcome is unknown, because MariaDB has not confirmed it"
                                               : money_status_text(st),
                            p->made, p->repeated);
    (void)printf("%" PRIu64 " posted; %" PRIu64 " were posted before; together %s\n", p->made, p->repeated, sum);
    return ST_OK;
}

enum status money_post_file(struct money *m)
{
    struct payment_file p = { .author = { m->author.name, INTERFACE_IMPORT }, .fault = money_fault_print };
    enum status st = money_file_open(m, m->args.values[MONEY_IMPORT], &p.stream);
    if (st != ST_OK)
        return st;
    st = file_post(m, &p);
    (void)fclose(p.stream);
    return st;
}
