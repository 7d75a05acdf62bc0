# shellcheck shell=bash disable=SC2034,SC2154
# What the options leave open: from the earlier setup, then from the operator.

# setting NAME: prints the value in the configuration; nothing without one.
setting() {
    [ ! -f "$ETC/hongbao.conf" ] || sed -n "s/^$1 *= *//p" "$ETC/hongbao.conf" | tail -n 1
}

# ask QUESTION DEFAULT: prints the answer.
ask() {
    local answer
    read -r -p "$1${2:+ [$2]}: " answer </dev/tty
    printf '%s\n' "${answer:-$2}"
}

# Completes the options: from the earlier setup, then from the operator.
options_complete() {
    local url answer
    url=$(setting base_url)
    HOST=${HOST:-${url#https://}}
    [ ! -t 0 ] && ASK=
    if [ -z "$HOST" ]; then
        [ -n "$ASK" ] || die "which name has the site? --host NAME"
        HOST=$(ask 'Name of the site, as browsers see it' "$(hostname -f 2>/dev/null || hostname)")
    fi
    config_fits "$url"
    [[ $HOST =~ ^[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?$ ]] || die "'$HOST' is not a host name"
    [ -z "$SELF_SIGNED$CERTIFICATE" ] || return 0
    # The same site goes on with its certificate.
    [ ! -f "$NGINX/sites-available/hongbao" ] || [ "$url" != "https://$HOST" ] || return 0
    [ -n "$ASK" ] || die "which certificate has the site? --certificate FILE --key FILE, or --self-signed"
    answer=$(ask 'File of the certificate with its chain; empty: a self-signed one' '')
    if [ -z "$answer" ]; then
        SELF_SIGNED=yes
    else
        CERTIFICATE=$answer
        KEY=$(ask 'File of its key' '')
    fi
}

# config_fits URL: a configuration that the operator has changed must say what the options say.
config_fits() {
    [ -f "$ETC/hongbao.conf" ] && ! file_is_made "$ETC/hongbao.conf" || return 0
    [ "$1" = "https://$HOST" ] || die "$ETC/hongbao.conf is yours: set base_url = https://$HOST there first"
    [ "$DEMO" = off ] || [ "$(setting demo)" = on ] || die "$ETC/hongbao.conf is yours: set demo = on there first"
}
