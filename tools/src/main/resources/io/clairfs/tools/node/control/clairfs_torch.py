"""PyTorch samplers with the order of a clairfs job. Python 3.9 and torch 1.8 or newer.

    sys.path.insert(0, "/mnt/train/.clairfs/python")
    from clairfs_torch import OrderSampler

    sampler = OrderSampler("/mnt/train", job="train", rank=rank, dataset=dataset)
    loader = DataLoader(dataset, batch_size=32, sampler=sampler)
    for epoch in range(90):
        sampler.set_epoch(epoch)

The order of an epoch is read from the control file order/JOB/EPOCH/RANK.i64 of the mount.

    clairfs_torch.follow(loader, epochs=90)

writes the job that has the order of the loader's own sampler.

    clairfs_torch.report(loader)

has the loader's workers tell the mount how long they take for a sample, and the training how long it waits for batches; `clairfs status` says
then how many workers are enough, and the exact accelerator utilisation.
"""

import array
import collections.abc
import copyreg
import errno
import json
import os
import sys
import time
import types
import weakref
from importlib.machinery import SourceFileLoader

_HERE = os.path.dirname(os.path.abspath(__file__))
try:  # before torch is looked for; by its path, for this file may have been loaded without its directory in sys.path
    _finder = types.ModuleType("clairfs_finder")
    SourceFileLoader("clairfs_finder", os.path.join(_HERE, "clairfs_finder.py")).exec_module(_finder)
    _finder.find_only_ours(_HERE)
except Exception:
    pass  # this file was copied without that one, or the mount's process has just died

import torch.distributed as distributed
from torch.utils.data import Dataset, IterableDataset, get_worker_info
from torch.utils.data.distributed import DistributedSampler

__all__ = ["OrderError", "OrderSampler", "follow", "report"]

PATHS_COMPARED = 16
WRAPPERS_FOLLOWED = 8
PATIENCE_S = 60.0
GROUP_PATIENCE_S = 5.0
WRITER_PATIENCE_S = 5.0
PAUSE_S = 0.1
RESTART_PATIENCE_S = 60.0  # as long as the supervisor waits for a new process
RESTARTING = (errno.ENOENT, errno.ENOTCONN, errno.ECONNABORTED)
REPORT_EVERY_S = 1.0
REPORT_PATIENCE_S = 60.0
REPORT_SAMPLES = 16

LOCAL_RANKS = (  # Slurm's last: all that mpirun starts on a node may have that of its own process
    "LOCAL_RANK",
    "OMPI_COMM_WORLD_LOCAL_RANK",
    "MPI_LOCALRANKID",
    "MV2_COMM_WORLD_LOCAL_RANK",
    "PMI_LOCAL_RANK",
    "SLURM_LOCALID",
)


class OrderError(RuntimeError):
    """The job of the mount and this training do not fit together. The message says what to do."""


class NotStarted(OrderError):
    """A job that was waited for in vain."""


class OrderSampler(DistributedSampler):
    """The samples of one rank, in the order of a job of a mount. It is a DistributedSampler so that Lightning does not deal its order to ranks again.

    mount: the mount point. job: the name of the job; or a line such as "sampler=torch-distributed seed=42 batch=32", which the process of local
    rank 0 writes to the mount, while the others wait for it. rank, world: by default those of
    torch.distributed. dataset: compared with that of the job.

    Raises OrderError when they do not fit together.
    """

    def __init__(self, mount, job="train", rank=None, dataset=None, world=None):
        world = world or _world()
        if rank is None:
            rank = _rank()
            world = world or 1
        place = _Mount(mount)
        name = _write_job(place, job, rank, world) if "=" in job else job
        self._order = _Order(place, name, rank, world, dataset)
        self.dataset, self.num_replicas, self.rank = dataset, self._order.world, rank
        self.epoch, self.seed, self.shuffle, self.drop_last = 0, 0, False, False

    def set_epoch(self, epoch):
        self.epoch = epoch

    def __iter__(self):
        return iter(self._order.of(self.epoch))

    def __len__(self):
        return self._order.length(self.epoch)


