#include "commands/verify_receipt.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/money.h"
#include "packet/receipt_keys.h"

enum { RECEIPT_FILE_BYTES_MAX = 16 << 10, RECEIPT_ARENA_BYTES = 32 << 10 };
enum { EXIT_GOOD = 0, EXIT_FORGED = 1, EXIT_UNREADABLE = 2 };

static const char USAGE[] = "usage: hongbao verify-receipt FILE [--keys FILE]\n"
                            "hongbao verify-receipt --help explains them\n";

static bool args_read(int argc, char **argv, const char **receipt_path, const char **keys_path)
{
    *receipt_path = *keys_path = NULL;
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "--keys") == 0 && *keys_path == NULL && i + 1 < argc)
            *keys_path = argv[++i];
        else if (argv[i][0] != '-' && *receipt_path == NULL)
            *receipt_path = argv[i];
        else
            return false;
    return *receipt_path != NULL;
}

static bool receipt_load(struct arena *a, const char *path, struct receipt_signed_file *out)
{
    struct buf json = { .limit = RECEIPT_FILE_BYTES_MAX };
    enum status st = buf_file(&json, path);
    const char *why = st == ST_UNAVAILABLE ? strerror(errno) : "not a receipt";
    if (st == ST_OK)
        st = receipt_file_read(a, buf_view(&json), out);
    if (st != ST_OK)
        (void)fprintf(stderr, "hongbao verify-receipt: %s: %s\n", path, why);
    buf_free(&json);
    return st == ST_OK;
}

static bool keys_load(const struct config *config, const char *path, struct receipt_keys *keys)
{
    char error[2 * CONFIG_TEXT_MAX];
    enum status st = path != NULL ? receipt_keys_open_file(keys, path, error, sizeof error)
                                  : receipt_keys_open(keys, config, error, sizeof error);
    if (st != ST_OK)
        (void)fprintf(stderr, "hongbao verify-receipt: %s\n", error);
    return st == ST_OK;
}

/* The texts are signed by then, and have no control characters. */
static void receipt_print(const struct receipt *r, struct str key_id)
{
    char amount[MONEY_TEXT_MAX];
    const struct str unit = receipt_version(r) == 1 ? STR("yuan") : r->unit;
    (void)money_format_as(r->amount_fen, r->unit_decimals, amount);
    (void)printf("good: %s %.*s for %.*s (%.*s, user %" PRIu64 ")\n", amount, STR_ARG(unit), STR_ARG(r->nickname),
                 STR_ARG(r->username), r->user_id);
    (void)printf("packet %.*s, share_no %" PRIu64 ", at %.*s, from %.*s (user %" PRIu64 ")\n", STR_ARG(r->packet),
                 r->share_no, STR_ARG(r->grabbed_at), STR_ARG(r->sender), r->sender_id);
    (void)printf("commitment %.*s\nissued by %.*s, key %.*s\n", STR_ARG(r->commitment), STR_ARG(r->issued_by),
                 STR_ARG(key_id));
}

static int receipt_check(const struct receipt_signed_file *file, const struct receipt_keys *keys)
{
    struct buf bytes = BUF_EMPTY;
    const struct receipt_key *key = receipt_keys_find(keys, file->key_id);
    bool good = key != NULL && receipt_bytes(&file->receipt, &bytes) && !bytes.failed &&
                receipt_signed(key->bytes, buf_view(&bytes), file->signature);
    buf_free(&bytes);
    if (good)
        receipt_print(&file->receipt, file->key_id);
    else
        (void)puts(key == NULL ? "forged: none of the keys has this key_id" : "forged: the signature is wrong");
    if (fflush(stdout) != 0)
        return EXIT_UNREADABLE;
    return good ? EXIT_GOOD : EXIT_FORGED;
}

int verify_receipt_command(const struct config *config, int argc, char **argv)
{
    const char *receipt_path, *keys_path;
    struct receipt_signed_file file = { 0 };
    struct receipt_keys keys = { 0 };
    if (!args_read(argc, argv, &receipt_path, &keys_path)) {
        (void)fputs(USAGE, stderr);
        return EXIT_UNREADABLE;
    }
    struct arena *a = arena_new(RECEIPT_ARENA_BYTES, RECEIPT_ARENA_BYTES);
    if (a == NULL) {
        (void)fputs("hongbao verify-receipt: out of memory\n", stderr);
        return EXIT_UNREADABLE;
    }
    int code = EXIT_UNREADABLE;
    if (receipt_load(a, receipt_path, &file) && keys_load(config, keys_path, &keys))
        code = receipt_check(&file, &keys);
    receipt_keys_close(&keys);
    arena_free(a);
    return code;
}
