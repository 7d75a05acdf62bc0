/* The pages of register, login and logout. Every model shown here is what the templates may rely on; members marked
 * page-only never reach JSON. */
#ifndef HB_USER_PAGES_H
#define HB_USER_PAGES_H

#include "base/str.h"
#include "user/store.h"
#include "web/exchange.h"

/* GET /register?next=PATH: pages/register. A visitor who is logged in goes to / (303).
 *
 * Model, all of it page-only:
 *   form       { username, nickname, next }: what was typed; empty strings at first. The password is never echoed.
 *              next is a path of ours or the empty string.
 *   login_url  "/login" with the same next
 * After a refused POST (422) also, from form_errors_model:
 *   errors     [ { field, message } ]       field: "username" | "nickname" | "password"
 *   error      { username?, nickname?, password? }: the words beside the field (page-only)
 * The form posts to /register: username, nickname, password, next (hidden). */
enum step register_show(struct exchange *x);

/* POST /register: makes the user with an empty wallet and logs in. HTML 303 to next (own paths only, else /), JSON 201
 * {id, username, nickname}; refused: 422 as above. When the user was made and only the session could not be, HTML goes
 * to /login and JSON answers 201 without a cookie: the account stands and must not look refused. While a store is known
 * to be away, 503 before the password is hashed. */
enum step register_submit(struct exchange *x);

/* GET /login?next=PATH: pages/login. A visitor who is logged in goes to / (303).
 *
 * Model, all of it page-only:
 *   form       { username, next }: what was typed; next is a path of ours or the empty string
 *   register_url  "/register" with the same next
 * After a refused POST (422) also:
 *   errors     [ { field, message } ]       field: "username" | "password"
 *   error      { username?, password? }     wrong name or wrong password is always error.password, login_wrong
 * The form posts to /login: username, password, next (hidden). */
enum step login_show(struct exchange *x);

/* POST /login: a new session, the presented one ends. HTML 303 to next (own paths only, else /), JSON 200
 * {id, username, nickname}. Unknown name and wrong password answer alike, in words and in time. While a
 * store is known to be away, 503 before the password is hashed. */
enum step login_submit(struct exchange *x);

/* POST /logout: ends the session and clears the cookie. HTML 303 /, JSON 204. Fine without a session. */
enum step logout_submit(struct exchange *x);

/* POST /language: remembers the visitor's language in a cookie, for a year. Fields: language ("zh-CN" | "en"; anything
 * else is 400), next. HTML 303 to next (own paths only, else /), JSON 204. */
enum step language_submit(struct exchange *x);

/* The `next` of the query when it is a path of ours, else the empty string. */
struct str next_asked(struct exchange *x);
/* page with next behind it, percent-encoded: "/login?next=%2Fp%2F…". Just page when next is empty. */
struct str next_url(struct arena *a, const char *page, struct str next);

/* What register and login end with: JSON status and {id, username, nickname}, HTML 303 to path. */
enum step answer_user(struct exchange *x, int json_status, const struct user *user, struct str path);

#endif
