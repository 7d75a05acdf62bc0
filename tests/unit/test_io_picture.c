/* io/picture: each kind of file becomes the same small square; files that are no picture, cut off or too large are
 * refused. Also io/picture_child, which runs this test program as the decoding process. The files of
 * tests/support/pictures show four colours: yellow, green; red, black. */
#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include <webp/decode.h>
#include <webp/encode.h>

#include "base/buf.h"
#include "io/picture.h"
#include "io/picture_child.h"
#include "io/picture_inline.h"
#include "io/picture_internal.h"
#include "io/sandbox.h"
#include "support/test.h"

#define FOLDER HB_SOURCE_DIR "/tests/support/pictures/"

enum { SIDE = 32, NEAR = 40, SQUARE = 160, WIDTH = 720, HEIGHT = 432 };

static const struct picture_want AVATAR = { PICTURE_SQUARE, PICTURE_AUTO }, COVER = { PICTURE_COVER, PICTURE_AUTO };

static struct buf file, out;

static void file_read(const char *name)
{
    char path[512];
    buf_reset(&file);
    (void)snprintf(path, sizeof path, FOLDER "%s", name);
    assert_int_equal(buf_file(&file, path), ST_OK);
}

static enum status square_of(struct str bytes, uint64_t pixels_max)
{
    buf_reset(&out);
    return picture_make(bytes, AVATAR, pixels_max, &out);
}

/* Makes a cover of the part of the file. */
static void cover_make(enum picture_part part)
{
    const struct picture_want want = { PICTURE_COVER, part };
    buf_reset(&out);
    assert_int_equal(picture_make(buf_view(&file), want, PICTURE_PIXELS_MAX, &out), ST_OK);
}

static void assert_result(const char *name, int width_wanted, int height_wanted)
{
    int width, height;
    assert_true(picture_is_result(buf_view(&out)));
    assert_true(WebPGetInfo((const uint8_t *)out.ptr, out.len, &width, &height));
    if (width != width_wanted || height != height_wanted)
        fail_msg("%s: %d x %d", name, width, height);
}

/* ---- what it looks like ---- */

/* The colours in the middle of the four quarters: a letter for each. */
static void colours_read(char colours[5])
{
    static const struct {
        char letter;
        int red, green, blue;
    } NAMES[] = {
        { 'y', 255, 255, 0 }, { 'g', 0, 255, 0 }, { 'r', 255, 0, 0 }, { 'k', 0, 0, 0 }, { 'w', 255, 255, 255 }
    };
    int width, height;
    uint8_t *rgb = WebPDecodeRGB((const uint8_t *)out.ptr, out.len, &width, &height);
    assert_non_null(rgb);
    assert_int_equal(width, height);
    for (int i = 0; i < 4; i++) {
        const uint8_t *p =
            rgb + 3 * ((ptrdiff_t)(height * (1 + 2 * (i / 2)) / 4) * width + width * (1 + 2 * (i % 2)) / 4);
        colours[i] = '?';
        EACH (row, NAMES)
            if (abs(p[0] - row->red) < NEAR && abs(p[1] - row->green) < NEAR && abs(p[2] - row->blue) < NEAR)
                colours[i] = row->letter;
    }
    colours[4] = '\0';
    WebPFree(rgb);
}

TEST(every_kind_of_file_becomes_the_square_of_its_middle_and_a_cover)
{
    static const struct {
        const char *name, *colours;
    } FILES[] = {
        { "turned.jpg", "rykg" }, /* EXIF: to be turned clockwise */
        { "cmyk.jpg", "ygrk" },        { "grey.jpg", "wkwk" },
        { "progressive.jpg", "ygrk" }, { "palette.png", "ygrk" },
        { "sixteen.png", "ygrk" },     { "interlaced.png", "ygrw" }, /* black is transparent there */
        { "lossy.webp", "ygrk" },      { "lossless.webp", "ygrk" },
        { "animated.webp", "ygrk" }, /* its first picture */
    };
    char colours[5];
    EACH (row, FILES) {
        file_read(row->name);
        assert_int_equal(square_of(buf_view(&file), PICTURE_PIXELS_MAX), ST_OK);
        assert_result(row->name, SIDE, SIDE);
        colours_read(colours);
        if (strcmp(colours, row->colours) != 0)
            fail_msg("%s: %s", row->name, colours);
        /* 32 wide and 48 high in the orientation that people see */
        const bool turned = strcmp(row->name, "turned.jpg") == 0;
        cover_make(PICTURE_AUTO);
        assert_result(row->name, turned ? 32 : 48, turned ? 19 : 28);
    }
}

