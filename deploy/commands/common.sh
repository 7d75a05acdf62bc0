# shellcheck shell=bash disable=SC2034
# What the commands of this folder share. `hongbao COMMAND` executes COMMAND.sh (app/commands/script.h): HONGBAO is
# the program, and descriptor 3 has the settings, a line name=value each, so no password is in an argument or in the
# environment. WORK is a private folder, which is removed at the end; the next command removes the folder of a killed
# one.

declare -A SETTING
COMMAND=${0##*/}
COMMAND=${COMMAND%.sh}
PROGRAM="hongbao $COMMAND" # the name in messages
WORK=
# Before a program that must not outlive this command, however that ends. It is for direct children: of a subshell only
# the program that the subshell executes in its place.
WITH_PARENT=(setpriv --pdeathsig=KILL)

settings_read() {
    local line
    while IFS= read -r line; do
        SETTING[${line%%=*}]=${line#*=}
    done <&3
    exec 3<&-
}

# work_start: makes WORK, and holds the lock of its file `lock` as long as this command or a program of it runs. work_end
# is to be called at exit.
work_start() {
    local lock
    work_sweep
    until [ -n "$WORK" ]; do
        WORK=$(mktemp -d "${TMPDIR:-/var/tmp}/hongbao-$COMMAND.XXXXXX") || die "no private folder; is the disk full?"
        : >"$WORK/lock" || die "no private folder; is the disk full?"
        exec {lock}<"$WORK/lock"
        # The sweep of another command may have taken the lock first: it removes the folder.
        if ! flock -n "$lock" || [ ! -e "$WORK/lock" ]; then
            exec {lock}<&-
            WORK=
        fi
    done
}

# Removes the folders of this user's commands that were killed. A folder without the file has no lock yet.
work_sweep() {
    local lock
    for lock in "${TMPDIR:-/var/tmp}/hongbao-$COMMAND".??????/lock; do
        if [ -O "$lock" ] && [ ! -L "${lock%/lock}" ]; then
            flock -n "$lock" rm -rf -- "${lock%/lock}" || true
        fi
    done
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
