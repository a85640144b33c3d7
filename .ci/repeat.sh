# shellcheck shell=bash
# Sourced by long-run: the tests of some modules again and again, beside other work.

busy=()
running=
stalling=

# Ends what this script started, and nothing else.
end_repeat() {
    if [ -n "$running" ]; then
        kill "$running" 2>/dev/null || true
    fi
    if [ ${#busy[@]} -gt 0 ]; then
        kill "${busy[@]}" 2>/dev/null || true
    fi
    if [ -n "$stalling" ]; then
        kill "$stalling" 2>/dev/null && wait "$stalling" || true
        stalling=
    fi
}

# make_busy N: so many processes that do nothing, as fast as they can.
make_busy() {
    local made
    for ((made = 0; made < $1; made++)); do
        (while :; do :; done) &
        busy+=($!)
    done
}

# Runs Maven so that a signal to this script ends it at once. Returns its exit code; the log is $1.
maven_into() {
    local log=$1 code=0
    shift
    mvn -B -ntp -Dstyle.color=never "$@" >"$log" 2>&1 </dev/null &
    running=$!
    wait "$running" || code=$?
    running=
    return "$code"
}

# Lines of the reports: class.method, a tab, the first line of what it said.
failed_tests() {
    find "$here" -path '*/target/surefire-reports/TEST-*.xml' -exec cat {} + |
        awk '/<testcase / { name = $0; sub(/.*<testcase name="/, "", name); sub(/".*/, "", name)
                            class = $0; sub(/.*classname="/, "", class); sub(/".*/, "", class) }
             /<(failure|error)[ >]/ { said = $0
                            if (!sub(/.*<(failure|error)[^>]* ?message="/, "", said)) sub(/.*type="/, "", said)
                            sub(/".*/, "", said); sub(/&#10;.*/, "", said)
                            print class "." name "\t" substr(said, 1, 200) }'
}

# Sums one attribute over the reports of all test classes.
sum_reports() {
    find "$here" -path '*/target/surefire-reports/TEST-*.xml' -exec cat {} + |
        sed -n "s/^<testsuite .* $1=\"\([0-9]*\)\".*/\1/p" | awk '{ s += $1 } END { print s + 0 }'
}

# Delays threads of all that this script starts from now on, at random.
make_stalls() {
    export CLAIRFS_STALLS=$$
    python3 "$here/.ci/stalls.py" "CLAIRFS_STALLS=$$" &
    stalling=$!
}

# repeat_tests ROUNDS MODULES BUSY [stalls]: the modules' tests so many times beside so many busy processes; a table of what failed
# how often. The JVMs of every other round compile as those of ./verify do: threads meet in other ways then.
repeat_tests() {
    local rounds=$1 modules=$2 busy_processes=$3 stalls=$4 work round began failed total=0 classes flags
    work=$(mktemp -d)
    trap 'end_repeat' EXIT
    trap 'exit 130' INT
    trap 'exit 143' TERM
    classes=$(printf '%s\n' "$modules" | tr , '\n' | sed -e 's/-//g' -e 's|.*|io/clairfs/&/**/*Test|' | paste -sd,)
    say "building (log: $work/build.log)"
    maven_into "$work/build.log" -pl "$modules" -am test-compile || {
        tail -n 30 "$work/build.log" >&2
        exit 1
    }
    : >"$work/failures"
    make_busy "$busy_processes"
    [ -z "$stalls" ] || make_stalls
    for ((round = 1; round <= rounds; round++)); do
        began=$SECONDS flags=
        [ $((round % 2)) = 0 ] || flags=$QUICK_JVM_FLAGS
        rm -rf "$here"/*/target/surefire-reports
        # Nothing has changed since, so nothing is compiled.
        if ! maven_into "$work/round-$round.log" -pl "$modules" -am -Dspotless.check.skip=true -Dtest="$classes" \
            "-Dsurefire.jvm.flags=$flags" -Dsurefire.failIfNoSpecifiedTests=false -Dsurefire.long.phase=test -Dmaven.test.failure.ignore=true test; then
            printf 'the build itself\tround %s, see %s\n' "$round" "$work/round-$round.log" >>"$work/failures"
        fi
        remove_agents
        failed_tests >"$work/failures-$round"
        cat "$work/failures-$round" >>"$work/failures"
        failed=$(($(wc -l <"$work/failures-$round")))
        total=$(wc -l <"$work/failures")
        echo "round $round of $rounds: $(sum_reports tests) tests, $(sum_reports skipped) skipped, $failed failed, $((SECONDS - began)) s"
        if [ "$failed" != 0 ]; then
            mkdir -p "$work/reports-$round"
            find "$here" -path '*/target/surefire-reports/TEST-*.xml' -exec cp -t "$work/reports-$round" {} +
        fi
    done
    if [ "$total" != 0 ]; then
        echo
        echo "times  test: what it said the first time"
        awk -F '\t' '!($1 in times) { order[++n] = $1; said[$1] = $2 } { times[$1]++ }
            END { for (i = 1; i <= n; i++) printf "%5d  %s: %s\n", times[order[i]], order[i], said[order[i]] }' \
            "$work/failures" | sort -rn
        say "logs and reports of the rounds: $work"
        exit 1
    fi
    rm -rf "$work"
    echo "nothing failed in $rounds rounds"
}
