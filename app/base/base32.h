/* Crockford's base32: five bits a character, without letters that are mistaken for digits. */
#ifndef HB_BASE_BASE32_H
#define HB_BASE_BASE32_H

enum { BASE32_BITS = 5, BASE32_COUNT = 1 << BASE32_BITS };

/* The character of each value, in small letters. */
extern const char BASE32_DIGITS[BASE32_COUNT + 1];

/* The value of a character in either case, with i and l read as 1 and o as 0; -1: it is none. */
int base32_value(char c);

#endif
