"""Batches of a clairfs job in shared memory, ready before they are asked for. Python 3.9 and numpy; torch where it is there.

    sys.path.insert(0, "/mnt/train/.clairfs/python")
    from clairfs_feed import Feed

    with Feed("/mnt/train", job="train", batch=64, decode="raw,dtype=float32,shape=3x224x224") as feed:
        for epoch in range(feed.first_epoch, feed.epochs):
            for batch, labels, indices in feed:
                ...

A feeder, a process of its own, follows the order of the job, reads the samples through the mount, decodes them and assembles the batches in a ring of
shared memory. What the loop gets are views of that memory: nothing is copied here.
"""

import atexit
import collections
import hashlib
import math
import mmap
import os
import select
import shlex
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time
import types
import uuid
import weakref
from importlib.machinery import SourceFileLoader

_HERE = os.path.dirname(os.path.abspath(__file__))
try:  # before numpy is looked for; by its path, for this file may have been loaded without its directory in sys.path
    _finder = types.ModuleType("clairfs_finder")
    SourceFileLoader("clairfs_finder", os.path.join(_HERE, "clairfs_finder.py")).exec_module(_finder)
    _finder.find_only_ours(_HERE)
except Exception:
    pass  # this file was copied without that one, or the mount's process has just died

import numpy

try:
    import clairfs_device  # not only when it is needed: the mount's process may be dead then
except Exception:
    pass

__all__ = ["Feed", "FeedError", "SampleError"]

PATIENCE_S = 120.0
END_S = 10.0
MOST_RESTARTS = 3
MOST_MESSAGE = 8192
_KERNEL_S = 0.001
_LAST_WORDS_S = 2.0

_TO_TRAINER = struct.Struct("<IIqqqqq")
_FROM_TRAINER = struct.Struct("<IIqqqq")
_HEADER = struct.Struct("<8sIIqqqqqII8sqqqqQQ")
_MAGIC = b"CLAIRFED"
_VERSION = 1
_EXTENTS = 128
_DEVICE = struct.Struct("<q16s64sq8sI")
_DEVICE_AT = 256
_DEVICE_EXTENTS = 368
_FIGURES = 4096
_NOTE = 8192 - 1024
_FIGURE_NAMES = ("samples", "bytes", "load_ns", "decode_ns", "batches", "ready", "errors", "threads", "waited_ns", "copied_bytes", "copy_ns")

_HELLO, _EPOCH, _BATCH, _BAD_BATCH, _DONE, _FAILED = range(1, 7)
_SEEK, _FREE = 1, 2


class FeedError(RuntimeError):
    """There are no batches. The message says why, and what to do."""


class SampleError(RuntimeError):
    """A sample of a batch cannot be read or decoded. The message has its path. The batch is left out; the next `next()` goes on behind it."""


