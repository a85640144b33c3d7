# What the watchdog and the supervisor know of a connection to the kernel, and of the process that serves it.
trap '' HUP INT QUIT TERM PIPE
PATH=$PATH:/usr/bin:/bin:/usr/sbin:/sbin
begun=
missing=" "

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

# A path of the kernel's tables, where a space is \040, as it is. printf would take \0405 for one byte, but not \00405. The dot behind it keeps line ends.
plain() {
    printf '%b.' "$(printf %s "$1" | sed 's/\\/\\0/g')"
}

# Where a device is mounted: "here", at the mount point, "elsewhere" or "nowhere".
where() {
    where=nowhere
    while read -r _ _ mounted _ at _; do
        [ "$mounted" = "$1" ] || continue
        where=elsewhere
        [ "$(plain "$at")" != "$2." ] || where=here
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

# A tenth of a second, where "sleep" has that; says how many make two seconds.
nap() {
    if sleep 0.1 2>/dev/null; then
        moment=20
    else
        sleep 1
        moment=2
    fi
}