def follow(loader, epochs=None, mount=None, job="train"):
    """Writes the job that has the order of a DataLoader, and writes it again when an epoch begins otherwise than the job says.

    loader: a DataLoader of torch, torchdata or accelerate, before its first epoch. epochs: of the whole training; no end when they are not
    known. mount: the mount point, by default that on which the dataset lies. job: the name of the job. With several processes each calls it: the
    one of local rank 0 writes, the others wait until the job is there.

    Returns the line. Raises OrderError where no line gives this order, or the mount has another dataset. What the loader reads does not change.
    """
    if _HERE not in sys.path:
        sys.path.append(_HERE)
    import clairfs_follow

    return clairfs_follow.follow(loader, epochs, mount, job)


def report(loader, mount=None, job=None, rank=None):
    """Has the workers of a DataLoader tell the mount how long they read and transform a sample, and the training how long it waits for batches, about
    once a second.

    loader: before its first epoch. mount: the mount point, by default that on which the dataset lies. job: the name of the job, by default that of
    `clairfs run`, else "train". rank: by default that of torch.distributed.

    The advice that follows is `advice` in the status of the mount. What the loader reads does not change, nor how many workers it has. Raises
    OrderError for a loader whose samples cannot be timed.
    """
    if _HERE not in sys.path:
        sys.path.append(_HERE)
    import clairfs_follow

    plain = clairfs_follow.unwrapped(loader)
    kind = type(plain.dataset)
    if isinstance(plain.dataset, IterableDataset) or not hasattr(kind, "__getitem__") or not hasattr(plain.dataset, "__dict__"):
        raise OrderError("clairfs: the samples of a %s cannot be timed one by one; give the loader a dataset with __getitem__" % kind.__name__)
    place = _Mount(mount or clairfs_follow._mount_of(plain.dataset))
    place.status()  # says what is wrong where there is no mount
    name = job or os.environ.get("CLAIRFS_JOB") or "train"
    reporter = _Reporter(place.control, name, _rank() if rank is None else rank, max(1, plain.num_workers))
    if plain.num_workers == 0:
        reporter.time(plain.dataset)
    _Loop(reporter).time(plain)


_loops = weakref.WeakKeyDictionary()


def _timing(own):
    """The _get_iterator of a class of loaders that has those in the table timed."""

    def _get_iterator(self):
        loop = _loops.pop(self, None)  # the class above this one has another, which must not time it again
        if loop is None:
            return own(self)
        try:
            return loop.iterator(self, own)
        finally:
            _loops[self] = loop

    _get_iterator._of_clairfs = True
    return _get_iterator


class _Loop:
    """Times how long the training waits for its next batch, and writes the file `report` once a second and at the end of an epoch."""

    def __init__(self, reporter):
        self.reporter = reporter
        self.steps, self.waited, self.took = 0, 0.0, 0.0
        self.last, self.since = None, time.monotonic()

    def time(self, loader):
        """Times the passes of this loader. Copies are not timed."""
        kind = next((kind for kind in type(loader).__mro__ if "_get_iterator" in vars(kind)), None)
        if kind is None:  # a loader of another kind
            return
        _loops[loader] = self
        if not hasattr(kind._get_iterator, "_of_clairfs"):
            kind._get_iterator = _timing(kind._get_iterator)

    def iterator(self, loader, own):
        """The iterator of a pass. The loader's worker_init_fn is that of the training before and after: Lightning sets its own where there is none."""
        init = loader.worker_init_fn
        self.reporter.own_init, loader.worker_init_fn = init, self.reporter
        try:
            return self._timed(own(loader))
        finally:
            self.reporter.own_init, loader.worker_init_fn = None, init

    def _timed(self, iterator):
        if not hasattr(iterator, "_next_data"):
            return iterator
        kind, timed = type(iterator), weakref.ref(iterator)
        self.last = None

        def _next_data():
            begin = time.monotonic()
            try:
                batch = kind._next_data(timed())
            except StopIteration:
                self._step(begin, 0)
                raise
            self._step(begin, 1)
            return batch

        iterator._next_data = _next_data
        return iterator

    def _step(self, begin, steps):
        now = time.monotonic()
        self.waited += now - begin
        self.took += now - (begin if self.last is None else self.last)
        self.steps += steps
        self.last = now if steps else None
        if not steps or now - self.since >= REPORT_EVERY_S:
            self.since = now
            self.reporter.tell("%s loop=%d waited=%.6f took=%.6f\n" % (self.reporter.rank, self.steps, self.waited, self.took))
            self.steps, self.waited, self.took = 0, 0.0, 0.0


