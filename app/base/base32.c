#include "base/base32.h"

#include <stdint.h>

const char BASE32_DIGITS[BASE32_COUNT + 1] = "0123456789abcdefghjkmnpqrstvwxyz";

/* One more than the value of a character, in either case; I and L are read as 1, O as 0. */
static const uint8_t DIGIT_OF[256] = {
    ['0'] = 1,  ['1'] = 2,  ['2'] = 3,  ['3'] = 4,  ['4'] = 5,  ['5'] = 6,  ['6'] = 7,  ['7'] = 8,  ['8'] = 9,
    ['9'] = 10, ['a'] = 11, ['b'] = 12, ['c'] = 13, ['d'] = 14, ['e'] = 15, ['f'] = 16, ['g'] = 17, ['h'] = 18,
    ['j'] = 19, ['k'] = 20, ['m'] = 21, ['n'] = 22, ['p'] = 23, ['q'] = 24, ['r'] = 25, ['s'] = 26, ['t'] = 27,
    ['v'] = 28, ['w'] = 29, ['x'] = 30, ['y'] = 31, ['z'] = 32, ['A'] = 11, ['B'] = 12, ['C'] = 13, ['D'] = 14,
    ['E'] = 15, ['F'] = 16, ['G'] = 17, ['H'] = 18, ['J'] = 19, ['K'] = 20, ['M'] = 21, ['N'] = 22, ['P'] = 23,
    ['Q'] = 24, ['R'] = 25, ['S'] = 26, ['T'] = 27, ['V'] = 28, ['W'] = 29, ['X'] = 30, ['Y'] = 31, ['Z'] = 32,
    ['i'] = 2,  ['I'] = 2,  ['l'] = 2,  ['L'] = 2,  ['o'] = 1,  ['O'] = 1
};

int base32_value(char c)
{
    return DIGIT_OF[(unsigned char)c] - 1;
}
