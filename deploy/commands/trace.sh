#!/usr/bin/env bash
# hongbao trace REQUEST_ID [FOLDER...]: prints every line about a request, in the order of time: lines of the processes,
# and of nginx's access log (docs/reference/log.md). It looks in the files *.log* of the folders, rotated and compressed
# ones too, by default in /var/log/nginx, and in the journal where systemd runs. It needs only the right to read them,
# which the group adm has.
set -euo pipefail
exec 3<&- # the settings

usage() {
    echo "usage: hongbao trace REQUEST_ID [FOLDER...]     (REQUEST_ID: 32 hex digits, as an error page shows it)" >&2
    exit 2
}

# Says what this user may not read, so that a line which is not found is not taken for one that does not exist.
unreadable_tell() {
    local file
    while IFS= read -r file; do
        echo "hongbao trace: you may not read $file; members of the group adm read logs" >&2
    done < <(find "$@" -maxdepth 1 ! -readable \( -type d -o -name '*.log*' \) 2>/dev/null || true)
    for file in /run/log/journal/*/system.journal /var/log/journal/*/system.journal; do
        [ ! -e "$file" ] || [ -r "$file" ] ||
            echo "hongbao trace: you may not read the journal; members of the groups adm and systemd-journal do" >&2
    done
}

# lines_find ID FOLDER...
lines_find() {
    local id=$1
    shift
    find "$@" -maxdepth 1 -type f -readable -name '*.log*' -exec zgrep -hF -- "$id" {} + 2>/dev/null || true
    [ ! -d /run/systemd/system ] || journalctl -q --no-pager -o cat -u 'hongbao*' --grep "$id" || true
}

# line_time LINE: prints its time in milliseconds. nginx has whole seconds, and writes its line at the end of the request.
line_time() {
    local time fraction=999
    case $1 in
    *'"time":"'*) time=${1#*'"time":"'} && time=${time%%\"*} ;;
    *ts=*)
        time=${1#*ts=} && time=${time%% *}
        fraction=${time#*.} && fraction=${fraction%Z}
        ;;
    *) return ;;
    esac
    printf '%s%03d\n' "$(date -d "$time" +%s)" "$((10#$fraction))"
}

main() {
    local folder line lines
    [[ ${1-} =~ ^[0-9A-Fa-f]{32}$ ]] || usage
    set -- "${1,,}" "${@:2}" # logs have small letters
    for folder in "${@:2}"; do
        # find takes words that begin like these as its expression, for example -delete
        case $folder in '' | [-'(),!']*) usage ;; esac
    done
    [ $# -gt 1 ] || set -- "$1" /var/log/nginx
    for folder in "${@:2}"; do
        [ -e "$folder" ] || echo "hongbao trace: there is no folder $folder" >&2
    done
    unreadable_tell "${@:2}"
    lines=$(lines_find "$@")
    if [ -z "$lines" ]; then
        echo "hongbao trace: no line has this id in ${*:2}$([ ! -d /run/systemd/system ] || echo ' or the journal')" >&2
        exit 1
    fi
    while IFS= read -r line; do
        printf '%s %s\n' "$(line_time "$line")" "$line"
    done <<<"$lines" | sort -s -n -k 1,1 | cut -d ' ' -f 2-
}

main "$@"
exit
