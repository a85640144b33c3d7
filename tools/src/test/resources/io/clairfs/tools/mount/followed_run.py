"""Reads DataLoaders as trainings do, under `clairfs run` and without a job: followed_run.py MOUNT

Prints a line of JSON for each step: its name, the jobs afterwards (name, subset, sampler), and what was read where it matters.
"""

import array
import json
import sys

import torch
from torch.utils.data import DataLoader, Subset, TensorDataset
from torchvision.datasets import ImageFolder

mount = sys.argv[1]
torch.set_num_threads(1)


class Folder(ImageFolder):
    def __getitem__(self, index):
        return index


def jobs():
    with open(mount + "/.clairfs/job") as file:
        lines = [dict(pair.partition("=")[::2] for pair in line.split()) for line in file]
    return {keys["name"]: " ".join([keys.get("subset", ""), keys["sampler"]]) for keys in lines}


def tell(step, **further):
    print(json.dumps({"step": step, "jobs": jobs(), **further}), flush=True)


def read(loader):
    return [index for batch in loader for index in batch.tolist()]


def order(name, epoch):
    with open("%s/.clairfs/order/%s/%d/0.i64" % (mount, name, epoch), "rb") as file:
        return array.array("q", file.read()).tolist()


train, val = Folder(mount + "/train"), Folder(mount + "/val")
validation = DataLoader(val, batch_size=4)
g = torch.Generator().manual_seed(3)
training = DataLoader(train, batch_size=4, shuffle=True, generator=g, num_workers=1)

read(DataLoader(TensorDataset(torch.arange(9)), shuffle=True, collate_fn=lambda rows: rows[0][0][None]))
tell("nothing of the mount")
next(iter(validation))
tell("check of the validation")
next(iter(training))
tell("a look at a batch")
first = read(training)
tell("first epoch", equal=first == order("train", 0))
read(validation)
tell("validation")
second = read(training)
tell("second epoch", equal=second == order("train", 1))
read(DataLoader(Subset(train, range(5, 20)), shuffle=True))
tell("a part")
another = DataLoader(val, batch_size=4, shuffle=True)
torch.manual_seed(5)
seen = read(another)
tell("other files", equal=seen == order("train-2", 0))
torch.manual_seed(5)
tell("as without", equal=seen == [index for batch in another._get_iterator() for index in batch.tolist()])

import clairfs_loader


def broken(loader):
    raise ValueError("broken on purpose")


clairfs_loader.read = broken
tell("broken", equal=sorted(read(training)) == list(range(len(train))))
