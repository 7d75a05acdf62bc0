/* A closed past for the audit to look at: `audit_data GRABS SHARES` fills the empty database that HB_CONFIG names with
 * lucky packets of SHARES shares until GRABS are grabbed, as the program would have left them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/clock.h"
#include "packet/packet.h"
#include "packet/split.h"
#include "support/test_services.h"

enum { USERS_MIN = 10000, USER_FIRST = 10001, ROWS_PER_COMMIT = 5000, SHARE_FEN = 100, YEAR_NAME = 2025 };
static const uint64_t PACKET_FIRST = UINT64_C(1) << 58;
static const int64_t PAST_MS = INT64_C(1750000000000); /* June 2025 */

struct person {
    int64_t sent_fen, received_fen;
    uint32_t sent, received, best;
};

struct past {
    struct db *db;
    struct person *people;
    uint32_t users, shares, packets, made;
    int64_t *fen;
    struct buf packet, account, transfer, grab;
    struct buf *all[4];
};

static void begin(struct past *p)
{
    for (size_t i = 0; i < 4; i++)
        buf_reset(p->all[i]);
    buf_cstr(&p->packet, "INSERT INTO packet (id, sender_id, sender_name, kind, split, amount, share_count, share_max,"
                         " best_share_no, greeting, seed, commitment, state, grabbed_count, grabbed_amount, created_at,"
                         " expires_at, finished_at, closed_at, request_key) VALUES ");
    buf_cstr(&p->account, "INSERT INTO account (id, kind, balance) VALUES ");
    buf_cstr(&p->transfer,
             "INSERT INTO transfer (kind, debit_id, credit_id, amount, packet_id, seq, created_at) VALUES ");
    buf_cstr(&p->grab, "INSERT INTO `grab` (packet_id, share_no, user_id, nickname, amount, grabbed_at) VALUES ");
}

static void hex(struct buf *b, const uint8_t *bytes)
{
    buf_cstr(b, "X'");
    for (size_t i = 0; i < HASH_BYTES; i++)
        buf_printf(b, "%02x", bytes[i]);
    buf_char(b, '\'');
}

/* One packet, sent and wholly grabbed. */
static bool packet_add(struct past *p, const char *comma)
{
    uint64_t id = PACKET_FIRST + p->made;
    uint32_t sender = p->made % p->users;
    uint8_t seed[SEED_BYTES] = { 0 }, commitment[HASH_BYTES];
    int64_t total_fen = (int64_t)p->shares * SHARE_FEN, at_ms = PAST_MS + p->made;
    memcpy(seed, &id, sizeof id);
    split_commitment(seed, commitment);
    if (split_shares(SPLIT_DOUBLE_AVERAGE, total_fen, p->shares, total_fen, seed, p->fen) != ST_OK)
        return false;
    uint32_t best = split_best_share_no(p->fen, p->shares);
    buf_printf(&p->packet, "%s(%llu,%u,'x','lucky','double-average',%lld,%u,%lld,%u,'', ", comma,
               (unsigned long long)id, USER_FIRST + sender, (long long)total_fen, p->shares, (long long)total_fen,
               best);
    hex(&p->packet, seed);
    buf_char(&p->packet, ',');
    hex(&p->packet, commitment);
    buf_printf(&p->packet, ",'closed',%u,%lld,%lld,%lld,%lld,%lld,'k%u')", p->shares, (long long)total_fen,
               (long long)at_ms, (long long)at_ms + 86400000, (long long)at_ms, (long long)at_ms, p->made);
    buf_printf(&p->account, "%s(%llu,'escrow',0)", comma, (unsigned long long)id);
    buf_printf(&p->transfer, "%s('send',%u,%llu,%lld,%llu,0,%lld)", comma, USER_FIRST + sender, (unsigned long long)id,
               (long long)total_fen, (unsigned long long)id, (long long)at_ms);
    for (uint32_t i = 0; i < p->shares; i++) {
        uint32_t user = (p->made * 7 + i) % p->users;
        buf_printf(&p->transfer, ",('grab',%llu,%u,%lld,%llu,%u,%lld)", (unsigned long long)id, USER_FIRST + user,
                   (long long)p->fen[i], (unsigned long long)id, i, (long long)at_ms);
        buf_printf(&p->grab, "%s(%llu,%u,%u,'x',%lld,%lld)", i == 0 ? comma : ",", (unsigned long long)id, i,
                   USER_FIRST + user, (long long)p->fen[i], (long long)at_ms);
        p->people[user].received_fen += p->fen[i];
        p->people[user].received++;
        p->people[user].best += i == best;
    }
    p->people[sender].sent_fen += total_fen;
    p->people[sender].sent++;
    p->made++;
    return true;
}

