"""A training of the usual shape: train_images.py DATA --source DIR --out FILE ...

DATA has the directories train and val, one directory per class in each. With WORLD_SIZE and RANK in the environment the loaders have a
DistributedSampler; without, one loader shuffles. After each epoch it validates. It knows nothing of clairfs but where figures are: it writes to
FILE.RANK, as JSON, for each epoch the indices, how many samples equal the source's, how many reads were requested from the daemon, and the jobs.
A step takes until the next samples are in the page cache, so no figure depends on the speed of the machine.
"""

import argparse
import json
import os
import time

import torch
import torch.distributed as dist
import torch.nn as nn
from torch.utils.data import DataLoader
from torch.utils.data.distributed import DistributedSampler
from torchvision.datasets import ImageFolder

PATIENCE_S = 60

parser = argparse.ArgumentParser()
parser.add_argument("data")
parser.add_argument("--source")
parser.add_argument("--out")
parser.add_argument("--epochs", type=int, default=3)
parser.add_argument("-b", "--batch-size", type=int, default=8)
parser.add_argument("-j", "--workers", type=int, default=2)


class Compared(ImageFolder):
    """Gives the index of a sample, some of its bytes, its class, and whether it equals the source's."""

    def __init__(self, root, source):
        super().__init__(root)
        self.source = source

    def __getitem__(self, index):
        path, target = self.samples[index]
        with open(path, "rb") as file, open(os.path.join(self.source, os.path.relpath(path, self.root)), "rb") as original:
            content = file.read()
            equal = content == original.read()
        return index, torch.tensor(list(content[:16]), dtype=torch.float32) / 255, target, equal


def status(args):
    with open(args.data + "/.clairfs/status.json") as file:
        return json.load(file)


def step_time(args):
    end = time.monotonic() + PATIENCE_S
    ahead = 2 * args.batch_size * args.workers * int(os.environ.get("WORLD_SIZE", 1))
    while time.monotonic() < end:
        jobs = [job for job in status(args)["jobs"] if job["in_sync"]]
        if jobs and jobs[0]["staged_ahead"] >= ahead:
            return
        time.sleep(0.01)


def main():
    args = parser.parse_args()
    distributed = "WORLD_SIZE" in os.environ
    rank = 0
    torch.set_num_threads(1)
    if distributed:
        dist.init_process_group("gloo")
        rank = dist.get_rank()
    model = nn.Sequential(nn.Linear(16, 8), nn.Dropout(0.0), nn.Linear(8, 3))
    if distributed:
        model = nn.parallel.DistributedDataParallel(model)
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    train_dataset = Compared(os.path.join(args.data, "train"), os.path.join(args.source, "train"))
    val_dataset = Compared(os.path.join(args.data, "val"), os.path.join(args.source, "val"))
    train_sampler = DistributedSampler(train_dataset) if distributed else None
    val_sampler = DistributedSampler(val_dataset, shuffle=False, drop_last=True) if distributed else None
    train_loader = DataLoader(
        train_dataset, batch_size=args.batch_size, shuffle=train_sampler is None, num_workers=args.workers, sampler=train_sampler
    )
    val_loader = DataLoader(val_dataset, batch_size=args.batch_size, shuffle=False, num_workers=args.workers, sampler=val_sampler)
    epochs = []
    for epoch in range(args.epochs):
        if train_sampler is not None:
            train_sampler.set_epoch(epoch)
        if distributed:
            dist.barrier()
        before = status(args)["reads"]
        read = train(train_loader, model, optimizer, args)
        if distributed:
            dist.barrier()
        after = status(args)
        read["upcalls"] = after["reads"]["upcalls"] - before["upcalls"]
        read["jobs"] = [{key: job[key] for key in ("name", "epoch", "in_sync", "deviations", "steps")} for job in after["jobs"]]
        with open(args.data + "/.clairfs/job") as file:
            read["lines"] = file.read().splitlines()
        epochs.append(read)
        validate(val_loader, model, args)
    with open("%s.%d" % (args.out, rank), "w") as file:
        json.dump(epochs, file)


def train(loader, model, optimizer, args):
    model.train()
    order, equal = [], 0
    for index, images, target, same in loader:
        loss = nn.functional.cross_entropy(model(images), target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        order += index.tolist()
        equal += int(same.sum())
        step_time(args)
    return {"order": order, "equal": equal}


def validate(loader, model, args):
    model.eval()
    with torch.no_grad():
        for _, images, _, _ in loader:
            model(images)
    step_time(args)


if __name__ == "__main__":
    main()
