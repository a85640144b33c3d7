"""Trains on a mount with a real DataLoader and records in which order its workers open the samples.

Arguments: mount, batch, workers, prefetch factor, epochs, seed, file for the record.
The record has a line per open: the sample index; all workers append to it, each line in one write."""

import os
import sys

import torch
from torch.utils.data import DataLoader, Dataset, DistributedSampler

mount, batch, workers, prefetch, epochs, seed, record = sys.argv[1:]
paths = open(f"{mount}/.clairfs/index").read().splitlines()


class Recorded(Dataset):
    def __len__(self):
        return len(paths)

    def __getitem__(self, index):
        log = os.open(record, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        os.write(log, f"{index}\n".encode())
        os.close(log)
        with open(f"{mount}/{paths[index]}", "rb") as file:
            return torch.tensor(len(file.read()))


open(f"{mount}/.clairfs/job", "w").write(
    f"seed={seed} epochs={epochs} batch={batch} workers={workers} prefetch_factor={prefetch}\n"
)
dataset = Recorded()
sampler = DistributedSampler(dataset, num_replicas=1, rank=0, seed=int(seed))
options = {"prefetch_factor": int(prefetch)} if int(workers) else {}
loader = DataLoader(dataset, batch_size=int(batch), sampler=sampler, num_workers=int(workers), **options)
for epoch in range(int(epochs)):
    sampler.set_epoch(epoch)
    for _ in loader:
        pass
