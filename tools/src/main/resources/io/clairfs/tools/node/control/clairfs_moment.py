"""What a loader reads from one moment on: the epoch of its sampler, or the state of its generator, as keys of a job."""

import base64
import weakref

import torch

from clairfs_generator import VERSION, unread


def weak(thing):
    """A function that gives the thing while somebody else has it; always, where it cannot be referred to weakly, such as a list."""
    try:
        return weakref.ref(thing)
    except TypeError:
        return lambda: thing


class Reading:
    """What a loader reads: keys of a job line, and the place where its present moment is found.

    The moment is what changes from epoch to epoch: the number of the epoch (clock: a sampler with `epoch`), or the state of the generator. It is
    None where all epochs are alike. holder: what draws from the generator: "loader", "sampler" or "nobody", as in sampler=torch-state.

    It keeps neither the loader, whose workers may persist, nor the dataset or the sampler alive: these are None when the training has dropped them.
    """

    def __init__(self, loader, keys, world=1, rank=0, shuffled=True, clock=None, generator=None, holder=None):
        self._loader, self._dataset, self._clock = weak(loader), weak(loader.dataset), weak(clock)
        self.samples = len(loader.dataset)
        self.keys, self.world, self.rank, self.shuffled = keys, world, rank, shuffled
        self.generator, self.holder = generator, holder

    @property
    def loader(self):
        return self._loader()

    @property
    def dataset(self):
        dataset, loader = self._dataset(), self._loader()
        return loader.dataset if dataset is None and loader is not None else dataset

    @property
    def clock(self):
        return self._clock()

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
            state = unread(state, 2)
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
        count, n = self.samples, int(self.keys.get("num_samples", self.samples))
        if "replacement" in self.keys:
            for _ in range(n // 32):
                torch.randint(high=count, size=(32,), dtype=torch.int64, generator=g)
            torch.randint(high=count, size=(n % 32,), dtype=torch.int64, generator=g)
        else:
            for _ in range(n // count + 1):
                torch.randperm(count, generator=g)
        return g.get_state()