static enum status run(struct past *p, struct buf *sql)
{
    buf_char(sql, '\0');
    return sql->failed ? ST_NO_MEMORY : db_exec(p->db, NULL, sql->ptr, NULL, 0);
}

static enum status packets_body(struct db *db, void *ctx)
{
    struct past *p = ctx;
    (void)db;
    begin(p);
    for (uint32_t rows = 0; rows < ROWS_PER_COMMIT && p->made < p->packets; rows += p->shares)
        if (!packet_add(p, rows == 0 ? "" : ","))
            return ST_INVALID;
    enum status st = run(p, &p->account);
    if (st == ST_OK)
        st = run(p, &p->packet);
    if (st == ST_OK)
        st = run(p, &p->grab);
    return st == ST_OK ? run(p, &p->transfer) : st;
}

/* Everybody got from the bank what they sent. */
static enum status people_body(struct db *db, void *ctx)
{
    struct past *p = ctx;
    int64_t bank_fen = 0;
    enum status st = ST_OK;
    for (uint32_t i = 0; st == ST_OK && i < p->users; i++) {
        const struct person *one = &p->people[i];
        uint64_t id = USER_FIRST + i;
        bank_fen -= one->sent_fen;
        st = db_exec(db, NULL,
                     "INSERT INTO user (id, username, nickname, created_at) VALUES (?, CONCAT('u', ?), 'x', 1)",
                     DB_PARAMS(DB_U64(id), DB_U64(id)));
        if (st == ST_OK)
            st = db_exec(db, NULL, "INSERT INTO account (id, kind, balance) VALUES (?, 'wallet', ?)",
                         DB_PARAMS(DB_U64(id), DB_I64(one->received_fen)));
        if (st == ST_OK && one->sent_fen > 0)
            st = db_exec(db, NULL,
                         "INSERT INTO transfer (kind, debit_id, credit_id, amount, created_at)"
                         " VALUES ('deposit', 1, ?, ?, 1)",
                         DB_PARAMS(DB_U64(id), DB_I64(one->sent_fen)));
        if (st == ST_OK)
            st = db_exec(db, NULL, "INSERT INTO user_year VALUES (?, ?, ?, ?, ?, ?, ?)",
                         DB_PARAMS(DB_U64(id), DB_I64(YEAR_NAME), DB_U64(one->sent), DB_I64(one->sent_fen),
                                   DB_U64(one->received), DB_I64(one->received_fen), DB_U64(one->best)));
    }
    return st == ST_OK ? db_exec(db, NULL, "UPDATE account SET balance = ? WHERE id = 1", DB_PARAMS(DB_I64(bank_fen)))
                       : st;
}

static enum status past_make(struct past *p)
{
    enum status st = db_exec(p->db, NULL, "SET SESSION foreign_key_checks = 0", NULL, 0);
    while (st == ST_OK && p->made < p->packets)
        st = db_transaction(p->db, packets_body, p);
    return st == ST_OK ? db_transaction(p->db, people_body, p) : st;
}

int main(int argc, char **argv)
{
    uint64_t grabs, shares;
    if (argc != 3 || !str_to_u64(str_from(argv[1]), &grabs) || !str_to_u64(str_from(argv[2]), &shares) || shares == 0 ||
        shares > SPLIT_COUNT_MAX || grabs > UINT32_MAX) {
        (void)fputs("usage: audit_data GRABS SHARES\n", stderr);
        return 2;
    }
    struct services *app = test_services_open();
    if (app == NULL)
        return 1;
    struct past p = { .db = app->db, .shares = (uint32_t)shares, .packets = (uint32_t)((grabs + shares - 1) / shares) };
    p.users = shares > USERS_MIN ? (uint32_t)shares : USERS_MIN;
    p.all[0] = &p.packet, p.all[1] = &p.account, p.all[2] = &p.transfer, p.all[3] = &p.grab;
    p.people = calloc(p.users, sizeof *p.people);
    p.fen = calloc(shares, sizeof *p.fen);
    enum status st = p.people == NULL || p.fen == NULL ? ST_NO_MEMORY : past_make(&p);
    (void)printf("%u packets, %llu grabs: %s\n", p.made, (unsigned long long)p.made * shares, status_name(st));
    for (size_t i = 0; i < 4; i++)
        buf_free(p.all[i]);
    free(p.people);
    free(p.fen);
    test_services_close(app);
    return st == ST_OK ? 0 : 1;
}
