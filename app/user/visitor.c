#include "user/visitor.h"

#include "user/session.h"
#include "user/token.h"

bool visitor_queue(struct exchange *x)
{
    return x->bearer.ptr != NULL ? token_visitor_queue(x) : session_visitor_queue(x);
}

enum status visitor_read(struct exchange *x)
{
    return x->bearer.ptr != NULL ? token_visitor_read(x) : session_visitor_read(x);
}
