/* The rights of all roles (deploy/rights), as they were when the program was built. NUL-terminated texts. */
#ifndef HB_DOCTOR_RIGHTS_H
#define HB_DOCTOR_RIGHTS_H

extern const char rights_grants[];      /* grants.sql */
extern const char rights_grants_demo[]; /* grants-demo.sql: what demo = on also needs */
extern const char rights_users_acl[];   /* users.acl.in */

#endif
