# Waits for the test to end. If that does not say so before, it was killed: ends its processes, unmounts, deletes. Argument: the directory of the test.
read -r _ && exit 0
dir=$1
attempt=0
while [ $attempt -lt 10 ]; do
    for process in /proc/[0-9]*; do
        pid=${process#/proc/}
        if [ "$pid" != $$ ] && grep -qF "$dir" "$process/cmdline"; then
            kill -9 "$pid"
        fi
    done
    awk -v dir="$dir/" 'index($2, dir) == 1 || index($1, dir) == 1 { print $2 }' /proc/self/mounts | tac | while read -r point; do
        umount -l "$point" || fusermount -u -z "$point"
    done
    grep -qF " $dir/" /proc/self/mounts || break
    attempt=$((attempt + 1))
    sleep 1
done
grep -qF " $dir/" /proc/self/mounts || rm -rf --one-file-system "$dir"