class _Reporter:
    """Times the samples of a dataset and writes the file `report`. As a worker_init_fn it does so in each worker, after the loader's own."""

    def __init__(self, control, job, rank, workers, own_init=None):
        self.file = os.path.join(control, "report")
        self.rank = "job=%s rank=%d" % (job, rank)
        self.line = "%s workers=%d" % (self.rank, workers)
        self.own_init = own_init
        self.samples, self.wall, self.worked = 0, 0.0, 0.0
        self.since, self.queued = time.monotonic(), 0.0
        self.works, self.inside = True, False
        self.failing_since = None

    def __call__(self, worker):
        if self.own_init is not None:
            self.own_init(worker)
        self.time(get_worker_info().dataset)

    def time(self, dataset):
        """Times the samples of this dataset in this process: its class becomes one of the same name that measures. Copies are not timed."""
        reporter, kind = self, type(dataset)
        self.since, self.queued = time.monotonic(), _queued()

        def __getitem__(timed, index):
            return reporter.timed(1, kind.__getitem__, timed, index)

        def __getitems__(timed, indices):
            return reporter.timed(len(indices), kind.__getitems__, timed, indices)

        def __reduce_ex__(timed, protocol):
            made = kind.__reduce_ex__(timed, protocol)
            if not isinstance(made, tuple):
                return made
            make = kind.__new__ if made[0] is copyreg.__newobj__ else made[0]  # for pickle compares the class of that one
            return (make, tuple(kind if part is type(timed) else part for part in made[1])) + made[2:]

        methods = {"__getitem__": __getitem__, "__reduce_ex__": __reduce_ex__, "__module__": kind.__module__, "__doc__": kind.__doc__}
        if callable(getattr(kind, "__getitems__", None)):
            methods["__getitems__"] = __getitems__
        try:
            dataset.__class__ = type(kind.__name__, (kind,), methods)
        except Exception as e:  # a class of the user's may refuse
            self._stop(e)

    def timed(self, samples, get, dataset, index):
        if self.inside:  # a sample that is made of others
            return get(dataset, index)
        self.inside = True
        wall, worked = time.perf_counter(), time.thread_time()
        try:
            return get(dataset, index)
        finally:
            self.inside = False
            self.wall += time.perf_counter() - wall
            self.worked += time.thread_time() - worked
            self.count(samples)

    def count(self, samples):
        self.samples += samples
        if self.works and self.samples >= REPORT_SAMPLES and time.monotonic() - self.since >= REPORT_EVERY_S:
            self._write()

    def _write(self):
        """A worker that is ready but has no processor is at work; the rest of the time that it does not run it waits for the sample's bytes."""
        queued = _queued()
        worked = min(self.wall, self.worked + max(0.0, queued - self.queued))
        line = "%s samples=%d read=%.9f transform=%.9f\n" % (
            self.line,
            self.samples,
            (self.wall - worked) / self.samples,
            worked / self.samples,
        )
        self.samples, self.wall, self.worked = 0, 0.0, 0.0
        self.since, self.queued = time.monotonic(), queued
        self.tell(line)

    def tell(self, line):
        if not self.works:
            return
        try:
            opened = os.open(self.file, os.O_WRONLY)
            try:
                os.write(opened, line.encode())
            finally:
                os.close(opened)
            self.failing_since = None
        except OSError as e:
            now = time.monotonic()
            if self.failing_since is None:
                self.failing_since = now
            if e.errno not in RESTARTING or now - self.failing_since > REPORT_PATIENCE_S:
                self._stop(e)  # else the mount's process may be being started again

    def _stop(self, reason):
        """A training must not fail for this."""
        self.works = False
        if isinstance(reason, OSError) and reason.errno == errno.EINVAL:
            reason = "the line is refused, see %s" % os.path.join(os.path.dirname(self.file), "errors")
        try:
            print("clairfs: the loader's workers are not timed any more: %s" % reason, file=sys.stderr, flush=True)
        except (OSError, ValueError):  # stderr is closed, or on a full disk
            pass


def _queued():
    """Seconds that this thread was ready and had no processor; 0 where the kernel does not say."""
    try:
        with open("/proc/thread-self/schedstat", "rb", buffering=0) as opened:
            return int(opened.read().split()[1]) / 1e9
    except (OSError, IndexError, ValueError):
        return 0.0


def order_of(sampler):
    """The order that a DistributedSampler has under `clairfs run`; None when it keeps its own."""
    order = sampler.__dict__.get("_clairfs_order")
    if order is None:
        order = _order_under_run(sampler) or False
        sampler._clairfs_order = order
    return order or None


