"""How batches come to a GPU: by a DataLoader with pinned memory, by the feeder's ring on the host, by its ring on the device.

device_rates.py MOUNT WHAT WORKERS COMMAND...: WHAT is `jpeg`, images that become 224 pixels by way of 256; `floats`, 3x224x224 of float32; or `bytes`,
3x224x224 of uint8, which are normalised to float16 on the GPU. One line for each figure.
"""
import json
import os
import statistics
import sys
import time

mount, what, workers = sys.argv[1], sys.argv[2], int(sys.argv[3])
command = sys.argv[4:]
sys.path.insert(0, mount + "/.clairfs/python")

import numpy
import PIL.Image
import torch
from clairfs_feed import Feed
from clairfs_torch import OrderSampler

BATCH = 128
EPOCHS = 5
DEVICE = torch.device("cuda", 0)
DECODE = {"jpeg": "image,size=224,resize=256", "floats": "raw,dtype=float32,shape=3x224x224", "bytes": "raw,dtype=uint8,shape=3x224x224"}[what]
MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
ON_DEVICE = "dtype=float16,mean=%s,std=%s" % tuple(":".join(map(str, numbers)) for numbers in (MEAN, STD))


def say(text, *values):
    print(what + ": " + text % values, flush=True)


def status():
    with open(mount + "/.clairfs/status.json", "rb", buffering=0) as file:
        return json.loads(file.readall())


def tell(line):
    with open(mount + "/.clairfs/job", "w") as file:
        file.write(line + "\n")


def begin():
    """A new job, all of whose samples are staged."""
    tell("name=bench seed=1 batch=%d epochs=%d" % (BATCH, EPOCHS))
    end = time.monotonic() + 60
    while status()["jobs"][0]["staged_ahead"] < status()["samples"] and time.monotonic() < end:
        time.sleep(0.05)


class Files(torch.utils.data.Dataset):
    def __init__(self, paths):
        self.paths = paths

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, index):
        path = os.path.join(mount, self.paths[index])
        if what == "jpeg":
            from torchvision import transforms

            change = transforms.Compose([transforms.Resize(256), transforms.CenterCrop(224), transforms.PILToTensor()])
            with open(path, "rb") as file:
                return change(PIL.Image.open(file).convert("RGB")), 0
        dtype = numpy.float32 if what == "floats" else numpy.uint8
        return torch.from_numpy(numpy.fromfile(path, dtype).reshape(3, 224, 224)), 0


class Work:
    """A step of the script: products of matrices that take so long, and what normalising in the script costs."""

    def __init__(self):
        self.a = torch.randn(4096, 4096, device=DEVICE, dtype=torch.float16)
        self.mean = torch.tensor(MEAN, device=DEVICE).view(3, 1, 1) * 255
        self.std = torch.tensor(STD, device=DEVICE).view(3, 1, 1) * 255
        self.products = 0

    def calibrate(self, seconds):
        for _ in range(3):
            self.step(20)
        begin = time.perf_counter()
        self.step(100)
        self.products = max(1, round(100 * seconds / (time.perf_counter() - begin)))

    def step(self, products=None):
        for _ in range(products or self.products):
            self.a @ self.a
        torch.cuda.synchronize()

    def normalise(self, images):
        return ((images.float() - self.mean) / self.std).half()


def read(epoch, work, normalise, digest, taken):
    """An epoch. Returns its samples and a number that follows from their values. taken: gets the time of each next()."""
    count, total = 0, torch.zeros((), dtype=torch.int64, device=DEVICE)
    batches = iter(epoch)
    while True:
        before = time.perf_counter()
        batch = next(batches, None)
        taken.append(time.perf_counter() - before)
        if batch is None:
            return count, int(total)
        images = work.normalise(batch[0]) if normalise else batch[0]
        if digest:
            total += images.contiguous().view(torch.int32 if images.dtype == torch.float32 else torch.uint8).sum(dtype=torch.int64) * (1 + count % 7)
        count += len(batch[0])
        if work.products:
            work.step()


def loader():
    paths = open(mount + "/.clairfs/sample/bench/all").read().splitlines()
    sampler = OrderSampler(mount, job="bench")
    batches = torch.utils.data.DataLoader(
        Files(paths), batch_size=BATCH, sampler=sampler, num_workers=workers, persistent_workers=True, pin_memory=True
    )
    for epoch in range(EPOCHS):
        sampler.set_epoch(epoch)
        yield ((images.to(DEVICE, non_blocking=True), labels.to(DEVICE, non_blocking=True)) for images, labels in batches)


def feed(**options):
    return Feed(mount, job="bench", decode=DECODE, slots=6, threads=workers, command=command, **options)


