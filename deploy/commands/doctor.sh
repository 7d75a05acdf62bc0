#!/usr/bin/env bash
# What `hongbao doctor` asks the tools of this machine: systemctl, journalctl, logrotate, openssl, and what it sees of
# nginx's processes. It changes nothing.
#
# doctor.sh [service] [nginx PID_FILE ERROR_LOG] [conf FILE]... [loaded FILE] [host NAME tls|plain]
#     [certificate FILE KEY]... [listen ADDRESS]... [log FILE]...
#   service: this is an installed service. NAME: the host of base_url. The rest is from nginx's files: the file with the
#   number of its master process, its own log ('': none), all files that it includes, certificates with their keys ('':
#   none), the addresses with TLS, and the access logs. loaded: where setup has noted what it had nginx read.
#
# It prints a line for each finding, with tabs between its fields (app/doctor/doctor_script.c reads them):
#   wrong AREA NAME TEXT MEND      unchecked AREA NAME TEXT      fact NAME
set -uo pipefail
export LC_ALL=C PATH="$PATH:/usr/sbin:/sbin"

ANSWER_S_MAX=10
HANDSHAKE_S_MAX=5
DAY_S=86400
DAYS_MIN=14
FAILED_ASKED_MAX=5
SAID_BYTES_MAX=4000
NGINX_LOG_BYTES=1048576 # of the end of its log
START_S_MAX=2           # how much the start of a process, in whole seconds, may be off
SELF_SIGNED_FILE=/etc/hongbao/tls/fullchain.pem # of setup/certificate.sh
SELF_SIGN='hongbao setup --non-interactive --self-signed'

SERVICE=
HOST=
TLS=
AREA=
CERTIFICATES=() # each FILE and behind it its KEY
LISTENS=()
LOGS=()
NGINX_PID_FILE=
NGINX_LOG=
NGINX_LOADED=
NGINX_FILES=()

arguments_read() {
    while [ $# -gt 0 ]; do
        case $1 in
        service) SERVICE=yes && shift ;;
        host) HOST=$2 TLS=$3 && shift 3 ;;
        certificate) CERTIFICATES+=("$2" "$3") && shift 3 ;;
        listen) LISTENS+=("$2") && shift 2 ;;
        log) LOGS+=("$2") && shift 2 ;;
        nginx) NGINX_PID_FILE=$2 NGINX_LOG=$3 && shift 3 ;;
        conf) NGINX_FILES+=("$2") && shift 2 ;;
        loaded) NGINX_LOADED=$2 && shift 2 ;;
        *) exit 2 ;;
        esac
    done
}

# line FIELD...: prints the fields; what would break the line is a blank.
line() {
    local IFS=$'\t'
    local fields=("${@//[$'\t\n\r']/ }")
    printf '%s\n' "${fields[*]}"
}

# wrong NAME TEXT MEND
wrong() {
    line wrong "$AREA" "$@"
}

# unchecked NAME TEXT
unchecked() {
    line unchecked "$AREA" "$@"
}

# ask COMMAND [ARGUMENT...]: runs it, for a limited time.
ask() {
    timeout -k 1 "$ANSWER_S_MAX" "$@" 2>/dev/null
}

# is_late STATUS: whether the command did not end in its time, by the status of `timeout`.
is_late() {
    [ "$1" -eq 124 ] || [ "$1" -eq 137 ]
}

# for_service TEXT OTHER: the mend of an installed service, or of another site.
for_service() {
    if [ -n "$SERVICE" ]; then echo "$1"; else echo "$2"; fi
}

# ---- the units of the service: what is enabled runs, and what runs is enabled ----

# Units by their fault: each list of names begins with a blank.
declare -A FAULTY=([masked]='' [failed]='' [stopped]='' [disabled]='' [old]='')
STOPPED= # the whole service is