def _order_under_run(sampler):
    """The order of the job for a sampler that shuffles the dataset of the job. Others keep theirs: validation, other datasets."""
    if not sampler.shuffle:
        return None
    mount = _Mount(os.environ["CLAIRFS_MOUNT"])
    name = os.environ["CLAIRFS_JOB"]
    try:
        inside = _place(mount, sampler.dataset)
    except OrderError:
        raise
    except Exception:  # an attribute of the user's that is not what its name says
        return None
    if inside is None:
        return None
    if not is_given(mount, name):
        return None
    job = mount.line_of(name)
    subset = job.get("subset", "").rstrip("/") if job else ""
    if subset and not (inside + "/").startswith(subset + "/"):
        return None
    return _Order(mount, name, sampler.rank, sampler.num_replicas, sampler.dataset)


_given = {}


def is_given(mount, name):
    """Whether the user has written the job, so that the training takes its order. A job that is missing, or that was written for the loader of a
    training (by=loader), follows the training instead. This is decided once in a process, so that the training never changes sides."""
    key = (mount.point, name)
    if key not in _given:
        begin = time.monotonic()
        line = mount.line_of(name)
        while line is None and mount.status().get("group") and time.monotonic() - begin < GROUP_PATIENCE_S:
            time.sleep(PAUSE_S)
            line = mount.line_of(name)
        _given[key] = line is not None and line.get("by") != "loader"
    return _given[key]


class _Order:
    """The order of one rank of a job, an epoch at a time."""

    def __init__(self, mount, name, rank, world, dataset):
        self.mount, self.name, self.rank = mount, name, rank
        self.epoch, self.samples = None, None
        job = _await_job(mount, name, world)
        self.first = int((mount.line_of(name) or {}).get("start_epoch", 0))
        _check_world(mount, job, rank, world)
        self.world = job["world"]
        if dataset is not None:
            _check_dataset(mount, job, dataset)

    def of(self, epoch):
        if epoch != self.epoch:
            self.samples = self._read(epoch)
            self.epoch = epoch
        return self.samples

    def length(self, epoch):
        # A loader asks before the first set_epoch, and the epochs before that of a resumed run may have no order.
        return len(self.of(max(epoch, self.first)))

    def _read(self, epoch):
        file = "order/%s/%d/%d.i64" % (self.name, epoch, self.rank)
        end = time.monotonic() + PATIENCE_S
        while True:
            try:
                return _numbers(self.mount.read(file))
            except OSError as e:
                if e.errno not in (errno.EAGAIN, errno.EMFILE):
                    failure = self._failure(epoch, e)
                    break
                if time.monotonic() > end:
                    failure = OrderError(
                        "clairfs: the order of epoch %d of the job '%s' at %s is not ready after %d s: write its order file,"
                        " or see %s"
                        % (epoch, self.name, self.mount.point, PATIENCE_S, os.path.join(self.mount.control, "errors"))
                    )
                    break
            time.sleep(PAUSE_S)
        raise failure from None

    def _failure(self, epoch, e):
        line = self.mount.line_of(self.name)
        if e.errno == errno.ENOENT and line is None:
            return _missing(self.mount, self.name, None)
        if e.errno == errno.ENOENT and epoch >= int(line.get("epochs", sys.maxsize)):
            return OrderError(
                "clairfs: the job '%s' has %s epochs, the first is 0, and this training begins epoch %d: start it with as many as the training"
                " has: %s" % (self.name, line["epochs"], epoch, self.mount.command(line, epochs="EPOCHS"))
            )
        if e.errno == errno.EIO:
            return OrderError(
                "clairfs: there is no order of epoch %d of the job '%s': %s" % (epoch, self.name, self.mount.last_error())
            )
        return e


