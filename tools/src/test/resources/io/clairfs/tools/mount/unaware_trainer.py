"""A training that knows of no restart: unaware_trainer.py MOUNT SOURCE SEED STOP WORKERS SECONDS_PER_BATCH

ImageFolder, DistributedSampler, a DataLoader. Reads epochs until the file STOP exists at the end of one. Every sample is compared with the source's
digest. Prints, as JSON, how many epochs there were, how many samples were right, and the longest read in seconds. A read that fails ends it with an
error.
"""
import hashlib
import itertools
import json
import os
import sys
import time
import warnings

import torch
from torch.utils.data import DataLoader, DistributedSampler
from torchvision.datasets import ImageFolder

mount, source = sys.argv[1], sys.argv[2]
seed, stop, workers, pause = int(sys.argv[3]), sys.argv[4], int(sys.argv[5]), float(sys.argv[6])


warnings.filterwarnings("ignore", message="This DataLoader will create")  # more workers than processors


def digest(path):
    with open(path, "rb") as file:
        return hashlib.sha256(file.read()).digest()


class Timed(ImageFolder):
    def __getitem__(self, index):
        begun = time.monotonic()
        right = self.loader(self.samples[index][0]) == expected[index]
        return torch.tensor([float(right), time.monotonic() - begun])


expected = [digest(path) for path, _ in ImageFolder(source).samples]
dataset = Timed(mount, loader=digest)
sampler = DistributedSampler(dataset, num_replicas=1, rank=0, seed=seed)
loader = DataLoader(dataset, batch_size=16, sampler=sampler, num_workers=workers)
right, longest = 0, 0.0
for epoch in itertools.count():
    sampler.set_epoch(epoch)
    for batch in loader:
        right += int(batch[:, 0].sum())
        longest = max(longest, float(batch[:, 1].max()))
        time.sleep(pause)
    if os.path.exists(stop):
        break
json.dump({"epochs": epoch + 1, "right": right, "longest": longest}, sys.stdout)