class Feed:
    """The batches of one rank of a job, epoch by epoch.

    mount: the mount point. job: the name of the job. rank: by default $RANK, else 0.
    batch: samples of a batch, by default that of the job. decode: what becomes of a file, such as "raw,dtype=float32,shape=3x224x224"; see docs/FEEDER.md.
    slots: batches in the ring. hold: how many of the last batches stay valid: with 1, a batch is valid until the next `next()`; at most slots - 1.
    threads: of the feeder, by default one for each processor. drop_last: leaves out the incomplete batch at the end of an epoch.
    labels: "directories" (as ImageFolder numbers its classes; -1 for a sample in no directory), "none" (-1), or a file with a number for each sample.
    epoch, step: where to begin, by default where the job begins.
    device: a GPU, such as "cuda:0": the feeder copies each batch there, and batch and labels are arrays in its memory (clairfs_device.DeviceArray).
    on_device: what becomes of images there, such as "dtype=float16,mean=0.485:0.456:0.406,std=0.229:0.224:0.225,flip=random"; see docs/FEEDER.md.
    command: the program, as a list or as for a shell. None: a feeder that was started by `clairfs feed` is used, with its own batch, decode, slots,
    threads, labels. timeout_s: the longest wait for a batch.

    Iterating yields (batch, labels, indices): numpy arrays in the ring. batch has the shape (samples, ...), labels and indices are int64. With a device
    the first two are arrays there, and a batch may be written over when the next is asked for and what the current stream had been given is done.
    Not for several threads, and not after fork.
    """

    def __init__(
        self,
        mount,
        job="train",
        rank=None,
        batch=None,
        decode=None,
        slots=4,
        hold=1,
        threads=None,
        drop_last=False,
        labels=None,
        epoch=None,
        step=0,
        command="clairfs",
        timeout_s=PATIENCE_S,
        device=None,
        on_device=None,
    ):
        if epoch is None and step:
            raise FeedError("clairfs: step=%d says where in an epoch the run goes on: give epoch= too" % step)
        self.mount = os.path.realpath(os.fspath(mount))
        self.job = job
        self.rank = int(os.environ.get("RANK", 0)) if rank is None else rank
        self.timeout_s = timeout_s
        self._device = None if device is None else _device(device)
        self._command = None if command is None else _command_line(self, command, batch, decode, slots, threads, drop_last, labels, on_device)
        self._hold = hold
        self._owner = os.getpid()
        self._link = None
        self._feeds = None
        self._turn = 0
        self._steps = {}
        self._waited_s = 0.0
        self._restarts = 0
        self._batches = self._samples = 0
        self._pinned = None
        self._pin_wanted = False
        self._closed = False
        self._ready = collections.deque()
        self._held = collections.deque()
        self._connect(1, -1 if epoch is None else epoch, step)
        if not 1 <= hold < self.slots:
            self.close()
            raise FeedError("clairfs: hold=%d must be 1 to slots - 1, which is %d" % (hold, self.slots - 1))
        if epoch is None:
            epoch, step = self._link.start
        #: The epoch in which this feed begins.
        self.first_epoch = epoch
        self._seek_to = None
        self._next = (epoch, step)
        self._reading = epoch
        _open.add(self)

    # -- what a script uses

    def __iter__(self):
        """The batches of the next epoch: that of set_epoch, or else the one behind the epoch that was begun last."""
        self._check_usable()
        if self._seek_to is not None:
            wanted, self._seek_to = self._seek_to, None
        else:
            wanted = self._next if self._next[1] == 0 or not self._batches else (self._next[0] + 1, 0)
        return self._epoch(*wanted)

    def __len__(self):
        """The number of batches in the epoch that is being read or, before that, is read next."""
        epoch = self._next[0] if self._seek_to is None else self._seek_to[0]
        known = self._steps.get(epoch, self._steps.get(self._reading))
        if known is not None:
            return known
        if self._seek_to is not None:
            epoch, step = self._next = self._seek_to
            self._go(epoch, step)
        self._receive_until(lambda: epoch in self._steps or self._is_behind_end(epoch))
        return self._steps.get(epoch, 0)

    def set_epoch(self, epoch, step=0):
        """The next iteration begins at this batch. Not needed for epochs that follow each other."""
        self._seek_to = (epoch, step)

    @property
    def epochs(self):
        """The number of epochs of the job: the last is epochs - 1. None when they have no end."""
        return None if self._link.epochs < 0 else self._link.epochs

    @property
    def slots(self):
        return self._link.slots

    @property
    def shape(self):
        """The shape of one sample."""
        return self._link.shape

    @property
    def dtype(self):
        return self._link.dtype

    def loader(self, device=None, indices=False):
        """Iterates over an epoch as a DataLoader does: yields (images, labels) as torch tensors, and with indices the third as well.

        On the CPU they are views of the ring. With a device such as "cuda" the ring is pinned once, and each batch is copied by one asynchronous
        transfer on a stream of its own, one batch ahead of the script. Where the feed itself has a device, they are views of the ring there.
        """
        return _Loader(self, device, indices)

    def pin(self):
        """Pins the ring for transfers to a GPU (cudaHostRegister). Returns whether it is pinned: not without torch and CUDA."""
        self._pin_wanted = True
        if self._pinned is None:
            self._pinned = _Pinned.of(self._link)
        return self._pinned is not None

    def stats(self):
        """Figures: those of the feeder, and the time in which this process waited for batches."""
        figures = self._link.figures()
        loaded = max(1, figures["samples"])
        return {
            "batches": self._batches,
            "samples": self._samples,
            "waited_s": self._waited_s,
            "slots": self.slots,
            "ready": figures["ready"],
            "feeder": figures,
            "load_us_per_sample": figures["load_ns"] / 1e3 / loaded,
            "decode_us_per_sample": figures["decode_ns"] / 1e3 / loaded,
            "note": self._link.note(),
        }

    def close(self):
        """Ends the feeder that this feed started. Arrays that are still in use keep their memory."""
        if self._closed:
            return
        self._closed = True
        _open.discard(self)
        if self._owner == os.getpid():
            if self._pinned is not None:
                self._pinned.close()
            if self._link is not None:
                self._link.close()
            self._held.clear()
            self._device = None  # whoever still has an array keeps it

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def __del__(self):
        if not self.__dict__.get("_closed", True):
            self.close()

    # -- how it works

    def _check_usable(self):
        if self._closed:
            raise FeedError("clairfs: this feed is closed")
        if self._owner != os.getpid():
            raise FeedError("clairfs: this feed belongs to process %d: make it after the fork, in the process that reads it" % self._owner)

    def _connect(self, turn, epoch, step):
        """Reaches a feeder, and begins a turn at a batch."""
        while True:
            try:
                self._link = _Started(self) if self._command else _Attached(self)
                self._ready.clear()
                self._held.clear()
                self._begin(turn, epoch, step)
                if self._link.await_hello(self.timeout_s):
                    self._require_same()
                    break
                self._lost()
            except BaseException:
                self._closed = True
                if self._link is not None:
                    self._link.close()
                self._device = None
                raise
        if self._pin_wanted:
            self._pinned = _Pinned.of(self._link)

    def _require_same(self):
        """A feeder that takes the place of one that is gone has to go on with its batches, of which the script has read some."""
        now = self._link.feeds
        if self._feeds is None:
            self._feeds = now
        job, options = ({now[key], self._feeds[key]} - {0} for key in ("job", "options"))  # older feeders say 0
        if len(job) > 1:
            raise FeedError("clairfs: the job '%s' was replaced while its feeder was started again: make the Feed again" % self.job)
        form = ["%s=%s in place of %s" % (key, now[key], self._feeds[key]) for key in ("batch", "shape", "dtype", "slots") if now[key] != self._feeds[key]]
        if form or len(options) > 1:
            raise FeedError(
                "clairfs: the feeder of the job '%s' was started again with %s: start it as before, and make the Feed again"
                % (self.job, ", ".join(form) or "another --decode, --on-device, --labels or --drop-last")
            )

    def _go(self, epoch, step):
        """Begins a new turn at a batch. What was sent before is given back unread."""
        for message in self._ready:
            self._give_back_unread(message)
        self._ready.clear()
        self._begin(self._turn + 1, epoch, step)

    def _begin(self, turn, epoch, step):
        self._turn = turn
        self._done_at = None
        self._steps.clear()
        self._link.send(_SEEK, 0, turn, epoch, step)

    def _epoch(self, epoch, step):
        if (epoch, step) != self._next:
            self._go(epoch, step)
            self._next = (epoch, step)
        self._reading = epoch
        return _Epoch(self, epoch, self._turn)

    def _is_behind_end(self, epoch):
        return self._done_at is not None and epoch >= self._done_at

    def _take(self, epoch, turn):
        """The next batch of an epoch, or None at its end. Gives back the batch that is held longest."""
        self._check_usable()
        if turn != self._turn:
            raise FeedError("clairfs: this iteration was left for another: only the newest can go on")
        while len(self._held) >= self._hold:
            self._give_back(self._held.popleft())
        if self._next[0] != epoch:
            return None
        waited_s = self._waited_s
        self._receive_until(lambda: self._ready or self._is_behind_end(epoch) or self._is_read(epoch))
        self._last_wait_s = self._waited_s - waited_s
        if not self._ready or self._ready[0][3] != epoch:
            self._next = (epoch + 1, 0)
            if self._is_behind_end(epoch):
                raise FeedError("clairfs: the job '%s' has %d epochs, the first is 0; there is no epoch %d" % (self.job, self._done_at, epoch))
            return None
        message = self._ready.popleft()
        kind, slot, _, _, step, count, _, text = message
        last = step + 1 >= self._steps.get(epoch, step + 2)
        self._next = (epoch + 1, 0) if last else (epoch, step + 1)
        if kind == _BAD_BATCH:
            self._give_back_unread(message)
            raise SampleError("clairfs: epoch %d, batch %d: %s" % (epoch, step, text))
        self._restarts = 0
        self._batches += 1
        self._samples += count
        self._held.append((self._link, slot, self._last_wait_s))
        return self._link.arrays(slot, count)

    def _is_read(self, epoch):
        """Whether an epoch has no batch from where this feed stands."""
        return self._next[1] >= self._steps.get(epoch, self._next[1] + 1)

    def _give_back_unread(self, message):
        """Gives back the slot of a message that nothing is read from. That of a bad batch comes as the number of the next one; none from older feeders."""
        kind, slot = message[:2]
        if kind == _BATCH:
            self._link.send(_FREE, slot)
        elif kind == _BAD_BATCH and slot > 0:
            self._link.send(_FREE, slot - 1)

    def _give_back(self, held):
        link, slot, waited_s = held
        if link is self._link and not self._closed:
            link.release(slot, lambda: link.send(_FREE, slot, nanoseconds=int(waited_s * 1e9)))

    def _keep(self):
        """Takes the newest batch out of those that are given back by themselves; returns what gives it back."""
        held = self._held.pop()
        return lambda: self._give_back(held)

    def _receive_until(self, there):
        end = None
        while not there():
            end = end or time.monotonic() + self.timeout_s
            link, before = self._link, self._link.waited_s
            try:
                message = link.receive(end - time.monotonic())
            finally:
                self._waited_s += link.waited_s - before
            if message is None:
                begin = time.perf_counter()
                self._restart()
                self._waited_s += time.perf_counter() - begin
                continue
            kind, slot, turn, epoch, step, count, steps, text = message
            if kind == _FAILED:
                self.close()
                raise FeedError("clairfs: " + text)
            if turn != self._turn:
                self._give_back_unread(message)
            elif kind == _EPOCH:
                self._steps[epoch] = steps
            elif kind == _DONE:
                self._done_at = epoch
            else:
                self._ready.append(message)

    def _restart(self):
        """The feeder is gone. One that was killed is started again, and goes on with the batch that is wanted next."""
        self._lost()
        if self._pinned is not None:
            self._pinned.close()
            self._pinned = None
        self._connect(self._turn, *self._next)  # the same turn: the iteration goes on

    def _lost(self):
        """Lets a feeder go that is gone. Raises unless it was killed, and not too often."""
        reason = self._link.why_gone()
        self._link.close()
        self._restarts += 1
        if reason is None and self._restarts > MOST_RESTARTS:
            reason = "clairfs: the feeder of the job '%s' was killed %d times before its next batch" % (self.job, self._restarts)
        if reason is not None:
            self.close()
            raise FeedError(reason)


