"""A training that tells clairfs nothing: untold_trainer.py MOUNT SOURCE SEED EPOCHS

ImageFolder, two ranks in this one process, and a DataLoader with two workers for each. After the reads that are enough to find the order, it waits
a while until it is found, and from then on for what a trainer that computes would have given its loaders time for. An early search may take the rank
whose workers were first for all there are, until further reads contradict that: so it reads on where the order of both is not found soon, if need be in
further epochs. Prints, as JSON, for every epoch from that on in which it was found how many samples had the SHA-256 of the source's, and how many
reads the daemon had answered up to its end.
"""
import hashlib
import json
import sys
import time

import torch
from torch.utils.data import DataLoader, DistributedSampler
from torchvision.datasets import ImageFolder

mount, source, seed, epochs = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
BATCH, WORKERS = 8, 2
ENOUGH = 200
PATIENCE_S = 120
SOON_S = 5
MOST_EPOCHS = 20


def digest(path):
    with open(path, "rb") as file:
        return hashlib.sha256(file.read()).digest()


class Indexed(ImageFolder):
    def __getitem__(self, index):
        return index, torch.tensor(list(self.loader(self.samples[index][0])), dtype=torch.uint8)


def status():
    with open(f"{mount}/.clairfs/status.json") as f:
        return json.load(f)


def await_status(what, said):
    deadline = time.monotonic() + PATIENCE_S
    while not said(now := status()):
        if time.monotonic() > deadline:
            sys.exit(f"never {what}: {now}")
        time.sleep(0.005)


def is_found(now):
    return now["find_seed"]["state"] == "found" and "ranks=0-1" in (now["find_seed"]["line"] or "") and now["jobs"]


def is_found_soon():
    deadline = time.monotonic() + SOON_S
    while not is_found(status()):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.005)
    return True


expected = [digest(path) for path, _ in ImageFolder(source).samples]
dataset = Indexed(mount, loader=digest)
samplers = [DistributedSampler(dataset, num_replicas=2, rank=rank, seed=seed) for rank in range(2)]
loaders = [DataLoader(dataset, batch_size=BATCH, sampler=s, num_workers=WORKERS) for s in samplers]
ahead = len(loaders) * (2 * WORKERS + 1) * BATCH
read = 0
found = False
result = []
for epoch in range(MOST_EPOCHS):
    for sampler in samplers:
        sampler.set_epoch(epoch)
    right = 0
    for batches in zip(*loaders):
        for indices, digests in batches:
            for index, got in zip(indices.tolist(), digests):
                right += bytes(got.tolist()) == expected[index]
            read += len(indices)
        if read >= ENOUGH:
            found = found or is_found_soon()
            if found:
                await_status("staged", lambda s: is_found(s) and s["jobs"][0]["staged_ahead"] >= ahead)
    if found:
        result.append({"right": right, "upcalls": status()["reads"]["upcalls"]})
    if len(result) == epochs:
        break
json.dump(result, sys.stdout)
