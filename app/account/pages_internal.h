/* Declarations for the pages of this folder alone. */
#ifndef HB_ACCOUNT_PAGES_INTERNAL_H
#define HB_ACCOUNT_PAGES_INTERNAL_H

#include "base/str.h"
#include "user/store.h"
#include "web/exchange.h"
#include "web/fields.h"

/* The query's `next` when it is a local path, else the empty string. */
struct str next_from_query(struct exchange *x);
/* next, or the home page. */
struct str path_after_login(struct str next);
/* The address of page with the query ?next=, percent-encoded: "/login?next=/p/…%3Fafter%3D3". Just page when next is
 * empty. STR_NONE without memory. */
struct str next_url(struct arena *a, const char *page, struct str next);

/* The address of the login for somebody who is logged in already, but has to do it again (account/proof.h); it leads
 * back to next. STR_NONE without memory. */
struct str login_again_url(struct arena *a, struct str next);
/* True when the query has ?again=, as login_again_url makes it. */
bool login_is_again(struct exchange *x);
/* True when passwords are used on this site (password_login). False: the request is answered (403). */
bool passwords_used(struct exchange *x);

/* next_url of another way to log in, with the valid username that was typed (NULL: nothing was), so nobody types it
 * twice. */
struct str login_way_url(struct exchange *x, const char *page, const struct form *typed, struct str next);

/* A login is refused: a nickname or an address in place of the username gets its message at the username, which reveals
 * nothing about users; else the message text is added at the field. */
void login_name_judge(struct form_errors *e, struct str username, const char *field, const char *text);

/* JSON: json_status with {id, username, nickname}. HTML: 303 to path. */
enum step answer_user(struct exchange *x, int json_status, const struct user *user, struct str path);
/* The answer to somebody who is logged in now: answer_user with next, or the home page; when terms are due, the page
 * /terms comes first. A browser that has sent no
 * cookie is led there by the login page (?cookie=1), which reports when the browser did not keep the session's
 * cookie. */
enum step answer_login(struct exchange *x, int json_status, const struct user *user, struct str next);

#endif
