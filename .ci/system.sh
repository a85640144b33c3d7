# shellcheck shell=bash
# Sourced by .ci/image and .ci/long-run: clean Debian systems, made of Debian's packages alone.

# make_debian ROOT PACKAGES [OPTIONS...]: the release of this machine, with these packages (separated by commas) and what they need, in the directory ROOT.
make_debian() {
    local root=$1 packages=$2 sources=()
    shift 2
    command -v mmdebstrap >/dev/null || install_packages mmdebstrap
    mapfile -t sources < <(find /etc/apt/sources.list /etc/apt/sources.list.d -name '*.list' -o -name '*.sources' 2>/dev/null)
    mmdebstrap --quiet --variant=minbase --include="$packages" "$@" "$(. /etc/os-release && echo "$VERSION_CODENAME")" "$root" "${sources[@]}"
}

# in_system ROOT SCRIPT [VARIABLES...]: runs a file of bash in the system below ROOT, with this machine's /proc and /dev, and nothing of its environment.
in_system() {
    local root=$1 script=$2
    shift 2
    unshare -m --propagation private bash -euo pipefail -s -- "$root" "$script" "$@" <<'ENTER'
root=$1 script=$2
shift 2
mount --rbind "$root" "$root"
mount --rbind /proc "$root/proc"
mount --rbind /dev "$root/dev"
cp "$script" "$root/run/script"
exec chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin "$@" bash -Eeuo pipefail /run/script </dev/null
ENTER
}
