/* Writing the answer to a request: the records of FastCGI, with as few system calls as possible. */
#ifndef HB_IO_FCGI_ANSWER_H
#define HB_IO_FCGI_ANSWER_H

#include "io/fcgi.h"

/* bytes of an answer that are sent at once; r->answer has this room from the start */
enum { FCGI_ANSWER_BYTES_MAX = 256 << 10 };

/* Appends to the answer. Without effect once the peer has closed the connection. */
void fcgi_write(struct fcgi_request *r, struct str bytes);
/* Sends what was written so far, before the answer is complete. False: the peer has closed the connection, or has not
 * taken the bytes within FCGI_PEER_TIMEOUT_S. */
bool fcgi_flush(struct fcgi_request *r);
/* Closes the connection in the middle of the answer: nginx and the client see that the answer is incomplete. */
void fcgi_break_off(struct fcgi_request *r);

/* For the loop: sends what was written so far, with one system call: nginx is then woken once. ends: the answer is
 * complete. */
void fcgi_answer_send(struct fcgi_request *r, bool ends);

#endif
