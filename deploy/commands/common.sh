# shellcheck shell=bash disable=SC2034
# What the commands of this folder share. `hongbao COMMAND` executes COMMAND.sh (app/ops/command_script.h): HONGBAO is
# the program, and descriptor 3 has the settings, a line name=value each, so no password is in an argument or in the
# environment. WORK is a private folder, which is removed at the end.

declare -A SETTING
COMMAND=${0##*/}
COMMAND=${COMMAND%.sh}
PROGRAM="hongbao $COMMAND" # the name in messages
WORK=

settings_read() {
    local line
    while IFS= read -r line; do
        SETTING[${line%%=*}]=${line#*=}
    done <&3
    exec 3<&-
}

# work_start: makes WORK. work_end is to be called at exit.
work_start() {
    WORK=$(mktemp -d "${TMPDIR:-/var/tmp}/hongbao-$COMMAND.XXXXXX") || die "no private folder; is the disk full?"
}

work_end() {
    private_stop
    [ -z "$WORK" ] || rm -rf -- "$WORK"
}

time_now() {
    date -u +%Y-%m-%dT%H:%M:%S.%6NZ
}

# space_left FOLDER: a hint for errors that a full disk can cause.
space_left() {
    printf '%s MB are free in %s' "$(df -Pm -- "$1" | awk 'NR == 2 { print $4 }')" "$1"
}
