#include "packet/story.h"

#include <stdlib.h>

#include "mysql/db_page.h"

enum { MONTH_DAYS_MAX = 31 };

/* ---- people ---- */

static bool gift_counts(const struct story_gift *gift, uint64_t self)
{
    return gift->person_id != 0 && gift->person_id != self && !gift->returned;
}

static int person_order(const void *left, const void *right)
{
    const struct story_gift *a = left, *b = right;
    return (a->person_id > b->person_id) - (a->person_id < b->person_id);
}

static bool person_is_before(const struct story_person *a, const struct story_person *b)
{
    if (a->amount_fen != b->amount_fen)
        return a->amount_fen > b->amount_fen;
    return a->count != b->count ? a->count > b->count : a->id < b->id;
}

static uint64_t shares_count(const struct story_gifts *gifts, uint64_t person_id, uint64_t self)
{
    uint64_t count = 0;
    for (size_t i = 0; i < gifts->count; i++)
        count += gifts->rows[i].person_id == person_id && gift_counts(&gifts->rows[i], self);
    return count;
}

/* Finds the person with the largest sum of gifts; the gifts are sorted by person. */
static void person_find(const struct story_gifts *gifts, const struct story_gifts *others, uint64_t self,
                        struct story_person *out)
{
    struct story_person person = { .id = 0 };
    *out = person;
    for (size_t i = 0; i < gifts->count; i++) {
        const struct story_gift *gift = &gifts->rows[i];
        if (!gift_counts(gift, self))
            continue;
        if (person.id != gift->person_id)
            person = (struct story_person){ .id = gift->person_id };
        person.amount_fen += gift->amount_fen;
        person.count++;
        if (out->id == person.id || out->id == 0 || person_is_before(&person, out))
            *out = person;
    }
    if (out->id != 0)
        out->exchanged = out->count + shares_count(others, out->id, self);
}

/* ---- shares and days ---- */

/* Finds the largest and the fastest share. Rows are newest first: of two equal shares the later one is taken. */
static void shares_find(const struct story_gifts *received, struct story *out)
{
    for (size_t i = 0; i < received->count; i++) {
        const struct story_gift *gift = &received->rows[i];
        if (gift->returned)
            continue;
        if (gift->amount_fen > out->largest.amount_fen)
            out->largest = *gift;
        if (out->fastest.amount_fen == 0 || gift->after_ms < out->fastest.after_ms)
            out->fastest = *gift;
    }
}

struct days {
    struct story_day of[MONTHS_PER_YEAR][MONTH_DAYS_MAX];
};

static struct story_day *day_of(struct days *days, int64_t ms)
{
    struct clock_date date = clock_zone_date(ms);
    struct story_day *day = &days->of[date.month - 1][date.day - 1];
    day->date = (struct clock_date){ .year = date.year, .month = date.month, .day = date.day };
    return day;
}

static uint64_t day_sum(const struct story_day *day)
{
    return day->sent_count + day->received_count + day->thanked_count;
}

static void liveliest_find(const struct story_gifts *received, const struct story_gifts *given, struct story *out)
{
    struct days days = { 0 };
    for (size_t i = 0; i < received->count; i++)
        day_of(&days, received->rows[i].ms)->received_count += !received->rows[i].returned;
    for (size_t i = 0; i < given->count; i++) {
        struct story_day *day = day_of(&days, given->rows[i].ms);
        day->sent_count += i == 0 || given->rows[i].packet_id != given->rows[i - 1].packet_id;
        day->thanked_count += given->rows[i].thanked;
        out->thanked_count += given->rows[i].thanked;
    }
    for (size_t m = 0; m < MONTHS_PER_YEAR; m++)
        for (size_t d = 0; d < MONTH_DAYS_MAX; d++)
            if (day_sum(&days.of[m][d]) > 0 && day_sum(&days.of[m][d]) >= day_sum(&out->liveliest))
                out->liveliest = days.of[m][d];
}

void story_tell(struct story_gifts *received, struct story_gifts *given, uint64_t self, struct story *out)
{
    *out = (struct story){ .cut = received->cut || given->cut };
    liveliest_find(received, given, out);
    shares_find(received, out);
    if (received->count > 0)
        qsort(received->rows, received->count, sizeof *received->rows, person_order);
    if (given->count > 0)
        qsort(given->rows, given->count, sizeof *given->rows, person_order);
    person_find(given, received, self, &out->given_most);
    person_find(received, given, self, &out->received_most);
}

/* ---- rows ---- */

enum { COLUMN_MS, COLUMN_PACKET, COLUMN_PERSON, COLUMN_AMOUNT, COLUMN_AFTER, COLUMN_THANKED, COLUMN_RETURNED };

