/* A user's face, and how it travels with the nickname.
 *
 * A face is the avatar that a user has chosen: the name of a drawn one (static/avatars.svg), or '@' and the name of a
 * picture. It is a word of the characters a–z, 0–9, '_', '-' and '@'. Without one, pages show the first character of
 * the nickname.
 *
 * In Redis nickname and face are one text, the badge: the nickname, then, when there is a face, U+E0001 and the word in
 * tag characters (U+E0000 + the ASCII code). They draw nothing, and no nickname contains them (utf8_clean). So a
 * program that does not know faces shows a badge as the nickname, and settles a grab that has one. */
#ifndef HB_BASE_BADGE_H
#define HB_BASE_BADGE_H

#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/str.h"

#define FACE_MAX 40 /* bytes of a word: the width of the column user.face */

struct face {
    uint8_t len; /* 0: none chosen */
    char word[FACE_MAX];
};
#define FACE_NONE ((struct face){ 0 })

/* A face by its word. No face: word is absent or empty, too long, or has other characters. */
struct face face_from(struct str word);
/* The word, borrowed from face; empty: none. */
struct str face_word(const struct face *face);

/* The greatest length of a badge, in bytes and in code points: the column to which older programs write it has as many
 * characters. */
#define BADGE_CODEPOINTS_MAX 64

/* Appends the badge. A face that would make it too long for BADGE_CODEPOINTS_MAX is left out. */
void badge_append(struct buf *out, struct str nickname, const struct face *face);
/* The same text, in the arena, or the nickname itself when there is no face. STR_NONE without memory. */
struct str badge_text(struct arena *a, struct str nickname, const struct face *face);
/* The nickname of a badge, borrowed from it. face (may be NULL): its face. When the text behind the mark is no face,
 * the whole badge is the nickname, without a face. */
struct str badge_parse(struct str badge, struct face *face);

#endif
