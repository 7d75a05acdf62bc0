# shellcheck shell=bash disable=SC2034,SC2154
# The options of the command.

HOST='' CERTIFICATE='' KEY='' SELF_SIGNED='' REDIS_SOCKET='' MYSQL_SOCKET='' OWN_STORES='' RESTORE=''
DEMO='' REPLACE='' BACKUPS='' ASK=yes ACTION=install
UNIT_SETTINGS=(unit unit_decimals unit_symbol unit_name_zh unit_name_en)
declare -A UNIT_OPTIONS=() # the given values

options_read() {
    local path given=0
    while [ $# -gt 0 ]; do
        [ "$1" = --non-interactive ] || given=$((given + 1))
        case $1 in
        --host | --certificate | --key | --redis-socket | --mysql-socket | --restore | --unit | --unit-*)
            [ $# -ge 2 ] || die "$1 needs a value"
            ;;
        esac
        case $1 in
        --host) HOST=$2 && shift ;;
        --certificate) CERTIFICATE=$2 && shift ;;
        --key) KEY=$2 && shift ;;
        --redis-socket) REDIS_SOCKET=$2 && shift ;;
        --mysql-socket) MYSQL_SOCKET=$2 && shift ;;
        --unit) UNIT_OPTIONS[unit]=$2 && shift ;;
        --unit-decimals) UNIT_OPTIONS[unit_decimals]=$2 && shift ;;
        --unit-symbol) UNIT_OPTIONS[unit_symbol]=$2 && shift ;;
        --unit-name-zh) UNIT_OPTIONS[unit_name_zh]=$2 && shift ;;
        --unit-name-en) UNIT_OPTIONS[unit_name_en]=$2 && shift ;;
        --own-stores) OWN_STORES=yes ;;
        --restore) RESTORE=${2%/} && shift ;;
        --replace) REPLACE=yes ;;
        --self-signed) SELF_SIGNED=yes ;;
        --demo) DEMO=on ;;
        --no-backups) BACKUPS=no ;;
        --non-interactive) ASK= ;;
        --remove) ACTION=remove ;;
        --upgrade) ACTION=upgrade ;;
        *) say "hongbao setup: there is no option '$1'; hongbao setup --help lists them" && exit 2 ;;
        esac
        shift
    done
    [ "$ACTION" = install ] || [ "$given" -eq 1 ] || die "--$ACTION takes no other option"
    [ -z "$CERTIFICATE$KEY" ] || { [ -n "$CERTIFICATE" ] && [ -n "$KEY" ]; } ||
        die "--certificate and --key belong together"
    [ -z "$SELF_SIGNED" ] || [ -z "$CERTIFICATE" ] || die "--self-signed and --certificate exclude each other"
    for path in "$REDIS_SOCKET" "$MYSQL_SOCKET"; do
        [[ -z $path || $path == /* ]] || die "the path of a socket begins with /: $path"
    done
    [ -z "$RESTORE" ] || [ -f "$RESTORE/manifest" ] || die "$RESTORE is not a backup: it has no file manifest"
    [ -z "$RESTORE" ] || [ ${#UNIT_OPTIONS[@]} -eq 0 ] || die "--restore takes the unit of money from the backup"
    [ -z "$REPLACE" ] || [ -n "$RESTORE" ] || die "--replace belongs to --restore"
    if [ -n "$OWN_STORES" ]; then
        [ -z "$REDIS_SOCKET$MYSQL_SOCKET" ] || die "--own-stores excludes --redis-socket and --mysql-socket"
        REDIS_SOCKET=$REDIS_SOCKET_OWN MYSQL_SOCKET=$MYSQL_SOCKET_OWN
    fi
}