#define RETURNED                                                                                                       \
    "EXISTS (SELECT 1 FROM share_return FORCE INDEX (PRIMARY) WHERE share_return.packet_id = grab.packet_id "          \
    "AND share_return.share_no = grab.share_no)"
#define THANKED                                                                                                        \
    "EXISTS (SELECT 1 FROM thanks FORCE INDEX (PRIMARY) WHERE thanks.packet_id = grab.packet_id "                      \
    "AND thanks.share_no = grab.share_no)"

/* Both read the newest rows of the year by their index and stop at a limit (app/packet/records.c). */
static void received_append(struct buf *sql, uint64_t user_id, struct db_page page)
{
    page.limit = STORY_RECEIVED_MAX + 1;
    buf_cstr(sql, "SELECT grab.grabbed_ms, grab.packet_id, packet.sender_id, grab.amount_fen, "
                  "grab.grabbed_ms - GREATEST(packet.created_ms, COALESCE(packet.opens_ms, 0)), 0, " RETURNED
                  " FROM grab FORCE INDEX (grab_received) JOIN packet ON packet.id = grab.packet_id "
                  "WHERE grab.user_id = ");
    buf_u64(sql, user_id);
    db_page_append(sql, &page, "grab.grabbed_ms", "grab.packet_id");
}

/* The shares of the packets, newest packet first: the join goes from packet to packet. */
static void given_append(struct buf *sql, uint64_t user_id, struct db_page page)
{
    page.limit = STORY_SENT_MAX + 1;
    buf_cstr(sql, "SELECT sent.created_ms, sent.id, grab.user_id, grab.amount_fen, 0, " THANKED ", " RETURNED
                  " FROM (SELECT id, created_ms FROM packet FORCE INDEX (packet_sent) WHERE sender_id = ");
    buf_u64(sql, user_id);
    db_page_append(sql, &page, "created_ms", "id");
    buf_cstr(sql, ") AS sent LEFT JOIN grab FORCE INDEX (PRIMARY) ON grab.packet_id = sent.id LIMIT ");
    buf_u64(sql, STORY_GIVEN_MAX + 1);
}

static enum status gifts_read(struct arena *a, const struct db_rows *rows, size_t limit, struct story_gifts *out)
{
    *out = (struct story_gifts){ .rows = arena_array(a, rows->count + 1, sizeof *out->rows) };
    if (out->rows == NULL)
        return ST_NO_MEMORY;
    out->cut = rows->count > limit;
    out->count = out->cut ? limit : rows->count;
    for (size_t i = 0; i < out->count; i++) {
        bool opened = db_cell(rows, i, COLUMN_PERSON).ptr != NULL;
        out->rows[i] = (struct story_gift){ .ms = db_cell_i64(rows, i, COLUMN_MS),
                                            .packet_id = db_cell_u64(rows, i, COLUMN_PACKET),
                                            .person_id = opened ? db_cell_u64(rows, i, COLUMN_PERSON) : 0,
                                            .amount_fen = opened ? db_cell_i64(rows, i, COLUMN_AMOUNT) : 0,
                                            .after_ms = db_cell_i64(rows, i, COLUMN_AFTER),
                                            .thanked = db_cell_u64(rows, i, COLUMN_THANKED) != 0,
                                            .returned = db_cell_u64(rows, i, COLUMN_RETURNED) != 0 };
    }
    return ST_OK;
}

static enum status gifts_find(struct db *db, struct arena *a, struct buf *sql, size_t limit, struct story_gifts *out)
{
    struct db_rows rows;
    enum status st = db_query_buf(db, a, &rows, sql);
    buf_free(sql);
    return st == ST_OK ? gifts_read(a, &rows, limit, out) : st;
}

static size_t packets_count(const struct story_gifts *given)
{
    size_t count = 0;
    for (size_t i = 0; i < given->count; i++)
        count += i == 0 || given->rows[i].packet_id != given->rows[i - 1].packet_id;
    return count;
}

enum status story_find(struct db *db, struct arena *a, uint64_t user_id, int year, struct story *out)
{
    const struct db_page of_year = { .from_ms = clock_zone_year_start_ms(year),
                                     .until_ms = clock_zone_year_start_ms(year + 1) };
    struct story_gifts received = { 0 }, given = { 0 };
    struct buf sql = BUF_EMPTY;
    received_append(&sql, user_id, of_year);
    enum status st = gifts_find(db, a, &sql, STORY_RECEIVED_MAX, &received);
    if (st == ST_OK) {
        sql = (struct buf)BUF_EMPTY;
        given_append(&sql, user_id, of_year);
        st = gifts_find(db, a, &sql, STORY_GIVEN_MAX, &given);
    }
    if (st != ST_OK)
        return st;
    given.cut = given.cut || packets_count(&given) > STORY_SENT_MAX;
    story_tell(&received, &given, user_id, out);
    return ST_OK;
}
