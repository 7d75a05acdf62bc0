#include "user/account.h"

#include "base/utf8.h"

static bool is_name_start(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

struct str username_fold(struct arena *a, struct str typed)
{
    struct str narrow;
    enum status st = utf8_fold_width(a, typed, &narrow);

    if (st == ST_NO_MEMORY)
        return STR_NONE;
    struct str trimmed = str_trim(st == ST_OK ? narrow : typed);
    char *folded = arena_cstr(a, trimmed);
    if (folded == NULL)
        return STR_NONE;
    for (char *c = folded; *c != '\0'; c++)
        if (*c >= 'A' && *c <= 'Z')
            *c = (char)(*c - 'A' + 'a');
    return (struct str){ folded, trimmed.len };
}

bool username_valid(struct str folded)
{
    if (folded.len < USERNAME_BYTES_MIN || folded.len > USERNAME_BYTES_MAX || !is_name_start(folded.ptr[0]))
        return false;
    for (size_t i = 1; i < folded.len; i++) {
        char c = folded.ptr[i];
        if (!is_name_start(c) && c != '_' && c != '.' && c != '-')
            return false;
    }
    return true;
}

static void nickname_check(struct str nickname, struct form_errors *e)
{
    if (utf8_graphemes(nickname) > NICKNAME_GRAPHEMES_MAX)
        form_fail(e, "nickname", "text/nickname_long");
    else if (utf8_codepoints(nickname) > NICKNAME_CODEPOINTS_MAX)
        form_fail(e, "nickname", "text/nickname_combined");
}

static void password_check(struct str password, struct form_errors *e)
{
    if (password.len == 0)
        form_fail(e, "password", "text/password_missing");
    else if (password.len < PASSWORD_BYTES_MIN)
        form_fail(e, "password", "text/password_short");
    else if (password.len > PASSWORD_BYTES_MAX)
        form_fail(e, "password", "text/password_long");
    else if (!utf8_valid(password))
        form_fail(e, "password", "text/password_invalid");
}

enum status account_form_check(struct arena *a, const struct account_form *typed, struct account_form *out,
                               struct form_errors *e)
{
    out->username = username_fold(a, typed->username);
    if (out->username.ptr == NULL)
        return ST_NO_MEMORY;
    if (out->username.len == 0)
        form_fail(e, "username", "text/username_missing");
    else if (!username_valid(out->username))
        form_fail(e, "username", "text/username_invalid");

    enum status st = utf8_clean(a, typed->nickname, &out->nickname);
    if (st == ST_NO_MEMORY)
        return st;
    if (st != ST_OK)
        form_fail(e, "nickname", "text/nickname_invalid");
    else if (out->nickname.len == 0)
        out->nickname = out->username;
    else
        nickname_check(out->nickname, e);

    out->password = typed->password;
    password_check(out->password, e);
    return ST_OK;
}
