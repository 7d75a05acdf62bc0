#!/usr/bin/env bash
# arm64.sh STEP: the steps of arm64.test.js, in the sources on a Debian of their own, whose packages they change.
#   install   the program for this machine's processor, which the servers of tests run; then what is needed for arm64's
#   test      builds for arm64 by the preset of this name, and runs unit and integration tests under qemu-user
#   kernel    runs on a kernel of arm64's what qemu-user can't: the filter of system calls, a restart in place, the
#             program of the package
#   package   builds the package for arm64
set -euo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.."
export DEBIAN_FRONTEND=noninteractive HB_PACKAGES=installed # the libraries for both processors exclude each other

LIBRARIES=/usr/lib/aarch64-linux-gnu
# Programs for these processors start only where the kernel knows qemu; these two tests start some themselves. And the
# last two are for a kernel.
NOT_HERE='^unit\.(template_check_finds_problems|mustache_readme|test_io_process|test_io_sandbox|test_main_filter)$'
KERNEL_TESTS=(test_io_process test_io_sandbox)
VM=build/arm64-kernel

packages_of() {
    awk -v group="$1" '$2 == group { print $1 }' deploy/packages.txt
}

arm64_install() {
    local -a wanted=(libcmocka-dev:arm64 busybox-static:arm64 debhelper)
    HB_PACKAGES='' HB_BUILD=release ./dev hongbao version
    mapfile -t -O "${#wanted[@]}" wanted < <(packages_of arm64 && packages_of run | sed -n '/^libc6-dev$/d; s/-dev$/&:arm64/p')
    dpkg --add-architecture arm64
    apt-get -qq update
    apt-get -qq install -y --no-install-recommends "${wanted[@]}"
}

arm64_test() {
    cmake --preset arm64 -DHB_SERVERS_PROGRAM="$PWD/build/release/hongbao"
    cmake --build build/arm64
    ctest --test-dir build/arm64 --output-on-failure -j "$(nproc)" -L '^(unit|integration)$' -LE long -E "$NOT_HERE"
}

# copy_libraries FOLDER PROGRAM...: copies what the programs need of LIBRARIES, and what that needs.
copy_libraries() {
    local folder=$1 name
    shift
    mkdir -p -- "$folder$LIBRARIES" "$folder/lib"
    cp -L -- "$LIBRARIES/ld-linux-aarch64.so.1" "$folder/lib/"
    while [ $# -gt 0 ]; do
        for name in $(aarch64-linux-gnu-objdump -p "$1" | awk '$1 == "NEEDED" { print $2 }'); do
            [ ! -e "$folder$LIBRARIES/$name" ] || continue
            cp -L -- "$LIBRARIES/$name" "$folder$LIBRARIES/"
            set -- "$@" "$folder$LIBRARIES/$name"
        done
        shift
    done
}

# A machine in memory: a kernel of Debian's, and a folder with the programs, from which the kernel starts init.
arm64_kernel() {
    local kernel
    rm -rf -- "$VM"
    mkdir -p -- "$VM"/root/{bin,dev,proc,tmp}
    kernel=$(apt-cache depends linux-image-cloud-arm64:arm64 | awk '$1 == "Depends:" && /linux-image/ { print $2; exit }')
    (cd -- "$VM" && apt-get -qq download "$kernel" && dpkg-deb --fsys-tarfile linux-image-*.deb |
        tar -xf - --wildcards './boot/vmlinuz-*')
    cp -- /usr/bin/busybox "$VM/root/bin/"
    cp -- tests/release/arm64_init "$VM/root/init"
    cp -- "${KERNEL_TESTS[@]/#/build/arm64/tests/unit/}" "$VM/root/tmp/"
    dpkg-deb --fsys-tarfile build/package/hongbao_*_arm64.deb | tar -xf - -C "$VM/root" ./usr/bin
    copy_libraries "$VM/root" "$VM"/root/tmp/* "$VM/root/usr/bin/hongbao"
    (cd -- "$VM/root" && find . | cpio --quiet -o -H newc | gzip -1) >"$VM/root.cpio.gz"
    qemu-system-aarch64 -M virt -cpu max -smp 2 -m 1024 -nographic -no-reboot -nic none -kernel "$VM"/boot/vmlinuz-* \
        -initrd "$VM/root.cpio.gz" -append 'console=ttyAMA0 quiet panic=-1' </dev/null | tr -d '\r'
}

arm64_package() {
    ./dev package arm64
}

case ${1:-} in
install | test | kernel | package) "arm64_$1" ;;
*) sed -n '2,/^set /{/^#/s/^# \?//p}' "$0" >&2 && exit 2 ;;
esac
