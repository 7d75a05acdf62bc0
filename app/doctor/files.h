/* The paths of docs/reference/files.md that have a mode, made by the build: lines "PATH MODE OWNER:GROUP". */
#ifndef HB_DOCTOR_FILES_H
#define HB_DOCTOR_FILES_H

extern const char files_owned[];

#endif
