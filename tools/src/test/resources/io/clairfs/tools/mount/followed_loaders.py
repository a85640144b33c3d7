"""Follows many DataLoaders, one after the other: followed_loaders.py MOUNT

Prints a line of JSON for each: its name, the line that follow gave (or why it gave none), how many epochs were read, and how many of them had the
order that the job had when the epoch began. Classes of Lightning, accelerate and torchdata are written anew here, as far as a loader shows them.
"""

import array
import json
import math
import os
import sys

import torch
from torch.utils.data import (
    BatchSampler,
    DataLoader,
    Dataset,
    DistributedSampler,
    IterableDataset,
    RandomSampler,
    Sampler,
    SequentialSampler,
    Subset,
    SubsetRandomSampler,
    WeightedRandomSampler,
)
from torchvision.datasets import ImageFolder

mount = sys.argv[1]
sys.path.insert(0, mount + "/.clairfs/python")
from clairfs_torch import OrderError, OrderSampler, follow

torch.set_num_threads(1)
EPOCHS = 3


class Folder(ImageFolder):
    def __getitem__(self, index):
        return index


class Listed(Dataset):
    """A dataset as many write it: a list of paths under a name of its own."""

    def __init__(self, root):
        self.image_paths = [path for path, _ in ImageFolder(root).samples]

    def __len__(self):
        return len(self.image_paths)

    def __getitem__(self, index):
        return index


class Silent(Dataset):
    def __len__(self):
        return len(data)

    def __getitem__(self, index):
        return index


class Streamed(IterableDataset):
    def __iter__(self):
        return iter(range(10))


# Lightning


class _DatasetSamplerWrapper(Dataset):
    def __init__(self, sampler):
        self._sampler, self._sampler_list = sampler, None

    def __getitem__(self, index):
        if self._sampler_list is None:
            self._sampler_list = list(self._sampler)
        return self._sampler_list[index]

    def __len__(self):
        return len(self._sampler)

    def reset(self):
        self._sampler_list = None


class DistributedSamplerWrapper(DistributedSampler):
    def __init__(self, sampler, *args, **kwargs):
        super().__init__(_DatasetSamplerWrapper(sampler), *args, **kwargs)

    def __iter__(self):
        self.dataset.reset()
        return (self.dataset[index] for index in super(DistributedSamplerWrapper, self).__iter__())


class _FabricDataLoader:
    def __init__(self, loader):
        self.__dict__.update(loader.__dict__)
        self._dataloader, self._num_iter_calls = loader, 0

    def __iter__(self):
        self._dataloader.sampler.set_epoch(self._num_iter_calls)
        self._num_iter_calls += 1
        return iter(self._dataloader)


# accelerate


class SeedableRandomSampler(RandomSampler):
    def __init__(self, *args, **kwargs):
        data_seed = kwargs.pop("data_seed", None)
        super().__init__(*args, **kwargs)
        self.initial_seed = data_seed if data_seed is not None else torch.random.initial_seed()
        self.epoch = 0

    def __iter__(self):
        if self.generator is None:
            self.generator = torch.Generator()
        self.generator.manual_seed(self.epoch + self.initial_seed)
        yield from super().__iter__()
        self.set_epoch(self.epoch + 1)

    def set_epoch(self, epoch):
        self.epoch = epoch