def run(name, epochs, work, normalise=False, digest=False, fed=None):
    """All epochs but the first. waited: the share of the time in which there was no batch; in next(): that, and what Python and CUDA's calls take."""
    epochs = iter(epochs)
    digests = [read(next(epochs), work, normalise, digest, [])[1]]
    torch.cuda.synchronize()
    begin, cpu, waited_s, samples, taken = time.perf_counter(), time.process_time(), fed.stats()["waited_s"] if fed else 0, 0, []
    for epoch in epochs:
        count, of_epoch = read(epoch, work, normalise, digest, taken)
        samples += count
        digests.append(of_epoch)
    torch.cuda.synchronize()
    seconds, cpu = time.perf_counter() - begin, time.process_time() - cpu
    waited = "waited %5.2f %% of the time, " % (100 * (fed.stats()["waited_s"] - waited_s) / seconds) if fed else ""
    say(
        "%-46s %7.0f samples/s, %sin next() %5.2f %%, %5.0f us in the middle, %5.1f us of the script's CPU per sample",
        name, samples / seconds, waited, 100 * sum(taken) / seconds, 1e6 * statistics.median(taken), 1e6 * cpu / samples,
    )
    return samples / seconds, digests


def plain_copy(bytes_of_batch):
    """Of pinned memory of torch, bytes a second."""
    host = torch.empty(bytes_of_batch, dtype=torch.uint8, pin_memory=True)
    there = torch.empty(bytes_of_batch, dtype=torch.uint8, device=DEVICE)
    return copies(lambda: there.copy_(host, non_blocking=True), bytes_of_batch)


def copies(copy, size, rounds=30):
    seconds = []
    for _ in range(rounds):
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        torch.cuda.synchronize()
        begin.record()
        copy()
        end.record()
        torch.cuda.synchronize()
        seconds.append(begin.elapsed_time(end) / 1e3)
    return size / statistics.median(seconds)


def copy_rates():
    """The transfers alone, beside plain copies of the same size in the same run."""
    begin()
    with feed() as fed:
        fed.pin()
        images = next(iter(fed))[0]
        ring = torch.from_numpy(images)
        there = torch.empty_like(ring, device=DEVICE)
        plain = [plain_copy(images.nbytes)]
        ours = copies(lambda: there.copy_(ring, non_blocking=True), images.nbytes)
        plain.append(plain_copy(images.nbytes))
        say("host ring, pinned: %.1f GB/s to the device, %.3f of a plain pinned copy of %.1f MB", ours / 1e9, ours / statistics.mean(plain), images.nbytes / 1e6)
    tell("stop=bench")
    begin()
    with feed(device=DEVICE) as fed:
        for pause_s, when in ((0.02, "one at a time"), (0, "while the feeder reads as fast as it can")):
            before = fed.stats()["feeder"]
            for epoch in range(EPOCHS // 2):
                for _ in fed:
                    time.sleep(pause_s)
            figures = fed.stats()["feeder"]
            plain = plain_copy(images.nbytes)
            ours = (figures["copied_bytes"] - before["copied_bytes"]) / (figures["copy_ns"] - before["copy_ns"]) * 1e9
            say("device ring: %.1f GB/s to the device, %.3f of a plain pinned copy, %s", ours / 1e9, ours / plain, when)
    tell("stop=bench")


def compare(work, title, normalise=False, digest=False):
    rates, digests = {}, {}
    begin()
    rates["loader"], digests["loader"] = run(title + "DataLoader, %d workers, pinned" % workers, loader(), work, normalise, digest)
    tell("stop=bench")
    begin()
    with feed() as fed:
        batches = fed.loader(device=DEVICE)
        rates["host"], digests["host"] = run(title + "feeder, ring on the host", (batches for _ in range(EPOCHS)), work, normalise, digest, fed)
    tell("stop=bench")
    begin()
    with feed(device=DEVICE) as fed:
        batches = fed.loader()
        rates["device"], digests["device"] = run(title + "feeder, ring on the device", (batches for _ in range(EPOCHS)), work, normalise, digest, fed)
    tell("stop=bench")
    say("%shost ring %.2f, device ring %.2f times the DataLoader", title, rates["host"] / rates["loader"], rates["device"] / rates["loader"])
    if digest:
        say("the same values on the device by both rings: %s; by the DataLoader: %s", digests["host"] == digests["device"], digests["loader"] == digests["host"])
    return rates


def kernels(work):
    """Normalising in the script against the feeder's kernels, with a script that keeps the GPU busy for all of the time."""
    begin()
    with feed(device=DEVICE) as fed:
        batches = fed.loader()
        rate, _ = run("normalised by the script", (batches for _ in range(EPOCHS)), work, normalise=True, fed=fed)
    tell("stop=bench")
    begin()
    with feed(device=DEVICE, on_device=ON_DEVICE) as fed:
        batches = fed.loader()
        by_kernel, _ = run("normalised by the feeder's kernel", (batches for _ in range(EPOCHS)), work, fed=fed)
    tell("stop=bench")
    say("by the kernel %.3f times as many as by the script", by_kernel / rate)


work = Work()
copy_rates()
rates = compare(work, "", digest=True)
slower_s = 1.5 * BATCH / min(rates["host"], rates["device"])
for step_s in (slower_s, 0.05) if slower_s < 0.03 else (slower_s,):
    work.calibrate(step_s)
    compare(work, "step of %.1f ms: " % (1e3 * step_s))
work.calibrate(0.005)
if what == "bytes":
    kernels(work)
    work.products = 0
    kernels(work)
