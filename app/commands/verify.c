#include "commands/verify.h"

#include <sodium.h>
#include <stdio.h>

#include "base/arena.h"
#include "base/money.h"
#include "base/random.h"
#include "base/typed.h"
#include "base/utf8.h"
#include "config/config.h"
#include "packet/packet.h"
#include "packet/split.h"

enum { ARENA_BYTES = 4 << 10, ARENA_BYTES_MAX = 16 << 20 };

static const char VERIFY_USAGE[] =
    "usage: hongbao verify SEED KIND TOTAL COUNT [SPLIT [SHARE_MAX [SHARE_MIN]]] [--decimals N] "
    "[--returned NUMBERS]\n"
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

/* Makes the arguments what the page shows, whatever copying has added to them. Text that is no UTF-8 stays as it is:
 * its reader refuses it. False without memory. */
static bool args_fold(struct arena *a, int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        struct str text = str_from(argv[i]);
        if (utf8_fold_pasted(a, text, &text) == ST_NO_MEMORY || (argv[i] = arena_cstr(a, text)) == NULL)
            return false;
    }
    return true;
}

static bool amount_read(const char *arg, int64_t *out_fen)
{
    return typed_amount(str_from(arg), out_fen) && *out_fen < INT64_MAX;
}

static bool args_read(int argc, char **argv, struct verify_args *out)
{
    uint64_t count;
    struct config config;
    config_defaults(&config);
    out->share_fen_min = 1;
    out->share_fen_max = config.share_fen_max;
    if (argc < 5 || argc > 8 || !seed_read(str_from(argv[1]), out->seed) ||
        !method_read(str_from(argv[2]), argc > 5 ? str_from(argv[5]) : STR_NONE, &out->method) ||
        !amount_read(argv[3], &out->total_fen) || !typed_count(str_from(argv[4]), &count) || count < 1 ||
        count > SPLIT_COUNT_MAX || (argc > 6 && !amount_read(argv[6], &out->share_fen_max)) ||
        (argc > 7 && !amount_read(argv[7], &out->share_fen_min)))
        return false;
    out->count = (uint32_t)count;
    return true;
}

/* Takes an option with its value out of the arguments, if it comes last. Returns the value; STR_NONE: it does not. */
static struct str option_take(int *argc, char **argv, struct str option)
{
    if (*argc < 3 || !str_equal(str_from(argv[*argc - 2]), option))
        return STR_NONE;
    *argc -= 2;
    return str_from(argv[*argc + 1]);
}

/* Takes the options, which come last in any order, out of the arguments, and sets the decimals of all amounts. The
 * command needs no configuration, so it does not know the site's. False: the decimals are not 0, 1 or 2. */
static bool options_take(int *argc, char **argv, struct str *returned)
{
    struct money_unit unit = *money_unit();
    uint64_t decimals = 2;
    struct str typed = STR_NONE;
    *returned = STR_NONE;
    for (int before = 0; before != *argc;) {
        before = *argc;
        if (typed.ptr == NULL)
            typed = option_take(argc, argv, STR("--decimals"));
        if (returned->ptr == NULL)
            *returned = option_take(argc, argv, STR("--returned"));
    }
    if (typed.ptr != NULL && (!typed_count(typed, &decimals) || decimals > MONEY_DECIMALS_MAX))
        return false;
    unit.decimals = (int)decimals;
    money_unit_set(&unit);
    return true;
}

/* Adds the shares that were given back behind the others. shares_fen has room for one per comma, and one more. False: a
 * number is malformed, or no share yet. */
static bool returned_add(struct str numbers, int64_t *shares_fen, uint32_t *count)
{
    while (numbers.len > 0) {
        uint64_t number;
        if (!typed_count(str_trim(str_cut(numbers, ',', &numbers)), &number) || number >= *count)
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

static int out_of_memory(void)
{
    (void)fputs("hongbao verify: out of memory\n", stderr);
    return 1;
}

static int verify(struct arena *a, int argc, char **argv)
{
    if (!args_fold(a, argc, argv))
        return out_of_memory();
    struct verify_args args = { 0 };
    if (!options_take(&argc, argv, &args.returned) || !args_read(argc, argv, &args)) {
        (void)fputs(VERIFY_USAGE, stderr);
        return 2;
    }
    int64_t *shares_fen = arena_array(a, room_for(&args), sizeof *shares_fen);
    if (shares_fen == NULL)
        return out_of_memory();
    if (split_shares(args.method, args.total_fen, args.count, args.share_fen_min, args.share_fen_max, args.seed,
                     shares_fen) != ST_OK) {
        (void)fputs("hongbao verify: there is no such split: every share is at least SHARE_MIN, more "
                    "than 0, and at most SHARE_MAX\n",
                    stderr);
        return 2;
    }
    if (!returned_add(args.returned, shares_fen, &args.count)) {
        (void)fputs("hongbao verify: a number of a share that was given back is not one of the shares\n", stderr);
        return 2;
    }
    shares_print(&args, shares_fen);
    return fflush(stdout) == 0 ? 0 : 1;
}

int verify_command(int argc, char **argv)
{
    struct arena *a = arena_new(ARENA_BYTES, ARENA_BYTES_MAX);
    if (a == NULL)
        return out_of_memory();
    int code = verify(a, argc, argv);
    arena_free(a);
    return code;
}
