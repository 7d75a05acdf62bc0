#!/bin/bash
# The version of these sources, computed here alone: CMake and ./dev package run it.
#
#   version.sh                    prints the version
#   version.sh --time             prints its time, in seconds since 1970
#   version.sh --c FILE [VERSION] writes it, or VERSION, as a C file; a file that is right already stays untouched
#
# BASE is the version in CMakeLists.txt: the next release. Times are UTC. The versions, in the order of dpkg
# (--compare-versions):
#
#   BASE~TIME.gCOMMIT                   a commit, with its own time: a later commit has a later version
#   BASE~TIME.gCOMMIT.changedTIME       with changes; the time of the newest changed file
#   BASE~TIME.files                     files of no known commit; the time of the newest file
#   BASE                                a commit with the tag BASE or vBASE, without changes
#
# An archive made by git knows its commit from commit.txt. Two commits of one second have no order.
set -euo pipefail

ROOT=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd -P)
COMMIT_LETTERS=12
unset GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE # set in a hook; they may name another repository

# A checkout may belong to another user.
version_git() {
    git --no-optional-locks -c safe.directory='*' -c core.fsmonitor=false -C "$ROOT" "$@"
}

version_time_text() {
    date -u -d "@$1" +%Y%m%d.%H%M%S
}

# version_of_commit HASH TIME TAG...: sets VERSION and TIME.
version_of_commit() {
    local tag
    TIME=$2
    VERSION=$BASE~$(version_time_text "$2").g${1:0:COMMIT_LETTERS}
    for tag in "${@:3}"; do
        [ "$tag" != "$BASE" ] && [ "$tag" != "v$BASE" ] || VERSION=$BASE
    done
}

# Prints the time of the newest changed file; of a removed one the time of its folder. Nothing: no file has changed.
version_changed_time() {
    local entry path newest='' time
    while IFS= read -r -d '' entry; do
        path=$ROOT/${entry:3}
        [ -e "$path" ] || [ -L "$path" ] || path=$(dirname -- "$path")
        time=$(stat -c %Y -- "$path" 2>/dev/null) || time=0
        [ "${newest:-0}" -gt "$time" ] || newest=$time
    done < <(version_git status --porcelain -z --no-renames --untracked-files=all)
    printf '%s' "$newest"
}

version_of_checkout() {
    local commit time changed
    local -a tags
    [ -e "$ROOT/.git" ] && # not the repository of a folder above
        commit=$(version_git rev-parse --verify --quiet HEAD 2>/dev/null) || return
    time=$(version_git log -1 --no-show-signature --format=%ct "$commit")
    mapfile -t tags < <(version_git tag --points-at "$commit")
    changed=$(version_changed_time)
    [ -z "$changed" ] || tags=()
    version_of_commit "$commit" "$time" "${tags[@]}"
    if [ -n "$changed" ]; then
        VERSION+=.changed$(version_time_text "$changed")
        [ "$changed" -lt "$TIME" ] || TIME=$changed
    fi
}

# commit.txt is HASH TIME and the names of the commit, after `git archive` has written into it.
version_of_archive() {
    local hash time names
    local -a tags
    read -r hash time names 2>/dev/null <"$ROOT/deploy/commit.txt" || return
    [[ $hash =~ ^[0-9a-f]{40,64}$ && $time =~ ^[0-9]+$ ]] || return
    names=${names//tag: /}
    IFS=', ' read -r -a tags <<<"$names"
    version_of_commit "$hash" "$time" "${tags[@]}"
}

version_of_files() {
    TIME=$(cd -- "$ROOT" && find . \( -path ./build -o -path ./var -o -path './.git*' -o -name node_modules \) -prune \
        -o -type f -printf '%T@\n' | sort -n | tail -n 1)
    TIME=${TIME%.*}
    VERSION=$BASE~$(version_time_text "$TIME").files
}

# version_write FILE VERSION
version_write() {
    local text
    printf -v text '#include "commands/version.h"\n\nconst char VERSION[] = "%s";' "$2"
    [ "$(cat -- "$1" 2>/dev/null)" != "$text" ] || return 0
    printf '%s\n' "$text" >"$1.new"
    mv -- "$1.new" "$1"
}

if [ "${1:-}" = --c ] && [ -n "${3:-}" ]; then
    version_write "$2" "$3"
    exit
fi
BASE=$(sed -n 's/^project(hongbao VERSION \([0-9.]*\).*/\1/p' "$ROOT/CMakeLists.txt")
[ -n "$BASE" ] || {
    printf 'version.sh: no version in %s/CMakeLists.txt\n' "$ROOT" >&2
    exit 1
}
version_of_checkout || version_of_archive || version_of_files
case ${1:-} in
--c) version_write "$2" "$VERSION" ;;
--time) printf '%s\n' "$TIME" ;;
*) printf '%s\n' "$VERSION" ;;
esac
