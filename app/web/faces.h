/* The drawn faces: each is a view of static/avatars.svg. */
#ifndef HB_WEB_FACES_H
#define HB_WEB_FACES_H

#include "base/badge.h"

struct drawn_face {
    struct str word;
    int hue;           /* the colour behind it, as in view_avatar_model */
    const char *title; /* the name of a text */
};
enum { DRAWN_FACES = 12 };
/* The drawn face number i < DRAWN_FACES. */
const struct drawn_face *drawn_face(unsigned i);
/* The drawn face with the word of face; NULL: the user chose no face, or it is a picture or an unknown word. */
const struct drawn_face *drawn_face_of(const struct face *face);

/* The hash of the picture that is the face, borrowed from it; empty: the face is no picture. */
struct str picture_face_of(const struct face *face);

#endif
