# shellcheck shell=bash disable=SC2034,SC2154
# The certificate of the site and its key.

# Sets CERTIFICATE and KEY; to nothing when the site keeps the certificate that it has. One of the operator was checked.
certificate_make() {
    if [ -n "$CERTIFICATE" ]; then
        # Not what a symbolic link points to: certbot renews by changing the link.
        CERTIFICATE=$(realpath -s -- "$CERTIFICATE")
        KEY=$(realpath -s -- "$KEY")
    elif [ -n "$SELF_SIGNED" ]; then
        CERTIFICATE=$ETC/tls/fullchain.pem KEY=$ETC/tls/privkey.pem
        certificate_fits || certificate_sign
    fi
}

# Keeps the paths of the site's certificate and key, for a later setup.
certificate_remember() {
    local site=$NGINX/sites-available/hongbao
    [ ! -f "$site" ] || sed -n 's/^ *ssl_certificate\(_key\)\? *\(.*\);.*/\2/p' "$site" >"$STATE/certificate"
}

# Sets CERTIFICATE and KEY to those that were kept. False when there are none, or they are not usable any more.
certificate_recall() {
    local -a kept=()
    [ ! -f "$STATE/certificate" ] || mapfile -t kept <"$STATE/certificate"
    [ ${#kept[@]} -eq 2 ] || return 1
    CERTIFICATE=${kept[0]} KEY=${kept[1]}
    [ -n "$(certificate_problem "$CERTIFICATE")$(key_problem "$KEY")" ] || return 0
    CERTIFICATE='' KEY=''
    return 1
}

# Dies when nginx or every browser would refuse them. It only reports a name that is missing: behind a proxy that may be
# right.
certificate_check() {
    local problem
    problem=$(certificate_problem "$CERTIFICATE")
    problem=${problem:-$(key_problem "$KEY")}
    [ -z "$problem" ] || die "$problem"
    certificate_names_host ||
        say "The certificate $CERTIFICATE is not for $HOST: browsers will refuse the site."
}

# certificate_problem FILE: prints what is wrong with it; nothing when it is right.
certificate_problem() {
    if ! file_readable "$1"; then
        echo "can't read the certificate $1: $(file_unreadable_reason "$1")"
    elif ! openssl x509 -in "$1" -noout 2>/dev/null; then
        echo "$1 is no certificate in PEM"
    elif ! openssl x509 -in "$1" -noout -checkend 0 >/dev/null; then
        echo "the certificate $1 has expired: $(openssl x509 -in "$1" -noout -enddate | cut -d = -f 2)"
    elif ! certificate_begun "$1"; then
        echo "the certificate $1 is not valid before $(openssl x509 -in "$1" -noout -startdate | cut -d = -f 2)"
    else
        certificate_chain_problem "$1"
    fi
}

# certificate_chain_problem FILE: prints what is wrong with the certificates behind the first one, whose order is free: an
# issuer may have several. One whose issuer is unknown here may be of a private authority and stand alone, but an authority
# that says where its own certificate can be fetched expects it in the file: browsers of phones don't fetch it.
certificate_chain_problem() {
    case $(openssl storeutl -noout -text -certs "$1" 2>/dev/null | awk '
        /^ *Issuer: / { n++; sub(/^ *Issuer: */, ""); issuer[n] = $0 }
        /^ *Subject: / { sub(/^ *Subject: */, ""); subject[n] = $0; has[$0] = 1 }
        /CA Issuers - URI:/ && n == 1 { is_fetched = 1 }
        END {
            for (i = 2; i <= n; i++)
                if (issuer[i] == subject[1] && subject[i] != subject[1]) { print "later"; exit }
            if (!(issuer[1] in has) && (n > 1 || is_fetched)) print "lacks"
        }') in
    later) echo "the certificates in $1 are in the wrong order: first the one of the site, then those that signed it" ;;
    lacks)
        openssl verify "$1" >/dev/null 2>&1 ||
            echo "$1 lacks the certificate of its issuer: use the file with the chain, often called fullchain.pem"
        ;;
    esac
}

# certificate_begun FILE: whether its first day has come.
certificate_begun() {
    local start
    start=$(openssl x509 -in "$1" -noout -startdate) && [ "$(date -d "${start#*=}" +%s)" -le "$(date +%s)" ]
}

# file_readable FILE: whether it is a file that can be read; a FIFO is not opened.
file_readable() {
    [ -f "$1" ] && head -c 1 -- "$1" >/dev/null 2>&1
}

# file_unreadable_reason FILE
file_unreadable_reason() {
    local reason
    if [ -e "$1" ] && ! [ -f "$1" ]; then
        echo 'it is no file'
    else
        reason=$(LC_ALL=C head -c 1 -- "$1" 2>&1 >/dev/null) || true
        echo "${reason##*: }"
    fi
}

# key_problem FILE: the same, of the key of CERTIFICATE.
key_problem() {
    local public
    if ! file_readable "$1"; then
        echo "can't read the key $1: $(file_unreadable_reason "$1")"
    elif ! public=$(openssl pkey -in "$1" -pubout -passin pass: 2>/dev/null); then
        echo "$1 is no private key in PEM, or it has a passphrase, for which nginx can't ask"
    elif [ "$public" != "$(openssl x509 -in "$CERTIFICATE" -noout -pubkey)" ]; then
        echo "$1 is not the key of $CERTIFICATE"
    fi
}

certificate_names_host() {
    openssl x509 -in "$CERTIFICATE" -noout "-check$(host_is_ip && echo ip || echo host)" "$HOST" 2>/dev/null |
        grep -q 'does match'
}

# Whether the self-signed certificate is there with its key, for this host, valid now and for another month.
certificate_fits() {
    certificate_names_host && certificate_begun "$CERTIFICATE" &&
        openssl x509 -in "$CERTIFICATE" -noout -checkend 2592000 >/dev/null && [ -z "$(key_problem "$KEY")" ]
}

host_is_ip() {
    [[ $HOST =~ ^[0-9.]+$ ]]
}

# Browsers look at subjectAltName; CN has room for 64 letters.
certificate_sign() {
    local said
    install -d -m 700 "$ETC/tls"
    said=$(openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 365 -subj "/CN=${HOST:0:64}" \
        -addext "subjectAltName=$(host_is_ip && echo IP || echo DNS):$HOST" \
        -keyout "$KEY" -out "$CERTIFICATE" 2>&1) || die "no certificate can be made: $said"
}