# unit_take ID LOAD ACTIVE SUB FILE RELOAD. Units that only others start, as the unit of the backup, are neither enabled nor
# disabled.
unit_take() {
    local fault=
    case $2/$3/$4/$5 in
    masked/*) fault=masked ;;
    */failed/*/* | */*/auto-restart/*) fault=failed ;;
    */inactive/*/enabled) fault=stopped ;;
    */active/*/disabled) fault=disabled ;;
    esac
    [ "$1/$3" != hongbao-backup.timer/active ] || line fact backup-timer
    [ "$6" != yes ] || FAULTY[old]+=" $1"
    if [ "$1" = hongbao.target ]; then
        [ "$3/$5" != inactive/disabled ] || out_of_service_tell
        [ "$fault" != stopped ] || STOPPED=yes
    elif [ "$fault" = stopped ] && [ -n "$STOPPED" ]; then
        fault=
    fi
    [ -z "$fault" ] || FAULTY[$fault]+=" $1"
}

out_of_service_tell() {
    local AREA=service
    wrong out-of-service "the site is out of service, as after \`hongbao setup --remove\` or a removal of the package:\
 it has its money, secrets and settings, but hongbao.target neither runs nor is enabled" 'hongbao setup'
}

# unit_says UNIT: the last line in its journal that is not systemd's own, which says more.
unit_says() {
    ask journalctl -q -u "$1" -n 20 -o cat --no-pager | grep -a -v -e '^$' -e ': Main process exited, ' \
        -e ': Control process exited, ' -e ': Failed with result ' -e 'Failed to start ' -e ': Scheduled restart job' \
        -e 'Stopped ' -e 'Starting ' -e ': Consumed ' -e ': Deactivated ' -e 'Stopping ' | tail -n 1 |
        head -c "$SAID_BYTES_MAX"
}

# fault_tell FAULT NAME TEXT COMMAND AFTER [QUOTES]: the mend is COMMAND, the units, and AFTER.
fault_tell() {
    local units=${FAULTY[$1]}
    [ -z "$units" ] || wrong "$2" "$3:$units${6-}" "$4$units$5"
}

units_check() {
    local AREA=units answer name value quotes='' asked=0 said unit why='these units are enabled, but do not run'
    local -A state=()
    if ! answer=$(ask systemctl show --all -p Id,LoadState,ActiveState,SubState,UnitFileState,NeedDaemonReload \
        hongbao.target 'hongbao-*'); then
        unchecked units 'systemctl does not tell their states'
        return
    fi
    while IFS='=' read -r name value; do # lines NAME=VALUE, an empty one behind each unit; hongbao.target is the first
        if [ -n "$name" ]; then
            state[$name]=$value
            continue
        fi
        [ -z "${state[Id]-}" ] || unit_take "${state[Id]}" "${state[LoadState]-}" "${state[ActiveState]-}" \
            "${state[SubState]-}" "${state[UnitFileState]-}" "${state[NeedDaemonReload]-}"
        state=()
    done <<<"$answer"$'\n\n'
    for unit in ${FAULTY[failed]}; do
        ((asked++ < FAILED_ASKED_MAX)) || break
        said=$(unit_says "$unit")
        [ -z "$said" ] || quotes+="; $unit says: $said"
    done
    [ -z "$STOPPED" ] || { line fact stopped && why='the service is stopped'; }
    fault_tell masked unit-masked 'these units are masked, so they never start' 'systemctl unmask' ''
    fault_tell failed unit-failed 'these units ended with an error' 'systemctl restart' \
        "; journalctl -u 'hongbao-*' -n 50 --no-pager" "$quotes"
    fault_tell stopped unit-stopped "$why" 'systemctl start' ''
    fault_tell disabled unit-disabled 'these units do not start with the machine' 'systemctl enable --now' ''
    [ -z "${FAULTY[old]}" ] ||
        wrong unit-old-file "the files of these units have changed since systemd read them:${FAULTY[old]}" \
            "systemctl daemon-reload; systemctl try-restart 'hongbao-*@*.service' hongbao-settle.service"
}

# ---- nginx: whether it runs what its files say ----

# started_s PID: prints when the process was started, in seconds of this machine's clock.
started_s() {
    local line up ticks
    local -a fields
    line=$(cat "/proc/$1/stat") && read -r up _ </proc/uptime && ticks=$(getconf CLK_TCK) || return
    read -ra fields <<<"${line##*) }" # from the third one on; the 22nd is the start, in ticks since the boot
    echo $((EPOCHSECONDS - ${up%.*} + fields[19] / ticks))
}

# loaded_s MASTER: prints when nginx has last read its files, or later: the start of its newest process. A reload starts
# new ones.
loaded_s() {
    local child at newest=
    local -a children=()
    read -ra children <"/proc/$1/task/$1/children"
    for child in ${children[@]+"${children[@]}"}; do
        at=$(started_s "$child") || continue
        ((at <= ${newest:-0})) || newest=$at
    done
    [ -n "$newest" ] && echo "$newest"
}

# refusal MASTER SINCE_S: prints the last error of the master in its log, if it is not older. A log that can't be opened
# anew after its rotation is no refusal.
refusal() {
    local file said='' at
    for file in "$NGINX_LOG.1" "$NGINX_LOG"; do
        said+=$(tail -c "$NGINX_LOG_BYTES" -- "$file" | grep -aF "[emerg] $1#" |
            grep -aEv ': open\(\) "[^"]*" failed \([^)]*\)$')$'\n'
    done
    said=$(grep -a . <<<"$said" | tail -n 1)
    at=$(env -u TZ date -d "${said:0:19}" +%s) && ((at >= $2)) && echo "${said:20}"
}

# changed_s FILE: prints when it has changed, to compare it with nginx's start. Files of the package have the time of its
# build, so those that differ from what nginx last read count from when they were unpacked. Files of other packages have
# no time that says anything.
changed_s() {
    local sum
    sum=$(sha256sum <"$1") || return
    case $(readlink -f -- "$1") in
    /usr/share/hongbao/*) [ -s "$NGINX_LOADED" ] && ! grep -q "^${sum%% *}" "$NGINX_LOADED" && stat -Lc %Z -- "$1" ;;
    /usr/*) return 1 ;;
    *) grep -qs "^${sum%% *}" "$NGINX_LOADED" || stat -Lc %Y -- "$1" ;;
    esac
}

nginx_check() {
    local AREA=nginx master since said file at changed='' mend='nginx -t && systemctl restart nginx'
    read -r master <"$NGINX_PID_FILE" && since=$(loaded_s "$master") || return # reported as nginx-port
    if [ -n "$NGINX_LOG" ] && said=$(refusal "$master" "$since"); then
        wrong nginx-old-file "nginx refused the last reload, so it runs an older configuration than its files have. It\
 said: $said" "$(for_service "$mend # a reload does not help where nginx -t finds nothing" 'restart nginx')"
        return
    fi
    for file in ${NGINX_FILES[@]+"${NGINX_FILES[@]}"}; do
        at=$(changed_s "$file") && ((at > since + START_S_MAX && at <= EPOCHSECONDS)) && changed+=" $file"
    done
    [ -z "$changed" ] || wrong nginx-old-file "nginx has not read these files since they changed:$changed" \
        "nginx -t && systemctl reload nginx # if the finding stays: systemctl restart nginx"
}

# ---- the rotation of the access logs, which have addresses of people ----

logs_check() {
    local AREA=logs log known
    local why='so the addresses of visitors in it are kept for ever (docs/how-to/logs.md)'
    if ! command -v logrotate >/dev/null; then
        wrong log-rotation "nothing rotates ${LOGS[0]}, $why: there is no /usr/sbin/logrotate" \
            'apt-get install logrotate'
        return
    fi
    known=$(timeout -k 1 "$ANSWER_S_MAX" logrotate -d /etc/logrotate.conf 2>&1)
    if is_late $?; then
        unchecked logs 'logrotate does not tell what it rotates'
        return
    fi
    for log in "${LOGS[@]}"; do
        # It names files that exist.
        [ ! -e "$log" ] || grep -qFx -- "considering log $log" <<<"$known" ||
            wrong log-rotation "no file in /etc/logrotate.d has $log, $why" \
                "sed 's|@LOG@|$log|' /usr/share/hongbao/logrotate.in >>/etc/logrotate.d/hongbao"
    done
    ask systemctl is-enabled --quiet logrotate.timer && return
    if is_late $?; then
        unchecked logs 'systemctl does not tell whether logrotate.timer is enabled'
    else
        wrong log-rotation "logrotate.timer is not enabled, so nothing rotates ${LOGS[0]}, $why" \
            'systemctl unmask logrotate.timer && systemctl enable --now logrotate.timer'
    fi
}

# ---- the certificates: the files that nginx's configuration names, and what nginx serves ----

PEM=''          # the certificate that is looked at
FINGERPRINTS='' # of all that can be read, each a line

# x509 OPTION...: asks about PEM.
x509() {
    ask openssl x509 -noout "$@" <<<"$PEM"
}

# replacement FILE: makes the self-signed certificate and its key anew, or names others.
replacement() {
    if [ -z "$SERVICE" ]; then
        echo "nginx -s reload # once $1 and its key are right"
    elif [ "$1" = "$SELF_SIGNED_FILE" ]; then
        echo "$SELF_SIGN"
    else
        echo 'hongbao setup --certificate FILE --key FILE # the certificate with its chain, and its key'
    fi
}

# renewal FILE: the command that gives the site a valid certificate.
renewal() {
    case $SERVICE$1 in
    /*) echo "nginx -s reload # once $1 is renewed" ;;
    "yes$SELF_SIGNED_FILE") echo "$SELF_SIGN" ;;
    yes/etc/letsencrypt/*) echo 'certbot renew; systemctl reload nginx' ;;
    *) echo "systemctl reload nginx # once $1 is renewed" ;;
    esac
}

# dates_check FILE
dates_check() {
    local from to now=$EPOCHSECONDS mend
    mend=$(renewal "$1")
    from=$(x509 -startdate) && to=$(x509 -enddate) || return
    from=$(date -d "${from#*=}" +%s) && to=$(date -d "${to#*=}" +%s) || return
    if ((to < now)); then
        wrong certificate-expired "the certificate $1 expired $(((now - to) / DAY_S)) days ago" "$mend"
    elif (((to - now) / DAY_S < DAYS_MIN)); then
        wrong certificate-expires "the certificate $1 expires in $(((to - now) / DAY_S)) days" "$mend"
    fi
    ((from <= now)) ||
        wrong certificate-early "the certificate $1 is not valid for another $(((from - now) / DAY_S)) days, or the\
 clock is wrong" "$mend"
}

# is_trusted OPTION...: whether the authorities of this machine, or of the options, have signed PEM, whatever its days
# are.
is_trusted() {
    ask openssl verify -no_check_time "$@" <<<"$PEM" >/dev/null
}

# signer_check FILE: the certificate of `hongbao setup --self-signed` was asked for, to try the site.
signer_check() {
    [ "$1" != "$SELF_SIGNED_FILE" ] && is_trusted -check_ss_sig -trusted <(echo "$PEM") &&
        ! is_trusted -partial_chain &&
        wrong certificate-self-signed \
            "the certificate $1 is signed by itself: browsers warn of it, and some programs refuse it" \
            "$(for_service 'hongbao setup --certificate FILE --key FILE # of an authority (docs/how-to/tls.md)' \
                'request a certificate of an authority (docs/how-to/tls.md)')"
}

# key_check KEY FILE: the private key of the certificate.
key_check() {
    local mode public mend
    mode=$(stat -Lc %a -- "$1" 2>/dev/null)
    ((8#${mode:-0} & 7)) &&
        wrong certificate-key-mode "everybody on this machine may read the private key $1" "chmod 0600 $1"
    mend=$(replacement "$2")
    if ! public=$(ask openssl pkey -inform PEM -in "$1" -passin pass: -pubout </dev/null); then
        [ "$EUID" -eq 0 ] || mend='sudo hongbao doctor'
        wrong certificate-key "the private key $1 can't be read" "$mend"
    elif [ -n "$PEM" ] && [ "$public" != "$(x509 -pubkey)" ]; then
        wrong certificate-key "the private key $1 is not that of the certificate $2" "$mend"
    fi
}

# target_set LISTEN: TARGET is where s_client finds it on this machine; an address of all interfaces, or a name, means the
# loopback interface.
target_set() {
    local address=${1%% *} host port
    case $address in
    unix:*) TARGET=(-unix "${address#unix:}") && return ;;
    *[!0-9]*) [[ $address =~ ^(\[.*\]|[^:]*)(:([0-9]+))?$ ]] && host=${BASH_REMATCH[1]} port=${BASH_REMATCH[3]:-80} ;;
    *) host='' port=$address ;;
    esac
    case ${host-} in
    '[::]') host='[::1]' ;;
    '' | 0.0.0.0 | *[!0-9.]*) [[ ${host-} == \[* ]] || host=127.0.0.1 ;;
    esac
    TARGET=(-connect "$host:${port:-80}")
}

# served_check LISTEN. False: nginx serves another certificate than its files have.
served_check() {
    local TARGET answer code print why
    target_set "$1"
    answer=$(timeout -k 1 "$HANDSHAKE_S_MAX" openssl s_client "${TARGET[@]}" -servername "$HOST" </dev/null 2>&1)
    code=$?
    if print=$(openssl x509 -noout -fingerprint -sha256 <<<"$answer" 2>/dev/null); then
        [ -n "$FINGERPRINTS" ] && ! grep -qFx -- "$print" <<<"$FINGERPRINTS" || return 0
        wrong certificate-served \
            "nginx still serves an old certificate for $HOST (listen $1): its files have another one" \
            "$(for_service 'systemctl reload nginx' 'nginx -s reload')"
        return 1
    fi
    why=$(sed -n 's/.*:system library:[^:]*:\([^:]*\):.*/\1/p;T;q' <<<"$answer")
    is_late "$code" && why='Connection timed out'
    [ "$why" = 'Connection refused' ] || # reported as nginx-port
        unchecked certificate-served "no TLS handshake for $HOST with nginx (listen $1): ${why:-Protocol error}"
}

