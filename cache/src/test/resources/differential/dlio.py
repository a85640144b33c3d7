"""The orders of sampler=dlio: restated with numpy, and by DLIO's own code.

Usage: dlio.py cases SEED COUNT           random runs, restated: for each order a spec, a tab, length and SHA-256
       dlio.py golden ARGONNE MLCOMMONS   the vectors of resources/golden/dlio.json, by the code in git repositories of
                                          argonne-lcf/dlio_benchmark and mlcommons/DLIO_local_changes; compared with the restated orders
"""
import ast
import functools
import hashlib
import json
import math
import os
import random
import subprocess
import sys
import textwrap
import types

import numpy as np


def restated(version, files, world, batch, epochs, seed=123, shuffle=True, seed_change_epoch=True):
    """Yields one epoch after another, each as the list of every rank."""
    if version == "main":
        files -= files % (batch * world)
    steps = files // (batch * world)
    everything = list(range(files))
    shards = [everything[rank::world][: files // world] for rank in range(world)]
    for epoch in range(1, epochs + 1):
        if version == "v1":
            if shuffle:
                np.random.seed(seed)
                np.random.shuffle(everything)
            size = files // world
            ranks = [everything[rank * size : (rank + 1) * size] for rank in range(world)]
        elif version == "v3":
            if shuffle:
                sent = [[[] for _ in range(world)] for _ in range(world)]
                for rank in range(world):
                    np.random.seed(seed + epoch if seed_change_epoch else seed)
                    np.random.shuffle(shards[rank])
                    for i, file in enumerate(shards[rank]):
                        sent[rank][(i + rank) % world].append(file)
                for rank in range(world):
                    shards[rank] = [file for sender in range(world) for file in sent[sender][rank]]
                    np.random.seed(seed + epoch + 31 * rank)
                    np.random.shuffle(shards[rank])
            ranks = shards
        else:
            size = -(-files // world)
            ranks = [everything[rank * size : (rank + 1) * size] for rank in range(world)]
        yield [order[: min(len(order) // batch, max(1, steps)) * batch] for order in ranks]


class Any:
    """Stands for what does not matter to the order: any attribute, any call."""

    def __getattr__(self, name):
        return Any()

    def __call__(self, *_, **__):
        return Any()

    def __sub__(self, _):
        return 0.0


@functools.lru_cache
def shown(repository, what):
    return subprocess.check_output(["git", "-C", repository, "show", what], text=True)


class Code:
    """Functions and classes of one DLIO, cut out of its files, without their decorators, with only the names that they need."""

    def __init__(self, repository, branch, mpi):
        self.repository, self.branch = repository, branch
        off = types.SimpleNamespace(OFF="off", SEED="seed")
        self.names = {
            "np": np, "math": math, "os": os, "logging": Any(), "Sampler": object, "Shuffle": off, "utcnow": Any(), "time": Any(),
            "DatasetType": types.SimpleNamespace(TRAIN="train", VALID="valid"), "MetadataType": types.SimpleNamespace(DIRECTORY="directory"),
            "StorageType": types.SimpleNamespace(LOCAL_FS="local"), "CheckpointingFactory": Any(), "DLIOLogger": Any(),
            "DLIOMPI": types.SimpleNamespace(get_instance=lambda: mpi), "dlp": types.SimpleNamespace(iter=iter),
            "ConfigArguments": types.SimpleNamespace(get_instance=lambda: types.SimpleNamespace(files_pre_sharded=True)),
        }

    def version(self):
        return subprocess.check_output(["git", "-C", self.repository, "rev-parse", self.branch], text=True).strip()

    def get(self, file, name):
        text = shown(self.repository, f"{self.branch}:dlio_benchmark/{file}")
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and node.name == name:
                source = textwrap.dedent("\n".join(text.splitlines()[node.lineno - 1 : node.end_lineno]))
                exec(source, self.names)
                return self.names[name]
        raise KeyError(name)


class Mpi:
    """The ranks take their turns one after another: what is sent is noted first, and received in a second round."""

    class Sent(Exception):
        pass

    def __init__(self):
        self.broadcast, self.all, self.mine, self.receiver = [], None, None, None

    def bcast(self, data, root=0):
        if data is None and self.receiver is not None:
            return next(self.receiver)
        self.broadcast.append(data)
        return data

    def allreduce_min(self, value):
        return value

    def alltoall(self, buckets):
        if self.all is None:
            self.mine = buckets
            raise Mpi.Sent()
        return self.all.pop(0)

    def barrier(self):
        pass


class Rank:
    """One rank of a run, with DLIO's own fields."""

    def __init__(self, code, mpi, version, rank, files, world, batch, seed, shuffle, seed_change_epoch):
        kind = "seed" if shuffle else "off"
        self.code, self.mpi, self.version, self.names = code, mpi, version, []
        self.args = types.SimpleNamespace(
            debug=False, generate_data=False, do_train=True, skip_listing=False, data_folder="data", format="npz", my_rank=rank, comm_size=world,
            batch_size=batch, batch_size_eval=1, seed=seed, seed_change_epoch=seed_change_epoch, file_shuffle=kind, sample_shuffle=kind,
            num_samples_per_file=1, storage_type="local", files_pre_sharded=False, logger=Any(), computation_time=0, checkpoint_mechanism=None,
            validate=Any(), derive_configurations=self.derive)
        names = [f"img_{i:07d}_of_{files}.npz" for i in range(files)]
        random.Random(files).shuffle(names)  # as a directory may list them
        storage = types.SimpleNamespace(
            walk_node=lambda path: names if path.endswith("train") else [], get_uri=lambda path: path, get_node=lambda path: "file")
        self.run = types.SimpleNamespace(
            args=self.args, comm=mpi, storage=storage, logger=Any(), stats=Any(), generate_only=False, do_profiling=False, do_checkpoint=False,
            do_eval=False, my_rank=rank, comm_size=world, num_samples=1, num_files_train=files, num_files_eval=0, num_subfolders_train=0,
            num_subfolders_eval=0, batch_size=batch, batch_size_eval=1, total_training_steps=-1, computation_time=0, computation_time_stdev=0,
            steps_between_checkpoints=-1, checkpoint_mechanism=None, epochs=1,
            framework=types.SimpleNamespace(get_loader=lambda dataset_type: self, compute=self.compute, trace_object=Any()))
        code.get("main.py", "initialize")(self.run)
        self.samples = len(self.args.file_list_train)
        more = (kind, 1, seed) if version == "v1" else (1,)
        self.sampler = code.get("data_loader/torch_data_loader.py", "dlio_sampler")(rank, world, self.samples, *more)
        self.training = code.get("main.py", "_train")
        self.resharding = code.get("utils/config.py", "_reshard_files") if version == "v3" else None
        self.map = code.get("utils/config.py", "get_global_map_index")
        if version == "v3":
            code.get("utils/config.py", "VirtualIndexMap")

    def derive(self, train, _):
        self.args.file_list_train, self.args.file_list_eval = list(train), []
        self.args.training_steps = math.ceil(len(train) / self.args.batch_size)

    def reshard(self, epoch, received=None):
        """What this rank sends to each; with what each sends to it, its next list."""
        self.mpi.all = None if received is None else [received, [[] for _ in received]]
        try:
            self.resharding(self.args, epoch)
        except Mpi.Sent:
            return self.mpi.mine

    def next(self):
        """The batches of a DataLoader with drop_last=True and workers that wait for their turn."""
        batch = []
        for index in self.sampler:
            batch.append(index)
            if len(batch) == self.args.batch_size:
                yield [int(self.files[i][0].split("_")[-3]) for i in batch]
                batch = []

    def compute(self, batch, *_):
        self.read += batch

    def train(self, epoch):
        more = () if self.version == "v1" else (epoch,)
        made = self.map(self.args, self.args.file_list_train, self.samples, *more)
        self.files = made if self.version == "v1" else made[0]
        self.read = []
        if self.samples > 0:
            self.training(self.run, epoch)
        return self.read


def real(repositories, version, files, world, batch, epochs, seed, shuffle, seed_change_epoch):
    mpi = Mpi()
    branch = {"v1": "mlperf_storage_v1.0", "v2": "mlperf_storage_v2.0"}.get(version, "main")
    code = Code(repositories[version == "v3"], branch, mpi)
    ranks = []
    for rank in range(world):
        mpi.receiver = iter(mpi.broadcast) if rank else None
        ranks.append(Rank(code, mpi, version, rank, files, world, batch, seed, shuffle, seed_change_epoch))
    for epoch in range(1, epochs + 1):
        if version == "v3" and shuffle:
            sent = [rank.reshard(epoch) for rank in ranks]
            for rank in ranks:
                rank.reshard(epoch, [buckets[rank.args.my_rank] for buckets in sent])
        yield [rank.train(epoch) for rank in ranks]


def digest(indices):
    return hashlib.sha256(np.asarray(indices, dtype="<i8").tobytes()).hexdigest()


def order(indices):
    ends = {"full": indices} if len(indices) <= 32 else {"first8": indices[:8], "last8": indices[-8:]}
    return {"len": len(indices), "sha256_le_i64": digest(indices), **ends}


def golden(*repositories):
    runs = [(version, files, world, batch, seed, {})
            for version in ("v1", "v2", "v3", "main")
            for files, world, batch, seed in [(24, 1, 1, 123), (24, 2, 3, 123), (25, 2, 3, 42), (103, 4, 7, 123), (103, 4, 26, 0), (3, 4, 1, 123),
                                              (1000, 8, 5, 1), (2051, 16, 4, 2**31), (5003, 5, 24, 9), (0, 2, 1, 123)]]
    runs += [("v3", 100, 3, 4, 123, {"seed_change_epoch": False}), ("v3", 100, 3, 4, -1, {}), ("v3", 7, 7, 1, 5, {}), ("v3", 640, 64, 1, 5, {})]
    runs += [(version, 103, 4, 7, 123, {"shuffle": False}) for version in ("v1", "v2", "v3", "main")]
    runs += [("v1", 50, 2, 5, 2**32 - 1, {}), ("v3", 50, 2, 5, 2**32 - 1 - 31 - 3, {})]
    cases = []
    for version, files, world, batch, seed, more in runs:
        keys = {"seed": seed, "shuffle": True, "seed_change_epoch": True, **more}
        made = real(repositories, version, files, world, batch, 3, **keys)
        again = restated(version, files, world, batch, 3, **keys)
        for epoch, (ranks, those) in enumerate(zip(made, again, strict=True)):
            assert ranks == those, (version, files, world, batch, keys, epoch)
            spec = f"version={version} samples={files} world={world} batch={batch} seed={seed}"
            spec += "".join(f" {key}={str(value).lower()}" for key, value in more.items()) + f" epoch={epoch}"
            cases.append({"spec": spec, "ranks": {rank: order(ranks[rank]) for rank in sorted({0, 1 % world, world - 1})}})
    source = {"library": "DLIO's main.py, torch_data_loader.py and config.py, by differential/dlio.py", "numpy": np.__version__}
    for version, branch in ("v1", "mlperf_storage_v1.0"), ("v2", "mlperf_storage_v2.0"), ("v3", "main"), ("main", "main"):
        repository = "mlcommons/DLIO_local_changes" if version == "v3" else "argonne-lcf/dlio_benchmark"
        source[version] = f"{repository} {branch} {Code(repositories[version == 'v3'], branch, None).version()}"
    encoding = "order objects: len, sha256_le_i64 = SHA-256 over the sequence as little-endian signed 64-bit, and either full[] or first8[]/last8[]."
    print(json.dumps({"source": source, "encoding": encoding, "cases": cases}, separators=(",", ":")))


def random_runs(seed, count):
    rnd = random.Random(seed)
    for _ in range(count):
        version = rnd.choice(["v1", "v2", "v3", "v3", "main"])
        world, batch = rnd.choice([1, 2, rnd.randint(1, 20)]), rnd.choice([1, 2, rnd.randint(1, 30)])
        files = rnd.choice([rnd.randint(0, 40), rnd.randint(1, 3000), batch * world * rnd.randint(1, 9), batch * world * rnd.randint(1, 9) + 1])
        keys = {"seed": rnd.choice([0, 123, rnd.getrandbits(31)]), "shuffle": rnd.random() < 0.9, "seed_change_epoch": rnd.random() < 0.8}
        epochs = rnd.randint(1, 9)
        for epoch, ranks in enumerate(restated(version, files, world, batch, epochs, **keys)):
            rank = rnd.randrange(world)
            spec = f"sampler=dlio version={version} samples={files} world={world} batch={batch} rank={rank} epoch={epoch}"
            spec += "".join(f" {key}={str(value).lower()}" for key, value in keys.items())
            print(f"{spec}\t{len(ranks[rank])} {digest(ranks[rank])}")


if sys.argv[1] == "cases":
    random_runs(int(sys.argv[2]), int(sys.argv[3]))
else:
    golden(*sys.argv[2:])