class _Epoch:
    """The batches of one epoch. An iterator that goes on after a SampleError."""

    def __init__(self, feed, epoch, turn):
        self._feed, self._epoch, self._turn = feed, epoch, turn
        self._ended = False

    def __iter__(self):
        return self

    def __len__(self):
        return len(self._feed)

    def __next__(self):
        if self._ended:
            raise StopIteration
        batch = self._feed._take(self._epoch, self._turn)
        if batch is None:
            self._ended = True
            raise StopIteration
        return batch


class _Loader:
    """A feed in the form of a DataLoader."""

    def __init__(self, feed, device, indices):
        import torch

        self._feed, self._torch, self._indices = feed, torch, indices
        self._device = None if device is None or torch.device(device).type == "cpu" else torch.device(device)
        if feed._device is not None:
            there = torch.device("cuda", feed._device.ordinal)
            if device is not None and torch.device(device) not in (there, torch.device("cuda")):
                raise FeedError("clairfs: the feed's device is %s: loader() needs no device, or that one, not %s" % (there, device))
            self._device = there

    def __len__(self):
        return len(self._feed)

    def set_epoch(self, epoch):
        self._feed.set_epoch(epoch)

    def __iter__(self):
        batches = iter(self._feed)
        if self._feed._device is not None:
            return self._on_feeders_device(batches)
        return _Made(batches, self._tensors) if self._device is None else _Ahead(self, batches)

    def _tensors(self, arrays):
        return tuple(self._torch.from_numpy(array) for array in (arrays if self._indices else arrays[:2]))

    def _on_feeders_device(self, batches):
        """Views of the feeder's memory, made once for each slot."""
        torch = self._torch
        torch.cuda.init()
        link, known = None, {}

        def views(arrays):
            nonlocal link, known
            batch, labels, indices = arrays
            if link is not self._feed._link:
                link, known = self._feed._link, {}
            there = known.get(batch)
            if there is None:
                there = (torch.as_tensor(batch, device=self._device), torch.as_tensor(labels, device=self._device))
                if len(batch) == link.batch:
                    known[batch] = there
            there = tuple(tensor.detach() for tensor in there)
            return there + (torch.from_numpy(indices),) if self._indices else there

        return _Made(batches, views)


