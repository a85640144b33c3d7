"""Reads one epoch with PyTorch and compares each sample with the source: limited_trainer.py MOUNT SOURCE SEED BATCH WORKERS

Names of samples begin with the name of the file in the source that has their bytes, up to the first dash. Prints, as JSON, how many samples were right, how many bytes that was,
and the seconds of the epoch.
"""
import json
import os
import sys
import time
import zlib

import torch
from torch.utils.data import DataLoader, DistributedSampler
from torchvision.datasets import ImageFolder

mount, source, seed, batch, workers = sys.argv[1], sys.argv[2], *map(int, sys.argv[3:])


def crc(path):
    with open(path, "rb") as file:
        content = file.read()
    return torch.tensor([zlib.crc32(content), len(content)])


def original(path):
    return os.path.basename(path).split("-")[0]


expected = {}
for path, _ in ImageFolder(source).samples:
    if original(path) not in expected:
        expected[original(path)] = crc(path).tolist()


class Named(ImageFolder):
    def __getitem__(self, index):
        return index, self.loader(self.samples[index][0])


dataset = Named(mount, loader=crc)
sampler = DistributedSampler(dataset, num_replicas=1, rank=0, seed=seed)
begun = time.monotonic()
right, read = 0, 0
for indices, found in DataLoader(dataset, batch_size=batch, sampler=sampler, num_workers=workers):
    for index, (value, size) in zip(indices.tolist(), found.tolist()):
        right += [value, size] == expected[original(dataset.samples[index][0])]
        read += size
json.dump({"right": right, "bytes": read, "seconds": time.monotonic() - begun}, sys.stdout)
