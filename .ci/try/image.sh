# shellcheck shell=bash
# What is in the image for containers, used as a container would.
trap 'echo "clairfs: this failed: $BASH_COMMAND" >&2' ERR
trap 'if mountpoint -q /mnt; then clairfs umount /mnt; fi' EXIT
! type -P java
began=$EPOCHREALTIME
said=$(clairfs --version 2>&1)
[[ $said = "clairfs "* && $said != *preparing* ]]
awk -v began="$began" -v ended="$EPOCHREALTIME" 'BEGIN { printf "its first command took %.2f s\n", ended - began }'
mkdir -p /source/class
for number in 1 2 3; do echo "sample $number" >"/source/class/$number.jpg"; done
began=$EPOCHREALTIME
clairfs mount /source /mnt --memory 64MiB --staging 64MiB --index-rule sorted -o allow_other
awk -v began="$began" -v ended="$EPOCHREALTIME" 'BEGIN { printf "its first mount took %.2f s\n", ended - began }'
clairfs status --ready /mnt
cmp /source/class/2.jpg /mnt/class/2.jpg
clairfs job start /mnt seed=1 epochs=1
clairfs umount /mnt
! mountpoint -q /mnt
