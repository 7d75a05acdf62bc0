#include "settle/fault.h"

#include <assert.h>

bool settle_fault_is_forgery(enum settle_fault_kind kind)
{
    return kind >= FAULT_OTHER_PARTITION && kind <= FAULT_CLOSED_EARLY;
}

struct str settle_fault_text(enum settle_fault_kind kind)
{
    static const struct str texts[FAULT_COUNT] = {
        [FAULT_NONE] = STR(""),
        [FAULT_SHARE_TWICE] = STR("two different grabs of one share"),
        [FAULT_CLOSE_TWICE] = STR("two different close events"),
        [FAULT_GRAB_AFTER_CLOSE] = STR("a grab after the close event"),
        [FAULT_AMOUNT] = STR("amount not positive, or sum too large"),
        [FAULT_PACKET_UNKNOWN] = STR("the packet is not in the tables"),
        [FAULT_PACKET_CLOSED] = STR("a grab of a closed packet"),
        [FAULT_RECLOSE_MISMATCH] = STR("the close event of a closed packet has other numbers"),
        [FAULT_MONEY_EXCEEDED] = STR("the grabs exceed the packet's amount"),
        [FAULT_SHARE_SKIPPED] = STR("the share is not the next one"),
        [FAULT_SHARES_EXCEEDED] = STR("more grabs than shares"),
        [FAULT_REST_MISMATCH] = STR("shares and amount do not run out together"),
        [FAULT_CLOSE_MISMATCH] = STR("the close event has other numbers than the tables"),
        [FAULT_SETTLED_MISMATCH] = STR("the share is settled with another user or amount"),
        [FAULT_ACCOUNT_MISSING] = STR("an account is missing"),
        [FAULT_BALANCE_NEGATIVE] = STR("an account would fall below zero"),
        [FAULT_BEST_SHARE_MISSING] = STR("the grab of the best share is missing"),
        [FAULT_OTHER_PARTITION] = STR("the packet belongs to another partition"),
        [FAULT_NOT_DRAWN] = STR("the amount is not the one that was drawn"),
        [FAULT_NOT_RETURNED] = STR("nobody has given this share back"),
        [FAULT_NOT_RECEIVER] = STR("the packet is not for this user"),
        [FAULT_RECEIVER_ADDED] = STR("the packet has got more receivers since it was sent"),
        [FAULT_BEFORE_OPENING] = STR("a grab before the packet's opening"),
        [FAULT_AFTER_EXPIRY] = STR("a grab after the packet's expiry"),
        [FAULT_IN_FUTURE] = STR("the time of the entry is in the future"),
        [FAULT_NICKNAME] = STR("the nickname is not one that a user can have"),
        [FAULT_CLOSED_EARLY] = STR("the packet was closed before its expiry"),
        [FAULT_UNIQUE_KEY] = STR("a unique key exists with other content"),
        [FAULT_CONSTRAINT] = STR("a constraint of the tables is violated"),
        [FAULT_TABLES] = STR("the tables are inconsistent"),
        [FAULT_UNREADABLE] = STR("the entry is no event that can be read: repair it with hongbao replay --as"),
        [FAULT_FOLLOWS_LETTER] = STR("the packet has an earlier dead letter"),
        [FAULT_STREAM] = STR("the stream can't be read"),
        [FAULT_NO_ID] = STR("a stream entry has no id"),
        [FAULT_LETTER_REFUSED] = STR("the table refused a dead letter"),
        [FAULT_TRIMMED] = STR("events were trimmed before they were settled"),
        [FAULT_SHARES_LOST] = STR("the shares can't be recomputed"),
        [FAULT_GRAB_MISMATCH] = STR("a settled grab differs from the recomputed share"),
        [FAULT_REBUILD_REFUSED] = STR("Redis refused the rebuilt packet"),
        [FAULT_NOT_CLOSED] = STR("all shares are settled, but the packet is not closed"),
        [FAULT_REFUND_REFUSED] = STR("the ledger refused the refund"),
        [FAULT_CLOSED_SUM_MISMATCH] = STR("the sum in Redis differs from the settled sum"),
        [FAULT_ROW_IMPOSSIBLE] = STR("the packet's row has values that no packet can have"),
    };
    assert(kind < FAULT_COUNT && texts[kind].ptr != NULL);
    return texts[kind];
}
