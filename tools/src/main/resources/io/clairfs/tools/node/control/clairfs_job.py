"""A job that is written for a loader, and written again where the loader turns out to read otherwise than its line says."""

import os
import re
import sys
import weakref

import torch
from torch.utils.data import dataloader

import clairfs_torch
from clairfs_generator import same, skipped, words_between
from clairfs_torch import OrderError

PATIENCE_S = 60.0
LISTING_PATIENCE_S = 10.0
DIRECTORIES_TRIED = 4
NOTE_BYTES = 400
WRITTEN_BY = "loader"


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
            if same(moment, self.expected):
                self._has_begun(reading, moment, kept)
                return
            again = self.passes > 0 and reading.clock is not None and moment == self.written_at
            self.fixed = again and reading.keys["sampler"] == "torch-distributed"
            self.between = self._drawn(moment) or 0
            if self.fixed:
                say("set_epoch is never called, so all epochs have one order: call sampler.set_epoch(epoch)", reading, self.mount)
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
        self.expected = None if self.base is None else skipped(self.base, self.between)

    def _drawn(self, moment):
        return words_between(self.base, moment) if isinstance(self.base, torch.Tensor) and moment is not None else None

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
        checked = self.reading is reading or (self.reading is not None and self.reading.dataset is reading.dataset)
        directories = [self.subset] if checked else subsets(self.mount, reading.dataset)
        failure = None
        for subset in directories:
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
        if clairfs_torch._local_rank(reading.rank, reading.world) == 0 and line and line.get("by") == WRITTEN_BY:
            clairfs_torch._write(self.mount, "stop=" + self.name)


def subsets(mount, dataset):
    """The directories of the mount that a dataset may list, the most probable first."""
    root = clairfs_torch._root(dataset)
    inside = None if root is None else mount.inside(root)
    if inside is not None:
        return [inside]
    path_of = clairfs_torch._paths(dataset)
    if path_of is None:
        return [""]
    last = len(dataset) - 1
    probed = [path_of(k * last // 15) for k in range(16)]
    shared = os.path.commonpath([os.path.dirname("/" + ((path and mount.inside(path)) or "")) for path in probed])
    parts = shared.strip("/").split("/") if shared != "/" else []
    return ["/".join(parts[:end]) for end in range(len(parts), -1, -1)][:DIRECTORIES_TRIED]


def place_of(dataset):
    """A path that tells where a dataset lies: a file of it, or its root; None when it says neither."""
    if not hasattr(dataset, "__len__"):
        return clairfs_torch._root(dataset)
    path_of = clairfs_torch._paths(dataset)
    return (path_of(0) if path_of and len(dataset) else None) or clairfs_torch._root(dataset)


def shortened(line):
    return re.sub(r"(state=.{12})\S+", r"\1...", line)


_said = set()


def say(text, reading=None, mount=None):
    """Tells the user once, by the process of local rank 0: on stderr, and in the status of the mount if it is given."""
    rank, world = (reading.rank, reading.world) if reading is not None else (clairfs_torch._rank(), clairfs_torch._world())
    if text not in _said and clairfs_torch._local_rank(rank, world) == 0:
        _said.add(text)
        try:
            print("clairfs:", text, file=sys.stderr, flush=True)
        except (OSError, ValueError):  # stderr is closed, or on a full disk
            pass
        if mount is not None:
            note(mount, text)


def note(mount, text):
    """Has the status of the mount show a line."""
    try:
        with open(os.path.join(mount.control, "note"), "wb", buffering=0) as file:
            file.write(" ".join(text.split()).encode(errors="replace")[:NOTE_BYTES])
    except OSError:
        pass  # stderr has it
