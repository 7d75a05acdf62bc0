/* Who calls: the service of a request with `Authorization: Bearer hbs_…` (ledger/service.h). Every request reads the
 * row of the service, so a revocation counts at once. */
#ifndef HB_SERVICE_CALLER_H
#define HB_SERVICE_CALLER_H

#include "ledger/service.h"
#include "web/fields.h"
#include "web/respond.h"

struct caller {
    struct service service;
    uint8_t hash[HASH_BYTES];
    struct external_author author; /* refers to the hash, so a caller must not be copied */
};

/* Reads the token, and checks its scope and the address of the request. False: the request is answered (401, 403 or
 * 503). May block. */
bool caller_read(struct exchange *x, enum service_scope scope, struct caller *out);
/* Whether the service has this channel, by its name; empty: its own. False: the request is answered, with 403. */
bool caller_has_channel(struct exchange *x, const struct caller *caller, struct str channel);

/* Reads the fields of the query; an empty one counts as absent. False: the request is answered, with 400. */
bool caller_query_read(struct exchange *x, const struct field *fields, void *values);

/* Answers a failure of a call that moves money. ST_UNKNOWN: 503, and the advice to repeat it. ST_DENIED: 401, the
 * token was revoked while it was used. ST_LIMITED: 403, more money in a day than the service may move. Else as
 * respond_status. */
void caller_failed(struct exchange *x, const struct caller *caller, enum status st);

/* 503: the money may have moved; a repeat with the same contents says it. Also the x->fallback_problem of a call that
 * has moved money. */
extern const struct problem CALLER_UNKNOWN;

#endif
