#include "commands/user_word.h"

#include "base/public_id.h"
#include "base/utf8.h"
#include "user/account.h"

static bool is_alphanumeric(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static void packet_add(struct user_word *out, uint64_t id)
{
    for (size_t i = 0; i < out->packet_count; i++)
        if (out->packet_ids[i] == id)
            return;
    if (out->packet_count < USER_WORD_PACKETS_MAX)
        out->packet_ids[out->packet_count++] = id;
}

/* Each run of letters and digits that has the length of a public id. */
static void packets_read(struct str text, struct user_word *out)
{
    size_t from = 0;
    for (size_t i = 0; i <= text.len; i++) {
        uint64_t id;
        if (i < text.len && is_alphanumeric(text.ptr[i]))
            continue;
        if (public_id_read_unproven(str_slice(text, from, i), &id))
            packet_add(out, id);
        from = i + 1;
    }
}

/* "NAME=NUMBER" of a log line: its number; else the text. */
static struct str value_of(struct str text)
{
    struct str value = str_after(text, STR("="));
    uint64_t number;
    return value.ptr != NULL && str_is_word(str_slice(text, 0, str_index(text, '='))) && str_to_u64(value, &number)
               ? value
               : text;
}

static void numbers_read(struct str text, struct user_word *out)
{
    struct str digits = value_of(text);
    const bool is_marked = str_skip_prefix(&digits, STR("~"));
    uint64_t id;
    if (!str_to_u64(digits, &id) || id == 0)
        return;
    out->user_id = id;
    if (!is_marked)
        packet_add(out, id);
}

enum status user_word_read(struct arena *a, struct str typed, struct user_word *out, const char **why)
{
    struct str folded, clean;
    *out = (struct user_word){ 0 };
    *why = typed.len > USER_WORD_BYTES_MAX ? "the text is too long: paste a name, an id or a link" : NULL;
    if (*why == NULL && !utf8_valid(typed))
        *why = "the text is not UTF-8: set the terminal to UTF-8, or use an id";
    if (*why != NULL)
        return ST_INVALID;
    enum status st = utf8_fold_pasted(a, typed, &folded);
    if (st == ST_OK)
        st = utf8_clean_shown(a, typed, &clean);
    if (st != ST_OK)
        return st;
    if (folded.len == 0 && clean.len == 0) {
        *why = "the text is empty: name an id, a username, a nickname or a link";
        return ST_INVALID;
    }
    numbers_read(folded, out);
    packets_read(folded, out);
    out->username = username_fold(a, typed);
    if (out->username.ptr == NULL)
        return ST_NO_MEMORY;
    if (!username_valid(out->username))
        out->username = STR_NONE;
    if (clean.len > 0 && utf8_codepoints(clean) <= NICKNAME_CODEPOINTS_MAX)
        out->nickname = clean;
    return ST_OK;
}
