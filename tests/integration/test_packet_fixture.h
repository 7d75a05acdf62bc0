/* People and packets for tests of packets: users with money, and requests in their name. */
#ifndef HB_TEST_PACKET_FIXTURE_H
#define HB_TEST_PACKET_FIXTURE_H

#include "test_user_fixture.h"

#define PERSON_NAME_MAX 33
#define PERSON_KEY_MAX  65

struct person {
    uint64_t id;
    char username[PERSON_NAME_MAX];
    char nickname[PERSON_NAME_MAX];
};

/* site_open with open fences; free with site_close. */
struct services *packet_services_open(void);

/* A new user with this much money, deposited from the bank. */
void person_new(struct services *app, struct person *out, int64_t balance_fen);
int64_t person_balance(struct services *app, const struct person *p);

/* One request in the person's name (NULL: logged out), as the router would run it after the session was read. Returns
 * the status; the answer stays in v until visit_end. fields NULL: GET. packet_id: the id of `:id` in the path, or 0. */
int person_request(struct visit *v, struct services *app, const struct person *p, handler_fn *handler, const char *uri,
                   const char *fields, uint64_t packet_id, bool json);

/* The same, on the heap until visit_says. */
struct visit *person_visit_new(struct services *app, const struct person *p, handler_fn *handler, const char *uri,
                               const char *fields, uint64_t packet_id, bool json);

/* Sends a packet with these fields of the form, which must succeed, and returns its id. */
uint64_t person_send(struct services *app, const struct person *p, const char *fields);

/* The row of a packet, without its transfers. Defaults: even, open, 100 fen, one share, no greeting, the sender's
 * nickname, expired at once, for everybody. */
struct packet_row {
    const struct person *sender, *receiver;
    const char *sender_name, *kind, *split, *state, *greeting;
    int64_t amount_fen, refund_fen, created_ms, expires_ms;
    uint32_t count, grabbed_count;
};
void packet_row_add(struct services *app, uint64_t id, const struct packet_row *row);
/* The row of a share, without its money. */
void grab_row_add(struct services *app, uint64_t packet_id, uint32_t share_no, const struct person *by, int64_t fen,
                  int64_t ms);

/* The page of /records/sent or /records/received at this address. */
struct visit *records_of(struct services *app, const struct person *p, const char *uri, bool json);
/* Reads pages of it until the last one. Returns how often the mark occurs, and sets the number of pages. */
size_t records_all_pages(struct services *app, const struct person *p, const char *uri, const char *mark,
                         size_t *pages);

/* Inserts count rows (at most 32768) of packets of one yuan that sender has sent, a minute apart, the oldest at
 * from_ms, and of their grabs by taker. One of 1000 has the greeting 稀有, the others 常见. No money is moved: call
 * packets_forget before an audit. */
void records_many(struct services *app, const struct person *sender, const struct person *taker, int64_t from_ms,
                  int64_t count);

/* Deletes the packets that this user and all later users sent, and the rows of other tables about them, but no
 * transfer. The tables are shared with other tests, whose audits must find no packet without its money. False: a
 * statement failed. */
bool packets_forget(struct services *app, const struct person *first);

/* A request key nobody used. */
void fresh_key(char *out);

#endif
