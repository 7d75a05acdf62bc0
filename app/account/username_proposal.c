#include "account/username_proposal.h"

#include <string.h>

#include "base/random.h"
#include "base/utf8.h"
#include "user/account.h"
#include "user/store.h"

enum {
    SYLLABLES = 32,
    SYLLABLE_BITS = 5,
    DIGITS = 4, /* each of them 2 to 9: nobody reads 0 as O, or 1 as l */
    DIGIT_BITS = 3,
    STEM_MAX = USERNAME_BYTES_MAX - DIGITS,
    LOOKED_UP_MAX = 3
};

/* Syllables of pinyin, and English words, which a reader of the page can say and remember. */
static const char *const first[2][SYLLABLES] = {
    { "an",   "bai", "chun", "dong", "fei",  "fu",  "guo",  "hai", "han",  "he",   "hong",
      "jia",  "jin", "jing", "kai",  "le",   "lin", "ling", "mei", "ming", "ning", "ping",
      "qing", "rui", "shan", "tian", "xiao", "xin", "xing", "yue", "yun",  "zhen" },
    { "brave", "bright", "calm",  "clear", "clever", "cosy",  "fair",  "fine",  "free", "fresh", "glad",
      "gold",  "good",   "grand", "great", "green",  "happy", "jolly", "keen",  "kind", "light", "lucky",
      "merry", "mild",   "neat",  "nice",  "quick",  "quiet", "sunny", "sweet", "warm", "wise" }
};
static const char *const second[2][SYLLABLES] = {
    { "bao", "cha", "chen", "dou", "feng", "guang", "he",   "hu",   "hua",  "hui",  "li",
      "lan", "lei", "long", "lu",  "lang", "niao",  "qiao", "quan", "shi",  "song", "tang",
      "tao", "tu",  "xi",   "yan", "yang", "ying",  "yu",   "zhu",  "zhou", "ge" },
    { "apple", "bear",  "bell",  "berry", "bird",  "boat",  "brook", "cloud", "deer", "duck",  "fern",
      "field", "frog",  "goose", "hill",  "horse", "lake",  "lark",  "leaf",  "lily", "maple", "moon",
      "otter", "panda", "peach", "pine",  "plum",  "river", "robin", "rose",  "seal", "swan" }
};

static unsigned bits_take(uint64_t *random, unsigned bits)
{
    unsigned n = (unsigned)(*random & ((1U << bits) - 1));
    *random >>= bits;
    return n;
}

static struct str with_digits(struct arena *a, struct str stem, uint64_t random)
{
    char digits[DIGITS + 1] = { 0 };

    for (size_t i = 0; i < DIGITS; i++)
        digits[i] = (char)('2' + bits_take(&random, DIGIT_BITS));
    return arena_printf(a, "%.*s%s", STR_ARG(str_slice(stem, 0, stem.len < STEM_MAX ? stem.len : STEM_MAX)), digits);
}

struct str username_invented(struct arena *a, bool english)
{
    uint64_t random = random_u64();
    const char *front = first[english][bits_take(&random, SYLLABLE_BITS)];
    const char *back = second[english][bits_take(&random, SYLLABLE_BITS)];
    struct str stem = arena_printf(a, "%s%s", front, back);

    return stem.ptr == NULL ? STR_NONE : with_digits(a, stem, random);
}

struct str username_numbered(struct arena *a, struct str stem)
{
    return with_digits(a, stem, random_u64());
}

struct str username_made_of(struct arena *a, struct str typed)
{
    struct str folded = username_fold(a, typed), address = STR("");
    struct str name = str_cut(str_or_empty(folded), '@', &address);
    char made[USERNAME_BYTES_MAX];
    size_t len = 0;

    for (size_t i = 0; i < name.len && len < sizeof made; i++) {
        char c = name.ptr[i];
        bool word = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
        if (word || (len > 0 && strchr("_.-", c) != NULL && c != '\0'))
            made[len++] = c;
    }
    return len < USERNAME_BYTES_MIN ? STR("") : str_or_empty(arena_str(a, (struct str){ made, len }));
}

struct str username_proposed(struct db *db, struct arena *a, struct str username, struct str nickname, bool english)
{
    struct str typed = username_made_of(a, username), called = username_made_of(a, nickname);
    struct str stem = typed.len > 0 ? typed : called;
    const struct str tries[LOOKED_UP_MAX] = { typed, stem.len > 0 ? with_digits(a, stem, random_u64()) : STR(""),
                                              called.len > 0 ? with_digits(a, called, random_u64()) : STR("") };
    struct user found;

    for (size_t i = 0; i < LOOKED_UP_MAX; i++)
        if (tries[i].len > 0 && user_find_by_name(db, a, tries[i], &found) == ST_NOT_FOUND)
            return tries[i];
    return username_invented(a, english);
}
