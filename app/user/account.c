#include "user/account.h"

#include "base/array.h"
#include "base/typed.h"
#include "base/utf8.h"
#include "user/common_password.h"
#include "user/password.h"
#include "web/field_types.h"

static bool is_name_start(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

struct str username_fold(struct arena *a, struct str typed)
{
    struct str name = typed;

    if (utf8_fold_pasted(a, typed, &name) == ST_NO_MEMORY)
        return STR_NONE;
    return typed_name(a, name);
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

/* ---- types ---- */

static enum status login_name_read(struct field_input *in)
{
    struct str name = username_fold(in->x->arena, in->typed);
    if (name.ptr == NULL)
        return ST_NO_MEMORY;
    if (name.len == 0)
        return field_absent(in);
    *(struct str *)in->out = name;
    return ST_OK;
}

/* The message for an invalid name: people type addresses, Chinese names and two words. */
static const char *username_fault(struct str name)
{
    bool blank = false, foreign = false, at = false;

    for (size_t i = 0; i < name.len; i++) {
        at = at || name.ptr[i] == '@';
        blank = blank || name.ptr[i] == ' ';
        foreign = foreign || (unsigned char)name.ptr[i] > 0x7f;
    }
    return at        ? "text/username_address"
           : foreign ? "text/username_letters"
           : blank   ? "text/username_blank"
                     : "text/username_invalid";
}

static enum status username_read(struct field_input *in)
{
    struct str *name = in->out;
    enum status st = login_name_read(in);
    if (st != ST_OK || name->len == 0 || username_valid(*name))
        return st;
    return field_fail(in, username_fault(*name));
}

static bool list_has(const struct str_list *list, struct str name)
{
    for (size_t i = 0; i < list->count; i++)
        if (str_equal(list->items[i], name))
            return true;
    return false;
}

static enum status usernames_read(struct field_input *in)
{
    struct str rest = in->typed;
    size_t max = (size_t)field_max(in->field, in->x->app->stores.config);
    struct str_list list = { arena_array(in->x->arena, max, sizeof *list.items), 0 };
    if (list.items == NULL)
        return ST_NO_MEMORY;
    for (struct str typed = typed_names_next(&rest); typed.len > 0; typed = typed_names_next(&rest)) {
        struct str name = typed_name(in->x->arena, typed);
        if (name.ptr == NULL)
            return ST_NO_MEMORY;
        if (list_has(&list, name))
            continue;
        if (list.count == max)
            return field_limits(in, (int64_t)max + 1);
        list.items[list.count++] = name;
    }
    if (list.count == 0)
        return field_absent(in);
    *(struct str_list *)in->out = list;
    return ST_OK;
}

/* The folded username to which the password belongs: the typed one in a form that has it, else the visitor's. STR_NONE
 * without memory. */
static struct str password_owner(const struct field_input *in)
{
    bool typed;
    struct str name = form_get(&in->x->form, "username", &typed);
    return typed ? username_fold(in->x->arena, name) : str_or_empty(in->x->visitor.username);
}

static enum status password_read(struct field_input *in)
{
    return in->typed.len == 0 ? field_absent(in) : password_normalize(in->x->arena, in->typed, in->out);
}

static enum status new_password_read(struct field_input *in)
{
    struct password typed;
    if (in->typed.len == 0)
        return field_absent(in);
    enum status st = password_normalize(in->x->arena, in->typed, &typed);
    if (st != ST_OK)
        return st;
    struct str password = typed.text;
    st = field_limits(in, (int64_t)utf8_codepoints(password));
    if (st != ST_OK)
        return st;
    struct str owner = password_owner(in);
    if (owner.ptr == NULL)
        return ST_NO_MEMORY;
    if (password_is_common(password) || password_is_like_service(password))
        return field_fail(in, "text/password_common");
    if (password_is_like_username(password, owner))
        return field_fail(in, "text/password_like_name");
    *(struct str *)in->out = password;
    return ST_OK;
}

const struct field_type FIELD_USERNAME = { .read = username_read };
const struct field_type FIELD_USERNAMES = { .read = usernames_read };
const struct field_type FIELD_LOGIN_NAME = { .read = login_name_read };
const struct field_type FIELD_PASSWORD = { .read = password_read, .as_typed = true };
const struct field_type FIELD_NEW_PASSWORD = { .read = new_password_read, .as_typed = true };

/* ---- the table ---- */

/* A text, which is needed where nobody registers without an invitation. */
static enum status invitation_read(struct field_input *in)
{
    if (in->typed.len == 0 && config_registration(in->x->app->stores.config) == REGISTRATION_INVITE)
        return field_fail(in, in->field->missing);
    return field_text_read(in);
}

const struct field_type FIELD_INVITATION = { .read = invitation_read, .like = &FIELD_TEXT };

bool register_has_terms(const struct field_input *in)
{
    return in->x->app->stores.config->terms_url[0] != '\0';
}

const struct field register_fields[] = {
    REGISTER_NAME_FIELDS(struct account_form, username, nickname),
    { .name = "password",
      NEW_PASSWORD_RULES,
      .member = offsetof(struct account_form, password),
      .required = true,
      .missing = "text/password_missing",
      .says = "not one of the 10,000 commonest, and not like the username",
      .example = "correct-horse" },
    NEXT_FIELD(struct account_form),
    { .name = "passkey",
      .type = &FIELD_TEXT,
      .member = offsetof(struct account_form, passkey),
      .no_echo = true,
      .says = "any text: the browser could keep a passkey, so the page offers one" },
    REGISTER_ADMISSION_FIELDS(struct account_form, invitation, terms),
    { .name = NULL },
};
