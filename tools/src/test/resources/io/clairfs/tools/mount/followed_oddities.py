"""Trainings under `clairfs run` whose datasets and loaders are not what their names say: followed_oddities.py MOUNT

Prints a line of JSON: what was read, and whether that is what would be read without clairfs.
"""

import gc
import json
import os
import sys
import weakref

os.environ["SLURM_LOCALID"] = "1"  # a training of one process beside others, as srun starts them
os.environ.pop("WORLD_SIZE", None)

import torch
from torch.utils.data import DataLoader, Dataset, DistributedSampler
from torchvision.datasets import ImageFolder

mount = sys.argv[1]
torch.set_num_threads(1)


class Augmented(ImageFolder):
    """A sample draws from the default generator."""

    loaded = 0

    def __getitem__(self, index):
        Augmented.loaded += 1
        return index + 0 * int(torch.randint(5, (1,)))


class Wrapper(Dataset):
    """Has another dataset among its attributes."""

    def __init__(self, inner):
        self.dataset = inner

    def __len__(self):
        return len(self.dataset)

    def __getitem__(self, index):
        return self.dataset[index]


class Odd(Dataset):
    """On no mount, with attributes that look like lists and are none."""

    def __init__(self):
        self.scale, self.container, self.indices = torch.tensor(0.5), list, {"a": 1}

    @property
    def files(self):
        raise RuntimeError("not yet")

    def __len__(self):
        return 7

    def __getitem__(self, index):
        return index


def read(batches):
    return [index for batch in batches for index in batch.tolist()]


passes = 0
own_iter = DataLoader.__iter__


def counted(self):
    global passes
    passes += 1
    return own_iter(self)


DataLoader.__iter__ = counted  # as a profiler does
wrapped = Wrapper(Augmented(mount + "/train"))
loader = DataLoader(wrapped, batch_size=4, shuffle=True, num_workers=1)
torch.manual_seed(1)
expected = read(loader._get_iterator()), read(loader._get_iterator())
torch.manual_seed(1)
first = read(loader)
second = read(loader)
with open(mount + "/.clairfs/job") as file:
    job = file.read()
known = weakref.ref(loader)
del loader
gc.collect()
odd = DistributedSampler(Odd(), num_replicas=1, rank=0)
print(
    json.dumps(
        {
            "equal": [first, second] == list(expected),
            "loaded": Augmented.loaded,
            "passes": passes,
            "job": job,
            "kept": known() is not None,
            "odd": list(odd) == torch.randperm(7, generator=torch.Generator().manual_seed(0)).tolist(),
        }
    )
)
