# shellcheck shell=bash
# Waits until the test's process has ended. If the directory of the test is still there then, the test was killed: ends its processes, unmounts, deletes.
# Arguments: the test's process, its directory. Runs behind connection.sh, which makes it deaf to the signals that end a session.
process=$1 dir=$2
longest_s=100

# Nobody writes to this pipe, and "read" waits without a process of its own.
exec 3<> <(:)
a_second() { read -r -t 1 -u 3; }

# A killed process is a zombie while one of its threads waits in the kernel, perhaps for a mount that only this script ends. Its pipes stay open as long.
lives() { look && [ "$state" != Z ]; }

# What the test mounted, the newest first: type, device and mount point. The mounts of control files have the mount point as their source.
mounts() {
    awk -v dir="$dir/" 'index($5, dir) == 1 || index($(NF - 1), dir) == 1 { print $(NF - 2), $3, $5 }' /proc/self/mountinfo | tac
}

# What the test started and does not end with it: what has the environment that MountFixture gives, programs compiled here, processes of a faulty source.
processes() {
    local each
    for each in /proc/[0-9]*; do
        if [[ $(readlink "$each/exe") = "$dir"/* ]] || grep -qzxF -- "XDG_STATE_HOME=$dir" "$each/environ" || is_source "$each"; then
            echo "${each#/proc/}"
        fi
    done
}

is_source() { [[ $(tr '\0' ' ' <"$1/cmdline") = *" io.clairfs.fs.faulty.FaultyCommand $dir/"* ]]; }

# Connections end first: until then whoever looks at a mount may wait for its killed process.
clean_up() {
    local type device point pid
    while read -r type device point; do
        case $type in fuse*) point=$(plain "$point") && abort "$device" "${point%.}" ;; esac
    done < <(mounts)
    while read -r pid; do
        kill -9 "$pid"
    done < <(processes)
    while read -r type device point; do
        point=$(plain "$point")
        point=${point%.}
        umount -l "$point" || fusermount -u -z "$point"
    done < <(mounts)
}

while lives && [ -d "$dir" ]; do
    a_second
done
ended_s=$SECONDS
while [ -d "$dir" ] && [ $((SECONDS - ended_s)) -lt $longest_s ]; do
    clean_up
    [ -n "$(mounts)$(processes)" ] || rm -rf --one-file-system "$dir"
    [ ! -d "$dir" ] || a_second
done
