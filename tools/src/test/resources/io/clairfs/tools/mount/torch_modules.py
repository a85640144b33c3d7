"""Calls the modules for torch in the ways that a training could suffer from: torch_modules.py MOUNT

The mount has images in `train`. Says "done" when all was as it should be.
"""

import contextlib
import errno
import io
import os
import sys
import time
import types

mount = sys.argv[1]
sys.path.insert(0, mount + "/.clairfs/python")
for name in [name for name in os.environ if "RANK" in name or name.startswith("CLAIRFS_") or name in ("WORLD_SIZE", "SLURM_LOCALID")]:
    del os.environ[name]

from torch.utils.data import DataLoader, Dataset, DistributedSampler
from torchvision.datasets import ImageFolder

import clairfs_follow
import clairfs_job
import clairfs_run
import clairfs_torch
from clairfs_torch import NotStarted, OrderError, OrderSampler


def refused(kind, do, *arguments):
    try:
        do(*arguments)
    except kind as e:
        return str(e)
    raise AssertionError("%s is missing" % kind)


def fail(*_):
    raise ValueError("on purpose")


place = clairfs_torch._Mount(mount)
train = ImageFolder(mount + "/train")

# The local rank is the launcher's. Where it gives none, a process of another rank writes the line in the end.
assert clairfs_torch._local_rank(5, 8) == 5 and clairfs_torch._local_rank(5, 1) == 0
for number, name in enumerate(reversed(clairfs_torch.LOCAL_RANKS)):
    os.environ[name] = str(number)
    assert clairfs_torch._local_rank(7, 8) == number, name
assert "has not started" in refused(NotStarted, clairfs_torch._write_job, place, "name=lone seed=1", 7, 8, 0.5)
for name in clairfs_torch.LOCAL_RANKS:
    os.environ[name] = ""
clairfs_torch.WRITER_PATIENCE_S = 0.2
assert clairfs_torch._write_job(place, "name=lone seed=1", 7, 8) == "lone"
assert place.line_of("lone")["world"] == "8"

# A sampler that others leave alone.
sampler = OrderSampler(mount, "lone", rank=1)
assert isinstance(sampler, DistributedSampler)
assert (sampler.num_replicas, sampler.rank, sampler.shuffle, sampler.epoch) == (8, 1, False, 0)
assert len(list(sampler)) == len(sampler)
clairfs_torch._write(place, "stop=lone")

# What fails unexpectedly leaves no half a job behind; what was waited for in vain is not waited for again.
run = clairfs_run.Run(place, "half")
loader, shuffling = DataLoader(train), DataLoader(train, shuffle=True)
begin = clairfs_job.Followed.begin
clairfs_job.Followed.begin = fail
refused(ValueError, run.begin, loader)
assert run.jobs == []
clairfs_job.Followed.begin = begin
assert run.begin(shuffling).line is not None and len(run.jobs) == 1


def wait_in_vain(*_):
    raise NotStarted("in vain")


clairfs_job.Followed.begin = wait_in_vain
vain = clairfs_run.Run(place, "vain")
assert vain.begin(loader) is None and vain.refused == {"train"} and vain.jobs == []
clairfs_job.Followed.begin = begin
assert vain.begin(shuffling) is None


# Names that no line can have, and files that are gone.
assert "must be UTF-8" in refused(OrderError, clairfs_torch._write, place, "name=odd seed=1 subset=\udcff")


class Listed(Dataset):
    def __init__(self):
        self.paths = [path for path, _ in train.samples]
        self.paths[-1] += ".gone"

    def __len__(self):
        return len(self.paths)


assert clairfs_job.subsets(place, Listed()) == [""]


# Control files that do not answer for a minute, as long as the supervisor waits for a new process. Time passes in waits alone.
now = [0.0]
answers = 59.0
content = clairfs_torch._Mount._content


def wait(seconds):
    now[0] += seconds


def content_then(self, file):
    if now[0] < answers:
        raise OSError(errno.ENOTCONN, "Transport endpoint is not connected")
    return content(self, file)


clairfs_torch.time = types.SimpleNamespace(monotonic=lambda: now[0], sleep=wait)
clairfs_torch._Mount._content = content_then
assert place.read("status.json") and now[0] >= answers
now[0], answers = 0.0, 1000.0
assert "not connected" in refused(OSError, place.read, "status.json") and 60.0 <= now[0] < 61.0, now
clairfs_torch.time, clairfs_torch._Mount._content = time, content


# Messages that cannot be written.
class Odd(Dataset):
    def __setattr__(self, name, value):
        fail()


closed = io.StringIO()
closed.close()
with contextlib.redirect_stderr(closed):
    clairfs_job.say("said to nobody")
    assert clairfs_follow._quietly(fail) is None
    reporter = clairfs_torch._Reporter(place.control, "half", 0, 1)
    reporter.time(Odd())
    assert not reporter.works
os.environ["RANK"] = ""
assert clairfs_follow._quietly(fail) is None
os.environ["CLAIRFS_JOB"] = "train"
assert clairfs_follow._quietly(fail) is None
print("done")
