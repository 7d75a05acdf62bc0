#include "settle/fault.h"

#include <assert.h>

struct str settle_fault_text(enum settle_fault_kind kind)
{
    static const struct str texts[FAULT_COUNT] = {
        [FAULT_NONE] = STR(""),
        [FAULT_SHARE_TWICE] = STR("one share, two different grabs"),
        [FAULT_CLOSE_TWICE] = STR("two different close events"),
        [FAULT_GRAB_AFTER_CLOSE] = STR("a grab behind the close event"),
        [FAULT_AMOUNT] = STR("an impossible amount"),
        [FAULT_PACKET_UNKNOWN] = STR("an event of an unknown packet"),
        [FAULT_PACKET_CLOSED] = STR("a grab of a closed packet"),
        [FAULT_CLOSED_OTHERWISE] = STR("a closed packet closed again with other numbers"),
        [FAULT_MONEY_EXCEEDED] = STR("more grabbed than the packet holds"),
        [FAULT_SHARE_SKIPPED] = STR("a grab that does not follow the last one"),
        [FAULT_SHARES_EXCEEDED] = STR("more grabs than shares"),
        [FAULT_REST_MISMATCH] = STR("shares and money do not end together"),
        [FAULT_CLOSE_MISMATCH] = STR("the close event counted otherwise"),
        [FAULT_SETTLED_OTHERWISE] = STR("the share is settled with other content"),
        [FAULT_ACCOUNT_MISSING] = STR("an account is missing"),
        [FAULT_BALANCE_NEGATIVE] = STR("an account would fall below zero"),
        [FAULT_BEST_SHARE_MISSING] = STR("a finished packet without its best share"),
        [FAULT_UNIQUE_KEY] = STR("a unique key is taken by other content"),
        [FAULT_CONSTRAINT] = STR("a constraint of the tables refuses it"),
        [FAULT_TABLES] = STR("the tables answer nonsense"),
        [FAULT_UNREADABLE] = STR("it can't be read"),
        [FAULT_FOLLOWS_LETTER] = STR("an earlier event of the packet is a dead letter"),
        [FAULT_STREAM] = STR("the stream can't be read"),
        [FAULT_NO_ID] = STR("an entry without an id"),
        [FAULT_LETTER_REFUSED] = STR("a dead letter is refused"),
        [FAULT_TRIMMED] = STR("events were trimmed before they were settled"),
        [FAULT_SHARES_LOST] = STR("the shares can't be recomputed"),
        [FAULT_GRAB_MISMATCH] = STR("a settled grab is not the recomputed share"),
        [FAULT_REBUILD_REFUSED] = STR("Redis refused the rebuilt packet"),
        [FAULT_NOT_CLOSED] = STR("every share is settled, but the packet is not closed"),
        [FAULT_REFUND_REFUSED] = STR("the ledger refuses the refund"),
        [FAULT_CLOSED_SUM] = STR("closed in Redis with another sum than settled"),
    };
    assert(kind < FAULT_COUNT && texts[kind].ptr != NULL);
    return texts[kind];
}
