/* What `hongbao backup` has noted about the last backups (setting backup_record; deploy/commands/archive.sh writes
 * it), and `hongbao audit` about the last clean audit of the site. The file has lines "NAME = VALUE": for each kind of
 * backup the folder, and NAME_at, when its data were copied; audited_at, when that audit began. */
#ifndef HB_AUDIT_BACKUP_RECORD_H
#define HB_AUDIT_BACKUP_RECORD_H

#include <stdbool.h>
#include <stdint.h>

enum { BACKUP_DIR_MAX = 1024 };

/* What the audit has said of a copy. */
enum backup_kind {
    BACKUP_CLEAN,
    BACKUP_VIOLATED,
    BACKUP_UNKNOWN, /* it was not verified */
    BACKUP_KIND_COUNT
};

/* The last backup of a kind. */
struct backup_note {
    char dir[BACKUP_DIR_MAX];
    int64_t at_ms; /* 0: there is none */
};

struct backup_record {
    struct backup_note last[BACKUP_KIND_COUNT];
    int64_t audited_ms; /* 0: none is noted */
};

/* Reads the file. Lines that it does not know are left out; a file that does not exist has none. False: it can't be
 * read, errno says why. */
bool backup_record_read(const char *path, struct backup_record *out);
/* Notes that a whole audit of the site, which began at at_ms, was clean; all other lines stay. False: the file can't be
 * written, errno says why. */
bool backup_record_note_audit(const char *path, int64_t at_ms);

#endif