TEST(nothing_of_the_file_but_its_pixels_is_kept)
{
    EACH_TEXT (name, "turned.jpg", "palette.png") {
        file_read(name);
        assert_true(str_find(buf_view(&file), STR("secret")) < file.len);
        assert_int_equal(square_of(buf_view(&file), PICTURE_PIXELS_MAX), ST_OK);
        EACH_TEXT (mark, "secret", "GPS", "Exif", "EXIF", "XMP", "ICCP")
            assert_int_equal(str_find(buf_view(&out), str_from(mark)), out.len);
    }
}

TEST(each_orientation_turns_as_its_name_says_and_broken_exif_turns_nothing)
{
    static const char *const turned[] = {
        "abcd", "abcd", "badc", "dcba", "cdab", "acbd", "cadb", "dbca", "bdac", "abcd"
    };
    static struct cut s;
    for (unsigned orientation = 0; orientation < ARRAY_LEN(turned); orientation++) {
        for (size_t i = 0; i < 4; i++)
            s.pixels[i * PICTURE_CHANNELS] = (uint8_t)("abcd"[i]);
        s.width = s.height = 2;
        assert_int_equal(cut_orient(&s, orientation), ST_OK);
        for (size_t i = 0; i < 4; i++)
            assert_int_equal(s.pixels[i * PICTURE_CHANNELS], turned[orientation][i]);
    }
    static const struct str TIFFS[] = { { "", 0 },
                                        { "MM\0*", 4 },
                                        { "MM\0*\xff\xff\xff\xff", 8 },
                                        { "II*\0\x08\0\0\0\xff\xff", 10 },
                                        { "MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03", 14 } };
    for (size_t i = 0; i < ARRAY_LEN(TIFFS); i++)
        assert_true(exif_orientation(TIFFS[i]) <= 1);
    assert_int_equal(exif_orientation((struct str){ "II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0\x08\0\0\0", 22 }),
                     8);
}

TEST(an_average_is_weighted_by_area_and_alpha)
{
    static struct cut s;
    uint8_t row[SQUARE * 3 * PICTURE_CHANNELS];
    cut_begin(&s, AVATAR, 1, 240, 240); /* three pixels become two */
    assert_ints({ s.width, SQUARE }, { s.height, SQUARE });
    for (uint32_t y = 0; y < 240; y++) {
        for (size_t x = 0; x < 240; x++) {
            const bool light = x % 3 == 0;
            const uint8_t pixel[] = { light ? 200 : 50, 0, 0, light ? 255 : 0 };
            memcpy(row + x * PICTURE_CHANNELS, pixel, sizeof pixel);
        }
        cut_row(&s, y, row);
    }
    assert_int_equal(s.done, SQUARE);
    assert_int_equal(s.pixels[0], 200); /* what is transparent has no colour */
    assert_int_equal(s.pixels[3], 170); /* two thirds */
    assert_int_equal(s.pixels[PICTURE_CHANNELS + 3], 0);
    cut_flatten(&s);
    assert_ints({ s.pixels[0], 200 * 170 / 255 + 85 }, { s.pixels[PICTURE_CHANNELS], 255 });
}

/* ---- covers ---- */