class _Made:
    """What is made of each batch. An iterator that goes on after a SampleError, as a generator would not."""

    def __init__(self, batches, make):
        self._batches, self._make = batches, make

    def __iter__(self):
        return self

    def __next__(self):
        return self._make(next(self._batches))


class _Ahead:
    """Batches on a device, one ahead: its transfer runs while the script works on the batch before. A slot is given back when its transfer has
    ended, also of a batch that the script does not come for. Goes on after a SampleError."""

    def __init__(self, loader, batches):
        self._feed, self._torch, self._device = loader._feed, loader._torch, loader._device
        self._tensors, self._batches = loader._tensors, batches
        self._ahead = self._following = self._taken = self._failure = None
        with self._torch.cuda.device(self._device):
            self._feed.pin()
            self._stream = self._torch.cuda.Stream()

    def __iter__(self):
        return self

    def __next__(self):
        if self._ahead is None:
            self._raise()
            self._ahead = self._begin()
        if self._following is None and self._failure is None:
            try:
                self._following = self._begin()  # an interrupt of this, or of what follows, leaves the present batch to the next call
            except Exception as e:  # it is of the next batch; this one is good
                self._failure = e
        copies, copied, give_back = self._ahead
        current = self._torch.cuda.current_stream(self._device)
        current.wait_event(copied)
        for tensor in copies:
            tensor.record_stream(current)  # its memory is not reused before the script's kernels have read it
        copied.synchronize()
        self._ahead, self._following = self._following, None
        give_back()
        return copies

    def _raise(self):
        failure = self._failure
        if failure is not None:
            self._failure = None if not isinstance(failure, StopIteration) else failure
            raise failure

    def _begin(self):
        if self._taken is None:
            arrays = next(self._batches)
            self._taken = arrays, self._feed._keep()
        arrays, give_back = self._taken  # an interrupt leaves it to the next call
        cuda = self._torch.cuda
        try:
            with cuda.device(self._device), cuda.stream(self._stream):
                copies = tuple(tensor.to(self._device, non_blocking=True) for tensor in self._tensors(arrays))
                copied = cuda.Event()
                copied.record(self._stream)
        except Exception:  # such as too little memory there, after which a script may go on with the next batch
            self._taken = None
            give_back()
            raise
        self._taken = None
        return copies, copied, give_back

    def __del__(self):
        for begun in (self.__dict__.get("_ahead"), self.__dict__.get("_following")):
            if begun is not None:
                begun[1].synchronize()
                begun[2]()
        taken = self.__dict__.get("_taken")
        if taken is not None:
            taken[1]()


