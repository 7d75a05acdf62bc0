# shellcheck shell=bash disable=SC2034,SC2154
# The files and links that setup makes. SUMS has their checksums, so that a file which somebody has changed is known and
# stays as it is.

# file_put FILE MODE OWNER: writes stdin to the file, unless somebody else has made or changed it. Sets changed=yes when
# the content is new.
file_put() {
    local new sum
    changed=
    file_is_plain "$1" || die "$1 is $(stat -L -c 'a %F' -- "$1"), not a file: find out who made it, then remove it"
    # Not beside the file: the user redis or valkey may write in its folder, and could put a symbolic link there.
    new=$(mktemp "$ETC/.setup.XXXXXX")
    cat >"$new"
    chmod "$2" -- "$new" && chown "$3" -- "$new"
    sum=$(file_sum "$new")
    if [ -e "$1" ] && ! file_is_made "$1"; then
        [ "$sum" = "$(file_sum "$1")" ] || say "kept: $1, which is not as setup wrote it"
        rm -f -- "$new"
        return
    fi
    [ -e "$1" ] && [ "$sum" = "$(file_sum "$1")" ] || changed=yes
    printf '%s  %s\n' "$sum" "$1" >>"$SUMS" # before the file is there: an interrupted setup knows it again
    mv -T -- "$new" "$1"
    sed -i "\\,  $1\$,{/^$sum/!d}" "$SUMS"
}

# Whether the file is as this script wrote it.
file_is_made() {
    [ -f "$SUMS" ] && grep -qxF -- "$(file_sum "$1")  $1" "$SUMS"
}

# Whether it is a regular file, a link to one, or nothing. The user redis or valkey may put anything in its folder.
file_is_plain() {
    [ ! -e "$1" ] || [ -f "$1" ]
}

# file_sum FILE: prints its checksum.
file_sum() {
    local sum
    sum=$(file_print "$1" | sha256sum) || die "can't read $1"
    printf '%s\n' "${sum%% *}"
}

# file_print FILE: without waiting: a FIFO may have taken the place of the file since it was checked.
file_print() {
    dd if="$1" iflag=nonblock bs=64K status=none
}

sums_forget() {
    [ ! -f "$SUMS" ] || sed -i "\\,  $1\$,d" "$SUMS"
}

# file_remove FILE…: removes what this script has made.
file_remove() {
    local file
    for file; do
        if [ -f "$file" ] && file_is_made "$file"; then
            rm -f -- "$file"
            sums_forget "$file"
        elif [ -e "$file" ]; then
            say "kept: $file, which is not as setup wrote it"
        fi
    done
}

# link_put TARGET LINK
link_put() {
    [ ! -e "$2" ] || [ "$(readlink -- "$2" || true)" = "$1" ] || die "$2 exists, and is not ours"
    ln -sfn -- "$1" "$2"
}

# link_remove TARGET LINK
link_remove() {
    [ "$(readlink -- "$2" || true)" != "$1" ] || rm -f -- "$2"
}
