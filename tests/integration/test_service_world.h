/* Services in worlds with channels. */
#ifndef HB_TEST_SERVICE_WORLD_H
#define HB_TEST_SERVICE_WORLD_H

#include "ledger/service.h"
#include "test_money_world.h"

enum { ALL_SCOPES = SERVICE_CREDIT | SERVICE_DEBIT | SERVICE_READ | SERVICE_WITHDRAW | SERVICE_TOPUP };

/* What the routines for services signal (sql/migrations). */
enum { SERVICE_UNKNOWN = 31011, SERVICE_DENIED = 31012, SERVICE_OVER_LIMIT = 31013 };

/* A service and the hash of its token. */
struct caller {
    struct service service;
    uint8_t hash[HASH_BYTES];
    char token[SERVICE_TOKEN_MAX];
    struct external_author author;
};

static inline enum status caller_add(struct caller *c, struct str name, unsigned scopes, uint64_t channel_id,
                                     int64_t day_max_fen)
{
    c->service = (struct service){ .name = name,
                                   .scopes = scopes,
                                   .channel_id = channel_id,
                                   .day_max_fen = day_max_fen,
                                   .addresses = STR(""),
                                   .author = STR("anna") };
    service_token_new(c->token, c->hash);
    c->author = service_author(w->arena, &c->service, c->hash);
    return service_add(money_db(), &c->service, c->hash);
}

/* A new service, which must be added. The caller lives as long as the test. */
static inline struct caller *caller_new(struct str name, unsigned scopes, uint64_t channel_id, int64_t day_max_fen)
{
    struct caller *c = arena_alloc(w->arena, sizeof *c);
    assert_non_null(c);
    assert_int_equal(caller_add(c, name, scopes, channel_id, day_max_fen), ST_OK);
    return c;
}

static inline enum status called(const struct caller *c, enum transfer_kind kind, uint64_t channel_id,
                                 struct external_row *row)
{
    return external_move(money_db(), w->arena, kind, channel_id, row, 1, &c->author, clock_now_ms());
}

/* One call; its status. */
static inline enum status call_made(const struct caller *c, enum transfer_kind kind, uint64_t channel_id, int64_t fen,
                                    const char *reference)
{
    struct external_row row = row_of(0, fen, reference);
    return called(c, kind, channel_id, &row);
}

static inline int64_t moved_fen(struct str name)
{
    return world_number(w,
                        arena_printf(w->arena,
                                     "SELECT COALESCE(SUM(moved_fen), 0) FROM service_hour AS h JOIN service AS s"
                                     " ON s.id = h.service_id WHERE s.name = '%.*s'",
                                     STR_ARG(name))
                            .ptr,
                        0);
}

#endif
