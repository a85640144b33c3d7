"""Makes random cases with the real torch, numpy and random, and prints for each: a spec, a tab, length and SHA-256.

Usage: real_orders.py SEED FACTOR
"""
import base64
import hashlib
import random
import sys

import numpy as np
import torch
from torch.utils.data import DataLoader, DistributedSampler, RandomSampler

rnd = random.Random(int(sys.argv[1]))
factor = float(sys.argv[2])
torch.set_num_threads(1)


def emit(spec, indices):
    data = np.asarray(list(indices), dtype="<i8").tobytes()
    print(f"{spec}\t{len(data) // 8} {hashlib.sha256(data).hexdigest()}")


def size():
    return rnd.choice([1, 2, 3, rnd.randint(1, 20), rnd.randint(1, 300), rnd.randint(1, 300), rnd.randint(1000, 70000)])


def small():
    return rnd.choice([1, 2, rnd.randint(1, 12), rnd.randint(1, 60)])


def torch_seed():
    return rnd.choice([0, 1, 42, rnd.getrandbits(32), rnd.getrandbits(64), -rnd.getrandbits(62), 2**64 - 1, -(2**63)])


def randperm():
    n, seed = size(), torch_seed()
    g = torch.Generator()
    g.manual_seed(seed)
    for e in range(rnd.randint(1, 4)):
        emit(f"sampler=torch-randperm torch=1.13 samples={n} seed={seed} epoch={e}", torch.randperm(n, generator=g).tolist())


def distributed():
    n, world, seed, epoch = size(), rnd.randint(1, 9), rnd.choice([0, 7, rnd.getrandbits(40), -rnd.getrandbits(40)]), rnd.randint(0, 100)
    shuffle, drop, rank = rnd.random() < 0.8, rnd.random() < 0.5, rnd.randrange(world)
    s = DistributedSampler(range(n), world, rank, shuffle=shuffle, seed=seed, drop_last=drop)
    s.set_epoch(epoch)
    emit(f"samples={n} world={world} rank={rank} seed={seed} epoch={epoch} shuffle={shuffle} drop_last={drop}", s)


def batches(loader, most=None):
    seen = []
    for i, batch in enumerate(loader):
        seen += batch
        if most is not None and i + 1 == most:
            break
    return seen


