"""A training run's reading: trainer.py MOUNT SOURCE JOB SEED EPOCHS

ImageFolder, DistributedSampler, a DataLoader with two workers. Prints, as JSON, for every epoch the sample indices in the order in which
they came, and how many samples had the SHA-256 of the source's.
"""
import hashlib
import json
import sys
import time

import torch
from torch.utils.data import DataLoader, DistributedSampler
from torchvision.datasets import ImageFolder

mount, source, job, seed, epochs = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4]), int(sys.argv[5])
BATCH, WORKERS = 16, 2
IN_FLIGHT = 2 * WORKERS * BATCH


def digest(path):
    with open(path, "rb") as file:
        return hashlib.sha256(file.read()).digest()


class Indexed(ImageFolder):
    def __getitem__(self, index):
        return index, torch.tensor(list(self.loader(self.samples[index][0])), dtype=torch.uint8)


def await_staged(left):
    """A trainer that computes gives its loaders time; this one waits for what they would have had it for."""
    while True:
        with open(f"{mount}/.clairfs/status.json") as f:
            if json.load(f)["jobs"][0]["staged_ahead"] >= min(left, IN_FLIGHT + BATCH):
                return
        time.sleep(0.005)


expected = [digest(path) for path, _ in ImageFolder(source).samples]
dataset = Indexed(mount, loader=digest)
sampler = DistributedSampler(dataset, num_replicas=1, rank=0, seed=seed)
loader = DataLoader(dataset, batch_size=BATCH, sampler=sampler, num_workers=WORKERS)
left = epochs * len(dataset)
result = []
for epoch in range(epochs):
    sampler.set_epoch(epoch)
    await_staged(left)
    order, right = [], 0
    for indices, digests in loader:
        for index, got in zip(indices.tolist(), digests):
            order.append(index)
            right += bytes(got.tolist()) == expected[index]
        left -= len(indices)
        await_staged(max(0, left - IN_FLIGHT))
    result.append({"order": order, "right": right})
json.dump(result, sys.stdout)
