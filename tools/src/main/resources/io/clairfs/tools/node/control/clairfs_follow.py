"""Writes the job that a training's own DataLoader reads: clairfs_torch.follow, and `clairfs run` where no job was written before.

A DataLoader says what it will read: its sampler, its seed or the state of its generator, its batches and workers. `read` turns this into the keys
of a job, or says why it cannot. A job is written before the first batch is requested, and again only where a loader turns out to read otherwise
than its line says: it left an epoch early, its epoch was never set, or something else drew from its generator. What the loader reads is never
changed, and nothing here may fail a training.
"""

import base64
import os
import re
import struct
import sys
import threading
import weakref

import torch
from torch.utils.data import BatchSampler, DataLoader, IterableDataset, RandomSampler, SequentialSampler, TensorDataset, dataloader, get_worker_info
from torch.utils.data.distributed import DistributedSampler

import clairfs_torch
from clairfs_torch import OrderError, OrderSampler

PATIENCE_S = 60.0
LISTING_PATIENCE_S = 10.0
JOBS_OF_A_RUN = 4
DRAWS_SEARCHED = 64
LONG_DATASET = 1 << 27
WRITTEN_BY = "loader"
WHERE = "give it a list of their paths with the name paths, or call clairfs_torch.follow(loader, mount=MOUNTPOINT)"
ORDER_FILE = "write its indices to a file for each epoch, with sampler=order-file"
VERSION = tuple(int(part) for part in re.match(r"(\d+)\.(\d+)", torch.__version__).groups())


class Unpredicted(Exception):
    """No job line gives the order of this loader. The message says why, and what would change it."""