class BatchSamplerShard(BatchSampler):
    def __init__(self, batch_sampler, num_processes=1, process_index=0, split_batches=False, even_batches=True):
        self.batch_sampler, self.num_processes, self.process_index = batch_sampler, num_processes, process_index
        self.split_batches, self.even_batches = split_batches, even_batches
        self.batch_size, self.drop_last = batch_sampler.batch_size, batch_sampler.drop_last

    def __iter__(self):
        assert self.even_batches
        return self.split() if self.split_batches else self.whole()

    def split(self):
        first, batch, length = [], [], self.batch_size // self.num_processes
        mine = slice(length * self.process_index, length * (self.process_index + 1))
        for batch in self.batch_sampler:
            first = first or batch
            if len(batch) == self.batch_size:
                yield batch[mine]
        if not self.drop_last and first and len(batch) < self.batch_size:
            while len(first) < self.batch_size:
                first = first + first
            yield (batch + first)[mine]

    def whole(self):
        batches = list(self.batch_sampler)
        if self.drop_last:
            batches = batches[: len(batches) - len(batches) % self.num_processes]
        elif batches:
            filling = sum(batches[: self.num_processes], [])
            while len(filling) < self.num_processes * self.batch_size:
                filling = filling + filling
            missing = self.batch_size - len(batches[-1])
            batches[-1] = batches[-1] + filling[:missing]
            for at in range(missing, missing + self.num_processes * self.batch_size, self.batch_size):
                if len(batches) % self.num_processes == 0:
                    break
                batches.append(filling[at : at + self.batch_size])
        yield from batches[self.process_index :: self.num_processes]

    def __len__(self):
        return math.ceil(len(self.batch_sampler) / self.num_processes)


class SkipBatchSampler(BatchSampler):
    def __init__(self, batch_sampler, skip_batches=0):
        self.batch_sampler, self.skip_batches = batch_sampler, skip_batches

    def __iter__(self):
        for index, samples in enumerate(self.batch_sampler):
            if index >= self.skip_batches:
                yield samples

    def __len__(self):
        return len(self.batch_sampler) - self.skip_batches


class DataLoaderShard:
    """As of accelerate 1: it has a loader, and the attributes of that."""

    def __init__(self, dataset, **kwargs):
        self.base_dataloader = DataLoader(dataset, **kwargs)
        self.iteration = 0

    def __getattr__(self, name):
        if name == "base_dataloader":
            raise AttributeError()
        return getattr(self.base_dataloader, name)

    def __iter__(self):
        sampler = getattr(self.batch_sampler, "batch_sampler", self.batch_sampler).sampler
        if hasattr(sampler, "set_epoch"):
            sampler.set_epoch(self.iteration)
        batches = self.base_dataloader.__iter__()
        current = next(batches)
        for following in batches:
            yield current
            current = following
        yield current
        self.iteration += 1


class DataLoaderDispatcher(DataLoaderShard):
    pass


# torchdata


class _StatefulIterator:
    def __init__(self, sampler):
        self.left = iter(torch.randperm(len(sampler.data_source), generator=sampler.generator).tolist())

    def __iter__(self):
        return self

    def __next__(self):
        return next(self.left)


class StatefulRandomSampler(RandomSampler):
    def __init__(self, data_source, generator=None):
        if generator is None:
            generator = torch.Generator()
            generator.manual_seed(int(torch.empty((), dtype=torch.int64).random_().item()))
        super().__init__(data_source, generator=generator)

    def __iter__(self):
        return _StatefulIterator(self)


class StatefulBatchSampler(BatchSampler):
    def __iter__(self):
        return self.batches(iter(self.sampler))

    def batches(self, indices):
        batch = []
        for index in indices:
            batch.append(index)
            if len(batch) == self.batch_size:
                yield batch
                batch = []
        if batch and not self.drop_last:
            yield batch


StatefulBatchSampler.__name__ = "BatchSampler"


class StatefulDataLoader(DataLoader):
    def __init__(self, dataset, batch_size, shuffle, generator=None, **kwargs):
        sampler = StatefulRandomSampler(dataset, generator)
        batches = StatefulBatchSampler(sampler, batch_size, False)
        super().__init__(dataset, batch_sampler=batches, generator=generator, **kwargs)

    def __iter__(self):
        return self._get_iterator()


# others


class _RepeatSampler:
    def __init__(self, sampler):
        self.sampler = sampler

    def __iter__(self):
        while True:
            yield from iter(self.sampler)

    def __len__(self):
        return len(self.sampler)