def loader(workers):
    n, batch, seed, drop = small(), rnd.randint(1, 9), torch_seed(), rnd.random() < 0.4
    kind = rnd.choice(["generator", "default", "sampler", "state"])
    spec = f"torch=1.13 samples={n} batch={batch} drop_last={drop} workers={workers}"
    options = dict(batch_size=batch, drop_last=drop, num_workers=workers, collate_fn=list)
    persistent = False
    if workers:
        options["prefetch_factor"] = rnd.choice([1, 2, 3])
        persistent = options["persistent_workers"] = rnd.random() < 0.5
        spec += f" prefetch_factor={options['prefetch_factor']} persistent_workers={persistent}"
    before, between, limit, reseed, validation = 0, 0, None, False, None
    if kind in ("default", "state") and rnd.random() < 0.2:
        validation = DataLoader(range(5), shuffle=rnd.random() < 0.5, collate_fn=list)
        spec += f" draws_between={4 if isinstance(validation.sampler, RandomSampler) else 2}"
    elif rnd.random() < 0.3:
        before, between = rnd.randint(0, 700), rnd.randint(0, 9)
        spec += f" draws_before={before} draws_between={between}"
    elif kind in ("generator", "default") and rnd.random() < 0.3:
        reseed = abs(seed) < 2**62
        spec += f" reseed_each_epoch={reseed}"
    count, replacement = n, False
    if kind == "sampler" and rnd.random() < 0.6:
        count, replacement = rnd.randint(1, 3 * n), rnd.random() < 0.5
        spec += f" num_samples={count} replacement={replacement}"
    elif rnd.random() < 0.4:
        limit = rnd.randint(1, max(1, n // batch) + 1)
        spec += f" break_after={limit}"
    torch.manual_seed(seed)
    g = None
    if kind == "generator":
        g = torch.Generator()
        g.manual_seed(seed)
        data = DataLoader(range(n), shuffle=True, generator=g, **options)
        spec += f" sampler=torch-generator seed={seed}"
    elif kind == "sampler":
        g = torch.Generator()
        g.manual_seed(seed)
        sampler = RandomSampler(range(n), replacement, count if replacement or count != n else None, generator=g)
        data = DataLoader(range(n), sampler=sampler, **options)
        spec += f" sampler=torch-generator generator=sampler seed={seed}"
    else:
        data = DataLoader(range(n), shuffle=True, **options)
        spec += f" sampler=torch-default seed={seed}"
        if kind == "state":
            torch.rand(rnd.randint(0, 1300))
            state = base64.b64encode(torch.get_rng_state().numpy().tobytes()).decode()
            spec = spec.replace(f"sampler=torch-default seed={seed}", f"sampler=torch-state state={state}")
    for e in range(3):
        if reseed and g is not None:
            g.manual_seed(seed + e)
        elif reseed:
            torch.manual_seed(seed + e)
        torch.rand(before if e == 0 else between, generator=g)
        if validation is not None and e > 0:
            batches(validation)
        emit(f"{spec} epoch={e}", batches(data, limit))


class Repeat:
    """A batch sampler that begins again for ever, as the endless loaders have it."""

    def __init__(self, inner):
        self.inner = inner

    def __iter__(self):
        while True:
            yield from iter(self.inner)


def endless(workers):
    n, batch, seed, drop = rnd.randint(2, 60), rnd.randint(1, 9), rnd.getrandbits(32), rnd.random() < 0.4
    spec = f"torch=1.13 endless=true samples={n} batch={batch} seed={seed} workers={workers}"
    options = dict(num_workers=workers, collate_fn=list)
    if workers:
        options["prefetch_factor"] = rnd.choice([1, 2, 3])
        spec += f" prefetch_factor={options['prefetch_factor']}"
    if rnd.random() < 0.5:
        world = rnd.randint(1, 3)
        sampler = DistributedSampler(range(n), world, 0, seed=seed)
        spec += f" world={world} drop_last_batch={drop}"
    else:
        g = torch.Generator()
        g.manual_seed(seed)
        sampler, options["generator"] = RandomSampler(range(n), generator=g), g
        spec += f" sampler=torch-generator drop_last={drop}"
    start = rnd.choice([0, 0, 1, 7]) if hasattr(sampler, "set_epoch") else 0
    if start and workers:
        spec += f" start_epoch={start}"
    inner = torch.utils.data.BatchSampler(sampler, batch, drop)
    if len(inner) == 0:
        return
    data = iter(DataLoader(range(n), batch_sampler=Repeat(inner), **options))
    for e in range(start, start + 5):
        if hasattr(sampler, "set_epoch"):
            sampler.set_epoch(e)
        emit(f"{spec} epoch={e}", [i for _ in range(len(inner)) for i in next(data)])


def numpy_orders():
    n, legacy, mode = size(), rnd.random() < 0.5, rnd.choice(["fresh", "in_place", "reseed_each_epoch"])
    seed = rnd.choice([0, 1, rnd.getrandbits(31), rnd.getrandbits(31) if legacy else rnd.getrandbits(200)])
    text = str(seed)
    if mode != "reseed_each_epoch" and rnd.random() < 0.3:
        seed = [rnd.getrandbits(32 if legacy else 90) for _ in range(rnd.randint(1, 9))]
        text = "[" + ",".join(map(str, seed)) + "]"
    make = np.random.RandomState if legacy else np.random.default_rng
    g, items = make(seed), np.arange(n)
    spec = f"sampler=numpy-{'legacy' if legacy else 'generator'} samples={n} seed={text} {mode}=true".replace(" fresh=true", "")
    for e in range(rnd.randint(1, 4)):
        if mode == "reseed_each_epoch":
            g = make(seed + e)
        if mode == "in_place":
            g.shuffle(items)
            order = items
        else:
            order = g.permutation(n)
        emit(f"{spec} epoch={e}", order)


def python_orders():
    n, mode = size(), rnd.choice(["fresh", "in_place", "reseed_each_epoch", "sample"])
    seed = rnd.choice([0, 1, -5, rnd.getrandbits(32), rnd.getrandbits(300)])
    if mode != "reseed_each_epoch" and rnd.random() < 0.4:
        seed = rnd.choice(["text", "\u00e9t\u00e9", "x" * rnd.randint(0, 80), rnd.random(), -rnd.random() * 10.0 ** rnd.randint(-300, 300), 3.0, 5e-324])
    g, items = random.Random(seed), list(range(n))
    key = {"fresh": "", "sample": " method=sample"}.get(mode, f" {mode}=true")
    for e in range(rnd.randint(1, 4)):
        if mode == "reseed_each_epoch":
            g = random.Random(seed + e)
        if mode == "sample":
            order = g.sample(range(n), n)
        else:
            order = items if mode == "in_place" else list(range(n))
            g.shuffle(order)
        emit(f"sampler=python-random samples={n} seed={seed!r}{key} epoch={e}", order)


def hf_orders():
    n, seed = size(), rnd.choice([0, 1, rnd.getrandbits(32), rnd.getrandbits(200)])
    emit(f"sampler=hf-datasets samples={n} seed={seed}", np.random.default_rng(seed).permutation(n))


for make, count in [(randperm, 600), (distributed, 1200), (lambda: loader(0), 800), (lambda: endless(0), 150),
                    (numpy_orders, 700), (python_orders, 500), (hf_orders, 100),
                    (lambda: loader(2), 80), (lambda: endless(rnd.choice([1, 2])), 40)]:
    for _ in range(max(1, int(count * factor))):
        make()
