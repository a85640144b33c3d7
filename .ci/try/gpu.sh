#!/usr/bin/env bash
# Runs the tests for GPUs and measures both hand-overs of the feeder: check-gpu [REPORT]. Without a GPU the same tests run with a library in place of its
# driver, where gcc is there, and nothing is measured. Needs /dev/fuse, root, and a python3 with numpy; torch for what is measured.
set -euo pipefail
here=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")" && pwd)
# shellcheck source=.ci/setup.sh
. "$here/.ci/setup.sh"
report=$(readlink -f "${1:-gpu-report.txt}")
find_jdk
use_utf8
has_libfuse || export LD_LIBRARY_PATH=$here/native${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
has_library libturbojpeg.so.0 || export LD_LIBRARY_PATH=$here/native${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
command -v fusermount >/dev/null || export PATH=$PATH:$here/bin
work=$(mktemp -d "${TMPDIR:-/tmp}/clairfs-gpu-XXXXXX")
trap 'rm -rf --one-file-system "$work"' EXIT
mkdir "$work/target"
cd "$work"

# junit ARGUMENTS...: runs tests of the bundle.
junit() {
    "$JAVA_HOME/bin/java" "${jvm_flags[@]}" -Dclairfs.python="$(command -v python3)" "${properties[@]}" \
        -cp "$(class_path "$here/program"):$(class_path "$here/tests")" org.junit.platform.console.ConsoleLauncher execute \
        --include-engine junit-jupiter --disable-banner --disable-ansi-colors --details tree "$@"
}

code=0
{
    date -u '+%Y-%m-%d %H:%M UTC'
    uname -srm
    sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | sort | uniq -c
    nvidia-smi --query-gpu=name,driver_version,memory.total --format=csv,noheader 2>/dev/null || echo "no nvidia-smi here"
    python3 -c 'import torch; print("torch", torch.__version__)' 2>/dev/null || echo "no torch here"
    echo
    properties=()
    junit --select-package io.clairfs --include-tag gpu || code=1
    properties=(-Dclairfs.daemons.compiled=true)
    junit --select-class io.clairfs.tools.mount.DeviceBenchmark \
        --select-method 'io.clairfs.tools.mount.FeedBenchmark#small_samples_beside_a_loop_in_c' || code=1
    properties=(-Dclairfs.kill.device=cuda:0 "-Dclairfs.kill.rounds=${KILLS:-20}" "-Dclairfs.kill.seed=$RANDOM")
    command -v nvidia-smi >/dev/null || properties=()
    junit --select-class io.clairfs.tools.mount.KillFeedTest || code=1
} 2>&1 | tee "$report"
say "the report is in $report"
exit "$code"
