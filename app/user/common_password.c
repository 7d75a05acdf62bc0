#include "user/common_password.h"

#include "base/array.h"
#include "user/common_password_internal.h"

enum { COMMON_BYTES_MAX = 20, OTHER_BYTES_MIN = 5 };

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

/* Binary search. low and high are always at the line feeds before and behind the remaining lines. */
static bool table_has(struct str word)
{
    const char *text = common_passwords;
    size_t low = 0, high = common_passwords_len - 1;

    while (low < high) {
        size_t begin = low + (high - low) / 2, end = begin + 1;
        while (text[begin] != '\n')
            begin--;
        while (text[end] != '\n')
            end++;
        int order = str_compare(word, (struct str){ text + begin + 1, end - begin - 1 });
        if (order == 0)
            return true;
        if (order < 0)
            high = begin;
        else
            low = end;
    }
    return false;
}

static bool is_digit_or_letter(char c)
{
    return (c >= '0' && c <= '9') || (lower(c) >= 'a' && lower(c) <= 'z');
}

/* True for digits and letters that are all the same, or count up or down ("0" follows "9"). */
static bool is_run(struct str text)
{
    int step = 0;

    for (size_t i = 0; i < text.len; i++) {
        if (!is_digit_or_letter(text.ptr[i]))
            return false;
        int here = i > 0 ? lower(text.ptr[i]) - lower(text.ptr[i - 1]) : 0;
        here = here == '0' - '9' ? 1 : here == '9' - '0' ? -1 : here;
        if (here < -1 || here > 1 || (i > 1 && here != step))
            return false;
        step = here;
    }
    return true;
}

bool password_is_common(struct str password)
{
    char folded[COMMON_BYTES_MAX];

    if (is_run(password))
        return true;
    if (password.len > sizeof folded)
        return false;
    for (size_t i = 0; i < password.len; i++)
        folded[i] = lower(password.ptr[i]);
    return table_has((struct str){ folded, password.len });
}

/* True when text begins with the name, or with the name backwards. */
static bool begins_with_name(struct str text, struct str name)
{
    size_t forwards = 0, backwards = 0;

    if (text.len < name.len)
        return false;
    for (size_t i = 0; i < name.len; i++) {
        forwards += lower(text.ptr[i]) == name.ptr[i];
        backwards += lower(text.ptr[i]) == name.ptr[name.len - 1 - i];
    }
    return forwards == name.len || backwards == name.len;
}

bool password_is_like_username(struct str password, struct str username)
{
    size_t others = 0;
    bool found = false;

    if (username.len == 0)
        return false;
    for (size_t i = 0; i < password.len;) {
        bool here = begins_with_name(str_skip(password, i), username);
        found = found || here;
        others += !here;
        i += here ? username.len : 1;
    }
    return found && others < OTHER_BYTES_MIN;
}

bool password_is_like_service(struct str password)
{
    static const char *const words[] = { "hongbao", "redpacket", "redenvelope", "\u7ea2\u5305" /* hongbao */ };

    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        if (password_is_like_username(password, str_from(words[i])))
            return true;
    return false;
}
