"""Reads the epochs of a job through a mount, in order, each sample once it is staged: reader.py MOUNT JOB EPOCHS SOURCE [AHEAD]

Prints a line per sample that equals the source's, and ends with an error at the first that does not. With AHEAD it is never so many
samples ahead of the position in the status.
"""
import json
import sys
import time

mount, job, epochs, source = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4]
most_ahead = int(sys.argv[5]) if len(sys.argv) > 5 else None
LOOK_EVERY = 16
AHEAD = 48


def lines(file):
    with open(f"{mount}/.clairfs/{file}") as f:
        return f.read().splitlines()


def is_followed(position):
    """Whether the position, all epochs counted, is near what was read."""
    return most_ahead is None or position > sum(map(len, orders)) - left - most_ahead


def await_staged(wanted):
    while True:
        with open(f"{mount}/.clairfs/status.json") as f:
            status = json.load(f)
        at = next(j for j in status["jobs"] if j["name"] == job)
        if at["staged_ahead"] >= wanted and is_followed(at["epoch"] * len(orders[0]) + at["position"]):
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
