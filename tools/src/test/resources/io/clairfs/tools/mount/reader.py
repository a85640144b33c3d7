"""Reads the epochs of a job through a mount, in order, each sample once it is staged: reader.py MOUNT JOB EPOCHS SOURCE

Prints a line per sample that equals the source's, and ends with an error at the first that does not.
"""
import json
import sys
import time

mount, job, epochs, source = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4]
LOOK_EVERY = 16
AHEAD = 48


def lines(file):
    with open(f"{mount}/.clairfs/{file}") as f:
        return f.read().splitlines()


def await_staged(wanted):
    while True:
        with open(f"{mount}/.clairfs/status.json") as f:
            status = json.load(f)
        if next(j for j in status["jobs"] if j["name"] == job)["staged_ahead"] >= wanted:
            return
        time.sleep(0.005)


index = lines("index")
orders = [[index[int(i)] for i in lines(f"order/{job}/{e}/0")] for e in range(epochs)]
left = sum(map(len, orders))
for order in orders:
    for name in order:
        if left % LOOK_EVERY == 0:
            await_staged(min(AHEAD, left))
        with open(f"{mount}/{name}", "rb") as through, open(f"{source}/{name}", "rb") as direct:
            assert through.read() == direct.read(), name
        left -= 1
        print(name, flush=True)
