# Arguments: the process that serves the mount, the mount's device (0:NUMBER) and mount point, the directory of what a restart needs, and how many restarts
# are tried within a minute. Descriptor 3 is the session's device, which stays open with it. Descriptor 4 is a line from the process, which writes "end" when the
# mount ends. Standard error is the mount's log. $0 says whether the kernel tells when the process ends ("told" or "look").
#
# Ends with the mount. If the process ends otherwise, starts it again; the new process inherits the device, and ends this one when it has a supervisor of
# its own.
told=$0 process=$1 device=$2 point=$3 directory=$4 most=$5

say() {
    echo "$(date '+%Y-%m-%d %H:%M:%S') clairfs: $1" >&2
}

# Whether the mount has ended as it should. Who waits for the last word is killed: a subshell ignores the signals that its shell ignores. A process that was killed and cannot end, because threads of it wait in the kernel, closes nothing.
await_end() {
    died=
    waiting=
    trap 'died=1; [ -z "$waiting" ] || kill -9 "$waiting" 2>/dev/null' URG
    (IFS= read -r word <&4 && [ "$word" = end ]) 3<&- &
    waiting=$!
    [ "$told" = told ] || watch_process "$waiting" &
    # It may have died before the signal was asked for. One that is gone has closed the line, so its last word is still to be read.
    look && [ "$state" = Z ] && died=1
    [ -z "$died" ] || kill -9 "$waiting" 2>/dev/null
    wait "$waiting"
    code=$?
    trap '' URG
    [ -z "$died" ] && [ "$code" = 0 ]
}

# Where the kernel does not tell of the end: looks once a second, as long as somebody waits for it.
watch_process() {
    while kill -0 "$1" 2>/dev/null; do
        look || return 0
        [ "$state" != Z ] || { kill -9 "$1" 2>/dev/null; return 0; }
        sleep 1
    done
}

# Notes a restart, and counts those of the last minute before it.
count_restarts() {
    times=$directory/restarts
    now=$(date +%s)
    recent=0
    kept=
    [ ! -e "$times" ] || while read -r at; do
        [ $((now - at)) -ge 60 ] || { recent=$((recent + 1)) kept="$kept$at
"; }
    done <"$times"
    printf '%s%s\n' "$kept" "$now" >"$times"
}

# Whether the mount was taken away: the kernel gives its number to the next one, perhaps at the same mount point. The table is looked at ten times a second,
# and a shell reads byte by byte, so it is searched by grep. One that is there elsewhere still has its number.
look_for_mount() {
    grep -q " $device " /proc/self/mountinfo 2>/dev/null
    [ $? != 1 ] || gone=1
}

is_still_mounted() {
    [ -z "$gone" ] && is_mounted "$device" "$point"
}

# Whether the connection has ended: then the mount was taken away, and what has its number is another. Nobody may read the device after this, for it takes a
# request from the kernel if there is one. The device is read without waiting.
is_over() {
    LC_ALL=C dd bs=64k count=1 <&3 2>&1 >/dev/null | grep -q 'No such device'
}

give_up() {
    if is_over; then
        say "$1; the connection of $point had ended before"
        forget
        exit 0
    fi
    say "$1; readers of $point get an error. Unmount it and mount it again"
    is_still_mounted && abort "$device" "$point"
    forget
    exit 1
}

# Removes what a restart would have needed.
forget() {
    for file in restart restart.before mount listing jobs ranks program upgrade restarts lock; do
        rm -f -- "$directory/$file"
    done
    rm -f -- "$directory"/*.new
    rmdir -- "$directory"/died.*
    rmdir -- "$directory"
} 2>/dev/null

has_ended() {
    IFS= read -r line <"/proc/$1/stat" || return 0
    line=${line##*) }
    [ "${line%% *}" = Z ]
} 2>/dev/null

# Whether it is this supervisor that starts the next process after the death of $1. One that dies right after it has got a supervisor of its own, and before
# it has ended the one that started it, has two.
take_turn() {
    find "$directory" -maxdepth 1 -name 'died.*' -mmin +1 -exec rmdir -- {} + 2>/dev/null
    mkdir -- "$directory/died.$1" 2>/dev/null || [ ! -d "$directory/died.$1" ]
}

# Starts the process again, and waits until it has taken over, which ends this shell, or has failed.
restart() {
    trap 'exit 0' TERM
    (
        trap - HUP INT QUIT TERM URG PIPE
        exec 4<&-
        exec /bin/sh "$directory/restart" "--take-over=$directory" "--mounted-at=$point" "--predecessor=$dead" "--supervisor=$$"
    ) </dev/null >/dev/null &
    child=$!
    naps=0
    until has_ended "$child"; do
        nap
        look_for_mount
        naps=$((naps + 1))
        if [ $naps -gt $((30 * moment)) ]; then # a minute
            say "process $child did not take over $point within a minute, and is killed"
            kill -9 "$child"
            break
        fi
    done
    trap '' TERM
}

# Goes back to the program before an upgrade, if the new one has not taken over: one that has removes what this goes back to.
go_back() {
    [ -e "$directory/restart.before" ] && mv -f -- "$directory/restart.before" "$directory/restart"
}

main() {
    if await_end; then
        exit 0
    fi
    dead=$process
    failed=0
    gone=
    while is_still_mounted; do
        take_turn "$dead" || exit 0
        if [ -e "$directory/upgrade" ]; then
            rm -f -- "$directory/upgrade"
            say "the mount's process $dead is replaced, as 'clairfs upgrade' said"
        elif go_back; then
            say "the program of 'clairfs upgrade' did not take $point over; the one before it is started again"
        else
            count_restarts
            # Those of this shell count also where its record cannot be written.
            [ "$recent" -ge "$failed" ] || recent=$failed
            if [ "$recent" -ge "$most" ]; then
                give_up "the mount's process died $((recent + 1)) times within a minute, and is not started again"
            fi
            say "the mount's process $dead died; starting it again"
            failed=$((failed + 1))
        fi
        restart
        dead=$child
    done
    forget
    exit 0
}

main