TEST(a_cover_is_the_part_that_is_wanted)
{
    static const struct {
        uint32_t width, height, source_width, source_height, left, top;
        enum picture_part part;
        unsigned orientation;
    } CASES[] = { { 5000, 3000, 5000, 3000, 0, 0, PICTURE_AUTO, 1 },
                  { 5000, 3000, 5000, 3000, 0, 0, PICTURE_BOTTOM, 1 },
                  { 12000, 300, 500, 300, 5750, 0, PICTURE_TOP, 1 },
                  { 4000, 3000, 4000, 2400, 0, 300, PICTURE_AUTO, 1 }, /* wider than high: the middle */
                  { 3000, 3000, 3000, 1800, 0, 600, PICTURE_AUTO, 1 },
                  { 3000, 4000, 3000, 1800, 0, 366, PICTURE_AUTO, 1 }, /* higher than wide: near the top */
                  { 3000, 4000, 3000, 1800, 0, 0, PICTURE_TOP, 1 },
                  { 3000, 4000, 3000, 1800, 0, 1100, PICTURE_MIDDLE, 1 },
                  { 3000, 4000, 3000, 1800, 0, 2200, PICTURE_BOTTOM, 1 },
                  { 3000, 4000, 3000, 1800, 0, 0, PICTURE_TOP, 2 },
                  { 3000, 4000, 3000, 1800, 0, 2200, PICTURE_TOP, 3 },
                  { 3000, 4000, 3000, 1800, 0, 2200, PICTURE_TOP, 4 },
                  { 4000, 3000, 1800, 3000, 0, 0, PICTURE_TOP, 5 },
                  { 4000, 3000, 1800, 3000, 0, 0, PICTURE_TOP, 6 },
                  { 4000, 3000, 1800, 3000, 366, 0, PICTURE_AUTO, 6 }, /* a phone's portrait */
                  { 4000, 3000, 1800, 3000, 2200, 0, PICTURE_TOP, 7 },
                  { 4000, 3000, 1800, 3000, 2200, 0, PICTURE_TOP, 8 },
                  { 4000, 3000, 1800, 3000, 0, 0, PICTURE_BOTTOM, 8 },
                  { 3000, 4000, 2400, 4000, 300, 0, PICTURE_AUTO, 8 }, /* is seen lying */
                  { 1, 12000, 1, 1, 0, 1999, PICTURE_AUTO, 1 },
                  { 12000, 1, 1, 1, 5999, 0, PICTURE_AUTO, 1 },
                  { 48, 32, 48, 28, 0, 4, PICTURE_BOTTOM, 1 } };
    static struct cut c;
    EACH (row, CASES) {
        const struct picture_want want = { PICTURE_COVER, row->part };
        const bool lying = orientation_lies(row->orientation);
        cut_begin(&c, want, row->orientation, row->width, row->height);
        assert_ints({ c.source_width, row->source_width }, { c.source_height, row->source_height },
                    { c.left, row->left }, { c.top, row->top });
        const uint32_t across = lying ? HEIGHT : WIDTH, down = lying ? WIDTH : HEIGHT;
        assert_int_equal(c.width, c.source_width < across ? c.source_width : across);
        assert_int_equal(c.height, c.source_height < down ? c.source_height : down);
    }
}

/* The file shows two rows: red and yellow above black and green. */
TEST(the_top_is_that_of_the_picture_as_it_is_seen)
{
    static const struct {
        enum picture_part part;
        int above, below; /* of red, in the first and the last row */
    } CASES[] = { { PICTURE_TOP, 255, 255 }, { PICTURE_BOTTOM, 0, 0 }, { PICTURE_MIDDLE, 255, 0 } };
    file_read("turned.jpg");
    EACH (row, CASES) {
        int width, height;
        cover_make(row->part);
        uint8_t *rgb = WebPDecodeRGB((const uint8_t *)out.ptr, out.len, &width, &height);
        assert_non_null(rgb);
        assert_int_equal(height, 19);
        assert_in_range(rgb[3 * (width / 4)] + NEAR, row->above, row->above + 2 * NEAR);
        assert_in_range(rgb[3 * ((height - 1) * width + width / 4)] + NEAR, row->below, row->below + 2 * NEAR);
        WebPFree(rgb);
    }
}

/* Noise takes the most bytes in a WebP file. */
TEST(a_cover_of_noise_has_its_size_and_few_bytes)
{
    enum { SOURCE_WIDTH = 900, SOURCE_HEIGHT = 600 };
    uint32_t noise = 1;
    uint8_t *rgb = malloc((size_t)SOURCE_WIDTH * SOURCE_HEIGHT * 3), *bytes = NULL;
    assert_non_null(rgb);
    for (size_t i = 0; i < (size_t)SOURCE_WIDTH * SOURCE_HEIGHT * 3; i++) {
        noise = noise * 1664525 + 1013904223;
        rgb[i] = (uint8_t)(noise >> 24);
    }
    const size_t len = WebPEncodeRGB(rgb, SOURCE_WIDTH, SOURCE_HEIGHT, SOURCE_WIDTH * 3, 90, &bytes);
    free(rgb);
    buf_reset(&out);
    assert_int_equal(picture_make((struct str){ (const char *)bytes, len }, COVER, PICTURE_PIXELS_MAX, &out), ST_OK);
    WebPFree(bytes);
    assert_true(out.len <= 30 << 10);
    assert_result("noise", WIDTH, HEIGHT);
}

