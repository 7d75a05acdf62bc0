/* user/passkey_store on a real server: the owner of a passkey, the number of passkeys, and the counter. The ceremonies
 * need signatures; e2e.passkeys tests them. */
#include "base/random.h"
#include "test_user_app.h"
#include "user/passkey_store.h"

enum { ID_BYTES = 32, MAX = 3 };

static struct passkey passkey_of(uint64_t user_id, int64_t created_ms)
{
    char *id = arena_alloc(arena, ID_BYTES);
    assert_non_null(id);
    random_bytes(id, ID_BYTES);
    return (struct passkey){ .user_id = user_id,
                             .key = { -7, { id, ID_BYTES }, STR("a key\0of bytes"), 5 },
                             .user_handle = { id, ID_BYTES },
                             .name = STR("小明 'phone'"),
                             .created_ms = created_ms };
}

static enum status added(struct passkey *p, bool *full)
{
    return passkey_insert(app->stores.db, arena, p, MAX, full);
}

TEST(a_passkey_is_read_back_and_is_of_one_user)
{
    bool full;
    uint64_t owner = account_new(app).id, other = account_new(app).id;
    struct passkey p = passkey_of(owner, 1000), found, *list;
    size_t count;
    assert_int_equal(added(&p, &full), ST_OK);
    assert_int_equal(passkey_find(app->stores.db, arena, p.key.credential_id, &found), ST_OK);
    assert_ints({ found.id, p.id }, { found.user_id, owner }, { found.key.algorithm, -7 }, { found.key.sign_count, 5 });
    assert_true(str_equal(found.key.public_key, p.key.public_key));
    assert_true(str_equal(found.user_handle, p.user_handle));

    struct passkey stolen = p;
    stolen.user_id = other;
    assert_int_equal(added(&stolen, &full), ST_EXISTS);
    stolen = p;
    stolen.created_ms++;
    assert_int_equal(added(&stolen, &full), ST_EXISTS);
    p.id = 0;
    assert_int_equal(added(&p, &full), ST_OK); /* the same insert again, as after a lost COMMIT */
    assert_int_equal(p.id, found.id);

    assert_int_equal(passkey_delete(app->stores.db, other, p.id), ST_NOT_FOUND);
    assert_int_equal(passkey_list(app->stores.db, arena, owner, &list, &count), ST_OK);
    assert_int_equal(count, 1);
    assert_true(str_equal(list[0].name, p.name));
    assert_int_equal(list[0].used_ms, 0);
    assert_int_equal(passkey_delete(app->stores.db, owner, p.id), ST_OK);
    assert_int_equal(passkey_delete(app->stores.db, owner, p.id), ST_NOT_FOUND);
    assert_int_equal(passkey_find(app->stores.db, arena, p.key.credential_id, &found), ST_NOT_FOUND);
}

TEST(a_user_has_at_most_the_configured_number)
{
    bool full;
    uint64_t owner = account_new(app).id;
    for (int i = 0; i < MAX; i++) {
        struct passkey p = passkey_of(owner, 1000 + i);
        assert_int_equal(added(&p, &full), ST_OK);
        assert_false(full);
    }
    struct passkey more = passkey_of(owner, 2000);
    assert_int_equal(added(&more, &full), ST_INVALID);
    assert_true(full);
}

TEST(a_counter_is_raised_once)
{
    bool full;
    struct passkey p = passkey_of(account_new(app).id, 1000), found;
    assert_int_equal(added(&p, &full), ST_OK);
    assert_int_equal(passkey_used(app->stores.db, p.id, 6, 3000), ST_OK);
    assert_int_equal(passkey_used(app->stores.db, p.id, 6, 3000), ST_CONFLICT);
    assert_int_equal(passkey_used(app->stores.db, p.id, 5, 4000), ST_CONFLICT);
    assert_int_equal(passkey_find(app->stores.db, arena, p.key.credential_id, &found), ST_OK);
    assert_int_equal(found.key.sign_count, 6);

    p = passkey_of(p.user_id, 1000);
    p.key.sign_count = 0;
    assert_int_equal(added(&p, &full), ST_OK);
    assert_int_equal(passkey_used(app->stores.db, p.id, 0, 3000), ST_OK); /* an authenticator that counts nothing */
    assert_int_equal(passkey_used(app->stores.db, p.id, 0, 3000), ST_OK);
}

TESTS(app_setup, app_teardown)
