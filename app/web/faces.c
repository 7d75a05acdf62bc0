#include "web/faces.h"

#include <assert.h>

/* The drawn faces, in the order of the years. */
static const struct drawn_face DRAWN[DRAWN_FACES] = {
    { STR("rat"), 7, "text/face_rat" },       { STR("ox"), 4, "text/face_ox" },
    { STR("tiger"), 5, "text/face_tiger" },   { STR("rabbit"), 11, "text/face_rabbit" },
    { STR("dragon"), 1, "text/face_dragon" }, { STR("snake"), 9, "text/face_snake" },
    { STR("horse"), 6, "text/face_horse" },   { STR("goat"), 8, "text/face_goat" },
    { STR("monkey"), 3, "text/face_monkey" }, { STR("rooster"), 7, "text/face_rooster" },
    { STR("dog"), 0, "text/face_dog" },       { STR("pig"), 10, "text/face_pig" },
};

const struct drawn_face *drawn_face(unsigned i)
{
    assert(i < DRAWN_FACES);
    return &DRAWN[i];
}

const struct drawn_face *drawn_face_of(const struct face *face)
{
    for (size_t i = 0; face->len > 0 && i < DRAWN_FACES; i++)
        if (str_equal(DRAWN[i].word, face_word(face)))
            return &DRAWN[i];
    return NULL;
}

struct str picture_face_of(const struct face *face)
{
    struct str word = face_word(face);
    return str_skip_prefix(&word, STR("@")) ? word : STR("");
}