TEST(shapes_and_parts_are_read_back_from_their_words)
{
    for (unsigned i = 0; i < PICTURE_SHAPES; i++) {
        enum picture_shape shape;
        assert_true(picture_shape_from(picture_shape_word((enum picture_shape)i), &shape));
        assert_int_equal(shape, i);
        assert_false(picture_shape_from(STR("round"), &shape));
    }
    for (unsigned i = 0; i < PICTURE_PARTS; i++) {
        enum picture_part part;
        assert_true(picture_part_from(picture_part_word((enum picture_part)i), &part));
        assert_int_equal(part, i);
        assert_false(picture_part_from(STR("left"), &part));
    }
}

/* ---- what is refused ---- */

TEST(what_is_cut_off_or_too_large_in_all_or_by_a_side_is_refused)
{
    EACH_TEXT (name, "turned.jpg", "cmyk.jpg", "progressive.jpg", "palette.png", "sixteen.png", "interlaced.png",
               "lossy.webp", "lossless.webp", "animated.webp") {
        file_read(name);
        struct str bytes = buf_view(&file);
        assert_int_equal(square_of(bytes, (uint64_t)48 * 32), ST_OK);
        assert_int_equal(square_of(bytes, (uint64_t)48 * 32 - 1), ST_INVALID);
        for (size_t len = 0; len < bytes.len / 2; len++)
            assert_int_equal(square_of(str_slice(bytes, 0, len), PICTURE_PIXELS_MAX), ST_INVALID);
    }
    EACH_TEXT (text, "", "GIF89a", "<svg xmlns='http://www.w3.org/2000/svg'/>", "\xff\xd8\xff", "RIFF",
               "\x89PNG\r\n\x1a\n", "RIFF\x04\0\0\0WEBP")
        assert_int_equal(square_of(str_from(text), PICTURE_PIXELS_MAX), ST_INVALID);
    assert_true(picture_size_allowed(PICTURE_SIDE_MAX, 1, PICTURE_PIXELS_MAX));
    assert_false(picture_size_allowed(PICTURE_SIDE_MAX + 1, 1, PICTURE_PIXELS_MAX));
    assert_false(picture_size_allowed(1, PICTURE_SIDE_MAX + 1, PICTURE_PIXELS_MAX));
    assert_false(picture_size_allowed(0, 1, PICTURE_PIXELS_MAX));
    assert_true(picture_size_allowed(8000, 5000, PICTURE_PIXELS_MAX));
    assert_false(picture_size_allowed(8000, 5001, PICTURE_PIXELS_MAX));
    assert_false(picture_size_allowed(UINT32_MAX, UINT32_MAX, PICTURE_PIXELS_MAX));
}

/* ---- the process ---- */

TEST(the_process_gives_the_same_answer_and_anything_else_costs_the_picture)
{
    struct buf answer = BUF_EMPTY;
    file_read("turned.jpg");
    assert_int_equal(square_of(buf_view(&file), PICTURE_PIXELS_MAX), ST_OK);
    assert_int_equal(picture_child_make(PICTURE_PROGRAM, buf_view(&file), AVATAR, &answer), ST_OK);
    assert_true(str_equal(buf_view(&answer), buf_view(&out)));
    buf_free(&answer);
    cover_make(PICTURE_AUTO);
    assert_int_equal(picture_child_make(PICTURE_PROGRAM, buf_view(&file), COVER, &answer), ST_OK);
    assert_true(str_equal(buf_view(&answer), buf_view(&out)));
    buf_free(&answer);
    assert_int_equal(picture_child_make(PICTURE_PROGRAM, STR("no picture"), COVER, &answer), ST_INVALID);
    assert_int_equal(answer.len, 0);
    struct buf large = BUF_EMPTY;
    assert_true(buf_reserve(&large, PICTURE_FILE_BYTES_MAX));
    memset(large.ptr, 'x', PICTURE_FILE_BYTES_MAX);
    large.len = PICTURE_FILE_BYTES_MAX;
    assert_int_equal(picture_child_make(PICTURE_PROGRAM, buf_view(&large), AVATAR, &answer), ST_INVALID);
    buf_free(&large);
    assert_int_equal(picture_child_make("/bin/true", STR("x"), AVATAR, &answer), ST_INVALID);
    assert_int_equal(picture_child_make("/bin/false", STR("x"), AVATAR, &answer), ST_INVALID);
    assert_int_equal(picture_child_make("/bin/echo", STR("x"), AVATAR, &answer), ST_INVALID); /* no WebP */
    assert_int_equal(picture_child_make("/nowhere/hongbao", STR("x"), AVATAR, &answer), ST_UNAVAILABLE);
    assert_int_equal(answer.len, 0);
}

