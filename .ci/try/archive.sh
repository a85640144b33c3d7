# shellcheck shell=bash
# The archive, unpacked and used in a directory with a space in its name: archive.sh DIRECTORY ARCHIVE, where no JDK is seen and no environment is left.
work=$1
[ ! -d /usr/lib/jvm ] || mount -t tmpfs none /usr/lib/jvm
mkdir "$work/source" "$work/mnt"
for number in 1 2 3; do echo "sample $number" >"$work/source/$number.jpg"; done
tar -C "$work" -xf "$2"
clairfs=("$work"/clairfs-*/clairfs)
trap '"$clairfs" umount "$work/mnt" >/dev/null 2>&1 || true' EXIT
[ "$("$clairfs" order --samples 3 --seed 1 | wc -l)" = 3 ]
TMPDIR=$work "$clairfs" demo --plain --files 300 --epochs 2 | grep ' times as fast'
"$clairfs" mount "$work/source" "$work/mnt" --index-rule sorted --memory 64MiB --staging 64MiB
cmp "$work/source/2.jpg" "$work/mnt/2.jpg"
"$clairfs" job start "$work/mnt" seed=1 epochs=1
for number in $(cat "$work/mnt/.clairfs/order/train/0/0"); do cmp "$work/source/$((number + 1)).jpg" "$work/mnt/$((number + 1)).jpg"; done
"$clairfs" status "$work/mnt" | grep "^job " >/dev/null
"$clairfs" umount "$work/mnt"
! mountpoint -q "$work/mnt"
du -sm "$work"/clairfs-* | cut -f 1 | sed 's/.*/unpacked, with its caches: & MiB/'