class _Pinned:
    """A ring that is registered with CUDA."""

    def __init__(self, cudart, address):
        self._cudart, self._address = cudart, address

    @staticmethod
    def of(link):
        try:
            import torch

            if not torch.cuda.is_available():
                return None
            cudart = torch.cuda.cudart()
        except (ImportError, AttributeError, RuntimeError):
            return None
        code = cudart.cudaHostRegister(link.address, link.bytes, 0)
        if int(code) != 0:
            print("clairfs: the ring of %d bytes cannot be pinned (CUDA error %d): transfers are slower" % (link.bytes, int(code)), file=sys.stderr)
            return None
        return _Pinned(cudart, link.address)

    def close(self):
        self._cudart.cudaHostUnregister(self._address)


class _Link:
    """A connection to a feeder, and the ring that came over it."""

    def __init__(self, feed):
        self.feed = feed
        self.socket = None
        self.memory = None
        self.on_device = None
        self.waited_s = 0.0  # in which there was no message

    def send(self, kind, slot, turn=0, epoch=0, step=0, nanoseconds=0):
        message = _FROM_TRAINER.pack(kind, slot, turn, epoch, step, nanoseconds)
        try:
            while True:
                try:
                    self.socket.send(message)
                    return
                except BlockingIOError:
                    self._poll(select.POLLOUT, 1.0)
        except (BrokenPipeError, ConnectionResetError):
            pass  # the next receive says so

    def _poll(self, what, timeout_s):
        poll = select.poll()
        poll.register(self.socket, what)
        poll.poll(max(1, math.ceil(timeout_s * 1000)))

    def receive(self, timeout_s):
        """The next message, or None when the feeder is gone. What is there already costs no wait."""
        end = None
        while True:
            busy = self.on_device is not None and self.on_device.poll()  # the feeder may wait for a slot that a kernel reads
            try:
                message = self._to_the_last(self.socket.recv, MOST_MESSAGE)
                return self._parsed(message) if message else None
            except ConnectionResetError:
                return None
            except BlockingIOError:
                now = time.perf_counter()
            if end is None:
                end = now + timeout_s
            if now >= end:
                raise self.silence() from None
            self._poll(select.POLLIN, min(_KERNEL_S, end - now) if busy else end - now)
            self.waited_s += time.perf_counter() - now

    @staticmethod
    def _to_the_last(receive, *what):
        """Receives. The end of a feeder that has not read all that it was sent is reported once, before what it said last: so that is asked for again."""
        try:
            return receive(*what)
        except ConnectionResetError:
            return receive(*what)

    @staticmethod
    def _parsed(message):
        return _TO_TRAINER.unpack_from(message) + (message[_TO_TRAINER.size :].decode(errors="replace") if len(message) > _TO_TRAINER.size else "",)

    def silence(self):
        note = self.note() if self.memory is not None else ""
        return FeedError(
            "clairfs: no batch of the job '%s' within %.0f s%s: see `clairfs status %s`"
            % (self.feed.job, self.feed.timeout_s, "; the feeder waits for " + note if note else "", self.feed.mount)
        )

    def release(self, slot, give_back):
        """The script has let go of a slot. What its stream was given may still read it on a device."""
        if self.on_device is None:
            give_back()
        else:
            self.on_device.release(give_back)
            self.on_device.poll()

    def await_hello(self, timeout_s):
        """Takes the ring. Returns False when the feeder is gone."""
        self.socket.settimeout(timeout_s)
        try:
            message, descriptors, _, _ = self._to_the_last(socket.recv_fds, self.socket, MOST_MESSAGE, 1)
        except socket.timeout:
            raise FeedError(
                "clairfs: the feeder of the job '%s' at %s did not answer within %.0f s%s"
                % (self.feed.job, self.feed.mount, timeout_s, self.why_silent())
            ) from None
        except ConnectionResetError:
            message = b""
        if not message:
            return False
        kind, _, _, _, _, size, _, text = self._parsed(message)
        if kind == _FAILED:
            raise FeedError("clairfs: " + text)
        try:
            self.memory = mmap.mmap(descriptors[0], size, mmap.MAP_SHARED, mmap.PROT_READ | mmap.PROT_WRITE)
        finally:
            os.close(descriptors[0])
        self.socket.setblocking(False)
        self._read_header(size)
        return self.feed._device is None or self._open_device()

    def _read_header(self, size):
        header = _HEADER.unpack_from(self.memory)
        magic, version, self.slots, slot_bytes, first, _, labels, indices, batch, dimensions, typestr = header[:11]
        start_epoch, start_step, self.epochs, self.pid, job, options = header[11:]
        if magic != _MAGIC or version != _VERSION:
            raise FeedError("clairfs: the feeder speaks version %d of the ring, this clairfs_feed.py %d: take that of the mount's .clairfs/python" % (version, _VERSION))
        self.bytes = size
        self.start = (start_epoch, start_step)
        self.batch = batch
        self.shape = struct.unpack_from("<%dq" % dimensions, self.memory, _EXTENTS)
        self.dtype = numpy.dtype(typestr.rstrip(b"\0").decode())
        self.feeds = {"job": job, "options": options, "batch": batch, "shape": self.shape, "dtype": self.dtype, "slots": self.slots}
        self._slots = []
        for slot in range(self.slots):
            at = first + slot * slot_bytes
            samples = numpy.ndarray((batch,) + self.shape, self.dtype, self.memory, at)
            numbers = [numpy.ndarray(batch, numpy.int64, self.memory, at + offset) for offset in (labels, indices)]
            self._slots.append((samples, numbers[0], numbers[1]))
        self.address = numpy.frombuffer(self.memory, numpy.uint8, 1).ctypes.data

    def _open_device(self):
        """Takes the ring on the device. Returns False when the feeder is gone."""
        from clairfs_device import CudaError, DeviceSlots

        slot_bytes, identity, handle, labels, typestr, dimensions = _DEVICE.unpack_from(self.memory, _DEVICE_AT)
        device = self.feed._device
        identity = "GPU-%s" % uuid.UUID(bytes=identity)
        if slot_bytes == 0:
            raise FeedError("clairfs: the feeder keeps its batches on the host: start it with --device %s, or leave out device=" % device.identity)
        if identity != device.identity:
            raise FeedError("clairfs: the feeder's device is %s, this process's %s is %s" % (identity, "cuda:%d" % device.ordinal, device.identity))
        self.shape = struct.unpack_from("<%dq" % dimensions, self.memory, _DEVICE_EXTENTS)
        self.dtype = numpy.dtype(typestr.rstrip(b"\0").decode())
        parts = ((0, (self.batch,) + self.shape, self.dtype), (labels, (self.batch,), numpy.dtype(numpy.int64)))
        try:
            self.on_device = DeviceSlots(device, handle, slot_bytes, self.slots, parts)
            return True
        except CudaError as e:
            return self._last_words(e)

    def _last_words(self, reason):
        """The ring on the device cannot be opened: perhaps the feeder has freed it since, and says why, or is gone."""
        end = time.monotonic() + _LAST_WORDS_S
        while time.monotonic() < end:
            self._poll(select.POLLIN, end - time.monotonic())
            try:
                message = self._to_the_last(self.socket.recv, MOST_MESSAGE)
            except BlockingIOError:
                continue
            except ConnectionResetError:
                return False
            if not message:
                return False
            parsed = self._parsed(message)
            if parsed[0] == _FAILED:
                reason = parsed[-1]
                break
        raise FeedError("clairfs: %s" % reason)

    def arrays(self, slot, count):
        samples, labels, indices = self._slots[slot]
        if self.on_device is not None:
            return self.on_device.arrays(slot, count) + (indices[:count],)
        return (samples, labels, indices) if count == self.batch else (samples[:count], labels[:count], indices[:count])

    def figures(self):
        return dict(zip(_FIGURE_NAMES, struct.unpack_from("<%dq" % len(_FIGURE_NAMES), self.memory, _FIGURES)))

    def note(self):
        return bytes(self.memory[_NOTE : _NOTE + 1024]).partition(b"\0")[0].decode(errors="replace")

    def close(self):
        if self.on_device is not None:
            self.on_device.close()
            self.on_device = None
        if self.socket is not None:
            try:
                self.socket.shutdown(socket.SHUT_RDWR)  # forked children may have it open, too
            except OSError:
                pass  # the feeder is gone already
            self.socket.close()


