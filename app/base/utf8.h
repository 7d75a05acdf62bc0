/* Unicode text that people typed: validity, length as people count it, and what is kept of it. Uses utf8proc. */
#ifndef HB_BASE_UTF8_H
#define HB_BASE_UTF8_H

#include "base/arena.h"
#include "base/status.h"
#include "base/str.h"

/* Well-formed UTF-8 without NUL (Unicode 15, table 3-7). */
bool utf8_valid(struct str s);
/* Bytes of the first well-formed sequence of s (1–4); 0 when s is empty or its start is broken. */
size_t utf8_sequence(struct str s);
/* Code points: the characters of a VARCHAR. s is valid UTF-8. */
size_t utf8_codepoints(struct str s);
/* Extended grapheme clusters (UAX #29). s is valid UTF-8. */
size_t utf8_graphemes(struct str s);
/* The same, but two narrow clusters, such as Latin letters, count as one; an odd one at the end counts as one, too.
 * Wide clusters begin with Jamo (U+1100-115F) or from U+2600 on: signs, emoji, Chinese. static/app.js counts in the
 * same way. */
size_t utf8_width(struct str s);
/* Code points of one grapheme cluster that utf8_clean keeps: enough for a family of four with skin tones (11), few
 * enough that a pile of accents can't fill a column or climb over the page. n graphemes of clean text are at most
 * 16 n characters of a VARCHAR. */
#define UTF8_CLUSTER_MAX 16
/* One line of text as we store it: NFC, control characters, line breaks and all kinds of blanks → one ASCII blank,
 * blanks trimmed and folded, bidi embeddings/overrides/isolates (U+202A–E, U+2066–9) and other invisible characters
 * removed, except ZWJ/ZWNJ and variation selectors, which emoji and scripts need; text that has only such characters
 * becomes empty. Cleaning clean text changes nothing. Passphrases are compared after this cleaning (packet/phrase.h),
 * so a change of it can make passphrases of open packets useless. ST_INVALID when s is not valid UTF-8, ST_NO_MEMORY.
 * *out lives in the arena. */
enum status utf8_clean(struct arena *a, struct str s, struct str *out);
/* A line that other people see: as utf8_clean, and also without the characters that draw nothing although Unicode
 * counts them as symbols, and without accents in front. Empty: accents alone, or private (U+E000…) and unassigned
 * characters alone, which most fonts lack. */
enum status utf8_clean_shown(struct arena *a, struct str s, struct str *out);
/* The first grapheme cluster of s (for avatars); empty when s is empty. s comes from a store and may be damaged: a byte
 * that is not UTF-8 is a cluster of its own. */
struct str utf8_first_grapheme(struct str s);
/* For comparing texts as people do: compatibility forms (full-width, ligatures) as plain ones, capitals as small
 * letters (NFKC, full case folding). ST_INVALID when s is not valid UTF-8, ST_NO_MEMORY.
 * *out lives in the arena. */
enum status utf8_fold_case(struct arena *a, struct str s, struct str *out);
/* A password as RFC 8265 compares it (OpaqueString): all kinds of blanks as ASCII ones, NFC. Nothing is trimmed,
 * dropped or refused. Errors and memory as utf8_fold_case; *out may be s itself. */
enum status utf8_opaque(struct arena *a, struct str s, struct str *out);
/* For comparing what people typed with what they meant. Does what utf8_fold_case does, and also replaces what phones
 * and Chinese keyboards write by the ASCII key: all apostrophes as ', all quotation marks as ", all dashes and hyphens,
 * also several in a row, as one -, 。 as ., 、 as comma, 〜 as ~, 【】 as [], 《〈 》〉 as < >, all slashes as /; all middle
 * dots as ·; without joiners and variation selectors, which keyboards add or not. Errors and memory as
 * utf8_fold_case. */
enum status utf8_fold_alike(struct arena *a, struct str s, struct str *out);
/* Folds what people type or paste, before a reader of base/typed.h gets it: full-width and small ASCII (U+FF01–FF5E,
 * U+FE50–FE6B), 。 and ∶ of Chinese input methods as ASCII; all hyphens, dashes and the minus sign as '-'; a run of
 * blanks and line breaks of any kind as one ASCII blank, none at both ends; invisible characters (zero width, bidi
 * marks, soft hyphens, joiners, variation selectors) removed. ST_INVALID when s is not valid UTF-8, ST_NO_MEMORY. *out
 * is s itself or lives in the arena. */
enum status utf8_fold_pasted(struct arena *a, struct str s, struct str *out);

#endif
