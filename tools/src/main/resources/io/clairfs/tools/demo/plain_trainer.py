"""The training loop for machines without PyTorch: the same work in Python alone, samples in the order of their index.

Reader processes bring whole batches, two ahead for each process, as PyTorch's do. One JSON line per batch and per epoch
goes to standard output.
"""
import argparse
import collections
import concurrent.futures
import json
import os
import time
import zlib


def read_batch(paths):
    contents = []
    for path in paths:
        with open(path, "rb") as file:
            content = file.read()
        contents.append((len(content), zlib.crc32(content)))
    return contents


def report(event, **values):
    print(json.dumps({"event": event, **values}), flush=True)


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


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("root")
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--seed", type=int, default=42, help="not used: the order is sequential")
    parser.add_argument("--compute-ms", type=float, default=64)
    parser.add_argument("--no-seed", action="store_true", help="tell clairfs nothing")
    args = parser.parse_args()

    # All that clairfs needs to know. The rest of this script is the same with and without it.
    control = os.path.join(args.root, ".clairfs", "job")
    if os.path.exists(control) and not args.no_seed:
        with open(control, "w") as job:
            job.write(f"sampler=sequential epochs={args.epochs} batch={args.batch} workers={args.workers}\n")

    paths = sample_paths(args.root)
    batches = [paths[i : i + args.batch] for i in range(0, len(paths), args.batch)]

    with concurrent.futures.ProcessPoolExecutor(args.workers) as readers:
        for epoch in range(args.epochs):
            waited = 0.0
            samples = size = checksum = 0
            start = asked = time.perf_counter()
            for batch, contents in enumerate(batches_ahead(readers, batches, 2 * args.workers)):
                waited += time.perf_counter() - asked

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
