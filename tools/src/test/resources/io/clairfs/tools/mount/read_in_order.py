"""Reads samples of a mount in the order of a job's epoch and compares each with the source.

Arguments: mount, source, job, epoch (of rank 0) or epoch/rank, samples to read, pause after each in microseconds, sample to begin with.
Prints how many were equal."""

import sys
import time

mount, source, job, epoch, count, pause, begin = sys.argv[1:]
index = open(f"{mount}/.clairfs/index", "rb").read().split(b"\n")
where = epoch if "/" in epoch else f"{epoch}/0"
order = [int(line) for line in open(f"{mount}/.clairfs/order/{job}/{where}")]
equal = 0
for sample in order[int(begin) : int(begin) + int(count)]:
    path = index[sample]
    with open(mount.encode() + b"/" + path, "rb") as file:
        seen = file.read()
    with open(source.encode() + b"/" + path, "rb") as file:
        equal += seen == file.read()
    time.sleep(int(pause) / 1e6)
print(equal)
