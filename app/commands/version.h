/* The version of the program. The build writes its C file by deploy/version.sh: only the program links it, so a new
 * commit compiles one file and links one program. */
#ifndef HB_COMMANDS_VERSION_H
#define HB_COMMANDS_VERSION_H

extern const char VERSION[];

#endif
