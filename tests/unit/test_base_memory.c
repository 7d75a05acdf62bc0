/* Arena and buffer: limits, growth, and every allocation failing once (the linker wraps malloc and realloc). */
#include <errno.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/buf.h"
#include "support/failing_malloc.h"
#include "support/test.h"

/* Of the running test. */
static struct arena *a;
static struct buf b;

static int begin(void **state)
{
    (void)state;
    allocation_fails_in = allocations = 0;
    a = NULL;
    b = BUF_EMPTY;
    return 0;
}

static int end(void **state)
{
    (void)state;
    arena_free(a);
    buf_free(&b);
    return 0;
}

TEST_WITH(memory_comes_zeroed_and_aligned_after_a_reset_too_and_rarely_from_malloc, begin, end)
{
    a = arena_new(256, 4096);
    for (int round = 0; round < 2; round++) {
        for (size_t size = 0; size < 40; size++) {
            unsigned char *p = arena_alloc(a, size);
            assert_non_null(p);
            assert_int_equal((uintptr_t)p % _Alignof(max_align_t), 0);
            for (size_t i = 0; i < size; i++) {
                assert_int_equal(p[i], 0);
                p[i] = 0xff;
            }
        }
        arena_reset(a);
    }
    arena_free(NULL);
    (void)end(NULL);
    a = arena_new(4096, 65536);
    allocations = 0;
    for (int request = 0; request < 10; request++) {
        for (int i = 0; i < 20; i++)
            assert_non_null(arena_alloc(a, 100));
        arena_reset(a);
    }
    assert_int_equal(allocations, 0);
}

TEST_WITH(the_limit_holds_over_all_chunks_and_a_large_object_leaves_the_current_one_in_use, begin, end)
{
    a = arena_new(128, 1024);
    size_t total = 0;
    assert_null(arena_alloc(a, 1025));
    while (arena_alloc(a, 50))
        total += 50;
    assert_in_range(total, 350, 1024); /* at most: the sanitizer build leaves gaps between objects */
    arena_reset(a);                    /* and the memory is given back */
    assert_non_null(arena_alloc(a, 800));
    assert_null(arena_alloc(a, 800));
    (void)end(NULL);
    a = arena_new(1024, 1 << 20);
    char *before = arena_alloc(a, 16);
    assert_non_null(arena_alloc(a, 100000));
    char *after = arena_alloc(a, 16);
    assert_in_range(after - before, 16, 64);
}

TEST_WITH(copies_end_with_nul_and_printf_text_may_be_longer_than_the_first_guess, begin, end)
{
    a = arena_new(128, 1024);
    struct str copy = arena_str(a, (struct str){ "hello world", 5 });
    assert_true(str_equal(copy, STR("hello")));
    assert_string_equal(copy.ptr, "hello");
    assert_string_equal(arena_cstr(a, STR_NONE), "");
    assert_non_null(arena_str(a, STR_NONE).ptr);
    (void)end(NULL);
    a = arena_new(128, 4096);
    for (int len = 250; len < 262; len++) {
        struct str s = arena_printf(a, "%0*d", len, 7);
        assert_ints({ s.len, len }, { s.ptr[len], '\0' }, { s.ptr[len - 1], '7' });
        arena_reset(a);
    }
    assert_null(arena_printf(a, "%05000d", 1).ptr);
}

TEST_WITH(a_refused_allocation_is_remembered_until_the_reset_and_sizes_do_not_overflow, begin, end)
{
    a = arena_new(64, 512);
    assert_false(arena_failed(a));
    assert_non_null(arena_alloc(a, 10));
    assert_false(arena_failed(a));
    assert_null(arena_alloc(a, 1000));
    assert_non_null(arena_alloc(a, 10)); /* a small allocation still finds room, but the failure is remembered */
    assert_true(arena_failed(a));
    arena_reset(a);
    assert_false(arena_failed(a));
    assert_null(arena_array(a, SIZE_MAX / 2, 3));
    assert_true(arena_failed(a));
    arena_reset(a);
    assert_null(arena_printf(a, "%01000d", 1).ptr);
    assert_true(arena_failed(a));
    (void)end(NULL);
    a = arena_new(128, SIZE_MAX);
    assert_null(arena_alloc(a, SIZE_MAX));
    assert_null(arena_alloc(a, SIZE_MAX - 20));
    assert_null(arena_array(a, SIZE_MAX / 2, 3));
    assert_null(arena_cstr(a, (struct str){ "x", SIZE_MAX }));
    assert_non_null(arena_array(a, 0, 8));
}

TEST_WITH(arena_without_memory_says_so_and_leaks_nothing, begin, end)
{
    for (unsigned n = 1; n <= 2; n++) {
        allocation_fails_in = n;
        assert_null(arena_new(64, 64));
    }
    allocation_fails_in = 0;
    a = arena_new(64, 1024);
    allocation_fails_in = 1;
    assert_null(arena_alloc(a, 100));
    assert_non_null(arena_alloc(a, 100)); /* the next try finds memory again */
}

