#include "base/cidr.h"

#include <arpa/inet.h>
#include <stdint.h>
#include <string.h>

enum { V4_BYTES = 4, V6_BYTES = 16, MAPPED_BYTES = 12, TEXT_MAX = INET6_ADDRSTRLEN, BYTE_BITS = 8, PREFIX_DIGITS = 3 };

struct network {
    size_t bytes; /* V4_BYTES or V6_BYTES */
    unsigned bits;
    uint8_t address[V6_BYTES];
};

static bool address_read(struct str text, struct network *out)
{
    char copy[TEXT_MAX];
    if (text.len == 0 || text.len >= sizeof copy || memchr(text.ptr, '\0', text.len) != NULL)
        return false;
    memcpy(copy, text.ptr, text.len);
    copy[text.len] = '\0';
    out->bytes = inet_pton(AF_INET, copy, out->address) == 1    ? V4_BYTES
                 : inet_pton(AF_INET6, copy, out->address) == 1 ? V6_BYTES
                                                                : 0;
    out->bits = (unsigned)(out->bytes * BYTE_BITS);
    return out->bytes != 0;
}

/* An IPv4 address inside IPv6 becomes the IPv4 address; a network that is larger than all of them stays. */
static void mapped_fold(struct network *n)
{
    static const uint8_t mapped[MAPPED_BYTES] = { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff };
    if (n->bytes != V6_BYTES || n->bits < MAPPED_BYTES * BYTE_BITS || memcmp(n->address, mapped, sizeof mapped) != 0)
        return;
    memmove(n->address, n->address + MAPPED_BYTES, V4_BYTES);
    n->bytes = V4_BYTES;
    n->bits -= MAPPED_BYTES * BYTE_BITS;
}

static bool prefix_read(struct str digits, struct network *out)
{
    uint64_t bits;
    if (digits.len == 0 || digits.len > PREFIX_DIGITS || !str_to_u64(digits, &bits) || bits > out->bits)
        return false;
    out->bits = (unsigned)bits;
    return true;
}

/* The bits of a byte of the address that belong to the prefix. */
static uint8_t byte_mask(const struct network *n, size_t byte)
{
    const size_t before = byte * BYTE_BITS;
    if (n->bits >= before + BYTE_BITS)
        return 0xff;
    if (n->bits <= before)
        return 0;
    return (uint8_t)((0xff00U >> (n->bits - before)) & 0xffU);
}

static bool network_read(struct str entry, struct network *out)
{
    struct str digits;
    const struct str address = str_cut(entry, '/', &digits);
    if (!address_read(address, out) || (digits.ptr != NULL && !prefix_read(digits, out)))
        return false;
    mapped_fold(out);
    for (size_t i = 0; i < out->bytes; i++)
        if ((out->address[i] | byte_mask(out, i)) != byte_mask(out, i))
            return false;
    return true;
}

/* Cuts the next entry off the front. Empty: there is no further one. */
static struct str entry_next(struct str *rest)
{
    size_t from = 0, to;
    while (from < rest->len && (rest->ptr[from] == ' ' || rest->ptr[from] == ','))
        from++;
    to = from;
    while (to < rest->len && rest->ptr[to] != ' ' && rest->ptr[to] != ',')
        to++;
    const struct str entry = str_slice(*rest, from, to);
    *rest = str_slice(*rest, to, rest->len);
    return entry;
}

bool cidr_list_is_valid(struct str list, struct str *wrong)
{
    struct network n;
    for (struct str entry = entry_next(&list); entry.len > 0; entry = entry_next(&list)) {
        if (network_read(entry, &n))
            continue;
        if (wrong != NULL)
            *wrong = entry;
        return false;
    }
    return true;
}

static bool network_has(const struct network *n, const struct network *address)
{
    if (n->bytes != address->bytes)
        return false;
    for (size_t i = 0; i < n->bytes; i++)
        if (((n->address[i] ^ address->address[i]) & byte_mask(n, i)) != 0)
            return false;
    return true;
}

bool cidr_list_has(struct str list, struct str address)
{
    struct network n, wanted;
    if (!address_read(address, &wanted))
        return false;
    mapped_fold(&wanted);
    for (struct str entry = entry_next(&list); entry.len > 0; entry = entry_next(&list))
        if (network_read(entry, &n) && network_has(&n, &wanted))
            return true;
    return false;
}
