# shellcheck shell=bash disable=SC2034,SC2154
# The options of the command.

HOST='' CERTIFICATE='' KEY='' SELF_SIGNED='' REDIS_SOCKET='' MYSQL_SOCKET='' DEMO='' ASK=yes ACTION=install

usage() {
    cat <<'TEXT'
usage: hongbao setup [OPTION...]

Without options it asks. It may run again; it keeps secrets, money, and files that you have changed.

  --host NAME          the name of the site: https://NAME
  --self-signed        makes a certificate that browsers warn of, to try the site
  --certificate FILE   the certificate with its chain, and
  --key FILE             its key, both in PEM
  --demo               play money: users may deposit what they like
  --redis-socket PATH  a Redis that exists already, of which the site becomes the only user, and
  --mysql-socket PATH  a MariaDB that exists already; setup changes no settings of these
  --non-interactive    asks nothing; what is missing is an error
  --remove             takes the site out of service; money, secrets and settings stay, for the next setup
  --upgrade            what the package runs after an upgrade: tables, rights, files, and a restart in place
TEXT
}

options_read() {
    local path
    while [ $# -gt 0 ]; do
        case $1 in
        --host | --certificate | --key | --redis-socket | --mysql-socket) [ $# -ge 2 ] || die "$1 needs a value" ;;
        esac
        case $1 in
        --host) HOST=$2 && shift ;;
        --certificate) CERTIFICATE=$2 && shift ;;
        --key) KEY=$2 && shift ;;
        --redis-socket) REDIS_SOCKET=$2 && shift ;;
        --mysql-socket) MYSQL_SOCKET=$2 && shift ;;
        --self-signed) SELF_SIGNED=yes ;;
        --demo) DEMO=on ;;
        --non-interactive) ASK= ;;
        --remove) ACTION=remove ;;
        --upgrade) ACTION=upgrade ;;
        -h | --help) usage && exit ;;
        *) say "hongbao setup: there is no option '$1'" && usage >&2 && exit 2 ;;
        esac
        shift
    done
    [ -z "$CERTIFICATE$KEY" ] || { [ -n "$CERTIFICATE" ] && [ -n "$KEY" ]; } ||
        die "--certificate and --key belong together"
    [ -z "$SELF_SIGNED" ] || [ -z "$CERTIFICATE" ] || die "--self-signed and --certificate exclude each other"
    for path in "$REDIS_SOCKET" "$MYSQL_SOCKET"; do
        [[ -z $path || $path == /* ]] || die "the path of a socket begins with /: $path"
    done
}
