"""Writes the job that a training's own DataLoader reads: clairfs_torch.follow, and `clairfs run` where no job was written before.

A DataLoader says what it will read: its sampler, its seed or the state of its generator, its batches and workers. `read` turns this into the keys
of a job, or says why it cannot. A job is written before the first batch is requested, and again only where a loader turns out to read otherwise
than its line says: it left an epoch early, its epoch was never set, or something else drew from its generator. What the loader reads is never
changed, and nothing here may fail a training.
"""

import os
import re
import threading
import weakref

from torch.utils.data import DataLoader, dataloader, get_worker_info

import clairfs_torch
from clairfs_generator import Unpredicted
from clairfs_job import Followed, note, place_of, say
from clairfs_loader import read, unwrapped
from clairfs_run import Run, order_sampler
from clairfs_torch import OrderError


_lock = threading.RLock()
_explicit = weakref.WeakKeyDictionary()
_run = None


def follow(loader, epochs, point, name):
    """As clairfs_torch.follow."""
    plain = unwrapped(loader)
    given = order_sampler(plain)
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
        reason = "no job line gives the order of this %s: %s" % (type(loader).__name__, e)
        note(mount, reason)
        failure = OrderError("clairfs: " + reason)
    raise failure from None


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
        try:
            mount = clairfs_torch._Mount(os.environ["CLAIRFS_MOUNT"]) if os.environ.get("CLAIRFS_JOB") else None
            say("no job follows a DataLoader: %s" % re.sub("^clairfs: ", "", str(e) or repr(e)), mount=mount)
        except Exception:
            pass  # such as a RANK that is no number
        return None


def install(kind=DataLoader):
    """Has loaders of this class tell of each pass before it begins."""
    if getattr(kind.__iter__, "_of_clairfs", False):
        return
    kind.__iter__ = telling(getattr(kind.__iter__, "_own_iter", kind.__iter__))


def telling(own_iter):
    """A loader's __iter__ that tells of each pass before it begins."""

    def __iter__(self):
        job = _quietly(_before, self)
        iterator = own_iter(self)
        _quietly(_after, self, iterator, job)
        return iterator

    __iter__._of_clairfs = True
    if not hasattr(dataloader._BaseDataLoaderIter.__next__, "_of_clairfs"):
        _count_batches(dataloader._BaseDataLoaderIter)
    return __iter__


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