class _Started(_Link):
    """A feeder that this process started and ends. They are connected by a socket without a name, so the end of either is seen by the other."""

    def __init__(self, feed):
        super().__init__(feed)
        self.socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.said = tempfile.TemporaryFile()
        command = feed._command + ["--connected", str(theirs.fileno())]
        try:
            # A session of its own: an interrupt from the keyboard is for the script, which ends the feeder.
            self.process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=self.said, stderr=self.said, pass_fds=[theirs.fileno()], start_new_session=True
            )
        except OSError as e:
            self.socket.close()
            raise FeedError("clairfs: cannot start the feeder, %s: %s; give the path of the program: Feed(..., command=PATH)" % (command[0], e.strerror)) from None
        finally:
            theirs.close()

    def _last_line(self):
        self.said.seek(0, os.SEEK_END)
        self.said.seek(max(0, self.said.tell() - 4096))
        lines = [line for line in self.said.read().decode(errors="replace").splitlines() if line.strip()]
        ours = [line for line in lines if line.startswith("clairfs: ")]
        return (ours or lines or [""])[-1]

    def why_silent(self):
        said = self._last_line()
        return ": it said '%s'" % said if said else ", and said nothing"

    def why_gone(self):
        """None when it was killed."""
        code = self._end()
        if code in (-signal.SIGKILL, 128 + signal.SIGKILL, -signal.SIGTERM, 128 + signal.SIGTERM):
            return None
        said = self._last_line()
        return said if said.startswith("clairfs: ") else "clairfs: the feeder ended with code %s: %s" % (code, said or "it said nothing")

    def _end(self):
        try:
            return self.process.wait(END_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
        try:
            return self.process.wait(END_S)
        except subprocess.TimeoutExpired:  # a daemon that hangs holds a request of it: it ends when that does
            return -signal.SIGKILL

    def close(self):
        super().close()
        if self.process.returncode is None:
            self._end()
        if not self.said.closed:
            self.said.close()


class _Attached(_Link):
    """A feeder that `clairfs feed` started."""

    def __init__(self, feed):
        super().__init__(feed)
        key = "%s\n%s\n%d" % (feed.mount, feed.job, feed.rank)
        name = "\0clairfs-feed-%d-%s" % (os.geteuid(), hashlib.sha256(key.encode()).hexdigest()[:32])
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.socket.settimeout(feed.timeout_s)
        end = time.monotonic() + feed.timeout_s
        while True:
            try:
                self.socket.connect(name)
                break
            except (ConnectionRefusedError, BlockingIOError):
                if time.monotonic() > end:
                    self.socket.close()
                    raise FeedError(
                        "clairfs: no feeder of rank %d of the job '%s' at %s answers within %.0f s; start it: clairfs feed %s --job %s --rank %d"
                        " --decode SPEC" % (feed.rank, feed.job, feed.mount, feed.timeout_s, feed.mount, feed.job, feed.rank)
                    ) from None
                time.sleep(0.05)
        uid = struct.unpack("3i", self.socket.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))[1]
        if uid not in (0, os.geteuid()):
            self.socket.close()
            raise FeedError("clairfs: the feeder of the job '%s' belongs to user %d: run feeder and trainer as the same user" % (feed.job, uid))

    def why_silent(self):
        return ": another trainer may have it"

    def why_gone(self):
        """None: it may come back."""
        return None


def _device(name):
    from clairfs_device import CudaError, Device

    try:
        return Device(name)
    except CudaError as e:
        raise FeedError("clairfs: %s; without device= the batches stay on the host" % e) from None


def _command_line(feed, command, batch, decode, slots, threads, drop_last, labels, on_device):
    if decode is None:
        raise FeedError('clairfs: what becomes of a file? give decode=, such as Feed(..., decode="raw,dtype=float32,shape=3x224x224")')
    line = shlex.split(command) if isinstance(command, str) else list(command)
    line += ["feed", feed.mount, "--job", feed.job, "--rank", str(feed.rank), "--decode", decode, "--slots", str(slots)]
    for option, value in (("--batch", batch), ("--threads", threads), ("--labels", labels), ("--on-device", on_device)):
        if value is not None:
            line += [option, str(value)]
    if feed._device is not None:
        line += ["--device", feed._device.identity]
    elif on_device is not None:
        raise FeedError("clairfs: on_device= needs device=: it is about batches on a GPU")
    return line + (["--drop-last"] if drop_last else [])


_open = weakref.WeakSet()


@atexit.register
def _close_all():
    for feed in list(_open):
        feed.close()
