#include "commands/man_text.h"

bool man_text(FILE *out, const char *text)
{
    bool written = true;
    for (; written && *text != '\0'; text++)
        written = *text == '\\'  ? fputs("\\e", out) >= 0
                  : *text == '-' ? fputs("\\-", out) >= 0
                                 : fputc(*text, out) != EOF;
    return written;
}