class _Mount:
    """A mount, seen through its control files."""

    def __init__(self, point):
        self.point = os.path.abspath(os.fspath(point))
        self.real = os.path.realpath(self.point)
        self.control = os.path.join(self.point, ".clairfs")

    def read(self, file):
        """The content of a control file. Where the mount's process has died and is being started again, waits for the next one."""
        end = time.monotonic() + RESTART_PATIENCE_S
        answers = False
        while True:
            try:
                return self._content(file)
            except OSError as e:
                if e.errno not in RESTARTING or answers or time.monotonic() > end:
                    raise
                answers = self._answers()  # perhaps only since the failure, so a file that is not there is asked for twice
                if not answers and not self._is_mounted():
                    raise
            if not answers:
                time.sleep(PAUSE_S)

    def _content(self, file):
        # Control files report no size, so they are read to their end.
        with open(os.path.join(self.control, file), "rb", buffering=0) as opened:
            return opened.readall()

    def _answers(self):
        """Whether a process answers for the control files."""
        try:
            self._content("status.json")
        except OSError as e:
            return e.errno not in RESTARTING
        return True

    def _is_mounted(self):
        """Whether the dataset is mounted, its control files or not."""
        place = self.real.replace("\\", "\\134").replace(" ", "\\040").replace("\n", "\\012").replace("\t", "\\011")
        with open("/proc/self/mounts", errors="surrogateescape") as mounts:
            mounted = any(line.split(" ")[1:3] == [place, "fuse.clairfs"] for line in mounts)
        try:
            return mounted and os.path.isdir(self.point)  # a connection that has ended is no directory
        except OSError:
            return False

    def status(self):
        try:
            return json.loads(self.read("status.json"))
        except OSError as e:
            failure = OrderError(
                "clairfs: no clairfs mount answers at %s (%s): mount the dataset there: clairfs mount SOURCE %s"
                % (self.point, e.strerror, self.point)
            )
        raise failure from None

    def line_of(self, name):
        """The keys of a job, as the control file shows them; None when there is no such job."""
        for line in self.read("job").decode().splitlines():
            keys = _keys(line)
            if keys.get("name") == name and "seed" in keys:
                return keys
        return None

    def last_error(self):
        """The last line of the errors, without its time."""
        lines = self.read("errors").decode(errors="replace").splitlines()
        return lines[-1].partition(" ")[2] if lines else "no reason is known"

    def command(self, keys, **changed):
        """What to type to start a job with these keys."""
        wanted = dict(keys, **changed)
        if wanted != keys:
            wanted.pop("ranks", None)  # they depend on the world
        line = " ".join("%s=%s" % pair for pair in wanted.items())
        return "echo '%s' > %s/job" % (line, self.control)

    def inside(self, path):
        """A path below the mount, relative to it; None for any other. Links outside the mount are followed, those of the dataset are not."""
        path = os.path.abspath(path)
        for root in (self.point, self.real):
            if path == root or path.startswith(root + "/"):
                return path[len(root) + 1 :]
        parts = path.split("/")
        for end in range(2, len(parts) + 1):
            real = os.path.realpath("/".join(parts[:end]))
            if real == self.real or real.startswith(self.real + "/"):
                return "/".join(filter(None, [real[len(self.real) + 1 :]] + parts[end:]))
        return None


def _numbers(content):
    numbers = array.array("q")
    numbers.frombytes(content)
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers


def _keys(line):
    return dict(pair.partition("=")[::2] for pair in line.split())


def _world():
    """The number of processes of this training; None when torch.distributed is not in use."""
    if distributed.is_available() and distributed.is_initialized():
        return distributed.get_world_size()
    return int(os.environ["WORLD_SIZE"]) if "WORLD_SIZE" in os.environ else None


def _rank():
    if distributed.is_available() and distributed.is_initialized():
        return distributed.get_rank()
    return int(os.environ.get("RANK", 0))


def _missing(mount, name, world):
    others = ", ".join(sorted(_keys(line).get("name", "") for line in mount.read("job").decode().splitlines()))
    line = {"name": name, "seed": "SEED", "epochs": "EPOCHS", "batch": "BATCH"}
    if world is not None:
        line["world"] = world
    return OrderError(
        "clairfs: there is no job '%s' at %s (%s); start it: %s"
        % (name, mount.point, "jobs: " + others if others else "there is none", mount.command(line))
    )


def _await_job(mount, name, world, longest_s=PATIENCE_S):
    """The job in the status of the mount. It may wait for the dataset to be listed, or come from another node of the group."""
    begin = time.monotonic()
    while True:
        status = mount.status()
        for job in status["jobs"]:
            if job["name"] == name:
                return job
        coming = not status["ready"] or mount.line_of(name) is not None
        patience = longest_s if coming else GROUP_PATIENCE_S if status.get("group") else 0
        if time.monotonic() - begin >= patience:
            break
        time.sleep(PAUSE_S)
    if coming:
        reason = status.get("index_error") or "wait until `clairfs status` shows the job, then start the training"
        raise NotStarted(
            "clairfs: the job '%s' at %s has not begun after %d s, for the dataset is still being listed: %s"
            % (name, mount.point, longest_s, reason)
        )
    raise _missing(mount, name, world)