TEST_WITH(a_buffer_takes_what_it_is_given_and_numbers_in_decimal, begin, end)
{
    buf_cstr(&b, "a");
    buf_char(&b, '\0');
    buf_str(&b, STR("bc"));
    buf_str(&b, STR_NONE);
    buf_bytes(&b, NULL, 0);
    buf_printf(&b, "%s-%d", "x", -5);
    assert_true(str_equal(buf_view(&b), STR("a\0bcx--5")));
    buf_reset(&b);
    assert_int_equal(b.len, 0);
    assert_non_null(b.ptr);
    buf_free(&b);
    assert_null(b.ptr);
    assert_int_equal(b.cap, 0);
    buf_u64(&b, 0);
    buf_char(&b, ' ');
    buf_u64(&b, UINT64_MAX);
    buf_char(&b, ' ');
    buf_i64(&b, INT64_MIN);
    buf_char(&b, ' ');
    buf_i64(&b, INT64_MAX);
    buf_char(&b, ' ');
    buf_i64(&b, -1);
    assert_true(str_equal(buf_view(&b), STR("0 18446744073709551615 -9223372036854775808 9223372036854775807 -1")));
}

TEST_WITH(growth_keeps_the_content_and_printf_fits_exactly_or_grows, begin, end)
{
    for (int i = 0; i < 100000; i++)
        buf_char(&b, (char)('a' + i % 26));
    assert_int_equal(b.len, 100000);
    for (size_t i = 0; i < b.len; i++)
        assert_int_equal(b.ptr[i], 'a' + (int)(i % 26));
    assert_in_range(allocations, 1, 16); /* doubling */
    buf_free(&b);
    for (int len = 250; len < 262; len++) {
        assert_true(buf_reserve(&b, 1));
        buf_printf(&b, "%0*d", len, 7);
        assert_ints({ b.failed, false }, { b.len, len }, { b.ptr[len - 1], '7' });
        buf_free(&b);
    }
}

TEST_WITH(beyond_its_limit_or_without_memory_a_buffer_fails_and_stays_failed, begin, end)
{
    b.limit = 10;
    buf_cstr(&b, "0123456789");
    assert_false(b.failed);
    buf_char(&b, 'x');
    assert_true(b.failed);
    assert_int_equal(b.len, 10);
    buf_reset(&b);
    buf_cstr(&b, "01234567890"); /* eleven bytes: none of them is appended */
    assert_true(b.failed);
    assert_int_equal(b.len, 0);
    buf_char(&b, 'x'); /* one byte would fit, but a part is missing already */
    buf_u64(&b, 1);
    buf_printf(&b, "%d", 1);
    assert_int_equal(b.len, 0);
    assert_false(buf_reserve(&b, 0));
    buf_free(&b);
    assert_int_equal(b.limit, 10);
    assert_false(b.failed);
    assert_false(buf_reserve(&b, SIZE_MAX));
    b = BUF_EMPTY;
    buf_cstr(&b, "kept");
    allocation_fails_in = 1;
    assert_false(buf_reserve(&b, 10000));
    assert_true(b.failed);
    assert_true(str_equal(buf_view(&b), STR("kept")));
    buf_free(&b);
    allocation_fails_in = 1;
    buf_printf(&b, "%d", 1);
    assert_true(b.failed);
}

TEST_WITH(a_file_is_appended_whole_or_the_reason_is_told, begin, end)
{
    char path[] = "/tmp/hb-buf-XXXXXX", text[10000];
    struct buf small = { .limit = sizeof text - 1 };
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    memset(text, 'x', sizeof text);
    assert_int_equal(write(fd, text, sizeof text), sizeof text);
    close(fd);
    buf_cstr(&b, "before ");
    assert_int_equal(buf_file(&b, path), ST_OK);
    assert_int_equal(b.len, sizeof text + 7);
    assert_memory_equal(b.ptr + 7, text, sizeof text);
    assert_int_equal(buf_file(&small, path), ST_NO_MEMORY);
    assert_true(small.failed);
    unlink(path);
    assert_int_equal(buf_file(&b, path), ST_UNAVAILABLE);
    assert_int_equal(errno, ENOENT);
    assert_int_equal(buf_file(&b, "/tmp"), ST_UNAVAILABLE);
    assert_int_equal(errno, EISDIR);
    assert_false(b.failed);
    buf_free(&small);
}

TEST(thousands_are_separated)
{
    static const struct {
        const char *number, *separator, *grouped;
    } numbers[] = { { "", ",", "" },
                    { "0.05", ",", "0.05" },
                    { "999.99", ",", "999.99" },
                    { "1000", ",", "1,000" },
                    { "1105.74", ",", "1,105.74" },
                    { "-123456.00", ",", "\u2212123,456.00" },
                    { "+1234567.89", ",", "+1,234,567.89" },
                    { "-92233720368547758.08", ",", "\u221292,233,720,368,547,758.08" },
                    { "10000.00", "\u202f", "10\u202f000.00" },
                    { "1105.74", "", "1105.74" },
                    { "-0.05", "", "\u22120.05" } };
    EACH (row, numbers) {
        struct buf out = BUF_EMPTY;
        buf_number(&out, str_from(row->number), str_from(row->separator));
        assert_true(str_equal(buf_view(&out), str_from(row->grouped)));
        buf_free(&out);
    }
}

TESTS(NULL, NULL)
