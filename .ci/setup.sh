# Sourced by the launcher and by ./verify: the JDK, Debian's packages, the build.

say() { printf 'clairfs: %s\n' "$*" >&2; }

# Sets JAVA_HOME to a JDK of 25 or newer: JAVA_HOME itself, then what is under /usr/lib/jvm.
find_jdk() {
    local home version
    for home in "${JAVA_HOME:-}" /usr/lib/jvm/*; do
        [ -x "$home/bin/javac" ] || continue
        version=$(sed -n 's/^JAVA_VERSION="\([0-9]*\).*/\1/p' "$home/release" 2>/dev/null || true)
        if [ "${version:-0}" -ge 25 ]; then
            export JAVA_HOME=$home
            return
        fi
    done
    say "a JDK of 25 or newer is needed: set JAVA_HOME to one, or install it under /usr/lib/jvm (https://adoptium.net has packages)"
    exit 1
}

# Not grep -q: it closes the pipe early, and pipefail would take that for a failure.
has_libfuse() { PATH=$PATH:/usr/sbin:/sbin ldconfig -p | grep 'libfuse\.so\.2' >/dev/null; }

# Debian's packages that are missing for: build, run, or test.
missing_packages() {
    local use=$1
    case $use in
        build) command -v mvn >/dev/null || echo maven ;;
        run | demo | test)
            command -v fusermount >/dev/null || echo fuse
            has_libfuse || echo libfuse2
            ;;
    esac
    case $use in
        demo | test)
            /usr/bin/python3 -c 'import torch' 2>/dev/null || echo python3-torch
            /usr/bin/python3 -c 'import torchvision' 2>/dev/null || echo python3-torchvision
            ;;
    esac
}

install_packages() {
    say "installing system packages: $*"
    if ! DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" >/dev/null 2>&1; then
        apt-get update -qq >/dev/null
        DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" >/dev/null
    fi
}

# Makes sure of the packages for a use; as root on a Debian-like system they are installed, elsewhere named.
need_packages() {
    local use=$1 command=${2:-} packages
    if [ "$use" = run ]; then
        case $command in
            demo) use=demo ;;
            mount | umount | bench) ;;
            *) return 0 ;;
        esac
    fi
    mapfile -t packages < <(missing_packages "$use")
    [ ${#packages[@]} -gt 0 ] || return 0
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
        if ! install_packages "${packages[@]}"; then
            say "could not install ${packages[*]}: install them by hand and try again"
            exit 1
        fi
    elif [ "$use" = demo ] && command -v fusermount >/dev/null && has_libfuse; then
        say "PyTorch is not installed (packages ${packages[*]}): the demo uses plain Python instead"
    else
        say "missing system packages: ${packages[*]}; install them as root: apt-get install ${packages[*]}"
        exit 1
    fi
}

build() {
    say "building (the first time fetches the libraries)"
    if ! (cd "$1" && mvn -q -B -ntp -DskipTests package >tools-build.log 2>&1); then
        tail -n 30 "$1/tools-build.log" >&2
        say "the build failed; the whole log: $1/tools-build.log"
        exit 1
    fi
    rm -f "$1/tools-build.log"
}
