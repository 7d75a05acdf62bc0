#!/usr/bin/env bash
# static-copy.sh FROM TO: copies the folder static/ to the one that nginx serves, before the program that links to the
# files starts. Each file also gets the name with the hash of its content that pages link (app/web/assets.h): it never
# changes, so browsers keep it. Names of earlier contents stay for a month, for pages that were loaded before. Texts are
# compressed once, beside the files. A name always has a whole file behind it, because nginx may be serving.
set -euo pipefail

EARLIER_DAYS=30
declare -A linked

# put FROM NAME: gives the target folder this file, and compressed when it is a text.
put() {
    install -p -m 644 -- "$1" "$to/.new"
    if [[ $2 =~ \.(css|js|svg)$ ]]; then
        gzip -9nc -- "$1" >"$to/.new.gz"
        touch -r "$1" -- "$to/.new.gz"
        chmod 644 -- "$to/.new.gz"
        mv -- "$to/.new.gz" "$to/$2.gz"
    fi
    mv -- "$to/.new" "$to/$2"
}

copy() {
    local hash name=$1
    if [[ $name != */* && $name == ?*.* ]]; then
        hash=$(sha256sum <"$from/$name")
        linked[${name%.*}.${hash:0:10}.${name##*.}]=yes
        [ -f "$to/${name%.*}.${hash:0:10}.${name##*.}" ] || put "$from/$name" "${name%.*}.${hash:0:10}.${name##*.}"
    fi
    cmp -s -- "$from/$name" "$to/$name" || put "$from/$name" "$name"
}

[ $# -eq 2 ] || { sed -n '2,5s/^# //p' "${BASH_SOURCE[0]}" >&2 && exit 2; }
from=$1 to=$2
mkdir -p -- "$to"
chmod 755 -- "$to"
while read -r name; do
    [[ $name != */* ]] || install -d -m 755 -- "$to/${name%/*}"
    copy "$name"
done < <(cd -- "$from" && find . -type f -printf '%P\n')
while read -r name; do
    [ -n "${linked[${name%.gz}]:-}" ] || rm -f -- "$to/$name"
done < <(cd -- "$to" && find . -maxdepth 1 -ctime "+$EARLIER_DAYS" -regextype posix-extended \
    -regex '.*\.[0-9a-f]{10}\.[a-z0-9]+(\.gz)?' -printf '%P\n')