class MultiEpochsDataLoader(DataLoader):
    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self._DataLoader__initialized = False
        self.batch_sampler = _RepeatSampler(self.batch_sampler)
        self._DataLoader__initialized = True
        self.iterator = super().__iter__()

    def __len__(self):
        return len(self.batch_sampler.sampler)

    def __iter__(self):
        for _ in range(len(self)):
            yield next(self.iterator)


class Curriculum(Sampler):
    def __init__(self):
        pass

    def __iter__(self):
        return iter(range(len(data)))

    def __len__(self):
        return len(data)


class Jobs:
    """The jobs of the mount."""

    def line(self, name):
        for line in open(mount + "/.clairfs/job"):
            keys = dict(pair.partition("=")[::2] for pair in line.split())
            if keys["name"] == name:
                return keys
        return None

    def order(self, name, epoch, rank):
        with open("%s/.clairfs/order/%s/%d/%d.i64" % (mount, name, epoch, rank), "rb") as file:
            return array.array("q", file.read()).tolist()

    def stop(self, name):
        with open(mount + "/.clairfs/job", "w") as file:
            file.write("stop=%s\n" % name)


jobs = Jobs()
data = Folder(mount + "/train")
count = 0


def seeded(seed, drawn=0):
    g = torch.Generator().manual_seed(seed)
    if drawn:
        torch.rand(drawn, generator=g)
    return g


def attempt(what, make, ranks=1, each_epoch=None, before=None, between=None, leave=None, exact=None):
    """Follows the loaders of each rank, reads them, and compares. each_epoch(loader, epoch) as a script does before an epoch; leave: batches after
    which the script leaves each epoch."""
    global count
    count += 1
    name = "l%d" % count
    torch.manual_seed(count)
    right, said, loaders = 0, None, [make(rank) for rank in range(ranks)]
    try:
        lines = [follow(loader, job=name, epochs=None) for loader in loaders]
    except OrderError as e:
        print(json.dumps({"name": what, "refused": str(e), "job": jobs.line(name)}), flush=True)
        return
    if before:
        before()
    seen, place, rewritten = jobs.line(name), -1, 0
    for epoch in range(EPOCHS):
        good = True
        for rank, loader in enumerate(loaders):
            if each_epoch:
                each_epoch(loader, epoch)
            read, batches = [], 0
            iterator = iter(loader)
            first = next(iterator)
            now = jobs.line(name)
            if now != seen:
                seen, place, rewritten = now, int(now.get("start_epoch", 0)), rewritten + 1
            elif rank == 0:
                place += 1
                place = max(place, int(now.get("start_epoch", 0)))
            expected = jobs.order(name, place, rank)
            read += first.tolist()
            batches = 1
            while leave is None or batches < leave:
                batch = next(iterator, None)
                if batch is None:
                    break
                read += batch.tolist()
                batches += 1
            del iterator
            good = good and (expected[: len(read)] if leave else expected) == read
            if not good and said is None:
                said = "epoch %d (%d of the job), rank %d: read %s, expected %s" % (epoch, place, rank, read[:8], expected[:8])
        right += good
        if between:
            between()
    print(json.dumps({"name": what, "line": lines[0], "right": right, "rewritten": rewritten, "wrong": said}), flush=True)
    jobs.stop(name)


def set_epoch(loader, epoch):
    loader.sampler.set_epoch(epoch)


def later_epoch(loader, epoch):
    loader.sampler.set_epoch(epoch + 5)


def validate():
    for _ in DataLoader(range(4), batch_size=2):
        pass


def distributed(world=2, **kwargs):
    loader_of = {key: kwargs.pop(key) for key in list(kwargs) if key in ("num_workers", "prefetch_factor", "persistent_workers", "drop_last_batch")}
    drop = loader_of.pop("drop_last_batch", False)
    return lambda rank: DataLoader(
        data, batch_size=4, sampler=DistributedSampler(data, num_replicas=world, rank=rank, **kwargs), drop_last=drop, **loader_of
    )


