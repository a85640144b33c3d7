"""Trains one rank with PyTorch's DataLoader and DistributedSampler, and compares each sample with the dataset.

Arguments and output are those of rank_reader.py; the last argument is the seed. The mount may be any directory with the samples."""

import json
import os
import sys
import time

import torch
from torch.utils.data import DataLoader, Dataset, DistributedSampler

mount, dataset, job, rank, world, epochs, batch, compute, stop, go, seed = sys.argv[1:12]
torch.set_num_threads(1)


class Compared(Dataset):
    def __init__(self):
        self.index = sorted(os.listdir(dataset))

    def __len__(self):
        return len(self.index)

    def __getitem__(self, sample):
        begin = time.monotonic()
        with open(f"{mount}/{self.index[sample]}", "rb") as file:
            seen = file.read()
        took = time.monotonic() - begin
        with open(f"{dataset}/{self.index[sample]}", "rb") as file:
            return seen == file.read(), took


samples = Compared()
sampler = DistributedSampler(samples, num_replicas=int(world), rank=int(rank), seed=int(seed))
loader = DataLoader(samples, batch_size=int(batch), sampler=sampler, num_workers=2, persistent_workers=True)
print(json.dumps({"ready": True}), flush=True)
while not os.path.exists(go):
    time.sleep(0.002)
for epoch in range(int(epochs)):
    begin = time.time()
    sampler.set_epoch(epoch)
    read, equal, longest = 0, 0, 0.0
    for same, took in loader:
        read += len(same)
        equal += int(same.sum())
        longest = max(longest, float(took.max()))
        time.sleep(float(compute) / 1e3 * len(same) / int(batch))
    print(
        json.dumps({"epoch": epoch, "began": begin, "ended": time.time(), "read": read, "equal": equal, "longest": longest}),
        flush=True,
    )
    if os.path.exists(stop):
        break