def _check_world(mount, job, rank, world):
    keys = mount.line_of(job["name"]) or {"name": job["name"]}
    if world is not None and world != job["world"]:
        raise OrderError(
            "clairfs: this training has a world of %d, the job '%s' at %s of %d; start it again with: %s"
            % (world, job["name"], mount.point, job["world"], mount.command(keys, world=world))
        )
    if not 0 <= rank < job["world"]:
        raise OrderError(
            "clairfs: rank %d is none of the job '%s' at %s, whose world is %d: start it with the world of this training: %s"
            % (rank, job["name"], mount.point, job["world"], mount.command(keys, world="WORLD"))
        )


def _check_dataset(mount, job, dataset):
    name, count = job["name"], len(dataset)
    read = os.path.join(mount.point, job["subset"]).rstrip("/")
    if count != job["samples"]:
        raise OrderError(
            "clairfs: the dataset of this training has %d samples, the job '%s' has the %d of %s: give the training that directory and all of"
            " it, or start the job for the directory that the training reads: %s"
            % (count, name, job["samples"], read, mount.command(_line_for(mount, name, dataset)))
        )
    path_of = _paths(dataset)
    if path_of is None or count == 0:
        return
    for index in sorted({k * (count - 1) // (PATHS_COMPARED - 1) for k in range(PATHS_COMPARED)}):
        path = path_of(index)
        inside = path and mount.inside(path)
        if inside is None and path:
            raise OrderError(
                "clairfs: sample %d of this training is %s, which is not below the mount: give the dataset the directory %s" % (index, path, read)
            )
        expected = mount.read("sample/%s/%d" % (name, index))[:-1]
        if inside and os.fsencode(inside) != expected:
            raise OrderError(
                "clairfs: sample %d of this training is %s, that of the job '%s' is %s: mount with the --index-rule of this dataset, or with"
                " --index-rule manifest:FILE and its paths in their order" % (index, inside, name, os.fsdecode(expected))
            )


def _line_for(mount, name, dataset):
    """The keys of the same job for the directory of a dataset."""
    keys = mount.line_of(name) or {"name": name}
    root = _root(dataset)
    subset = "DIRECTORY" if root is None else mount.inside(root) or ""
    keys.pop("subset", None)
    return dict(keys, subset=subset) if subset else keys


def _place(mount, dataset):
    """Where a dataset lies below the mount: a directory of it, or one of its files. None when it lies elsewhere, or does not say where."""
    path_of = _paths(dataset)
    path = path_of(0) if path_of and len(dataset) else None
    path = path or _root(dataset)
    if path is None:
        print(
            "clairfs: the DistributedSampler of a %s keeps its own order, because the dataset does not say where its files are (it has no"
            " samples, imgs, paths, files or root); clairfs_torch.OrderSampler gives the order of a job to any dataset" % type(dataset).__name__,
            file=sys.stderr,
        )
        return None
    return mount.inside(path)


def _inner(dataset):
    """The dataset that another wraps, or what lists its files: torch's Subset, timm's reader."""
    for name in ("dataset", "reader", "parser"):
        inner = getattr(dataset, name, None)
        if inner is not None and not isinstance(inner, (str, bytes)):
            return inner
    return None


def _root(dataset):
    for _ in range(WRAPPERS_FOLLOWED):
        root = getattr(dataset, "root", None)
        if isinstance(root, (str, bytes, os.PathLike)):
            return os.fsdecode(root)
        dataset = _inner(dataset)
        if dataset is None:
            return None
    return None


def _paths(dataset):
    """A function from the index of a sample to the path of its file; None for a dataset that does not list its files."""
    root = _root(dataset)
    count = len(dataset)
    chosen = []
    for _ in range(WRAPPERS_FOLLOWED):
        for items in _lists(dataset):
            if (chosen or _length(items) == count) and _first(items, root) is not None:
                return lambda index: _entry(items, chosen, index, root)
        if hasattr(dataset, "indices"):
            chosen = chosen + [dataset.indices]
        dataset = _inner(dataset)
        if dataset is None:
            return None
    return None


def _lists(dataset):
    """What may list the files of a dataset. Another dataset does not: to index it is to load a sample, which may draw from a generator."""
    for name in ("samples", "imgs", "paths", "files"):
        try:
            items = getattr(dataset, name, None)
        except Exception:  # a property of the user's
            continue
        if hasattr(items, "__getitem__") and not isinstance(items, (type, str, bytes, dict, Dataset)):
            yield items
    for items in list(getattr(dataset, "__dict__", {}).values()):
        if isinstance(items, (str, bytes, type, Dataset)):
            continue
        if isinstance(items, collections.abc.Sequence) or hasattr(type(items), "__array__"):
            yield items


def _length(items):
    try:
        return len(items)
    except Exception:  # an array without dimensions
        return None


def _first(items, root):
    return _entry(items, [], 0, root)


def _entry(items, chosen, index, root):
    try:
        return _path(items[_through(chosen, index)], root)
    except Exception:  # not a list of files
        return None


def _through(chosen, index):
    for indices in chosen:
        index = int(indices[index])
    return index


def _path(item, root):
    """The path in an entry of a list of samples: the entry, its first part, or its first value that is a file; None when there is none."""
    if isinstance(item, (tuple, list)):
        return _path(item[0], root) if item else None
    if isinstance(item, dict):
        return next(filter(None, (_path(value, root) for value in item.values())), None)
    if not isinstance(item, (str, bytes, os.PathLike)):
        return None
    path = os.fsdecode(item)
    if not os.path.isabs(path) and root is not None and os.path.lexists(os.path.join(root, path)):
        path = os.path.join(root, path)
    return path if os.path.lexists(path) else None


def _given_local_rank():
    """The number that a launcher gave to this process among those of its node; None where none did, as with mp.spawn."""
    given = (os.environ.get(name, "") for name in LOCAL_RANKS)
    return next((int(number) for number in given if number.isdigit()), None)


def _local_rank(rank, world):
    """The number of this process among those of its training on this node. Slurm numbers trainings of one process, too."""
    if world is None or world <= 1:
        return 0
    given = _given_local_rank()
    return rank if given is None else given


def _write_job(mount, line, rank, world, longest_s=PATIENCE_S):
    """Has a job line written by the process of local rank 0, and waits until it is in effect. Returns the name of the job.

    Where no launcher gave local ranks, any process writes it that has waited for WRITER_PATIENCE_S: rank 0 may be on another node.
    """
    keys = _keys(line)
    keys.setdefault("name", "train")
    if world is not None and world > 1:
        keys.setdefault("world", str(world))
    local_rank = _local_rank(rank, world)
    here = int(os.environ.get("LOCAL_WORLD_SIZE", 0))
    if world is not None and 0 < here < world and "ranks" not in keys:
        keys["ranks"] = "%d-%d" % (rank - local_rank, rank - local_rank + here - 1)
    line = " ".join("%s=%s" % pair for pair in keys.items())
    written = local_rank == 0
    if written:
        _write(mount, line)
    wanted = {key: value for key, value in keys.items() if key != "ranks"}
    begin = time.monotonic()
    while not wanted.items() <= (mount.line_of(keys["name"]) or {}).items():
        waited = time.monotonic() - begin
        if not written and waited > WRITER_PATIENCE_S and _given_local_rank() is None:
            _write(mount, line)
            written = True
        if waited > longest_s:
            raise NotStarted(
                "clairfs: the process of local rank 0 has not started the job '%s' at %s within %d s: see its output, and %s/errors"
                % (keys["name"], mount.point, longest_s, mount.control)
            )
        time.sleep(PAUSE_S)
    return keys["name"]


def _write(mount, line):
    try:
        content = (line + "\n").encode()
    except UnicodeEncodeError:
        shown = line.encode(errors="backslashreplace").decode()
        raise OrderError("clairfs: the job line '%s' cannot be written: names of directories in it must be UTF-8 without spaces" % shown) from None
    mount.status()  # says what is wrong where there is no mount
    opened = os.open(os.path.join(mount.control, "job"), os.O_WRONLY)
    try:
        os.write(opened, content)
        return
    except OSError as e:
        if e.errno not in (errno.EINVAL, errno.EIO):  # EIO: a file that the line names does not answer
            raise
        failure = OrderError("clairfs: the job line '%s' is refused: %s" % (line, mount.last_error()))
    finally:
        os.close(opened)
    raise failure from None


# Not only when they are needed: the mount's process may be dead then. At the end, for they import this module.
try:
    import clairfs_follow
except Exception:
    pass  # one of them was imported first, or failed; follow and report try again
