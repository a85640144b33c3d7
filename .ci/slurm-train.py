"""The trainer of .ci/slurm, in the place of the user's own train.py: reads its rank's samples through PyTorch and compares every byte.

slurm-train.py --make SAMPLES DIRECTORY   writes the dataset
slurm-train.py --data MOUNTPOINT          trains TRAIN_EPOCHS epochs, with a pause of TRAIN_PAUSE seconds for each batch
"""

import json
import os
import random
import sys
import time

CLASSES = 8


def content(name):
    """The bytes of a sample follow from its name."""
    generator = random.Random(name)
    return generator.randbytes(generator.randrange(10_000, 60_000))


def make(samples, directory):
    for number in range(samples):
        name = f"class{number % CLASSES}/{number:05d}.jpg"
        path = os.path.join(directory, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(content(name))


def names_of(root):
    found = []
    for directory, below, files in os.walk(root):
        below[:] = sorted(each for each in below if not each.startswith("."))
        found += [os.path.relpath(os.path.join(directory, file), root) for file in sorted(files)]
    return sorted(found)


class Samples:
    def __init__(self, root):
        self.root = root
        self.names = names_of(root)

    def __len__(self):
        return len(self.names)

    def __getitem__(self, number):
        name = self.names[number]
        with open(os.path.join(self.root, name), "rb") as file:
            if file.read() != content(name):
                raise AssertionError(f"{name} has wrong bytes")
        return number


def status(root):
    """What the mount says of itself; while its process is started again, nothing for a moment."""
    until = time.monotonic() + 30
    while True:
        try:
            with open(os.path.join(root, ".clairfs/status.json")) as file:
                return json.load(file)
        except OSError:
            if time.monotonic() > until:
                raise
            time.sleep(0.1)


def train(root):
    from torch.utils.data import DataLoader
    from torch.utils.data.distributed import DistributedSampler

    rank, world = int(os.environ["SLURM_PROCID"]), int(os.environ["SLURM_NTASKS"])
    note = f"/home/trainer/out/{os.environ['SLURM_JOB_ID']}.{rank}.read"
    data = Samples(root)
    sampler = DistributedSampler(data, num_replicas=world, rank=rank, shuffle=True, seed=42)
    read = 0
    until = time.monotonic() + 120
    while (peers := sum(peer["alive"] for peer in status(root)["peers"])) < world - 1 and time.monotonic() < until:
        time.sleep(0.2)
    for epoch in range(int(os.environ["TRAIN_EPOCHS"])):
        sampler.set_epoch(epoch)
        for batch in DataLoader(data, batch_size=10, sampler=sampler, num_workers=1):
            read += len(batch)
            with open(note + ".part", "w") as file:
                print(read, file=file)
            os.rename(note + ".part", note)
            time.sleep(float(os.environ["TRAIN_PAUSE"]))
    print(f"trained: rank {rank}, {read} samples right, {peers} peers", flush=True)
    if os.environ.get("TRAIN_FAILS") == str(rank):
        sys.exit(3)


if sys.argv[1] == "--make":
    make(int(sys.argv[2]), sys.argv[3])
else:
    train(sys.argv[sys.argv.index("--data") + 1])
