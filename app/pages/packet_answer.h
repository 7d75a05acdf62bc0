/* Answers to the forms of a packet's page. HTML: 303 to that page, which shows the outcome. JSON: the outcome. */
#ifndef HB_PAGES_PACKET_ANSWER_H
#define HB_PAGES_PACKET_ANSWER_H

#include "web/respond.h"

/* Answers that the change was made. JSON: 200 and the model. If the answer fails, the problem is PROBLEM_UNKNOWN,
 * because the change is made nevertheless. */
void packet_answer_done(struct exchange *x, struct model *m);
/* Answers with a refusal that the packet's page shows. JSON: the problem; m: further members of it, initialised. */
void packet_answer_refused(struct exchange *x, const struct problem *p, struct model *m);

#endif
