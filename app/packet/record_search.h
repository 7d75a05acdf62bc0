/* Searching the records of a user by a filter. No index serves every filter, and updating one would make the settlement
 * of every grab more expensive. So the search reads the records newest first, by the same key as the list, and compares
 * each with the filter here; a page of results reads a limited number of records, and then says where the search
 * continues. */
#ifndef HB_PACKET_RECORD_SEARCH_H
#define HB_PACKET_RECORD_SEARCH_H

#include "packet/records.h"

/* Records that one search reads at most, whatever it finds. Otherwise it reads at most about twice as many records as
 * there are between the first and the last one that it returns. */
enum { RECORD_SEARCH_ROWS_MAX = 1000 };

/* All conditions hold together. {0}: every record. */
struct record_filter {
    unsigned kinds;           /* bits 1 << enum packet_kind; 0: any */
    unsigned states;          /* bits 1 << enum packet_state, of the state that users see; 0: any */
    uint64_t person_id;       /* received: the sender; sent: a named receiver, or a user with a share; 0: anybody */
    struct str text;          /* a part of the greeting or of the note, by utf8_fold_alike; empty: any */
    int64_t min_fen, max_fen; /* of the share, or of the packet sent; max_fen 0: no limit */
};

/* Sets the text. ST_INVALID: not UTF-8 · ST_NO_MEMORY. */
enum status record_filter_text(struct arena *a, struct str text, struct record_filter *out);
/* True when the filter has a condition. */
bool record_filter_given(const struct record_filter *filter);

/* The state of the record's packet that users see at that time: open, finished or expired. */
enum packet_state record_state_shown(const struct record *row, int64_t now_ms);

/* Compares a record with the filter, at that time. Memory for the texts is from a; without it the arena has failed,
 * and false. */
bool record_matches(struct arena *a, const struct record *row, enum record_side side,
                    const struct record_filter *filter, int64_t now_ms);

struct record_result {
    struct record_list records; /* at most page->limit */
    struct list_key rest;       /* given: there may be further records below it */
    bool paused;                /* the search has read RECORD_SEARCH_ROWS_MAX records before it found page->limit */
};

/* The records of a page, found by the filter; page->limit is below RECORD_SEARCH_ROWS_MAX (asserted). query->person_id
 * is ignored: the filter's is used. Errors as records_find. */
enum status records_search(struct db *db, struct arena *a, const struct record_query *query, const struct db_page *page,
                           const struct record_filter *filter, int64_t now_ms, struct record_result *out);

#endif
