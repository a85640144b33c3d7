# Arguments: whether the kernel tells when that process ends ("told" or "look"), the process that serves FUSE mounts, and for each mount its device
# (0:NUMBER) and mount point. The standard input ends with the process, or when nothing is to be watched any more.
#
# Ends with that process. If the process has been killed and yet does not end, because threads of it wait in the kernel, ends the connections, so that
# nobody waits for them any more.
told=$1 process=$2
shift 2

# Sleeps until the kernel tells that the process is ending. Only the end of a child can be waited for together with a signal, so there is a child, which waits
# for the end of the standard input: a process that ends as it should closes that too.
sleep_until_told() {
    waiting=
    ended=
    exec 3<&0
    trap 'ended=1; [ -z "$waiting" ] || kill -9 "$waiting"' URG
    { look && [ "$state" != Z ]; } || ended=1 # it may have ended before the trap was set
    cat <&3 >/dev/null &
    waiting=$!
    [ -n "$ended" ] || wait "$waiting"
    [ -z "$ended" ] || kill -9 "$waiting" # other signals are ignored, the child's too
    trap '' URG
}

# The script is read from the standard input, so nothing may be left of it when this begins.
main() {
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
