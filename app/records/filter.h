/* The query of the records pages: the year, the place in the list, and the fields of the filter form, which is sent by
 * GET. Also the links that keep the query, and the form and its chips in the model. */
#ifndef HB_RECORDS_FILTER_H
#define HB_RECORDS_FILTER_H

#include "base/clock.h"
#include "packet/record_search.h"
#include "pages/people.h"
#include "web/fields.h"

enum { RECORDS_YEAR_MIN = 2000, RECORDS_YEAR_MAX = 9998 }; /* of a link */

/* The records that a request wants. */
struct records_request {
    enum record_side side;
    const char *path; /* "/records/sent" */
    int year;         /* year of the totals: the one of the request, else the current one in the service's zone */
    bool year_given;
    bool filtered;       /* a field of the filter form is given: then all years are searched, unless a year is given */
    struct db_page page; /* the caller sets its limit */
    struct record_filter filter;
    struct people_known people; /* the people that the form offers; the caller reads them */
};

/* The query: the fields of the filter form, and the year and place of a link. */
extern const struct field records_filter_fields[], records_link_fields[];

/* True when the period of the request is one whole month, which is then in *out. */
bool records_month(const struct records_request *request, struct clock_date *out);
/* Reads the query of a request for this side. ST_OK · ST_INVALID: errors has the messages of the filter form, or none
 * when year or before is malformed (400) · else the status of the look-up of a person.
 * A person is a username, or the nickname of exactly one of the visitor's people. */
enum status records_request_read(struct exchange *x, enum record_side side, struct records_request *out,
                                 struct form_errors *errors);

/* A link to the same records at another path, with year and filter fields as typed. STR_NONE without memory. */
struct str records_url(struct exchange *x, const struct records_request *request, struct str path);
/* Records of a year, with the other filter fields except the days. */
struct str records_url_year(struct exchange *x, const struct records_request *request, int year);
/* Records of all years, with the other filter fields. */
struct str records_url_all_years(struct exchange *x, const struct records_request *request);
/* The same records at their own path, with one more parameter. */
struct str records_url_with(struct exchange *x, const struct records_request *request, const char *name,
                            struct str value);

/* The person of the filter as text: the nickname of one of the visitor's people; otherwise as typed. */
struct str records_person_shown(struct exchange *x, const struct records_request *request);

/* Adds the page-only members of the filter form:
 *   people      [{ id, username, nickname, initial, hue, url, chosen }]: a face and the link to the records with it
 *               alone, or for anybody when it is the chosen one; has_people: there are some
 *   meant       { nickname, url }: the one of them whose name was typed as the greeting
 *   filter      { kind, state, person, q, from, to, min, max: the typed texts; year: only when given; kind_lucky,
 *                 kind_even, kind_exclusive, state_open, state_finished, state_expired: the selected option;
 *                 clear_url }
 *               days: from or to is given
 *   filtered    boolean
 *   chips       [{ name, value, url }]: the given fields and the link that leaves each out */
void records_filter_model(struct exchange *x, struct model *m, const struct records_request *request);

#endif