certificates_check() {
    local AREA=certificates i file listen named='' check=-checkhost
    [[ ! $HOST =~ ^[0-9.]+$|: ]] || check=-checkip # of a name this one says that it matches
    if ! command -v openssl >/dev/null; then
        unchecked certificates 'there is no openssl, which looks at them'
        return
    fi
    for ((i = 0; i < ${#CERTIFICATES[@]}; i += 2)); do
        file=${CERTIFICATES[i]}
        if PEM=$(ask openssl x509 -inform PEM -in "$file" </dev/null); then
            FINGERPRINTS+=$(x509 -fingerprint -sha256)$'\n'
            dates_check "$file"
            signer_check "$file"
            [[ $(x509 "$check" "$HOST") != *' does match certificate'* ]] || named=yes
        else
            wrong certificate-missing "the certificate $file can't be read" "$(replacement "$file")"
        fi
        [ -z "${CERTIFICATES[i + 1]}" ] || key_check "${CERTIFICATES[i + 1]}" "$file"
    done
    [ -z "$PEM" ] || [ "$TLS" != tls ] || [ -n "$named" ] ||
        wrong certificate-host "no certificate is for $HOST, the host of base_url: browsers refuse it" \
            "$(replacement "$file")"
    for listen in ${LISTENS[@]+"${LISTENS[@]}"}; do
        served_check "$listen" || break # reported once, not also for IPv6
    done
}

main() {
    arguments_read "$@"
    [ -z "$SERVICE" ] || units_check
    [ -z "$NGINX_PID_FILE" ] || nginx_check 2>/dev/null
    [ ${#LOGS[@]} -eq 0 ] || logs_check
    [ $((${#CERTIFICATES[@]} + ${#LISTENS[@]})) -eq 0 ] || certificates_check
}

main "$@"
exit 0
