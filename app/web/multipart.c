#include "web/multipart.h"

#include <stdio.h>
#include <string.h>

#include "base/array.h"

enum { BOUNDARY_MAX = 70, DELIMITER_MAX = BOUNDARY_MAX + 8, ATTRIBUTES_MAX = 8 };

/* ---- headers ---- */

/* A character of a token (RFC 9110, 5.6.2). */
static bool is_token_char(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
           (c != '\0' && strchr("!#$%&'*+-.^_`|~", c) != NULL);
}

static struct str token_take(struct str *rest)
{
    size_t len = 0;
    while (len < rest->len && is_token_char(rest->ptr[len]))
        len++;
    struct str token = str_slice(*rest, 0, len);
    *rest = str_skip(*rest, len);
    return token;
}

/* The text between the quotation marks with which *rest begins, as it is written: browsers write %22 for such a mark,
 * curl and others \". False: there is no second mark. */
static bool quoted_take(struct str *rest, struct str *out)
{
    for (size_t i = 1; i < rest->len; i++) {
        if (rest->ptr[i] == '\\' && i + 1 < rest->len && rest->ptr[i + 1] == '"')
            i++;
        else if (rest->ptr[i] == '"') {
            *out = str_slice(*rest, 1, i);
            *rest = str_skip(*rest, i + 1);
            return true;
        }
    }
    return false;
}

/* Takes the next "; NAME=VALUE". False: malformed. */
static bool attribute_take(struct str *rest, struct str *name, struct str *value)
{
    if (!str_skip_prefix(rest, STR(";")))
        return false;
    *rest = str_trim(*rest);
    *name = token_take(rest);
    if (name->len == 0 || !str_skip_prefix(rest, STR("=")))
        return false;
    if (rest->len > 0 && rest->ptr[0] == '"') {
        if (!quoted_take(rest, value))
            return false;
    } else {
        *value = token_take(rest);
        if (value->len == 0)
            return false;
    }
    *rest = str_trim(*rest);
    return true;
}

/* Finds the value of the attribute in "TYPE; NAME=VALUE; …"; STR_NONE unless it is there exactly once. False:
 * malformed, or another type. */
static bool attribute_find(struct str text, const char *type, const char *wanted, struct str *out)
{
    struct str rest = str_trim(text), name, value;
    *out = STR_NONE;
    if (!str_equal_fold(token_take(&rest), str_from(type)))
        return false;
    rest = str_trim(rest);
    for (int i = 0; rest.len > 0; i++) {
        if (i == ATTRIBUTES_MAX || !attribute_take(&rest, &name, &value))
            return false;
        if (!str_equal_fold(name, str_from(wanted)))
            continue;
        if (out->ptr != NULL)
            return false;
        *out = value;
    }
    return true;
}

bool multipart_is(struct str content_type)
{
    struct str parameters, type = str_trim(str_cut(content_type, ';', &parameters));
    return str_equal_fold(type, STR("multipart/form-data"));
}

static bool boundary_read(struct str content_type, struct str *out)
{
    struct str subtype; /* of "multipart/form-data", which has a slash: no token has */
    (void)str_cut(content_type, '/', &subtype);
    if (!multipart_is(content_type) || !attribute_find(subtype, "form-data", "boundary", out))
        return false;
    if (out->len == 0 || out->len > BOUNDARY_MAX)
        return false;
    for (size_t i = 0; i < out->len; i++)
        if (out->ptr[i] == '\0' || (!is_token_char(out->ptr[i]) && strchr("()/:=?, ", out->ptr[i]) == NULL))
            return false;
    return out->ptr[out->len - 1] != ' ';
}

/* ---- parts ---- */

/* Reads the header of a part. False: malformed, without a name, or with a field that this reader does not know. */
static bool head_read(struct str head, struct str *name)
{
    bool named = false;
    while (head.len > 0) {
        size_t end = str_find(head, STR("\r\n"));
        struct str line = str_slice(head, 0, end), value;
        struct str field = str_cut(line, ':', &value);
        head = end == head.len ? STR("") : str_skip(head, end + 2);
        if (value.ptr == NULL)
            return false;
        if (str_equal_fold(field, STR("Content-Disposition"))) {
            if (named || !attribute_find(value, "form-data", "name", name) || name->len == 0 || !str_is_word(*name))
                return false;
            named = true;
        } else if (!str_equal_fold(field, STR("Content-Type"))) {
            return false;
        }
    }
    return named;
}

/* Takes the part at the beginning of *rest, up to and including the delimiter behind it. */
static bool part_take(struct str *rest, struct str delimiter, struct str *name, struct str *content)
{
    struct str head = str_slice(*rest, 0, rest->len < MULTIPART_HEAD_MAX ? rest->len : MULTIPART_HEAD_MAX);
    size_t end = str_find(head, STR("\r\n\r\n"));
    if (end == head.len || !head_read(str_slice(head, 0, end), name))
        return false;
    struct str body = str_skip(*rest, end + 4);
    end = str_find(body, delimiter);
    if (end == body.len)
        return false;
    *content = str_slice(body, 0, end);
    *rest = str_skip(body, end + delimiter.len);
    return true;
}

static bool seen(const struct str *names, size_t count, struct str name)
{
    for (size_t i = 0; i < count; i++)
        if (str_equal(names[i], name))
            return true;
    return false;
}

enum status multipart_find(struct str content_type, struct str body, const char *name, struct str *content)
{
    char bytes[DELIMITER_MAX];
    struct str boundary, names[MULTIPART_PARTS_MAX], found = STR_NONE, part;
    if (!boundary_read(content_type, &boundary))
        return ST_INVALID;
    int len = snprintf(bytes, sizeof bytes, "\r\n--%.*s", STR_ARG(boundary));
    const struct str delimiter = { bytes, (size_t)len };
    if (!str_skip_prefix(&body, str_skip(delimiter, 2)))
        return ST_INVALID;
    for (size_t i = 0; !str_skip_prefix(&body, STR("--")); i++) {
        if (i == ARRAY_LEN(names) || !str_skip_prefix(&body, STR("\r\n")) ||
            !part_take(&body, delimiter, &names[i], &part) || seen(names, i, names[i]))
            return ST_INVALID;
        if (str_equal(names[i], str_from(name)))
            found = part;
    }
    if (body.len > 0 && !str_equal(body, STR("\r\n")))
        return ST_INVALID;
    *content = found;
    return found.ptr == NULL ? ST_NOT_FOUND : ST_OK;
}
