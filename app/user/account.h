/* What people type of an account, and the form that makes a new one. No store is asked. */
#ifndef HB_USER_ACCOUNT_H
#define HB_USER_ACCOUNT_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/str.h"
#include "web/fields.h"

#define USERNAME_BYTES_MIN      2
#define USERNAME_BYTES_MAX      32
#define NICKNAME_GRAPHEMES_MAX  32
#define NICKNAME_CODEPOINTS_MAX 64 /* the column's width; one grapheme may be many code points */
#define PASSWORD_BYTES_MIN      8
#define PASSWORD_BYTES_MAX      128

/* A username as we store and look it up: full-width letters, digits and signs narrowed (an input method for Chinese
 * writes them), blanks around it off, A–Z → a–z. STR_NONE without memory. */
struct str username_fold(struct arena *a, struct str typed);
/* ^[a-z0-9][a-z0-9_.-]{1,31}$ on a folded name. */
bool username_valid(struct str folded);

/* struct str: a username, folded and valid. */
extern const struct field_type FIELD_USERNAME;
/* struct str: any text, folded: a login does not tell which part of it is wrong. */
extern const struct field_type FIELD_USERNAME_TRIED;
/* struct str: as typed. Limits in bytes. */
extern const struct field_type FIELD_PASSWORD;

/* The form of /register. */
struct account_form {
    struct str username; /* lower case */
    struct str nickname; /* cleaned; the username when nothing was typed */
    struct str password; /* as typed */
    struct str next;     /* a path of ours, or empty */
};
extern const struct field register_fields[];

#endif