def batches(sampler, size=4, drop=False, **kwargs):
    return DataLoader(data, batch_sampler=BatchSampler(sampler, size, drop), **kwargs)


def with_generator(seed, drawn=0, **kwargs):
    return lambda _: DataLoader(data, batch_size=4, shuffle=True, generator=seeded(seed, drawn), **kwargs)


def plain(**kwargs):
    return lambda _: DataLoader(data, batch_size=4, shuffle=True, **kwargs)


def sharded(split=False, drop=False, shuffle=True, **kwargs):
    def make(rank):
        sampler = SeedableRandomSampler(data, data_seed=11) if shuffle else SequentialSampler(data)
        inner = BatchSampler(sampler, 4, drop)
        return DataLoaderShard(data, batch_sampler=BatchSamplerShard(inner, 2, rank, split_batches=split), **kwargs)

    return make


attempt("DistributedSampler", distributed(seed=3), 2, set_epoch)
attempt("DistributedSampler, workers", distributed(seed=4, num_workers=2, prefetch_factor=3), 2, set_epoch)
attempt("DistributedSampler, drop_last", distributed(seed=5, drop_last=True), 2, set_epoch)
attempt("DistributedSampler, last batch dropped", distributed(seed=5, drop_last_batch=True), 2, set_epoch)
attempt("DistributedSampler, persistent workers", distributed(seed=6, num_workers=1, persistent_workers=True), 1, set_epoch)
attempt("DistributedSampler, not shuffled", distributed(shuffle=False), 2, set_epoch)
attempt("DistributedSampler, resumed", distributed(seed=7), 2, later_epoch)
attempt("DistributedSampler, set_epoch never called", distributed(seed=8), 2)
attempt("DistributedSampler, left early", distributed(seed=8), 1, set_epoch, leave=3)
attempt("DistributedSampler, world 1", distributed(1, seed=9, num_workers=2), 1, set_epoch)
attempt("DistributedSampler, batch_sampler", lambda rank: batches(DistributedSampler(data, 2, rank, seed=2)), 2, lambda l, e: l.batch_sampler.sampler.set_epoch(e))
attempt("generator", with_generator(21))
attempt("generator, workers", with_generator(22, num_workers=2))
attempt("generator, persistent workers", with_generator(23, num_workers=2, persistent_workers=True))
attempt("generator, drop_last", with_generator(24, drop_last=True))
attempt("generator, used before", with_generator(25, 7))
attempt("generator, used before, persistent workers", with_generator(25, 8, num_workers=1, persistent_workers=True))
attempt("generator, left early", with_generator(26), leave=3)
given = seeded(27)
attempt("generator, others draw", lambda _: DataLoader(data, batch_size=4, shuffle=True, generator=given), between=lambda: torch.rand(3, generator=given))
attempt("generator of the sampler", lambda _: DataLoader(data, batch_size=4, sampler=RandomSampler(data, generator=seeded(28))))
attempt("generator of the sampler, more samples", lambda _: DataLoader(data, batch_size=4, sampler=RandomSampler(data, True, 100, seeded(29))))
attempt("generator, fewer samples", lambda _: batches(RandomSampler(data, False, 20, seeded(30))))
attempt("default", plain())
attempt("default, workers", plain(num_workers=2))
attempt("default, persistent workers", plain(num_workers=2, persistent_workers=True))
attempt("default, a model is made", plain(), before=lambda: torch.nn.Linear(30, 7))
attempt("default, validation", plain(num_workers=1), before=lambda: torch.randn(5), between=validate)
attempt("default, validation, persistent workers", plain(num_workers=1, persistent_workers=True), between=validate)
attempt("default, noise", plain(), between=lambda: torch.randn(33))
attempt("default, seeded each epoch", plain(), each_epoch=lambda _, epoch: torch.manual_seed(100 + epoch))
attempt("default, left early", plain(), leave=2)
attempt("default, batch_sampler", lambda _: batches(RandomSampler(data), 8, True, num_workers=1))
attempt("default, single samples", lambda _: DataLoader(data, batch_size=1, shuffle=True))
attempt("sequential", lambda _: DataLoader(data, batch_size=4))
attempt("sequential, drop_last", lambda _: DataLoader(data, batch_size=4, drop_last=True, num_workers=2))
attempt("list of paths", lambda _: DataLoader(Listed(mount + "/train"), batch_size=4, shuffle=True))
attempt("Lightning's wrapper", lambda rank: DataLoader(data, batch_size=4, sampler=DistributedSamplerWrapper(SequentialSampler(data), num_replicas=2, rank=rank, seed=4)), 2, set_epoch)
attempt("Fabric", lambda rank: _FabricDataLoader(distributed(seed=5)(rank)), 2)
attempt("accelerate", sharded(), 2)
attempt("accelerate, workers", sharded(num_workers=2), 2)
attempt("accelerate, split batches", sharded(split=True), 2)
attempt("accelerate, drop_last", sharded(drop=True), 2)
attempt("accelerate, not shuffled", sharded(shuffle=False), 2)
attempt("accelerate, one process", lambda _: DataLoaderShard(data, batch_sampler=BatchSampler(SeedableRandomSampler(data), 4, False)))
attempt("torchdata", lambda _: StatefulDataLoader(data, 4, True))
attempt("torchdata, generator", lambda _: StatefulDataLoader(data, 4, True, seeded(31)))
attempt("torchdata, generator, workers", lambda _: StatefulDataLoader(data, 4, True, seeded(32), num_workers=2))
attempt("timm", lambda _: MultiEpochsDataLoader(data, batch_size=4, sampler=DistributedSampler(data, 1, 0, seed=6), num_workers=2), 1, set_epoch)

