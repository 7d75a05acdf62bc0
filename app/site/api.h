/* GET /openapi.json: a description of all routes for programs (OpenAPI 3.1), made from the route tables and the field
 * tables of forms and queries, with the limits of this site's settings. api_operations.c adds what these tables lack:
 * the description of each route, its answers and refusals. The schemas of the answers are in templates/openapi.json. A
 * process makes the description once and keeps it; while that file can't be read, it answers 503.
 *
 * One test finds routes without a row in api_operations.c and fields without a description, another one runs every
 * example and compares the answers with the schemas. */
#ifndef HB_SITE_API_H
#define HB_SITE_API_H

#include "web/fields.h"
#include "web/router.h"

/* A successful answer. */
struct api_answer {
    int status;
    const char *schema; /* a schema in templates/openapi.json; NULL: no JSON */
    const char *says;
};

/* A refusal of this operation. api.c adds the refusals that follow from the route's requirements. */
struct api_refusal {
    int status;
    const char *type; /* the last part of the problem's type */
    const char *says;
};

enum { API_QUERIES_MAX = 2 };

/* The lists end with a row of zeros; NULL: empty. */
struct api_operation {
    const char *method, *path; /* of the route table */
    const char *id, *group, *says;
    const struct field *query[API_QUERIES_MAX]; /* the tables that the handler gives to query_read */
    const struct api_answer *answers;
    const struct api_refusal *refusals;
    const char *media;         /* the type of an answer that is no JSON; NULL: JSON */
    const char *service_scope; /* of a service token (ledger/service.h), on a route for programs; NULL: none */
    const char *leads;         /* where the form of a browser leads after a success, in words; NULL: there is no form */
};

extern const struct api_operation api_operations[];
extern const size_t api_operations_count;

/* The operation of a route. NULL: none. */
const struct api_operation *api_operation_of(const struct route *route);

/* Handler of GET /openapi.json. */
enum step api_show(struct exchange *x);

#endif
