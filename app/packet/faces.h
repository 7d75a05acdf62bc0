/* The faces of people as of now, from MySQL (base/badge.h). */
#ifndef HB_PACKET_FACES_H
#define HB_PACKET_FACES_H

#include "base/arena.h"
#include "base/status.h"
#include "mysql/db.h"
#include "packet/grab.h"
#include "packet/packet.h"

/* Sets the face of the packet's sender and of each grab. Can also return the errors of db_query. */
enum status faces_find(struct db *db, struct arena *a, struct packet *p, struct grab *grabs, size_t count);

/* For a query over a table with the id of a user: an SQL expression for the word of that user's face, or NULL. */
#define FACE_OF(id) "(SELECT user.face FROM user WHERE user.id = " id ")"

#endif
