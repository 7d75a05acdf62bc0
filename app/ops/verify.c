#include "ops/verify.h"

#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/config.h"
#include "base/money.h"
#include "base/random.h"
#include "packet/packet.h"
#include "packet/split.h"

static const char VERIFY_USAGE[] =
    "usage: hongbao verify SEED KIND TOTAL COUNT [SPLIT [SHARE_MAX [SHARE_MIN]]] [--returned NUMBERS]\n"
    "hongbao verify --help explains them\n";

static bool seed_read(struct str hex, uint8_t *out)
{
    size_t len;
    return hex.len == 2 * SEED_BYTES && sodium_hex2bin(out, SEED_BYTES, hex.ptr, hex.len, NULL, &len, NULL) == 0 &&
           len == SEED_BYTES;
}

/* Combines KIND and SPLIT into a method. split: STR_NONE when absent. */
static bool method_read(struct str kind_text, struct str split, enum split_method *out)
{
    enum packet_kind kind;
    if (!packet_kind_from(kind_text, &kind))
        return split.ptr == NULL && split_method_from(kind_text, out);
    if (kind != PACKET_LUCKY) {
        *out = SPLIT_EVEN;
        return split.ptr == NULL || str_equal(split, STR("even"));
    }
    *out = SPLIT_DOUBLE_AVERAGE;
    return split.ptr == NULL || (split_method_from(split, out) && *out != SPLIT_EVEN);
}

struct verify_args {
    uint8_t seed[SEED_BYTES];
    enum split_method method;
    int64_t total_fen;
    uint32_t count;
    int64_t share_fen_min, share_fen_max;
    struct str returned; /* numbers of shares; empty: none */
};

static bool args_read(int argc, char **argv, struct verify_args *out)
{
    uint64_t count;
    struct config config;
    config_defaults(&config);
    out->share_fen_min = 1;
    out->share_fen_max = config.share_fen_max;
    if (argc < 5 || argc > 8 || !seed_read(str_from(argv[1]), out->seed) ||
        !method_read(str_from(argv[2]), argc > 5 ? str_from(argv[5]) : STR_NONE, &out->method) ||
        money_parse(str_from(argv[3]), &out->total_fen) != ST_OK || !str_to_u64(str_from(argv[4]), &count) ||
        count < 1 || count > SPLIT_COUNT_MAX ||
        (argc > 6 && money_parse(str_from(argv[6]), &out->share_fen_max) != ST_OK) ||
        (argc > 7 && money_parse(str_from(argv[7]), &out->share_fen_min) != ST_OK))
        return false;
    out->count = (uint32_t)count;
    return true;
}

/* Takes the option, which comes last, out of the arguments. */
static struct str returned_take(int *argc, char **argv)
{
    if (*argc < 3 || !str_equal(str_from(argv[*argc - 2]), STR("--returned")))
        return STR("");
    *argc -= 2;
    return str_from(argv[*argc + 1]);
}

/* Adds the shares that were given back behind the others. shares_fen has room for one per comma, and one more. False: a
 * number is malformed, or no share yet. */
static bool returned_add(struct str numbers, int64_t *shares_fen, uint32_t *count)
{
    while (numbers.len > 0) {
        uint64_t number;
        if (!str_to_u64(str_cut(numbers, ',', &numbers), &number) || number >= *count)
            return false;
        shares_fen[*count] = shares_fen[number];
        ++*count;
    }
    return true;
}

static size_t room_for(const struct verify_args *args)
{
    size_t room = (size_t)args->count + 1;
    for (size_t i = 0; i < args->returned.len; i++)
        room += args->returned.ptr[i] == ',';
    return room;
}

static void shares_print(const struct verify_args *args, const int64_t *shares_fen)
{
    uint8_t commitment[HASH_BYTES];
    char hex[2 * HASH_BYTES + 1], text[MONEY_TEXT_MAX];
    split_commitment(args->seed, commitment);
    (void)printf("commitment %s\n", sodium_bin2hex(hex, sizeof hex, commitment, sizeof commitment));
    for (uint32_t i = 0; i < args->count; i++) {
        (void)money_format(shares_fen[i], text);
        (void)puts(text);
    }
}

int verify_command(int argc, char **argv)
{
    struct verify_args args = { .returned = returned_take(&argc, argv) };
    if (!args_read(argc, argv, &args)) {
        (void)fputs(VERIFY_USAGE, stderr);
        return 2;
    }
    int64_t *shares_fen = calloc(room_for(&args), sizeof *shares_fen);
    if (shares_fen == NULL) {
        (void)fputs("hongbao verify: out of memory\n", stderr);
        return 1;
    }
    int code = 0;
    if (split_shares(args.method, args.total_fen, args.count, args.share_fen_min, args.share_fen_max, args.seed,
                     shares_fen) == ST_OK) {
        if (returned_add(args.returned, shares_fen, &args.count)) {
            shares_print(&args, shares_fen);
            code = fflush(stdout) == 0 ? 0 : 1;
        } else {
            (void)fputs("hongbao verify: a number of a share that was given back is not one of the shares\n", stderr);
            code = 2;
        }
    } else {
        (void)fputs("hongbao verify: there is no such split: every share is at least SHARE_MIN, 0.01 yuan "
                    "or more, and at most SHARE_MAX\n",
                    stderr);
        code = 2;
    }
    free(shares_fen);
    return code;
}
