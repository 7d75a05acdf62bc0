# shellcheck shell=bash disable=SC2034,SC2153,SC2154
# What the options leave open: from the earlier setup, then from the operator. A wrong answer is asked for again.

ANSWER=

# ask QUESTION DEFAULT CHECK: sets ANSWER. CHECK ANSWER prints what is wrong with it; nothing when it is right.
ask() {
    local problem
    while true; do
        read -r -p "$1${2:+ [$2]}: " ANSWER </dev/tty || die "no answer"
        ANSWER=${ANSWER:-$2}
        problem=$("$3" "$ANSWER")
        [ -n "$problem" ] || return 0
        say "  $problem"
    done
}

# host_problem NAME: the program knows what base_url may have.
host_problem() {
    local said
    if [[ $1 == *[:/]* ]]; then
        printf "'%s' is not a host name, such as hongbao.example: without https:// and without a port\n" "$1"
    elif ! said=$(HB_BASE_URL=https://$1 hongbao --config /dev/null setting base_url 2>&1); then
        printf "'%s': %s\n" "$1" "${said#*base_url: }"
    fi
}

yes_problem() {
    [[ $1 =~ ^([Yy]([Ee][Ss])?|[Nn][Oo]?)$ ]] || echo 'answer yes or no'
}

# Completes the options.
options_complete() {
    local url
    url=$(setting base_url)
    [[ $url != https://* ]] || HOST=${HOST:-$(url_host "$url")}
    [ -t 0 ] || ASK=
    host_choose
    money_unit_check
    config_fits "$url"
    certificate_choose "$url"
    demo_choose
    backups_choose
}

host_choose() {
    local problem
    if [ -z "$HOST" ]; then
        [ -n "$ASK" ] || die "which name has the site? --host NAME"
        ask 'Name of the site, as browsers see it' "$(hostname -f 2>/dev/null || hostname)" host_problem
        HOST=$ANSWER
    fi
    problem=$(host_problem "$HOST")
    [ -z "$problem" ] || die "$problem"
}

# Dies when the options name no unit of money.
money_unit_check() {
    local name said
    local -a values=()
    [ ${#UNIT_OPTIONS[@]} -gt 0 ] || return 0
    for name in "${UNIT_SETTINGS[@]}"; do
        values+=("HB_${name^^}=$(data_value "$name")")
    done
    said=$(export "${values[@]}" && hongbao --config /dev/null setting unit 2>&1) || die "${said#hongbao: }"
}

# certificate_choose URL
certificate_choose() {
    [ -z "$SELF_SIGNED$CERTIFICATE" ] || return 0
    # The same site goes on with its certificate, also after a removal.
    if [ "$(url_host "$1")" = "$HOST" ]; then
        [ ! -f "$NGINX/sites-available/hongbao" ] || return 0
        ! certificate_recall || return 0
    fi
    [ -n "$ASK" ] || die "which certificate has the site? --certificate FILE --key FILE, or --self-signed"
    ask 'File of the certificate with its chain (empty: a self-signed one, to try the site)' '' \
        certificate_answer_problem
    CERTIFICATE=$ANSWER
    [ -n "$CERTIFICATE" ] || SELF_SIGNED=yes
    [ -n "$SELF_SIGNED" ] || { ask 'File of its key' '' key_problem && KEY=$ANSWER; }
}

certificate_answer_problem() {
    [ -z "$1" ] || certificate_problem "$1"
}

demo_choose() {
    [ -z "$DEMO" ] || return 0
    DEMO=$(setting demo)
    [ -z "$DEMO" ] && [ -n "$ASK" ] || return 0
    say 'With play money all users give themselves as much as they like: to try the site, never beside real money.'
    ask 'Play money?' no yes_problem
    [[ $ANSWER != [Yy]* ]] || DEMO=on
}

# A site that was set up before keeps its timer as it is; one that comes back after a removal, as it was.
backups_choose() {
    if [ -z "$BACKUPS" ] && [ ! -f "$ETC/hongbao.conf" ] && [ -n "$ASK" ]; then
        ask 'A backup every night, into /var/backups/hongbao?' yes yes_problem
        [[ $ANSWER == [Yy]* ]] || BACKUPS=no
        rm -f -- "$STATE/backups-off"
    fi
    [ "$BACKUPS" != no ] || : >"$STATE/backups-off" # also for a setup that has to be repeated
}

# config_fits URL: a configuration that the operator has changed must say what the options and the backup say.
config_fits() {
    local store socket name wrong=
    [ -f "$ETC/hongbao.conf" ] && ! file_is_made "$ETC/hongbao.conf" || return 0
    [ "$(url_host "$1")" = "$HOST" ] || die "$ETC/hongbao.conf is yours: set base_url = https://$HOST there first"
    [ "$DEMO" != on ] || [ "$(setting demo)" = on ] || die "$ETC/hongbao.conf is yours: set demo = on there first"
    for store in redis mysql; do
        socket=${store^^}_SOCKET
        [ -z "${!socket}" ] || [ "$(setting "$store")" = "unix:${!socket}" ] || wrong+=" and $store = unix:${!socket}"
    done
    for name in partitions timezone "${UNIT_SETTINGS[@]}"; do
        # A backup does not change the operator's symbol and names.
        [[ $name != unit_[sn]* ]] || [ -n "${UNIT_OPTIONS[$name]+given}" ] || continue
        [ "$(data_setting "$name")" = "$name = $(setting "$name")" ] || wrong+=" and $(data_setting "$name")"
    done
    [ -z "$wrong" ] || die "$ETC/hongbao.conf is yours: set ${wrong# and } there first"
}