attempt("Subset", lambda _: DataLoader(Subset(data, range(5, 20)), batch_size=4, shuffle=True))
attempt("SubsetRandomSampler", lambda _: DataLoader(data, batch_size=4, sampler=SubsetRandomSampler(range(20))))
attempt("WeightedRandomSampler", lambda _: DataLoader(data, batch_size=4, sampler=WeightedRandomSampler([1.0] * len(data), 10)))
attempt("a sampler of the script's", lambda _: DataLoader(data, batch_size=4, sampler=Curriculum()))
attempt("Lightning's wrapper, weighted", lambda _: DataLoader(data, sampler=DistributedSamplerWrapper(WeightedRandomSampler([1.0] * len(data), len(data)), num_replicas=2, rank=0)))
attempt("accelerate, dispatcher", lambda _: DataLoaderDispatcher(data, batch_size=4))
attempt("accelerate, shared generator", lambda _: DataLoaderShard(data, batch_sampler=BatchSamplerShard(BatchSampler(RandomSampler(data, generator=seeded(1)), 4, False), 2, 0)))
attempt("two generators", lambda _: DataLoader(data, sampler=RandomSampler(data), generator=seeded(1)))
attempt("timm, generator", lambda _: MultiEpochsDataLoader(data, batch_size=4, shuffle=True))
attempt("IterableDataset", lambda _: DataLoader(Streamed()))
attempt("a dataset elsewhere", lambda _: DataLoader(range(10), shuffle=True))
attempt("another dataset of the mount", lambda _: DataLoader(type("Part", (Folder,), {"find_classes": lambda s, d: (["class1"], {"class1": 0})})(mount + "/train"), shuffle=True))

with open(mount + "/.clairfs/job", "w") as file:
    file.write("name=given seed=1 subset=train\n")
line = follow(DataLoader(data, sampler=OrderSampler(mount, "given", rank=0, world=1, dataset=data)))
print(json.dumps({"name": "OrderSampler", "line": line}), flush=True)
