# shellcheck shell=bash
# Messages and small helpers, for ./dev and for the scripts of deploy/commands. PROGRAM is the name that messages begin
# with.

say() {
    printf '%s\n' "$*" >&2
}

die() {
    say "$PROGRAM: $*"
    exit 1
}

# Milliseconds since 1970.
now_ms() {
    local us=${EPOCHREALTIME/[.,]/}
    printf '%s\n' "${us%???}"
}

PATIENCE=${HB_TEST_PATIENCE:-1} # the tests' factor (tests/CMakeLists.txt): a busy machine is many times slower

# wait_until SECONDS COMMAND...: polls until the command succeeds; false when it does not within SECONDS * PATIENCE.
wait_until() {
    local deadline=$(($(now_ms) + $1 * 1000 * PATIENCE))
    shift
    until "$@"; do
        [ "$(now_ms)" -lt "$deadline" ] || return 1
        sleep 0.05
    done
}

# random_hex BYTES
random_hex() {
    od -An -N"$1" -tx1 /dev/urandom | tr -d ' \n'
}

# template_print TEMPLATE NAME=VALUE...: prints TEMPLATE with each @NAME@ replaced by VALUE.
template_print() {
    local text pair
    text=$(<"$1")
    shift
    for pair; do
        text=${text//"@${pair%%=*}@"/"${pair#*=}"}
    done
    printf '%s\n' "$text"
}

# template_fill TEMPLATE FILE NAME=VALUE...: writes it to FILE.
template_fill() {
    local file=$2
    template_print "$1" "${@:3}" >"$file.new"
    mv -- "$file.new" "$file"
}

cpu_count() {
    nproc 2>/dev/null || echo 1
}

# redis_program server|cli|check-rdb: prints the name of this program of Redis, or of Valkey where Redis has none.
redis_program() {
    local name=redis
    command -v "redis-$1" >/dev/null || ! command -v "valkey-$1" >/dev/null || name=valkey
    printf '%s\n' "$name-$1"
}

# store_text NAME ADDRESS SAID: prints a sentence about a store that does not do what its client asked, with what to do.
# SAID is what the client has printed.
store_text() {
    local why verb=refuses manual=/usr/share/doc/hongbao/docs
    [ -d "$manual" ] || manual=docs
    why=$(store_reason "$3")
    case $why in
    '' | Can\'t\ connect* | Lost\ connection* | *[Cc]onnection\ refused* | No\ such\ file* | *timed\ out* | Server\ closed* | \
        *unknown*host* | Name\ or\ service*) verb='does not answer' ;;
    esac
    printf '%s on %s %s: %s. hongbao doctor says what mends it; when its data is lost: %s/how-to/lost.md\n' "$1" "$2" \
        "$verb" "${why:-without a word}" "$manual"
}

# store_reason SAID: prints the last line of it without what its client puts before the reason.
store_reason() {
    tail -n 1 <<<"$1" | sed -E 's/^.*Got error: [0-9]+: "(.*)" when .*/\1/
        s/^(ERROR|(mysqldump|mariadb-dump): Error) [0-9]+( \([A-Z0-9]+\))?( at line [0-9]+)?: //; s/^Could not connect to Redis at .*: //
        s/^AUTH failed: //; s/[.: ]*$//'
}
