# Arguments: the process that serves a FUSE mount, the mount's device (0:NUMBER), the mount point.
#
# Ends with that process. If the process has been killed and yet does not end, because threads of it wait in the kernel, ends the connection, so that
# nobody waits for it any more.
trap '' HUP INT QUIT TERM
PATH=$PATH:/usr/bin:/bin:/usr/sbin:/sbin
process=$1 device=$2 point=$3
begun=
stuck=0

# The kernel's control files are its owner's, where they are mounted; root can mount them, unseen by others.
abort() {
    connections=/sys/fs/fuse/connections
    control=$connections/${device#*:}/abort
    if [ -w "$control" ]; then
        echo 1 >"$control"
    elif [ "$(id -u)" = 0 ]; then
        unshare -m sh -c 'mount -t fusectl none "$1" && echo 1 >"$2"' sh "$connections" "$control" ||
            { is_mounted && umount -f "$point"; }
    fi
}

# By now something else may be mounted there.
is_mounted() {
    while read -r _ _ mounted _; do
        [ "$mounted" != "$device" ] || return 0
    done </proc/self/mountinfo
    return 1
}

while IFS= read -r line <"/proc/$process/stat"; do
    # The fields from the third on: the state, ..., the time when it began.
    # shellcheck disable=SC2086
    set -- ${line##*) }
    state=$1
    shift 19
    [ "${begun:=$1}" = "$1" ] || exit 0
    if [ "$state" = Z ]; then
        set -- /proc/"$process"/task/*
        [ $# -gt 1 ] || exit 0 # it has ended, and nobody has asked for its exit code yet
        stuck=$((stuck + 1))
        if [ $stuck -gt 1 ]; then # more than a moment
            abort
            exit 0
        fi
    fi
    sleep 1
done
