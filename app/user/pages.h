/* The handlers of register, login, logout and language. The comment above each handler lists the members of its model,
 * on which the templates rely. Members marked page-only are not in JSON. */
#ifndef HB_USER_PAGES_H
#define HB_USER_PAGES_H

#include "base/str.h"
#include "user/store.h"
#include "web/exchange.h"

/* GET /register?next=PATH: pages/register. A visitor who is logged in is redirected to / (303).
 *
 * Model, all of it page-only:
 *   form       { username, nickname, next }: the typed texts, at first empty. The password is never shown again.
 *              next is a local path or the empty string.
 *   login_url  "/login" with the same next
 * After a refused POST (422) also, from respond_form_errors:
 *   errors     [ { field, message } ]       field: "username" | "nickname" | "password"
 *   error      { username?, nickname?, password? }: the message beside the field (page-only)
 * The form posts to /register: username, nickname, password, next (hidden). */
enum step register_show(struct exchange *x);

/* POST /register: creates the user with an empty wallet, and logs in. HTML 303 to next (a local path, else /), JSON 201
 * {id, username, nickname}. Refused: 422 as above. When the user was created but the session was not, HTML redirects to
 * /login and JSON answers 201 without a cookie, because the account exists and must not look refused. When a store is
 * known to be unreachable, answers 503 before the password is hashed. */
enum step register_submit(struct exchange *x);

/* GET /login?next=PATH: pages/login. A visitor who is logged in is redirected to / (303).
 *
 * Model, all of it page-only:
 *   form       { username, next }: the typed texts; next is a local path or the empty string
 *   register_url  "/register" with the same next
 * After a refused POST (422) also:
 *   errors     [ { field, message } ]       field: "username" | "password"
 *   error      { username?, password? }     a wrong name or password is always the message login_wrong at password
 * The form posts to /login: username, password, next (hidden). */
enum step login_show(struct exchange *x);

/* POST /login: starts a new session and ends the one that the request presented. HTML 303 to next (a local path, else
 * /), JSON 200 {id, username, nickname}. An unknown name and a wrong password give the same answer, after the same
 * time. When a store is known to be unreachable, answers 503 before the password is hashed. */
enum step login_submit(struct exchange *x);

/* POST /logout: ends the session and clears the cookie. HTML 303 /, JSON 204. Also fine without a session. */
enum step logout_submit(struct exchange *x);

/* POST /language: stores the visitor's language in a cookie for a year. Fields: language ("zh-CN" | "en"; anything else
 * is 400), next. HTML 303 to next (a local path, else /), JSON 204. */
enum step language_submit(struct exchange *x);

/* The query's `next` when it is a local path, else the empty string. */
struct str next_from_query(struct exchange *x);
/* The address of page with the query ?next=, percent-encoded: "/login?next=/p/…%3Fafter%3D3". Just page when next is
 * empty. STR_NONE without memory. */
struct str next_url(struct arena *a, const char *page, struct str next);

/* The answer of register and login. JSON: json_status with {id, username, nickname}. HTML: 303 to path. */
enum step answer_user(struct exchange *x, int json_status, const struct user *user, struct str path);

#endif