enum call { NOTHING, OPEN, SOCKET, EXECUTE, PARENT };

/* The wait status of a process that narrows itself and then makes the call. */
static int narrowed(enum call call)
{
    int status = 0;
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        char *const none[] = { NULL };
        if (!sandbox_init() || sandbox_enter(SANDBOX_PAGE, false) != ST_OK)
            _exit(1);
        (void)signal(SIGSYS, SIG_DFL); /* as after exec */
        if (sandbox_narrow(SANDBOX_PICTURE) != ST_OK)
            _exit(2);
        switch (call) {
        case NOTHING: free(malloc(1 << 20)); break;
        case OPEN: (void)open("/etc/passwd", O_RDONLY); break;
        case SOCKET: (void)socket(AF_UNIX, SOCK_STREAM, 0); break;
        case EXECUTE: (void)execve("/bin/true", none, none); break;
        case PARENT: (void)getppid(); break;
        }
        _exit(0);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return status;
}

TEST(what_decodes_opens_nothing_and_executes_nothing)
{
    assert_int_equal(narrowed(NOTHING), 0);
    for (int call = OPEN; call <= PARENT; call++) {
        int status = narrowed((enum call)call);
        assert_true(WIFSIGNALED(status));
        assert_int_equal(WTERMSIG(status), SIGSYS);
    }
}

static int bufs_free(void **state)
{
    (void)state;
    buf_free(&file);
    buf_free(&out);
    return 0;
}

/* For the picture to share: only a complete result, of the right size, becomes a part of it. */
TEST(only_a_result_is_put_into_a_document)
{
    static const char HEAD[] = "data:image/jpeg;base64,/9j/";
    struct buf url = BUF_EMPTY;
    EACH_TEXT (text, "lossless.webp", "animated.webp", "turned.jpg") {
        file_read(text);
        assert_int_equal(picture_inline(buf_view(&file), &url), ST_INVALID);
    }
    file_read("turned.jpg");
    assert_int_equal(square_of(buf_view(&file), PICTURE_PIXELS_MAX), ST_OK);
    assert_int_equal(picture_inline((struct str){ out.ptr, out.len - 1 }, &url), ST_INVALID);
    assert_int_equal(picture_inline(STR(""), &url), ST_INVALID);
    assert_int_equal(url.len, 0);
    static uint8_t wide[721 * 8 * 3];
    uint8_t *bytes = NULL;
    const size_t len = WebPEncodeRGB(wide, 721, 8, 721 * 3, 80, &bytes);
    assert_true(picture_is_result((struct str){ (const char *)bytes, len }));
    assert_int_equal(picture_inline((struct str){ (const char *)bytes, len }, &url), ST_INVALID);
    WebPFree(bytes);
    assert_int_equal(picture_inline(buf_view(&out), &url), ST_OK);
    assert_true(str_starts(buf_view(&url), str_from(HEAD)));
    buf_free(&url);
}

int main(int argc, char **argv)
{
    struct picture_want want;
    if (argc == 4 && strcmp(argv[1], "picture") == 0)
        return picture_shape_from(str_from(argv[2]), &want.shape) && picture_part_from(str_from(argv[3]), &want.part)
                   ? picture_child_run(want)
                   : 2;
    (void)signal(SIGPIPE, SIG_IGN); /* as hongbao does */
    return tests_run(NULL, bufs_free);
}
