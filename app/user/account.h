/* The rules of usernames, nicknames and passwords, their field types, and the form of /register. No function here
 * accesses a store. */
#ifndef HB_USER_ACCOUNT_H
#define HB_USER_ACCOUNT_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/str.h"
#include "web/fields.h"

#define USERNAME_BYTES_MIN      2
#define USERNAME_BYTES_MAX      32
#define NICKNAME_GRAPHEMES_MAX  32
#define NICKNAME_CODEPOINTS_MAX 64 /* width of the SQL column; one grapheme may be several code points */
#define PASSWORD_BYTES_MIN      8
#define PASSWORD_BYTES_MAX      128

/* The username as it is stored and looked up: full-width characters (which Chinese input methods produce) become ASCII,
 * blanks around it are removed, A–Z becomes a–z. STR_NONE without memory. */
struct str username_fold(struct arena *a, struct str typed);
/* True when a folded name matches ^[a-z0-9][a-z0-9_.-]{1,31}$. */
bool username_valid(struct str folded);

/* struct str: a username, folded and valid. */
extern const struct field_type FIELD_USERNAME;
/* struct str_list: usernames separated by blanks, commas or line breaks, folded, valid, each once. Limits are numbers
 * of names; the message for malformed gets the text that is no username. */
extern const struct field_type FIELD_USERNAMES;
/* struct str: any text, folded but not validated. An invalid name then fails like an unknown one, and the login does
 * not reveal whether name or password is wrong. */
extern const struct field_type FIELD_LOGIN_NAME;
/* struct str: the text as typed. Limits are in bytes. */
extern const struct field_type FIELD_PASSWORD;

/* The form of /register. */
struct account_form {
    struct str username; /* folded and valid */
    struct str nickname; /* cleaned by utf8_clean; the username when empty */
    struct str password; /* as typed */
    struct str next;     /* a local path, or empty */
};
extern const struct field register_fields[];

#endif
