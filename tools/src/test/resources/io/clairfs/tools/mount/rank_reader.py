"""Reads the samples of one rank in the order of a job and compares each with the dataset.

Arguments: mount, dataset, job, rank, world size, epochs at most, samples in a batch, milliseconds of computation on each batch, a file
that ends it when it is there at the end of an epoch, a file to wait for before it begins.

Prints a JSON line when it is ready to begin, and one per epoch: when it began and ended, samples read, how many were equal, and the longest time that one took."""

import concurrent.futures
import json
import os
import sys
import time

mount, dataset, job, rank, world, epochs, batch, compute, stop, go = sys.argv[1:11]
index = sorted(os.listdir(dataset))
print(json.dumps({"ready": True}), flush=True)
while not os.path.exists(go):
    time.sleep(0.002)


def read(samples):
    """What is read of each sample, and the longest that one took."""
    contents, longest = {}, 0.0
    for sample in samples:
        asked = time.monotonic()
        with open(f"{mount}/{index[sample]}", "rb") as file:
            contents[sample] = file.read()
        longest = max(longest, time.monotonic() - asked)
    return contents, longest


reader = concurrent.futures.ThreadPoolExecutor(1)  # reads a batch while the one before is computed
for epoch in range(int(epochs)):
    begin = time.time()
    order = [int(line) for line in open(f"{mount}/.clairfs/order/{job}/{epoch}/{rank}")]
    batches = [order[at : at + int(batch)] for at in range(0, len(order), int(batch))]
    equal, longest = 0, 0.0
    ahead = reader.submit(read, batches[0])
    for following in batches[1:] + [[]]:
        contents, slowest = ahead.result()
        longest = max(longest, slowest)
        computed = time.monotonic() + float(compute) / 1e3 * len(contents) / int(batch)
        ahead = reader.submit(read, following)
        for sample, content in contents.items():
            with open(f"{dataset}/{index[sample]}", "rb") as file:
                equal += content == file.read()
        time.sleep(max(0, computed - time.monotonic()))
    print(
        json.dumps(
            {"epoch": epoch, "began": begin, "ended": time.time(), "read": len(order), "equal": equal, "longest": longest}
        ),
        flush=True,
    )
    if os.path.exists(stop):
        break