class Reading:
    """What a loader reads: keys of a job line, and the place where its present moment is found.

    The moment is what changes from epoch to epoch: the number of the epoch (clock: a sampler with `epoch`), or the state of the generator. It is
    None where all epochs are alike. holder: what draws from the generator: "loader", "sampler" or "nobody", as in sampler=torch-state.
    """

    def __init__(self, loader, keys, world=1, rank=0, shuffled=True, clock=None, generator=None, holder=None):
        self.loader, self.dataset = loader, loader.dataset
        self.keys, self.world, self.rank, self.shuffled = keys, world, rank, shuffled
        self.clock, self.generator, self.holder = clock, generator, holder

    def moment(self):
        if self.clock is not None:
            return int(self.clock.epoch)
        return None if self.generator is None else self.generator.get_state()

    def keeps_workers(self):
        """Whether the next pass goes on with the iterator of the last one, which draws no seed for its workers."""
        return "persistent_workers" in self.keys and getattr(self.loader, "_iterator", None) is not None

    def keys_at(self, moment, kept, fixed, between):
        """The keys of a job that begins at this moment. fixed: its epoch never changes. between: words drawn between two epochs."""
        keys = dict(self.keys)
        if self.clock is not None:
            if fixed:
                keys.update(seed=int(keys["seed"]) + moment, set_epoch="false")
            elif moment:
                keys["start_epoch"] = moment
        elif self.holder is not None:
            keys.update(self._drawing(moment, kept))
            if between:
                keys["draws_between"] = between
        return keys

    def _drawing(self, state, kept):
        holder = self.holder
        if kept and holder == "nobody":
            state = _unread(state, 2)
        elif kept:
            holder = "sampler"
        seed = self.generator.initial_seed()
        if torch.equal(torch.Generator().manual_seed(seed).get_state(), state):
            keys = {"sampler": "torch-default" if holder == "nobody" else "torch-generator", "seed": seed}
        else:
            keys = {"sampler": "torch-state", "state": base64.b64encode(state.numpy().tobytes()).decode()}
            if holder != "nobody":
                keys["seeded"] = "generator"
        return dict(keys, generator="sampler") if holder == "sampler" else keys

    def after(self, state, kept):
        """The state in which an epoch from this state leaves the generator; None where this is not known."""
        if VERSION < (1, 11):
            return None
        g = torch.Generator()
        g.set_state(state)
        if self.holder != "sampler" and not kept:
            torch.empty((), dtype=torch.int64).random_(generator=g)
        if self.holder == "nobody":
            torch.empty((), dtype=torch.int64).random_(generator=g)
            return g.get_state()
        count, n = len(self.dataset), int(self.keys.get("num_samples", len(self.dataset)))
        if "replacement" in self.keys:
            for _ in range(n // 32):
                torch.randint(high=count, size=(32,), dtype=torch.int64, generator=g)
            torch.randint(high=count, size=(n % 32,), dtype=torch.int64, generator=g)
        else:
            for _ in range(n // count + 1):
                torch.randperm(count, generator=g)
        return g.get_state()


def read(loader):
    """The Reading of a loader, which may be wrapped by accelerate or Lightning. Raises Unpredicted."""
    if type(loader).__name__ == "DataLoaderDispatcher":
        raise Unpredicted("accelerate's DataLoaderDispatcher reads in one process for all; prepare the loader with dispatch_batches=False")
    loader = unwrapped(loader)
    if isinstance(loader.dataset, IterableDataset):
        raise Unpredicted("an IterableDataset chooses itself what it reads; give the loader a dataset with indices")
    if _chosen(loader.dataset) is not None:
        raise Unpredicted(
            "its dataset is a part of another one, of samples chosen by their indices (%s); put these files in a directory of their own, or %s"
            % (type(loader.dataset).__name__, ORDER_FILE)
        )
    keys = {}
    sampler, shard = _batches(loader, keys)
    if loader.num_workers > 0:
        keys["workers"] = loader.num_workers
        if loader.prefetch_factor not in (None, 2):
            keys["prefetch_factor"] = loader.prefetch_factor
        if loader.persistent_workers:
            keys["persistent_workers"] = "true"
    if VERSION < (1, 11) or len(loader.dataset) >= LONG_DATASET:
        keys["torch"] = "%d.%d" % VERSION
    of = getattr(sampler, "data_source", getattr(sampler, "dataset", None))
    if hasattr(of, "__len__") and len(of) != len(loader.dataset):
        raise Unpredicted("its sampler is over %d samples and its dataset has %d; %s" % (len(of), len(loader.dataset), ORDER_FILE))
    return _of_sampler(loader, keys, sampler, shard)


def unwrapped(loader):
    """The torch DataLoader in accelerate's DataLoaderShard and Lightning Fabric's _FabricDataLoader."""
    for name in ("base_dataloader", "_dataloader"):
        loader = getattr(loader, "__dict__", {}).get(name, loader)
    return loader


def _chosen(dataset):
    """The indices that a Subset, or what wraps one, takes from its dataset; None when it takes all in their order."""
    for _ in range(clairfs_torch.WRAPPERS_FOLLOWED):
        indices = getattr(dataset, "indices", None)
        inner = clairfs_torch._inner(dataset)
        if hasattr(indices, "__len__") and inner is not None:
            if len(indices) != len(inner) or any(int(index) != place for place, index in enumerate(indices)):
                return indices
        if inner is None:
            return None
        dataset = inner
    return None


def _iterates_as(thing, kind, *further):
    """Whether a sampler gives the order of a class of torch: it has its __iter__, or the name of a class known to give the same."""
    return isinstance(thing, kind) and (type(thing).__iter__ is kind.__iter__ or type(thing).__name__ in further)


def _batches(loader, keys):
    """Takes the batches of a loader apart. Returns the sampler of single indices, and accelerate's BatchSamplerShard if there is one."""
    batches = loader.batch_sampler
    if batches is None:
        if not isinstance(loader.sampler, BatchSampler):
            keys["batch"] = 1
            return loader.sampler, None
        batches = loader.sampler
    if type(batches).__name__ == "_RepeatSampler":  # timm, ultralytics
        keys["endless"] = "true"
        batches = batches.sampler
    if type(batches).__name__ == "SkipBatchSampler":
        if batches.skip_batches:
            keys["skip_batches"] = batches.skip_batches
        batches = batches.batch_sampler
    shard = None
    if type(batches).__name__ == "BatchSamplerShard":
        if batches.num_processes > 1:
            shard = batches
        batches = batches.batch_sampler
    if not _iterates_as(batches, BatchSampler, "BatchSampler"):
        raise Unpredicted("its batches come from a %s; %s" % (type(batches).__name__, ORDER_FILE))
    keys["batch"] = batches.batch_size
    if batches.drop_last:
        keys["drop_last"] = "true"
    return batches.sampler, shard


def _of_sampler(loader, keys, sampler, shard):
    name = type(sampler).__name__
    shuffled = not isinstance(sampler, SequentialSampler)
    if isinstance(sampler, DistributedSampler) and shard is None:
        return _distributed(loader, keys, sampler)
    if name == "SeedableRandomSampler" or (shard is not None and not shuffled):
        return _accelerate(loader, keys, sampler, shard, shuffled)
    if shard is not None:
        raise Unpredicted("accelerate shares one generator between the processes; use its default, use_seedable_sampler=True")
    world = clairfs_torch._world() or 1
    if world > 1:
        raise Unpredicted("its %s has no ranks, and the training has %d processes; give it a DistributedSampler" % (name, world))
    if _iterates_as(sampler, SequentialSampler):
        keys.pop("torch", None)
        return Reading(loader, dict(keys, sampler="sequential"), shuffled=False)
    if not isinstance(sampler, RandomSampler):
        raise Unpredicted("its order comes from a %s; %s" % (name, ORDER_FILE))
    if sampler.replacement:
        keys["replacement"] = "true"
    if sampler.num_samples != len(loader.dataset):
        keys["num_samples"] = sampler.num_samples
    if type(loader).__name__ == "StatefulDataLoader":
        return _stateful(loader, keys, sampler)
    if not _iterates_as(sampler, RandomSampler):
        raise Unpredicted("its order comes from a %s; %s" % (name, ORDER_FILE))
    generator, of_loader = sampler.generator, getattr(loader, "generator", None)
    if generator is None and of_loader is not None:
        raise Unpredicted("its generator is not that of its sampler; give it to RandomSampler(dataset, generator=g)")
    holder = "nobody" if generator is None else "loader" if of_loader is generator else "sampler"
    return Reading(loader, keys, generator=_on_cpu(generator), holder=holder)


def _on_cpu(generator):
    if generator is None:
        return torch.default_generator
    if generator.device.type != "cpu":
        raise Unpredicted("its generator is on %s; give it a generator on the CPU" % generator.device)
    return generator


def _distributed(loader, keys, sampler):
    if type(sampler).__name__ in ("DistributedSamplerWrapper", "UnrepeatedDistributedSamplerWrapper"):  # Lightning, catalyst
        inner = getattr(sampler.dataset, "_sampler", getattr(sampler.dataset, "sampler", None))
        if not _iterates_as(inner, SequentialSampler):
            raise Unpredicted("it shuffles the order of a %s again; %s" % (type(inner).__name__, ORDER_FILE))
    elif not _iterates_as(sampler, DistributedSampler, "UnrepeatedDistributedSampler", "StatefulDistributedSampler"):
        raise Unpredicted("its order comes from a %s; %s" % (type(sampler).__name__, ORDER_FILE))
    drop_last_batch = keys.pop("drop_last", None)
    keys.update(sampler="torch-distributed", seed=sampler.seed, world=sampler.num_replicas)
    if drop_last_batch:
        keys["drop_last_batch"] = "true"
    if sampler.drop_last:
        keys["drop_last"] = "true"
    elif sampler.total_size == len(loader.dataset) and sampler.total_size % sampler.num_replicas:
        keys["even_divisible"] = "false"  # MONAI's, Lightning's for predictions
    if not sampler.shuffle:
        keys["shuffle"] = "false"
    if getattr(sampler, "next_yielded", None):
        keys["skip_samples"] = sampler.next_yielded
    clock = sampler if sampler.shuffle else None
    return Reading(loader, keys, sampler.num_replicas, sampler.rank, sampler.shuffle, clock)


def _accelerate(loader, keys, sampler, shard, shuffled):
    if shuffled and (sampler.replacement or sampler.num_samples != len(loader.dataset)):
        raise Unpredicted("its sampler draws with replacement or another number of samples; %s" % ORDER_FILE)
    world, rank = (shard.num_processes, shard.process_index) if shard else (1, 0)
    keys.update(sampler="accelerate", seed=sampler.initial_seed if shuffled else 0, world=world)
    if shard and shard.split_batches:
        keys["split_batches"] = "true"
    if shard and not shard.even_batches:
        keys["even_batches"] = "false"
    if not shuffled:
        keys["shuffle"] = "false"
    return Reading(loader, keys, world, rank, shuffled, sampler if shuffled else None)


def _stateful(loader, keys, sampler):
    """torchdata's loader. Its sampler has a generator of its own, which the default generator seeded unless the user gave one."""
    g = _on_cpu(sampler.generator)
    seed = g.initial_seed()
    if sampler.generator is None or not torch.equal(torch.Generator().manual_seed(seed).get_state(), g.get_state()):
        raise Unpredicted("its generator was used before; call follow before the first epoch")
    keys["sampler"] = "torchdata-stateful"
    if loader.generator is g:
        return Reading(loader, dict(keys, seeded="generator", seed=seed))
    first = torch.initial_seed()
    before = _words_before(first, seed)
    if before is None:
        raise Unpredicted("its generator was not seeded after torch.manual_seed; give it generator=g")
    return Reading(loader, dict(keys, seed=first, **({"draws_before": before} if before else {})))


def _words_before(seed, drawn):
    """How many words a generator with this seed gives before it gives `drawn` as a seed of 63 bits; None when it is not near."""
    for odd in (0, 1):
        g = torch.Generator().manual_seed(seed)
        if odd:
            torch.empty((), dtype=torch.int32).random_(generator=g)
        found = (torch.empty(1 << 16, dtype=torch.int64).random_(generator=g) == drawn).nonzero()
        if len(found):
            return 2 * int(found[0]) + odd
    return None


def _unread(state, words):
    """The state of a generator before it gave its last words. torch has their place behind its seed: left, seeded, next."""
    content = bytearray(state.numpy().tobytes())
    left, seeded, at = struct.unpack_from("<iiQ", content, 8)
    if at <= words:
        raise Unpredicted("the state of its generator is at the begin of a block")
    struct.pack_into("<iiQ", content, 8, left + words, seeded, at - words)
    return torch.tensor(list(content), dtype=torch.uint8)


def _words_between(state, later):
    """How many words lead from a state of a generator to a later one; None when these are many, or it is not on the way."""
    g = torch.Generator()
    g.set_state(state)
    word = torch.empty((), dtype=torch.int32)
    for words in range(DRAWS_SEARCHED + 1):
        if torch.equal(g.get_state(), later):
            return words
        word.random_(generator=g)
    return None


def _skipped(state, words):
    g = torch.Generator()
    g.set_state(state)
    torch.empty(words, dtype=torch.int32).random_(generator=g)
    return g.get_state()


def _same(moment, other):
    return torch.equal(moment, other) if isinstance(moment, torch.Tensor) and isinstance(other, torch.Tensor) else moment is other or (
        isinstance(moment, int) and isinstance(other, int) and moment == other
    )


class Pass:
    """How far an iterator of a loader has come. It does not keep the iterator alive."""

    def __init__(self, loader, iterator):
        self.iterator = weakref.ref(iterator)
        self.counted = isinstance(iterator, dataloader._BaseDataLoaderIter)
        self.total = len(loader) if self.counted else 0
        self.batches, self.over = 0, False

    def has_ended(self):
        return self.over or not self.counted or self.batches >= self.total

    def goes_on(self):
        return not self.has_ended() and self.iterator() is not None


class Followed:
    """A job that is written for a loader, and again where the loader turns out to read otherwise."""

    def __init__(self, mount, name, epochs=None):
        self.mount, self.name, self.epochs = mount, name, epochs
        self.reading, self.line, self.subset = None, None, None
        self.progress, self.passes = None, 0
        self.written_at, self.kept, self.fixed, self.between = None, False, False, 0
        self.base, self.expected = None, None

    def begin(self, reading):
        """Before a pass: has the job begin where the loader does."""
        moment = reading.moment()
        ended = self.progress is None or self.progress.has_ended()
        kept = reading.keeps_workers()
        as_written = kept == (self.kept if self.passes == 0 else "persistent_workers" in reading.keys) or reading.holder is None
        if self.line is not None and ended and as_written and reading.keys == self.reading.keys:
            self._expect()
            if _same(moment, self.expected):
                self._has_begun(reading, moment, kept)
                return
            again = self.passes > 0 and reading.clock is not None and moment == self.written_at
            self.fixed = again and reading.keys["sampler"] == "torch-distributed"
            self.between = self._drawn(moment) or 0
            if self.fixed:
                say("set_epoch is never called, so all epochs have one order: call sampler.set_epoch(epoch)", reading)
        else:
            self.fixed, self.between = False, 0
        self.write(reading, moment, kept)
        self._has_begun(reading, moment, kept)

    def is_settled(self, loader):
        """Whether nothing is left to find out at a further pass: the state of torchdata's samplers is known when they are new, and then no more."""
        reading = self.reading
        return reading is not None and self.passes > 0 and reading.loader is loader and reading.keys.get("sampler") == "torchdata-stateful"

    def _has_begun(self, reading, moment, kept):
        self.reading, self.written_at, self.kept = reading, moment, kept
        self.passes += 1
        self.base, self.expected = None, moment

    def has_iterator(self, iterator):
        self.progress = Pass(self.reading.loader, iterator)
        if self.progress.counted:
            iterator._clairfs_pass = self.progress

    def _expect(self):
        """Finds the moment at which the next pass begins, if the loader reads as the line says. Called after a pass, it is found once."""
        if self.progress is None or self.base is not None or self.expected is None:
            return
        if isinstance(self.expected, int):
            self.base = self.expected
            self.expected += 0 if self.fixed else 1
            return
        self.base = self.reading.after(self.expected, self.kept)
        self.expected = None if self.base is None else _skipped(self.base, self.between)

    def _drawn(self, moment):
        return _words_between(self.base, moment) if isinstance(self.base, torch.Tensor) and moment is not None else None

    def other_has_begun(self):
        """After the iterator of another loader was made, such as one for validation, which draws from the default generator: in the time until
        the next pass its beginning is staged."""
        reading = self.reading
        if reading is None or reading.holder != "nobody" or self.progress is None or not self.progress.has_ended():
            return
        self._expect()
        moment = reading.moment()
        drawn = self._drawn(moment)
        if drawn and drawn > self.between:
            self.between = drawn
            self.write(reading, moment, reading.keeps_workers())
            self.expected = moment

    def write(self, reading, moment, kept):
        """Writes the line for a loader that begins at this moment, and checks the dataset when it is a new one. Raises OrderError."""
        keys = reading.keys_at(moment, kept, self.fixed, self.between)
        if self.epochs is not None:
            left = self.epochs if reading.clock is not None and not self.fixed else self.epochs - self.passes
            if left > keys.get("start_epoch", 0):
                keys["epochs"] = left
        checked = self.reading is not None and self.reading.dataset is reading.dataset
        subsets = [self.subset] if checked else _subsets(self.mount, reading.dataset)
        failure = None
        for subset in subsets:
            try:
                line = self._written(dict(keys, subset=subset) if subset else keys, reading)
                if not checked:
                    self._check(reading)
            except OrderError as e:
                failure = failure or e
                continue
            known = self.reading is not None and self.reading.keys == reading.keys
            self.line, self.subset, self.reading, self.kept = line, subset, reading, kept
            if not known:
                say("the job '%s' at %s follows the training: %s" % (self.name, self.mount.point, shortened(line)), reading)
            return
        self._stop(reading)
        raise failure

    def _written(self, keys, reading):
        if reading.world > 1 and "LOCAL_WORLD_SIZE" not in os.environ and self.mount.status().get("group"):
            raise OrderError("its ranks on this node are not known: start the training with torchrun, which sets LOCAL_WORLD_SIZE")
        line = " ".join("%s=%s" % pair for pair in dict({"name": self.name}, **keys, by=WRITTEN_BY).items())
        clairfs_torch._write_job(self.mount, line, reading.rank, reading.world, PATIENCE_S)
        return line

    def _check(self, reading):
        listed = self.mount.status()["ready"]
        try:
            job = clairfs_torch._await_job(self.mount, self.name, reading.world, PATIENCE_S if listed else LISTING_PATIENCE_S)
        except OrderError:
            if self.mount.status()["ready"]:
                raise
            return  # a dataset that is still being listed cannot be checked, and nobody waits for it
        clairfs_torch._check_dataset(self.mount, job, reading.dataset)

    def _stop(self, reading):
        line = self.mount.line_of(self.name)
        if clairfs_torch._local_rank(reading.rank) == 0 and line and line.get("by") == WRITTEN_BY:
            clairfs_torch._write(self.mount, "stop=" + self.name)


def _subsets(mount, dataset):
    """The directories of the mount that a dataset may list, the most probable first."""
    root = clairfs_torch._root(dataset)
    inside = None if root is None else mount.inside(root)
    if inside is not None:
        return [inside]
    path_of = clairfs_torch._paths(dataset)
    if path_of is None:
        return [""]
    last = len(dataset) - 1
    shared = os.path.commonpath([os.path.dirname("/" + (mount.inside(path_of(k * last // 15)) or "")) for k in range(16)])
    parts = shared.strip("/").split("/") if shared != "/" else []
    return ["/".join(parts[:end]) for end in range(len(parts), -1, -1)][:JOBS_OF_A_RUN]


def place_of(dataset):
    """A path that tells where a dataset lies: a file of it, or its root; None when it says neither."""
    if not hasattr(dataset, "__len__"):
        return clairfs_torch._root(dataset)
    path_of = clairfs_torch._paths(dataset)
    return (path_of(0) if path_of and len(dataset) else None) or clairfs_torch._root(dataset)


def shortened(line):
    return re.sub(r"(state=.{12})\S+", r"\1...", line)


_said = set()


def say(text, reading=None):
    """Tells the user once, by the process of local rank 0."""
    rank = reading.rank if reading is not None else clairfs_torch._rank()
    if text not in _said and clairfs_torch._local_rank(rank) == 0:
        _said.add(text)
        print("clairfs:", text, file=sys.stderr, flush=True)


class Run:
    """The jobs of a training under `clairfs run`, where the user has written none.

    The first loader over the mount gets the job. One that shuffles takes it from one that does not, such as Lightning's check of the validation
    before the training. A loader over other files that shuffles too gets a job of its own; others are left alone.
    """

    def __init__(self, mount, name):
        self.mount, self.name, self.jobs, self.refused = mount, name, [], set()

    def begin(self, loader):
        """The job of this loader, begun; None when it has none."""
        place = place_of(loader.dataset)
        if place is None and not isinstance(loader.dataset, (IterableDataset, TensorDataset)):
            say("no job follows the DataLoader of the %s, which does not say where its files are; %s" % (type(loader.dataset).__name__, WHERE))
        if place is None or self.mount.inside(place) is None or _order_sampler(loader) is not None:
            return None
        if clairfs_torch.is_given(self.mount, self.name):
            return None
        directory = _subsets(self.mount, loader.dataset)[0]
        if directory in self.refused:
            return None
        settled = next((job for job in self.jobs if job.is_settled(loader)), None)
        if settled is not None:
            return settled
        try:
            reading = read(loader)
        except Unpredicted as e:
            where = "" if directory == "" else " over " + directory
            say("no job follows the DataLoader of the %s%s: %s" % (type(loader.dataset).__name__, where, e))
            return None
        job = self._job_for(reading, directory)
        if job is None:
            return None
        job.directory = directory
        try:
            job.begin(reading)
        except (OrderError, OSError, Unpredicted) as e:
            if job.line is None:
                self.jobs.remove(job)
                if reading.shuffled:
                    self.refused.add(directory)
            say("no job follows the DataLoader of the %s: %s" % (type(loader.dataset).__name__, re.sub("^clairfs: ", "", str(e))), reading)
            return None
        return job

    def _job_for(self, reading, directory):
        job = next((job for job in self.jobs if job.directory == directory), None)
        if job is not None and job.reading is not None:
            if job.reading.shuffled and not reading.shuffled:
                return None
            if job.reading.loader is not reading.loader and job.progress is not None and job.progress.goes_on():
                say("a second DataLoader over %s is read at once with the first, and no job follows it" % (directory or self.mount.point))
                return None
            return job
        if not self.jobs:
            return self._new(self.name)
        if not reading.shuffled:
            return None
        if not self.jobs[0].reading.shuffled:
            return self.jobs[0]
        if len(self.jobs) == JOBS_OF_A_RUN:
            say("the DataLoaders of %d directories have jobs; no job follows that over %s" % (JOBS_OF_A_RUN, directory))
            return None
        return self._new("%s-%d" % (self.name, len(self.jobs) + 1))

    def _new(self, name):
        self.jobs.append(Followed(self.mount, name))
        return self.jobs[-1]


_lock = threading.RLock()
_explicit = weakref.WeakKeyDictionary()
_run = None


def follow(loader, epochs, point, name):
    """As clairfs_torch.follow."""
    plain = unwrapped(loader)
    given = _order_sampler(plain)
    if given is not None:
        return " ".join("%s=%s" % pair for pair in (given._order.mount.line_of(given._order.name) or {}).items())
    mount = clairfs_torch._Mount(point or _mount_of(plain.dataset))
    try:
        reading = read(loader)
        if "endless" in reading.keys and reading.holder is not None:
            raise Unpredicted("it drew its first order when it was made; run the training under `clairfs run`")
        with _lock:
            for kind in type(plain).__mro__:
                if kind is DataLoader or kind.__name__ == "StatefulDataLoader":
                    install(kind)
            job = Followed(mount, name, epochs)
            job.write(reading, reading.moment(), reading.keeps_workers())
            job.expected = reading.moment()
            _explicit[plain] = job
            return job.line
    except Unpredicted as e:
        failure = OrderError("clairfs: no job line gives the order of this %s: %s" % (type(loader).__name__, e))
    raise failure from None


def _order_sampler(loader):
    """The sampler of a loader that reads the order of a job already."""
    samplers = [loader.sampler, getattr(loader.batch_sampler, "sampler", None)]
    return next((sampler for sampler in samplers if isinstance(sampler, OrderSampler)), None)


def _mount_of(dataset):
    """The mount that a dataset lies on."""
    path = place_of(dataset)
    parent = os.path.abspath(path or "/")
    while path is not None and parent != "/":
        if os.path.exists(os.path.join(parent, ".clairfs", "job")):
            return parent
        parent = os.path.dirname(parent)
    if path is None and os.environ.get("CLAIRFS_MOUNT"):
        return os.environ["CLAIRFS_MOUNT"]
    raise OrderError(
        "clairfs: the dataset of this loader %s: say where it is mounted, with mount=MOUNTPOINT"
        % ("does not say where its files are" if path is None else "lies at %s, on no mount" % path)
    )


def _job_of(loader):
    global _run
    job = _explicit.get(loader)
    if job is not None:
        if not job.is_settled(loader):
            job.begin(read(loader))
        return job
    if not os.environ.get("CLAIRFS_JOB"):
        return None
    if _run is None:
        _run = Run(clairfs_torch._Mount(os.environ["CLAIRFS_MOUNT"]), os.environ["CLAIRFS_JOB"])
    return _run.begin(loader)


def _before(loader):
    if get_worker_info() is not None:
        return None
    with _lock:
        return _job_of(loader)


def _after(loader, iterator, job):
    if get_worker_info() is not None:
        return
    with _lock:
        if job is not None:
            job.has_iterator(iterator)
        for other in list(_explicit.values()) + (_run.jobs if _run else []):
            if other is not job:
                other.other_has_begun()


def _quietly(do, *arguments):
    """Whatever goes wrong here is no matter of the training."""
    try:
        return do(*arguments)
    except Exception as e:
        say("no job follows a DataLoader: %s" % re.sub("^clairfs: ", "", str(e) or repr(e)))
        return None


def install(kind=DataLoader):
    """Has loaders of this class tell of each pass before it begins."""
    if getattr(kind.__iter__, "_of_clairfs", False):
        return
    own_iter = getattr(kind.__iter__, "_own_iter", kind.__iter__)

    def __iter__(self):
        job = _quietly(_before, self)
        iterator = own_iter(self)
        _quietly(_after, self, iterator, job)
        return iterator

    __iter__._of_clairfs = True
    kind.__iter__ = __iter__
    if not hasattr(dataloader._BaseDataLoaderIter.__next__, "_of_clairfs"):
        _count_batches(dataloader._BaseDataLoaderIter)


def _count_batches(kind):
    own_next = kind.__next__

    def __next__(self):
        progress = self.__dict__.get("_clairfs_pass")
        if progress is None:
            return own_next(self)
        try:
            batch = own_next(self)
        except StopIteration:
            progress.over = True
            raise
        progress.batches += 1
        return batch

    __next__._of_clairfs = True
    kind.__next__ = __next__
