# Arguments: whether the kernel tells when that process ends ("told" or "look"), the process that serves FUSE mounts, and for each mount its device
# (0:NUMBER) and mount point. The standard input ends with the process, or when nothing is to be watched any more.
#
# Ends with that process. If the process has been killed and yet does not end, because threads of it wait in the kernel, ends the connections, so that
# nobody waits for them any more.
trap '' HUP INT QUIT TERM
PATH=$PATH:/usr/bin:/bin:/usr/sbin:/sbin
told=$1 process=$2
shift 2

# The kernel's control files are its owner's, where they are mounted; root can mount them, unseen by others.
abort() {
    connections=/sys/fs/fuse/connections
    control=$connections/${1#*:}/abort
    if [ -w "$control" ]; then
        echo 1 >"$control"
    elif [ "$(id -u)" = 0 ]; then
        unshare -m sh -c 'mount -t fusectl none "$1" && echo 1 >"$2"' sh "$connections" "$control" ||
            { is_mounted "$1" "$2" && umount -f "$2"; }
    fi
}

# By now something else may be mounted there.
is_mounted() {
    where "$1" "$2"
    [ "$where" = here ]
}

# Where a device is mounted: "here", at the mount point, "elsewhere" or "nowhere". The kernel writes a space of a path as \040.
where() {
    where=nowhere
    while read -r _ _ mounted _ at _; do
        [ "$mounted" = "$1" ] || continue
        where=elsewhere
        [ "$(printf %b "$at")" != "$2" ] || where=here
        [ $where != here ] || return 0
    done </proc/self/mountinfo
}

# The kernel gives the number of a mount that was taken away to the next one, perhaps at the same mount point. So which of these are not at their mount point is
# remembered from the moment on that the process has been killed.
remember_missing() {
    while [ $# -gt 1 ]; do
        is_mounted "$1" "$2" || missing="$missing$1 "
        shift 2
    done
}

# Whether the device is still the mount that was watched. Where it is not mounted at all readers of it may wait even so.
is_ours() {
    where "$1" "$2"
    case $where$missing in
        elsewhere* | here*" $1 "*) return 1 ;;
    esac
}

# What the kernel says of the process now: its state, and the time when it began.
look() {
    IFS= read -r line <"/proc/$process/stat" || return 1
    # The fields from the third on.
    # shellcheck disable=SC2086
    set -- ${line##*) }
    state=$1
    shift 19
    [ "${begun:=$1}" = "$1" ]
}

# How many threads it has, those that have ended and could not be taken apart included.
threads() {
    set -- /proc/"$process"/task/*
    threads=$#
}

# Sleeps until the kernel tells that the process is ending. Only the end of a child can be waited for together with a signal, so there is a child, which waits
# for the end of the standard input: a process that ends as it should closes that too.
sleep_until_told() {
    waiting=
    ended=
    exec 3<&0
    trap 'ended=1; [ -z "$waiting" ] || kill "$waiting"' URG
    cat <&3 >/dev/null &
    waiting=$!
    [ -n "$ended" ] || wait "$waiting"
    [ -z "$ended" ] || kill "$waiting"
    trap '' URG
}

# A tenth of a second, where "sleep" has that; says how many make two seconds.
nap() {
    if sleep 0.1 2>/dev/null; then
        moment=20
    else
        sleep 1
        moment=2
    fi
}

# The script is read from the standard input, so nothing may be left of it when this begins.
main() {
    begun=
    missing=" "
    look || exit 0
    [ "$told" != told ] || [ "$state" = Z ] || sleep_until_told
    stuck=0
    moment=2
    while [ $stuck -lt $moment ]; do
        look || exit 0
        if [ "$state" = Z ]; then
            threads
            [ "$threads" -gt 1 ] || exit 0 # it has ended, and nobody has asked for its exit code yet
            remember_missing "$@"
            nap
            stuck=$((stuck + 1))
        else
            sleep 1
        fi
    done
    while [ $# -gt 1 ]; do
        is_ours "$1" "$2" && abort "$1" "$2"
        shift 2
    done
    exit 0
}

main "$@"
