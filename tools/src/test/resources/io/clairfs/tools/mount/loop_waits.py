"""Trains over a mount with loader processes that report, and measures the waits of its own loop.

usage: loop_waits.py MOUNTPOINT EPOCHS

What a loop tells counts for the epoch in which the daemon saw the last read. So each epoch tells once, at its end, and not before the daemon has seen all of its
reads. Prints, for each epoch, the seconds that it waited for batches and those that the loop took.
"""

import json
import os
import sys
import time

from torch.utils.data import DataLoader, Dataset
from torch.utils.data.distributed import DistributedSampler

point, epochs = sys.argv[1], int(sys.argv[2])
sys.path.insert(0, os.path.join(point, ".clairfs", "python"))
import clairfs_torch  # noqa: E402

PATIENCE_S = 120
clairfs_torch.REPORT_EVERY_S = float("inf")


class Files(Dataset):
    def __init__(self):
        with open(os.path.join(point, ".clairfs", "index")) as index:
            self.paths = [os.path.join(point, line) for line in index.read().splitlines()]

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, index):
        with open(self.paths[index], "rb") as sample:
            return len(sample.read())


def await_reads_before(epoch):
    deadline = time.monotonic() + PATIENCE_S
    while True:
        with open(os.path.join(point, ".clairfs", "status.json"), "rb") as status:
            job = json.load(status)["jobs"][0]
        if job["epoch"] >= epoch:
            return
        assert time.monotonic() < deadline, job
        time.sleep(0.01)


data = Files()
sampler = DistributedSampler(data, num_replicas=1, rank=0, seed=7)
loader = DataLoader(data, batch_size=4, sampler=sampler, num_workers=2)
clairfs_torch.report(loader, mount=point)
seen = []
for epoch in range(epochs):
    sampler.set_epoch(epoch)
    batches, left, waited, begin = iter(loader), len(loader), 0.0, time.monotonic()
    while True:
        asked = time.monotonic()
        batch = next(batches, None)
        waited += time.monotonic() - asked
        if batch is None:
            break
        time.sleep(0.02)
        left -= 1
        if left == 0:
            await_reads_before(epoch + 1)
    seen += [waited + 1e-6, time.monotonic() - begin + 1e-6]
print(*seen)
