# shellcheck shell=bash
# Background processes: VAR/run/NAME.pid has the pid of the leader of a process group. Pids are reused, so a process
# counts as ours only while its working directory is in VAR.

# process_stat PID: sets stat_state and stat_group; false when the process does not exist.
process_stat() {
    local line
    local -a fields
    { read -r line <"/proc/$1/stat"; } 2>/dev/null || return 1
    read -r -a fields <<<"${line##*) }"
    stat_state=${fields[0]}
    stat_group=${fields[2]}
}

# process_is_ours PID: whether it is alive (a zombie is not) and of this instance.
process_is_ours() {
    process_alive "$1" || return 1
    local folder
    if folder=$(readlink "/proc/$1/cwd" 2>/dev/null); then
        [[ $folder == "$VAR" || $folder == "$VAR"/* ]]
    else
        process_is_closed "$1"
    fi
}

# process_is_closed PID: whether it is a process of the program and of this user. Only root may look into it
# (app/io/sandbox.h), so its folder is unknown: its group, which is recorded, has to be enough.
process_is_closed() {
    local key value name=
    while read -r key value _; do
        case $key in
        Name:) name=$value ;;
        Uid:) [ "$name" = hongbao ] && [ "$value" = "$(id -u)" ] && return 0 || return 1 ;;
        esac
    done 2>/dev/null <"/proc/$1/status" || true
    return 1
}

# process_recorded NAME: prints the pid in the pid file, whether or not the process still exists.
process_recorded() {
    local pid
    { read -r pid <"$VAR/run/$1.pid"; } 2>/dev/null || return 1
    [[ $pid =~ ^[1-9][0-9]*$ ]] || return 1
    printf '%s\n' "$pid"
}

process_running() {
    local pid
    pid=$(process_recorded "$1") && process_is_ours "$pid"
}

# process_group_alive GROUP: whether any process of ours is left in the group.
process_group_alive() {
    local entry
    ! process_is_ours "$1" || return 0 # its leader
    kill -s 0 -- "-$1" 2>/dev/null || return 1
    for entry in /proc/[0-9]*; do
        if process_stat "${entry#/proc/}" && [ "$stat_group" = "$1" ] && process_is_ours "${entry#/proc/}"; then
            return 0
        fi
    done
    return 1
}

process_group_ended() {
    ! process_group_alive "$1"
}

# process_spawn NAME COMMAND...: starts the command with a log and in a session of its own, so that neither Ctrl-C nor a
# closed terminal reaches it. The new process writes its pid file before it executes the command.
process_spawn() {
    local name=$1 log=$VAR/log/$1.log
    shift
    if [ -f "$log" ] && [ "$(stat -c %s -- "$log")" -gt $((16 << 20)) ]; then
        mv -- "$log" "$log.1"
    fi
    (
        cd -- "$VAR" || exit
        # shellcheck disable=SC2016
        exec setsid bash -c 'echo "$$" >"$0" && exec "$@"' "$VAR/run/$name.pid" "$@" </dev/null >>"$log" 2>&1 9>&-
    ) &
    # shellcheck disable=SC2034
    process_spawned=$!
}

# Waits for the pid files of the processes that this shell has spawned: an interrupt may come before they are written.
process_all_recorded() {
    local pid
    for pid in $(jobs -p); do
        wait_until 5 process_is_recorded_or_ended "$pid" || true
    done
}

process_is_recorded_or_ended() {
    ! process_alive "$1" || grep -qsx "$1" "$VAR"/run/*.pid
}

# process_children PID: prints the pids of its direct children.
process_children() {
    cat "/proc/$1/task/$1/children" 2>/dev/null
}

# process_alive PID: whether it exists and is no zombie; of any owner.
process_alive() {
    process_stat "$1" || return 1
    case $stat_state in Z | X) return 1 ;; esac
}

# process_wait_ready NAME PID SECONDS COMMAND...: waits until the command succeeds; false, with the log shown, when the
# process ends first or SECONDS * PATIENCE have passed.
process_wait_ready() {
    local name=$1 pid=$2 deadline=$(($(now_ms) + $3 * 1000 * PATIENCE))
    shift 3
    while process_alive "$pid"; do
        ! "$@" || return 0
        if [ "$(now_ms)" -ge "$deadline" ]; then
            say "dev: $name did not get ready in time"
            process_show_log "$name"
            return 1
        fi
        sleep 0.05
    done
    say "dev: $name ended while it started"
    process_show_log "$name"
    return 1
}

process_show_log() {
    say "--- the end of $VAR/log/$1.log"
    tail -n 20 -- "$VAR/log/$1.log" >&2 || true
    say "---"
}

# process_end NAME SIGNAL SECONDS: sends the signal to the leader, which ends its children (if the leader has ended
# already, TERM to the group), then TERM to the whole group, then KILL. Returns when no process is left.
process_end() {
    local name=$1 signal=$2 seconds=$3 group
    group=$(process_recorded "$name") || return 0
    if process_group_alive "$group" && ! process_signal "$group" "$signal" "$seconds" &&
        ! process_signal "$group" TERM 2; then
        say "dev: $name does not end, killing it"
        kill -s KILL -- "-$group" 2>/dev/null || true
        wait_until 10 process_group_ended "$group" || die "$name (process group $group) can't be killed"
    fi
    rm -f -- "$VAR/run/$name.pid"
}

# process_signal GROUP SIGNAL SECONDS: false when a process of the group is left after SECONDS. Sends the signal again
# each second: MariaDB loses a signal that comes while it starts. A stopped process needs CONT to receive it; CONT comes
# before, as the leak check of a process that ends would wait for ever when it came then.
process_signal() {
    local group=$1 signal=$2 seconds=$3
    kill -s CONT -- "-$group" 2>/dev/null || true
    for ((; seconds > 0; seconds--)); do
        if process_is_ours "$group"; then
            kill -s "$signal" "$group" 2>/dev/null || true
        else
            kill -s TERM -- "-$group" 2>/dev/null || true
        fi
        ! wait_until 1 process_group_ended "$group" || return 0
    done
    return 1
}
