/* The rules for what a new user types: pure, no store is asked. */
#ifndef HB_USER_ACCOUNT_H
#define HB_USER_ACCOUNT_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/status.h"
#include "base/str.h"
#include "web/form.h"

#define USERNAME_BYTES_MIN      2
#define USERNAME_BYTES_MAX      32
#define NICKNAME_GRAPHEMES_MAX  32
#define NICKNAME_CODEPOINTS_MAX 64 /* the column's width; one grapheme may be many code points */
#define PASSWORD_BYTES_MIN      8
#define PASSWORD_BYTES_MAX      128

struct account_form {
    struct str username; /* lower case */
    struct str nickname; /* cleaned; the username when nothing was typed */
    struct str password; /* as typed */
};

/* A username as we store and look it up: full-width letters, digits and signs narrowed (an input method for Chinese
 * writes them), blanks around it off, A–Z → a–z. STR_NONE without memory. */
struct str username_fold(struct arena *a, struct str typed);
/* ^[a-z0-9][a-z0-9_.-]{1,31}$ on a folded name. */
bool username_valid(struct str folded);

/* Checks the typed values by the rules and fills out. What breaks a rule is told in e, per field; then out is not
 * fit for use. ST_OK or ST_NO_MEMORY. */
enum status account_form_check(struct arena *a, const struct account_form *typed, struct account_form *out,
                               struct form_errors *e);

#endif
