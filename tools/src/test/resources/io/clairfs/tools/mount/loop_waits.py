"""Trains over a mount with loader processes that report, and measures the waits of its own loop.

usage: loop_waits.py MOUNTPOINT EPOCHS

Prints, for each epoch, the seconds that it waited for batches and those that the loop took.
"""

import os
import sys
import time

from torch.utils.data import DataLoader, Dataset
from torch.utils.data.distributed import DistributedSampler

point, epochs = sys.argv[1], int(sys.argv[2])
sys.path.insert(0, os.path.join(point, ".clairfs", "python"))
import clairfs_torch  # noqa: E402


class Files(Dataset):
    def __init__(self):
        with open(os.path.join(point, ".clairfs", "index")) as index:
            self.paths = [os.path.join(point, line) for line in index.read().splitlines()]

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, index):
        with open(self.paths[index], "rb") as sample:
            return len(sample.read())


data = Files()
sampler = DistributedSampler(data, num_replicas=1, rank=0, seed=7)
loader = DataLoader(data, batch_size=4, sampler=sampler, num_workers=2)
clairfs_torch.report(loader, mount=point)
seen = []
for epoch in range(epochs):
    sampler.set_epoch(epoch)
    batches, waited, begin = iter(loader), 0.0, time.monotonic()
    while True:
        asked = time.monotonic()
        batch = next(batches, None)
        waited += time.monotonic() - asked
        if batch is None:
            break
        time.sleep(0.02)
    seen += [waited + 1e-6, time.monotonic() - begin + 1e-6]
print(*seen)
