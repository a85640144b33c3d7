"""Tries trainings that do not fit the job: refused_orders.py MOUNT OTHER

Prints a line for each: its name, whether it failed by one exception without others behind it, and the message. CLAIRFS_JOB and PYTHONPATH are
those of `clairfs run`.
"""

import os
import sys

from torch.utils.data import Dataset, DistributedSampler, Subset
from torchvision.datasets import ImageFolder

mount, other = sys.argv[1], sys.argv[2]
sys.path.insert(0, mount + "/.clairfs/python")
from clairfs_torch import OrderError, OrderSampler


class Reversed(ImageFolder):
    def __init__(self, root):
        super().__init__(root, loader=str)
        self.samples = self.samples[::-1]


class Silent(Dataset):
    """Does not say where its files are."""

    def __init__(self, count):
        self.count = count

    def __len__(self):
        return self.count


def attempt(name, begin):
    try:
        print(name, "length", len(list(begin())), sep="\t")
    except OrderError as e:
        print(name, "refused" if e.__cause__ is None and (e.__context__ is None or e.__suppress_context__) else "chained", e, sep="\t")


def sampler_of(dataset, world=2, job=None, **further):
    def begin():
        os.environ["CLAIRFS_JOB"] = job or "train"
        return DistributedSampler(dataset, num_replicas=world, rank=1, seed=5, **further)

    return begin


def line_of(dataset, job="train", point=mount, rank=1, **further):
    return lambda: OrderSampler(point, job=job, rank=rank, dataset=dataset, **further)


whole = ImageFolder(mount, loader=str)
part = Subset(whole, range(len(whole) - 5))
attempt("run right", sampler_of(whole))
attempt("run dataset", sampler_of(part))
attempt("run world", sampler_of(whole, world=3))
attempt("run no job", sampler_of(whole, job="nobody"))
attempt("run index", sampler_of(Reversed(mount)))
attempt("run elsewhere", sampler_of(ImageFolder(other, loader=str), job="nobody"))
attempt("run silent", sampler_of(Silent(len(whole)), job="nobody"))
attempt("run unshuffled", sampler_of(part, job="nobody", shuffle=False))
attempt("line right", line_of(whole))
attempt("line silent", line_of(Silent(len(whole))))
attempt("line dataset", line_of(part))
attempt("line world", line_of(whole, world=3))
attempt("line rank", line_of(whole, rank=2))
attempt("line job", line_of(whole, job="nobody"))
attempt("line index", line_of(Reversed(mount)))
attempt("line elsewhere", line_of(ImageFolder(other, loader=str)))
attempt("line mount", line_of(whole, point=other))
attempt("line refused", line_of(whole, job="seed=1 colour=red", rank=0))


def late_epoch():
    sampler = OrderSampler(mount, job="train", rank=0, dataset=whole)
    sampler.set_epoch(2)
    return sampler


attempt("line epoch", late_epoch)
