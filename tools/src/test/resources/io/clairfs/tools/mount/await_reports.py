"""Waits until the daemon has heard of every close before this, and has done what follows from it: await_reports.py MOUNT FILE

FILE lies in a directory of samples and is none itself, and nobody else reads the mount meanwhile. A read of it that the page cache does not answer is counted as
an upcall once a close of the file was reported since the last one. Closes are reported in their order, some at a time, and what follows from those is done before
the next are taken. The first few that are counted here may be due to earlier reads of the file.
"""
import json
import os
import sys
import time

mount, file = sys.argv[1:]
PATIENCE_S = 120
COUNTED = 16


def upcalls():
    with open(f"{mount}/.clairfs/status.json") as status:
        return json.load(status)["reads"]["upcalls"]


def read():
    opened = os.open(f"{mount}/{file}", os.O_RDONLY)
    os.posix_fadvise(opened, 0, 0, os.POSIX_FADV_DONTNEED)
    os.pread(opened, 4096, 0)
    os.close(opened)


deadline = time.monotonic() + PATIENCE_S
until = upcalls() + COUNTED
while upcalls() < until:
    if time.monotonic() > deadline:
        sys.exit("closes are not reported")
    read()
    time.sleep(0.002)
