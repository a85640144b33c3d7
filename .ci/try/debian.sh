# shellcheck shell=bash
# Debian's package /clairfs.deb in a clean Debian: the demonstration, a line in /etc/fstab, wrong ones, pages, completion, and what is left after its removal.
trap 'echo "clairfs: this failed: $BASH_COMMAND" >&2' ERR
trap 'if mountpoint -q /data; then clairfs umount /data; fi' EXIT
export DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8
step() { printf 'clairfs: %s\n' "$*"; }
! type -P java
step "installing"
apt-get update -qq </dev/null >/install.log 2>&1
apt-get install -y -q --no-install-recommends /clairfs.deb </dev/null >>/install.log 2>&1 || { tail -20 /install.log; exit 1; }
! type -P java
du -sm /usr/lib/clairfs | cut -f 1 | sed 's/.*/installed, with its caches: & MiB/'
clairfs --version
step "the demonstration"
clairfs demo --plain --files 300 --epochs 2 </dev/null | tail -n 12
step "a line in /etc/fstab"
mkdir -p /source/class /data
for number in 1 2 3; do echo "sample $number" >"/source/class/$number.jpg"; done
echo '/source /data clairfs memory=64M,staging=64MiB,index-rule=sorted,allow_other,_netdev,nofail,noauto 0 0' >>/etc/fstab
mount /data
findmnt -n -o FSTYPE,OPTIONS --mountpoint /data
cmp /source/class/2.jpg /data/class/2.jpg
grep -F '"memory"' /data/.clairfs/status.json >/dev/null
clairfs job start /data seed=1 epochs=1
clairfs status /data
umount /data
! mountpoint -q /data
code=0
said=$(mount -t clairfs -o memory=lots /source /data 2>&1) || code=$?
[ "$code" = 1 ]
printf '%s\n' "$said"
code=0
said=$(mount -t clairfs /nowhere /data 2>&1) || code=$?
[ "$code" = 32 ]
printf '%s\n' "$said"
step "pages and completion"
ls /usr/share/man/man1/clairfs*.gz | wc -l | sed 's/$/ pages/'
zcat /usr/share/man/man1/clairfs-mount.1.gz | grep '^clairfs-mount .*Mounts a dataset' >/dev/null
for page in /usr/share/man/man1/clairfs*.gz; do zcat "$page" | groff -man -Tutf8 -ww >/page 2>&1; [ -s /page ] && ! grep -a warning /page; done
bash -c '. /usr/share/bash-completion/completions/clairfs && complete -p clairfs'
cat >/zshrc <<'ZSH'
fpath=(/usr/share/zsh/vendor-completions $fpath)
autoload -Uz compinit && compinit -u -D
PS1='> '
ZSH
cat >/zsh-try <<'ZSH'
zmodload zsh/zpty
zpty shell 'TERM=dumb zsh -f -i'
zpty -w shell '. /zshrc'
zpty -r shell said $'*> *'
zpty -w -n shell $'clairfs umo\t'
zpty -r shell said '*clairfs umount *'
ZSH
timeout 60 zsh -f /zsh-try
echo "zsh completes the first time"
systemd-analyze verify --man=no /lib/systemd/system/clairfs@.service
step "removing it"
apt-get remove -y -qq clairfs </dev/null >/remove.log 2>&1
[ ! -e /usr/bin/clairfs ] && [ ! -e /usr/lib/clairfs ]
