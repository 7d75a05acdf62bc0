/* Arena and buffer: limits, growth, and every allocation failing once (the linker wraps malloc and realloc). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka needs the four above. */
#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/array.h"
#include "base/buf.h"

static int calls_until_failure = -1; /* -1: never */
static int calls;

void *__real_malloc(size_t size);
void *__wrap_malloc(size_t size);
void *__real_realloc(void *old, size_t size);
void *__wrap_realloc(void *old, size_t size);

static bool must_fail(void)
{
    calls++;
    if (calls_until_failure < 0)
        return false;
    return calls_until_failure-- == 0;
}

void *__wrap_malloc(size_t size)
{
    return must_fail() ? NULL : __real_malloc(size);
}

void *__wrap_realloc(void *old, size_t size)
{
    return must_fail() ? NULL : __real_realloc(old, size);
}

static int reset_wraps(void **state)
{
    (void)state;
    calls_until_failure = -1;
    calls = 0;
    return 0;
}

static void memory_comes_zeroed_and_aligned_even_after_a_reset(void **state)
{
    (void)state;
    struct arena *a = arena_new(256, 4096);

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
    arena_free(a);
    arena_free(NULL);
}

static void a_typical_request_never_calls_malloc(void **state)
{
    (void)state;
    struct arena *a = arena_new(4096, 65536);

    calls = 0;
    for (int request = 0; request < 10; request++) {
        for (int i = 0; i < 20; i++)
            assert_non_null(arena_alloc(a, 100));
        arena_reset(a);
    }
    assert_int_equal(calls, 0);
    arena_free(a);
}

static void the_limit_holds_over_all_chunks(void **state)
{
    (void)state;
    struct arena *a = arena_new(128, 1024);
    size_t total = 0;

    assert_null(arena_alloc(a, 1025));
    while (arena_alloc(a, 50))
        total += 50;
    assert_in_range(total, 350, 1024); /* the sanitizer build leaves gaps between objects */
    arena_reset(a);                    /* and is given back */
    assert_non_null(arena_alloc(a, 800));
    assert_null(arena_alloc(a, 800));
    arena_free(a);
}

static void one_large_object_leaves_the_current_chunk_in_use(void **state)
{
    (void)state;
    struct arena *a = arena_new(1024, 1 << 20);

    char *before = arena_alloc(a, 16);
    assert_non_null(arena_alloc(a, 100000));
    char *after = arena_alloc(a, 16);
    assert_in_range(after - before, 16, 64);
    arena_free(a);
}

static void overflowing_sizes_are_refused(void **state)
{
    (void)state;
    struct arena *a = arena_new(128, SIZE_MAX);

    assert_null(arena_alloc(a, SIZE_MAX));
    assert_null(arena_alloc(a, SIZE_MAX - 20));
    assert_null(arena_array(a, SIZE_MAX / 2, 3));
    assert_null(arena_cstr(a, (struct str){ "x", SIZE_MAX }));
    assert_non_null(arena_array(a, 0, 8));
    arena_free(a);
}

static void copies_end_with_nul(void **state)
{
    (void)state;
    struct arena *a = arena_new(128, 1024);
    struct str copy = arena_str(a, (struct str){ "hello world", 5 });

    assert_true(str_equal(copy, STR("hello")));
    assert_string_equal(copy.ptr, "hello");
    assert_string_equal(arena_cstr(a, STR_NONE), "");
    assert_non_null(arena_str(a, STR_NONE).ptr);
    arena_free(a);
}

static void printf_text_may_be_longer_than_the_first_guess(void **state)
{
    (void)state;
    struct arena *a = arena_new(128, 4096);

    for (int len = 250; len < 262; len++) {
        struct str s = arena_printf(a, "%0*d", len, 7);
        assert_int_equal(s.len, len);
        assert_int_equal(s.ptr[len], '\0');
        assert_int_equal(s.ptr[len - 1], '7');
        arena_reset(a);
    }
    assert_null(arena_printf(a, "%05000d", 1).ptr);
    arena_free(a);
}

static void a_refused_allocation_is_remembered_until_the_reset(void **state)
{
    (void)state;
    struct arena *a = arena_new(64, 512);
    assert_false(arena_failed(a));
    assert_non_null(arena_alloc(a, 10));
    assert_false(arena_failed(a));
    assert_null(arena_alloc(a, 1000));
    assert_non_null(arena_alloc(a, 10)); /* a small one still finds room: what was lost stays lost */
    assert_true(arena_failed(a));
    arena_reset(a);
    assert_false(arena_failed(a));
    assert_null(arena_array(a, SIZE_MAX / 2, 3));
    assert_true(arena_failed(a));
    arena_reset(a);
    assert_null(arena_printf(a, "%01000d", 1).ptr);
    assert_true(arena_failed(a));
    arena_free(a);
}

static void arena_without_memory_says_so_and_leaks_nothing(void **state)
{
    (void)state;
    for (int n = 0; n < 2; n++) {
        calls_until_failure = n;
        assert_null(arena_new(64, 64));
    }
    calls_until_failure = -1;
    struct arena *a = arena_new(64, 1024);
    calls_until_failure = 0;
    assert_null(arena_alloc(a, 100));
    assert_non_null(arena_alloc(a, 100)); /* the next try finds memory again */
    arena_free(a);
}

static void buffer_takes_what_it_is_given(void **state)
{
    (void)state;
    struct buf b = BUF_EMPTY;

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
}

static void numbers_are_written_in_decimal(void **state)
{
    (void)state;
    struct buf b = BUF_EMPTY;

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
    buf_free(&b);
}

