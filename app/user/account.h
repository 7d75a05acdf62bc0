/* The rules of usernames, nicknames and passwords, their field types, and the form of /register. No function here
 * accesses a store. */
#ifndef HB_USER_ACCOUNT_H
#define HB_USER_ACCOUNT_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/str.h"
#include "web/field_types.h"

#define USERNAME_BYTES_MIN      2
#define USERNAME_BYTES_MAX      32
#define NICKNAME_GRAPHEMES_MAX  32
#define NICKNAME_CODEPOINTS_MAX 64 /* width of the SQL column; one grapheme may be several code points */
#define PASSWORD_CHARACTERS_MIN 8
#define PASSWORD_CHARACTERS_MAX 128
#define INVITATION_BYTES_MAX    500

/* The username as it is stored and looked up: folded by utf8_fold_pasted and read by typed_name. STR_NONE without
 * memory. */
struct str username_fold(struct arena *a, struct str typed);
/* True when a folded name matches ^[a-z0-9][a-z0-9_.-]{1,31}$. */
bool username_valid(struct str folded);

/* struct str: a username, folded and valid. */
extern const struct field_type FIELD_USERNAME;
/* struct str_list: the names of a list (typed_names_next), each once. A name that is no username is kept, so that the
 * handler can refuse it together with the names to which no user belongs. Limits are numbers of names. */
extern const struct field_type FIELD_USERNAMES;
/* struct str: any text, folded but not validated. An invalid name then fails like an unknown one, and the login does
 * not reveal whether name or password is wrong. */
extern const struct field_type FIELD_LOGIN_NAME;
/* struct password: a password that is compared. */
extern const struct field_type FIELD_PASSWORD;
/* struct str: a password that is set, normalized (password_normalize). Limits are in code points. Refused when it is
 * common, or like the name of the service or the username (user/common_password.h): the form's field `username`, else
 * the visitor's username. No other rules. */
extern const struct field_type FIELD_NEW_PASSWORD;

/* Rows that several tables share, for members of the same name: a new nickname, and the username with which a user logs
 * in. */
#define NICKNAME_FIELD(form) NICKNAME_FIELD_AT(form, nickname)
#define NICKNAME_FIELD_AT(form, at)                                                                                    \
    {                                                                                                                  \
        .name = "nickname", .type = &FIELD_LINE, .member = offsetof(form, at), .required = true, .kept = KEPT,         \
        .max = NICKNAME_GRAPHEMES_MAX, .code_points_max = NICKNAME_CODEPOINTS_MAX, .missing = "text/nickname_missing", \
        .malformed = "text/nickname_invalid", .high = "text/nickname_long", .wide = "text/nickname_combined",          \
        .says = "what others see", .example = "Ming"                                                                   \
    }
#define LOGIN_NAME_FIELD(form, text)                                                                                   \
    {                                                                                                                  \
        .name = "username", .type = &FIELD_LOGIN_NAME, .member = offsetof(form, username), .required = true,           \
        .kept = KEPT, .missing = "text/username_missing", .says = (text), .example = "xiaoming"                        \
    }
/* The common part of all rows of a new password. */
#define NEW_PASSWORD_RULES                                                                                             \
    .type = &FIELD_NEW_PASSWORD, .no_echo = true, .min = PASSWORD_CHARACTERS_MIN, .max = PASSWORD_CHARACTERS_MAX,      \
    .low = "text/password_short", .high = "text/password_long"
/* The row of a password that is compared, whose value is at this offset. */
#define PASSWORD_FIELD(field_name, offset, sample)                                                                     \
    {                                                                                                                  \
        .name = (field_name), .type = &FIELD_PASSWORD, .member = (offset), .required = true, .no_echo = true,          \
        .missing = "text/password_missing", .says = "as typed", .example = (sample)                                    \
    }

/* Rows of every form of registering: the names; what lets one in, by the settings of the site. */
#define REGISTER_NAME_FIELDS(form, username_member, nickname_member)                                                   \
    { .name = "username",                                                                                              \
      .type = &FIELD_USERNAME,                                                                                         \
      .member = offsetof(form, username_member),                                                                       \
      .required = true,                                                                                                \
      .kept = KEPT,                                                                                                    \
      .missing = "text/username_missing",                                                                              \
      .says = "2 to 32 of a-z, 0-9, dot, hyphen and underscore",                                                       \
      .example = "xiaoming" },                                                                                         \
        NICKNAME_FIELD_AT(form, nickname_member)
#define REGISTER_ADMISSION_FIELDS(form, invitation_member, terms_member)                                               \
    { .name = "invitation",                                                                                            \
      .type = &FIELD_INVITATION,                                                                                       \
      .member = offsetof(form, invitation_member),                                                                     \
      .kept = KEPT,                                                                                                    \
      .max = INVITATION_BYTES_MAX,                                                                                     \
      .missing = "text/invitation_missing",                                                                            \
      .high = "text/invitation_wrong",                                                                                 \
      .says = "needed with `registration = invite`: the code of an invitation, or the link that has it" },             \
    {                                                                                                                  \
        .name = "terms", .type = &FIELD_TEXT, .member = offsetof(form, terms_member), .required = true,                \
        .applies = register_has_terms, .missing = "text/terms_missing",                                                \
        .says = "where the site has terms: any text accepts them"                                                      \
    }
/* struct str: a text, which is needed where nobody registers without an invitation. */
extern const struct field_type FIELD_INVITATION;
/* For a row: the site has terms. */
bool register_has_terms(const struct field_input *in);

/* The form of /register. */
struct account_form {
    struct str username; /* folded and valid */
    struct str nickname; /* cleaned by utf8_clean_shown */
    struct str password; /* normalized */
    struct str next;     /* a local path, or empty */
    struct str passkey;  /* not empty: the browser could keep a passkey */
    /* by the settings of the site (account/admission.h): */
    struct str invitation; /* a code as typed, or the link with it */
    struct str terms;      /* not empty: the terms are accepted */
};
extern const struct field register_fields[];

#endif
