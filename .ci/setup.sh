# shellcheck shell=bash
# Sourced by the launcher and by ./verify: the JDK, Debian's packages, the build.

# For JVMs of tests: they compile quickly, a fifth less processor time.
# shellcheck disable=SC2034
QUICK_JVM_FLAGS='-XX:TieredStopAtLevel=1 -XX:+UseSerialGC'

say() { printf 'clairfs: %s\n' "$*" >&2; }

# Whether a directory is an unpacked package: it brings its Java runtime and is never built.
is_packaged() { [ -x "$1/runtime/bin/java" ]; }

# Whether a JDK is one of 25 or newer. Starts no program: every command of the launcher asks this.
is_new_enough() {
    local line
    while IFS= read -r line; do
        [[ $line =~ ^JAVA_VERSION=\"([0-9]+) ]] && [ "${BASH_REMATCH[1]}" -ge 25 ] && return
    done 2>/dev/null <"$1/release"
    return 1
}

# Sets JAVA_HOME to a JDK of 25 or newer: JAVA_HOME itself, then what is under /usr/lib/jvm. A package has its own.
find_jdk() {
    local home
    if is_packaged "$here"; then
        export JAVA_HOME=$here/runtime
        return
    fi
    for home in "${JAVA_HOME:-}" /usr/lib/jvm/*; do
        if [ -x "$home/bin/javac" ] && is_new_enough "$home"; then
            export JAVA_HOME=$home
            return
        fi
    done
    say "a JDK of 25 or newer is needed: set JAVA_HOME to one, or install it under /usr/lib/jvm (https://adoptium.net has packages)"
    exit 1
}

# Java takes names of files in the encoding of the locale; they are UTF-8 whatever the locale is.
use_utf8() {
    local letter=$'\xc3\xa4' # two bytes; one character where the locale is UTF-8 and is installed, whatever its name says
    [ ${#letter} = 1 ] || export LC_ALL=C.UTF-8
}

# Not grep -q: it closes the pipe early, and pipefail would take that for a failure.
has_library() { PATH=$PATH:/usr/sbin:/sbin ldconfig -p | grep -F "$1" >/dev/null; }
has_libfuse() { has_library libfuse.so.2; }

# Whether Python has a module. Looks only: to import PyTorch takes seconds.
has_module() { /usr/bin/python3 -c 'import importlib.util, sys; sys.exit(importlib.util.find_spec(sys.argv[1]) is None)' "$1" 2>/dev/null; }

# Ubuntu calls it by another name than Debian.
turbojpeg_package() {
    if grep '^ID=ubuntu' /etc/os-release >/dev/null 2>&1; then echo libturbojpeg; else echo libturbojpeg0; fi
}

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
    if [ "$use" = test ]; then
        command -v fio >/dev/null || echo fio
        command -v gcc >/dev/null || printf "%s\n" gcc libc6-dev
    fi
    case $use in
        test)
            PATH=$PATH:/usr/sbin:/sbin command -v tc >/dev/null || echo iproute2
            command -v nsenter >/dev/null || echo util-linux
            [ -x /bin/kill ] || echo procps
            has_library libturbojpeg.so.0 || turbojpeg_package
            has_module PIL || echo python3-pil
            ;;
    esac
    case $use in
        demo | test)
            has_module torch || echo python3-torch
            has_module torchvision || echo python3-torchvision
            ;;
    esac
}

install_packages() {
    say "installing system packages: $*"
    local install=(env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends -o DPkg::Lock::Timeout=300)
    if ! "${install[@]}" "$@" >/dev/null 2>&1 </dev/null; then
        apt-get update -qq >/dev/null </dev/null
        "${install[@]}" "$@" >/dev/null </dev/null
    fi
}

# Makes sure of the packages for a use; as root on a Debian-like system they are installed, elsewhere named.
need_packages() {
    local use=$1 command=${2:-} packages
    if [ "$use" = run ]; then
        case $command in
            demo) [[ " $* " = *" --plain "* ]] || use=demo ;;
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
    elif [[ $use = demo || $use = test ]] && command -v fusermount >/dev/null && has_libfuse; then
        say "PyTorch is not installed (packages ${packages[*]}): the $use does without"
    else
        say "missing system packages: ${packages[*]}; install them as root: apt-get install ${packages[*]}"
        exit 1
    fi
}

# Whether the program is there and newer than all that it is made of.
is_built() {
    local here=$1
    [ -e "$here/target/program/begun" ] && [ -z "$(find "$here"/{.mvn,pom.xml} "$here"/{cache,fs,peer,gpu-feeder,tools}/{pom.xml,src/main} \
        -newer "$here/target/program/begun" -print -quit)" ]
}

# Maven keeps libraries in the user's home, the one in the list of users; a user who has none keeps them elsewhere.
use_repository() {
    local home
    home=$(getent passwd "$(id -u)" | cut -d: -f6) || home=
    home=${home:-${HOME:-/}}
    if ! mkdir -p "$home/.m2/repository" 2>/dev/null || ! [ -w "$home/.m2/repository" ]; then
        export MAVEN_OPTS="${MAVEN_OPTS:-} -Dmaven.repo.local=/tmp/clairfs-m2-$(id -u)"
        say "$home cannot be written: Maven's libraries are kept in /tmp/clairfs-m2-$(id -u)"
    fi
}

need_writable() {
    if ! mkdir -p "$1/target" 2>/dev/null || ! [ -w "$1/target" ]; then
        say "there is something to build, but this user may not write to $1: copy it, or build it as its owner"
        exit 1
    fi
}

# What every JVM of the launcher is started with.
jvm_flags=(--enable-native-access=ALL-UNNAMED --sun-misc-unsafe-memory-access=allow -ea:io.clairfs... -XX:+UseCompactObjectHeaders)

# What a mount's own process is started with beside that: a JVM that is quiet while there is nothing to do, what a member of a group needs, and
# messages of the JVM in the log.
daemon_flags=(-XX:+UnlockDiagnosticVMOptions -XX:-G1UseConcRefinement -XX:AsyncDeflationInterval=2000 -XX:MinHeapFreeRatio=10 -XX:MaxHeapFreeRatio=30 -Dhazelcast.logging.type=slf4j -Dio.netty.noUnsafe=true -XX:+DisplayVMOutputToStderr)

# How the C library keeps memory for a mount's samples: see JavaCommand.
allocation=glibc.malloc.hugetlb=1:glibc.malloc.arena_max=1:glibc.malloc.top_pad=67108864:glibc.malloc.mmap_threshold=33554432

# How long the launcher waits for a mount, seconds; its process has bounds of its own, shorter ones.
longest_start_s=150

# What a JVM that ends soon is started with beside that.
short_flags=(-XX:TieredStopAtLevel=1 -XX:+UseSerialGC)

# How long the preparation of a quick start may take. It takes 15 to 30 s where nothing else runs.
longest_training_s=180

# Keeps the classes of a small group loaded and linked in a file, and what the compiler learned of its reads, which saves more than half of a mount's
# start. Loading all of it would take as long as a short command itself, so that has a file of its own, which saves more than half of its time.
# A program without them, or with those of another JDK, runs all the same. $2 is what to remove for another try.
make_startup_cache() {
    local at record_commands
    record_commands=("$JAVA_HOME/bin/java" "${jvm_flags[@]}" "${short_flags[@]}" -XX:AOTCacheOutput="$1/command.aot" -cp "$(<"$1/class-path")"
        io.clairfs.tools.cli.training.CommandTraining)
    mkdir "$1/training"
    "$JAVA_HOME/bin/java" "${jvm_flags[@]}" -XX:+UseSerialGC -XX:AOTCacheOutput="$1/startup.aot" -cp "$(<"$1/class-path")" \
        io.clairfs.tools.cli.training.StartupTraining "$1/training" "$longest_training_s" "${record_commands[@]}" \
        >/dev/null 2>&1 </dev/null || rm -f "$1/startup.aot"
    [ -e "$1/command.aot" ] || "${record_commands[@]}" "$1/training" >/dev/null 2>&1 </dev/null || rm -f "$1/command.aot"
    [ -e "$1/startup.aot" ] || say "a quick start could not be prepared within $longest_training_s s, so each mount takes a second longer; to try again: rm -r '$2'"
    for at in "$1"/training/*; do # the mounts of a run that took too long
        fusermount -uz "$at" 2>/dev/null || true
    done
    rm -rf --one-file-system "$1/training" 2>/dev/null || true
}

# All jars of a directory, as Java takes them.
class_path() { (IFS=: && jars=("$1"/*.jar) && printf '%s' "${jars[*]}"); }

# Whether the cache of a package is that of the place where it lies.
is_prepared() { [ "$(cat "$1/class-path" 2>/dev/null)" = "$(class_path "$1")" ]; }

# What a package still needs at the place where it was unpacked, at its first use: the cache of a quick start, which knows the jars by their paths.
prepare_package() {
    local program=$1 fresh
    [ -w "$program" ] || return 0
    ! is_prepared "$program" || return 0
    exec 9>"$program/preparing.lock" # commands that begin together, also on other nodes
    flock -n 9 2>/dev/null || { say "waiting for another first start" && flock 9; } || true # a filesystem may have no locks
    if is_prepared "$program"; then
        exec 9>&-
        return 0
    fi
    say "preparing the first start (once)"
    fresh=$(mktemp -d "$program/.preparing-XXXXXX")
    class_path "$program" >"$fresh/class-path"
    make_startup_cache "$fresh" "$program/class-path"
    rm -f "$program"/*.aot
    mv "$fresh"/* "$program"
    rmdir "$fresh"
    exec 9>&-
}

# What a build does, by its log: one of the modules, or what comes after them.
build_step() {
    sed -n -e 's|^\[INFO\] Building clairfs-\([a-z-]*\) .*\[\([0-9]*\)/\([0-9]*\)\]$|building \1 (\2 of \3)|p' -e 's/^clairfs: //p' "$1" | tail -n 1
}

# Shows that in one line of the terminal, until it is ended or this script is gone.
show_steps() {
    local begun=$SECONDS
    while kill -0 "$$" 2>/dev/null; do
        printf '\r\033[Kclairfs: %s, %d s' "$(build_step "$1")" $((SECONDS - begun)) >&2
        sleep 0.5
    done
}

# Makes the program of a checkout in a new directory. Its steps go to a log.
make_program() {
    local here=$1 fresh=$2
    echo "clairfs: building"
    rm -rf "$here/tools/target/unchecked/lib"
    (cd "$here" && mvn -B -ntp -Dstyle.color=never -Dmaven.test.skip=true -Dbuild.name=target/unchecked package </dev/null) || return
    cp "$here"/tools/target/unchecked/clairfs-tools-*.jar "$here"/tools/target/unchecked/lib/*.jar "$fresh" || return
    chmod 755 "$fresh"
    echo "clairfs: preparing a quick start"
    class_path "$fresh" >"$fresh/class-path"
    "$JAVA_HOME/bin/java" "${short_flags[@]}" -cp "$(<"$fresh/class-path")" io.clairfs.tools.cli.CacheableJars "$fresh" || true
}

# Whether a mount runs a program, also one on another machine or in another container: its process holds a lock (see ProgramLock).
is_locked() { [ -e "$1/begun" ] && ! flock -n "$1/begun" true 2>/dev/null; }

# Removes the programs of former builds that no process runs. A mount's process is started again from its own if it dies.
remove_unused() {
    local each
    for each in "$1"/target/program-*; do
        [ "$each" = "$2" ] || is_locked "$each" || grep -qsF -- "/${each##*/}/" /proc/[0-9]*/cmdline || rm -rf -- "$each" || true
    done
}

# Builds, one at a time. Each build lies in a directory of its own: running mounts keep theirs, jars and all, until they end.
build() {
    local here=$1 log=$1/target/build.log fresh shown='' code=0
    need_writable "$here"
    exec 9>"$here/target/build.lock"
    flock -n 9 || { say "waiting for another build of this checkout" && flock 9; }
    if ! is_built "$here"; then
        say "building (the first time fetches the libraries)"
        fresh=$(mktemp -d "$here/target/program-XXXXXX")
        touch "$fresh/begun"
        use_repository
        : >"$log"
        if [ -t 2 ]; then
            show_steps "$log" 9>&- &
            shown=$!
        fi
        make_program "$here" "$fresh" >"$log" 2>&1 || code=$?
        if [ "$code" = 0 ]; then
            make_startup_cache "$fresh" "$fresh"
        fi
        if [ -n "$shown" ]; then
            kill "$shown" 2>/dev/null || true
            wait "$shown" 2>/dev/null || true
            printf '\r\033[K' >&2
        fi
        if [ "$code" != 0 ]; then
            rm -r "$fresh"
            { grep '^\[ERROR\]' "$log" || tail -n 20 "$log"; } | sed -n '1,12p' >&2
            say "the build failed; the whole log: $log"
            exit 1
        fi
        ln -sfn "${fresh##*/}" "$here/target/program"
        remove_unused "$here" "$fresh"
    fi
    exec 9>&-
}

# Removes what the checker of concurrent calls leaves in /tmp for each JVM: an archive that it has open when it is a minute old.
remove_agents() {
    find /tmp -maxdepth 1 -name 'lincheck-bootstrap*.jar' -user "$(id -u)" -mmin +1 -delete 2>/dev/null || true
}
