"""The jobs of a training under `clairfs run`, where the user has written none."""

import re

from torch.utils.data import IterableDataset, TensorDataset

import clairfs_loader
import clairfs_torch
from clairfs_generator import Unpredicted
from clairfs_job import Followed, place_of, say, subsets
from clairfs_torch import NotStarted, OrderError, OrderSampler

JOBS_OF_A_RUN = 4
WHERE = "give it a list of their paths with the name paths, or call clairfs_torch.follow(loader, mount=MOUNTPOINT)"


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
            say("no job follows the DataLoader of the %s, which does not say where its files are; %s" % (type(loader.dataset).__name__, WHERE), mount=self.mount)
        if place is None or self.mount.inside(place) is None or order_sampler(loader) is not None:
            return None
        if clairfs_torch.is_given(self.mount, self.name):
            return None
        directory = subsets(self.mount, loader.dataset)[0]
        if directory in self.refused:
            return None
        settled = next((job for job in self.jobs if job.is_settled(loader)), None)
        if settled is not None:
            return settled
        try:
            reading = clairfs_loader.read(loader)
        except Unpredicted as e:
            where = "" if directory == "" else " over " + directory
            say("no job follows the DataLoader of the %s%s: %s" % (type(loader.dataset).__name__, where, e), mount=self.mount)
            return None
        job = self._job_for(reading, directory)
        if job is None:
            return None
        job.directory = directory
        try:
            job.begin(reading)
        except (OrderError, OSError, Unpredicted) as e:
            if isinstance(e, NotStarted) or (job.line is None and reading.shuffled):
                self.refused.add(directory)
            say("no job follows the DataLoader of the %s: %s" % (type(loader.dataset).__name__, re.sub("^clairfs: ", "", str(e))), reading, self.mount)
            return None
        finally:
            if job.line is None and job in self.jobs:
                self.jobs.remove(job)
        return job

    def _job_for(self, reading, directory):
        job = next((job for job in self.jobs if job.directory == directory), None)
        if job is not None and job.reading is not None:
            if job.reading.shuffled and not reading.shuffled:
                return None
            if job.reading.loader is not reading.loader and job.progress is not None and job.progress.goes_on():
                say("a second DataLoader over %s is read at once with the first, and no job follows it" % (directory or self.mount.point), mount=self.mount)
                return None
            return job
        if not self.jobs:
            return self._new(self.name)
        if not reading.shuffled:
            return None
        if not self.jobs[0].reading.shuffled:
            return self.jobs[0]
        if len(self.jobs) == JOBS_OF_A_RUN:
            say("the DataLoaders of %d directories have jobs; no job follows that over %s" % (JOBS_OF_A_RUN, directory), mount=self.mount)
            return None
        return self._new("%s-%d" % (self.name, len(self.jobs) + 1))

    def _new(self, name):
        self.jobs.append(Followed(self.mount, name))
        return self.jobs[-1]


def order_sampler(loader):
    """The sampler of a loader that reads the order of a job already."""
    samplers = [loader.sampler, getattr(loader.batch_sampler, "sampler", None)]
    return next((sampler for sampler in samplers if isinstance(sampler, OrderSampler)), None)