static void growth_keeps_the_content(void **state)
{
    (void)state;
    struct buf b = BUF_EMPTY;

    for (int i = 0; i < 100000; i++)
        buf_char(&b, (char)('a' + i % 26));
    assert_int_equal(b.len, 100000);
    for (size_t i = 0; i < b.len; i++)
        assert_int_equal(b.ptr[i], 'a' + (int)(i % 26));
    assert_in_range(calls, 1, 16); /* doubling */
    buf_free(&b);
}

static void printf_fits_exactly_or_grows(void **state)
{
    (void)state;
    for (int len = 250; len < 262; len++) {
        struct buf b = BUF_EMPTY;
        assert_true(buf_reserve(&b, 1));
        buf_printf(&b, "%0*d", len, 7);
        assert_false(b.failed);
        assert_int_equal(b.len, len);
        assert_int_equal(b.ptr[len - 1], '7');
        buf_free(&b);
    }
}

static void beyond_its_limit_the_buffer_fails_and_stays_failed(void **state)
{
    (void)state;
    struct buf b = { .limit = 10 };

    buf_cstr(&b, "0123456789");
    assert_false(b.failed);
    buf_char(&b, 'x');
    assert_true(b.failed);
    assert_int_equal(b.len, 10);
    buf_reset(&b);
    buf_cstr(&b, "01234567890"); /* eleven: nothing of it is taken */
    assert_true(b.failed);
    assert_int_equal(b.len, 0);
    buf_char(&b, 'x'); /* would fit, but the page has a hole already */
    buf_u64(&b, 1);
    buf_printf(&b, "%d", 1);
    assert_int_equal(b.len, 0);
    assert_false(buf_reserve(&b, 0));
    buf_free(&b);
    assert_int_equal(b.limit, 10);
    assert_false(b.failed);
    assert_false(buf_reserve(&b, SIZE_MAX));
    buf_free(&b);
}

static void buffer_without_memory_fails_and_keeps_what_it_has(void **state)
{
    (void)state;
    struct buf b = BUF_EMPTY;

    buf_cstr(&b, "kept");
    calls_until_failure = 0;
    assert_false(buf_reserve(&b, 10000));
    assert_true(b.failed);
    assert_true(str_equal(buf_view(&b), STR("kept")));
    buf_free(&b);
    calls_until_failure = 0;
    buf_printf(&b, "%d", 1);
    assert_true(b.failed);
    buf_free(&b);
}

static void a_file_is_appended_whole_or_the_reason_is_told(void **state)
{
    (void)state;
    char path[] = "/tmp/hb-buf-XXXXXX", text[10000];
    struct buf b = BUF_EMPTY, small = { .limit = sizeof text - 1 };
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
    buf_free(&b);
    buf_free(&small);
}

static void thousands_are_separated(void **state)
{
    (void)state;
    static const struct {
        const char *number, *separator, *grouped;
    } numbers[] = {
        { "", ",", "" },
        { "0.05", ",", "0.05" },
        { "999.99", ",", "999.99" },
        { "1000", ",", "1,000" },
        { "1105.74", ",", "1,105.74" },
        { "-123456.00", ",", "\u2212123,456.00" },
        { "+1234567.89", ",", "+1,234,567.89" },
        { "-92233720368547758.08", ",", "\u221292,233,720,368,547,758.08" },
        { "10000.00", "\u202f", "10\u202f000.00" },
        { "1105.74", "", "1105.74" },
        { "-0.05", "", "\u22120.05" },
    };

    for (size_t i = 0; i < ARRAY_LEN(numbers); i++) {
        struct buf out = BUF_EMPTY;
        buf_number(&out, str_from(numbers[i].number), str_from(numbers[i].separator));
        assert_true(str_equal(buf_view(&out), str_from(numbers[i].grouped)));
        buf_free(&out);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(thousands_are_separated),
        cmocka_unit_test_setup(memory_comes_zeroed_and_aligned_even_after_a_reset, reset_wraps),
        cmocka_unit_test_setup(a_typical_request_never_calls_malloc, reset_wraps),
        cmocka_unit_test_setup(the_limit_holds_over_all_chunks, reset_wraps),
        cmocka_unit_test_setup(one_large_object_leaves_the_current_chunk_in_use, reset_wraps),
        cmocka_unit_test_setup(overflowing_sizes_are_refused, reset_wraps),
        cmocka_unit_test_setup(copies_end_with_nul, reset_wraps),
        cmocka_unit_test_setup(printf_text_may_be_longer_than_the_first_guess, reset_wraps),
        cmocka_unit_test_setup(a_refused_allocation_is_remembered_until_the_reset, reset_wraps),
        cmocka_unit_test_setup(arena_without_memory_says_so_and_leaks_nothing, reset_wraps),
        cmocka_unit_test_setup(buffer_takes_what_it_is_given, reset_wraps),
        cmocka_unit_test_setup(numbers_are_written_in_decimal, reset_wraps),
        cmocka_unit_test_setup(growth_keeps_the_content, reset_wraps),
        cmocka_unit_test_setup(printf_fits_exactly_or_grows, reset_wraps),
        cmocka_unit_test_setup(beyond_its_limit_the_buffer_fails_and_stays_failed, reset_wraps),
        cmocka_unit_test_setup(buffer_without_memory_fails_and_keeps_what_it_has, reset_wraps),
        cmocka_unit_test_setup(a_file_is_appended_whole_or_the_reason_is_told, reset_wraps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
