"""A PyTorch training loop with two stand-ins: a pause stands for the GPU's step, and samples are read but not decoded, unless --size says so.

With --plain it needs no PyTorch: the same work in Python alone, samples in the order of their index. One JSON line per batch and per epoch goes to
standard output.
"""
import argparse
import collections
import concurrent.futures
import contextlib
import functools
import json
import os
import sys
import time
import zlib


def read_bytes(path):
    with open(path, "rb") as file:
        content = file.read()
    return len(content), zlib.crc32(content)


def decode(size, path):
    import numpy
    from PIL import Image

    with Image.open(path) as image:
        return numpy.array(image.convert("RGB").resize((size, size), Image.BILINEAR))


def contents_of_pixels(images):
    """The size and the checksum of each image of a batch."""
    import numpy

    return [(image.nbytes, zlib.crc32(image)) for image in numpy.asarray(images)]


def contents_of_files(samples):
    return [content for content, _ in samples]


def report(event, **values):
    print(json.dumps({"event": event, **values}), flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("root")
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--seed", type=int, default=42)
    parser.add_argument("--compute-ms", type=float, default=64)
    parser.add_argument("--no-seed", action="store_true", help="tell clairfs nothing")
    parser.add_argument("--plain", action="store_true", help="without PyTorch, and without its shuffle")
    parser.add_argument("--size", type=int, help="decode the images, to so many pixels in each direction")
    parser.add_argument("--feed", help="take batches from clairfs' feeder, which is this command, as a list in JSON; with --size")
    args = parser.parse_args()

    # All that clairfs needs to know, said as early as possible: it reads ahead while PyTorch is still being loaded. The
    # rest of this script is the same with and without clairfs.
    control = os.path.join(args.root, ".clairfs", "job")
    if os.path.exists(control) and not args.no_seed:
        order = "sampler=sequential" if args.plain else f"seed={args.seed}"
        with open(control, "w") as job:
            job.write(f"{order} epochs={args.epochs} batch={args.batch} workers={args.workers}\n")

    with contextlib.ExitStack() as stack:
        if args.plain:
            train(args, in_index_order(args, stack), list)
        elif args.feed:
            train(args, fed(args, stack), contents_of_pixels)
        elif args.size:
            train(args, loaded(args, functools.partial(decode, args.size), None), contents_of_pixels)
        else:
            # Without pixels there is nothing to stack.
            train(args, loaded(args, read_bytes, list), contents_of_files)


def without_labels(batches):
    for images, *_ in batches:
        yield images


def loaded(args, loader, collate):
    """Gives the batches of an epoch, by PyTorch's DataLoader."""
    from torch.utils.data import DataLoader, DistributedSampler
    from torchvision.datasets import ImageFolder

    dataset = ImageFolder(args.root, loader=loader)
    sampler = DistributedSampler(dataset, num_replicas=1, rank=0, seed=args.seed)
    batches = DataLoader(
        dataset,
        batch_size=args.batch,
        sampler=sampler,
        num_workers=args.workers,
        persistent_workers=True,
        collate_fn=collate,
    )

    def of_epoch(epoch):
        sampler.set_epoch(epoch)
        return batches if collate else without_labels(batches)

    return of_epoch


def in_index_order(args, stack):
    """The same, by processes that bring whole batches, two ahead for each process, as PyTorch's do."""
    paths = sample_paths(args.root)
    batches = [paths[i : i + args.batch] for i in range(0, len(paths), args.batch)]
    readers = stack.enter_context(concurrent.futures.ProcessPoolExecutor(args.workers))
    return lambda epoch: batches_ahead(readers, batches, 2 * args.workers)


def sample_paths(root):
    """Every file in a class directory, as torchvision numbers them."""
    paths = []
    for directory in sorted(os.listdir(root)):
        files = sorted(os.listdir(os.path.join(root, directory)))
        paths += [os.path.join(root, directory, file) for file in files]
    return paths


def batches_ahead(readers, batches, ahead):
    """The batches in order, with at most so many of them asked for and not yet used."""
    pending = collections.deque()
    for batch in batches:
        pending.append(readers.submit(read_batch, batch))
        if len(pending) > ahead:
            yield pending.popleft().result()
    while pending:
        yield pending.popleft().result()


def read_batch(paths):
    return [read_bytes(path) for path in paths]


def fed(args, stack):
    """The same, by clairfs' feeder, which starts with the first epoch as the workers of a DataLoader do."""
    sys.path.insert(0, os.path.join(args.root, ".clairfs", "python"))
    from clairfs_feed import Feed

    spec = f"image,size={args.size},crop=none,layout=nhwc"
    feeds = []

    def of_epoch(epoch):
        if not feeds:
            feeds.append(stack.enter_context(Feed(args.root, batch=args.batch, decode=spec, command=json.loads(args.feed))))
        return without_labels(feeds[0])

    return of_epoch


def train(args, batches_of, contents_of):
    for epoch in range(args.epochs):
        waited = 0.0
        samples = size = checksum = 0
        start = asked = time.perf_counter()
        for batch, data in enumerate(batches_of(epoch)):
            waited += time.perf_counter() - asked

            contents = contents_of(data)
            samples += len(contents)
            size += sum(length for length, _ in contents)
            checksum += sum(crc for _, crc in contents)
            report("batch", epoch=epoch + 1, batch=batch + 1)
            time.sleep(args.compute_ms / 1000)

            asked = time.perf_counter()
        seconds = time.perf_counter() - start
        report(
            "epoch",
            epoch=epoch + 1,
            seconds=seconds,
            wait_seconds=waited,
            samples=samples,
            bytes=size,
            checksum=checksum,
        )


if __name__ == "__main__":
    main()
