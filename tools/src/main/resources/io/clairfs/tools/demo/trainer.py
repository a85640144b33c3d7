"""A PyTorch training loop with two stand-ins: samples are read but not decoded, and a pause stands for the GPU's step.

One JSON line per batch and per epoch goes to standard output.
"""
import argparse
import json
import os
import time
import zlib


def read_bytes(path):
    with open(path, "rb") as file:
        content = file.read()
    return len(content), zlib.crc32(content)


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
    args = parser.parse_args()

    # All that clairfs needs to know, said as early as possible: it reads ahead while PyTorch is still being loaded. The
    # rest of this script is the same with and without clairfs.
    control = os.path.join(args.root, ".clairfs", "job")
    if os.path.exists(control) and not args.no_seed:
        with open(control, "w") as job:
            job.write(f"seed={args.seed} epochs={args.epochs} batch={args.batch} workers={args.workers}\n")

    train(args)


def train(args):
    from torch.utils.data import DataLoader, DistributedSampler
    from torchvision.datasets import ImageFolder

    dataset = ImageFolder(args.root, loader=read_bytes)
    sampler = DistributedSampler(dataset, num_replicas=1, rank=0, seed=args.seed)
    loader = DataLoader(
        dataset,
        batch_size=args.batch,
        sampler=sampler,
        num_workers=args.workers,
        persistent_workers=True,
        collate_fn=list,  # without pixels there is nothing to stack
    )

    for epoch in range(args.epochs):
        sampler.set_epoch(epoch)
        waited = 0.0
        samples = size = checksum = 0
        start = asked = time.perf_counter()
        for batch, contents in enumerate(loader):
            waited += time.perf_counter() - asked

            samples += len(contents)
            size += sum(length for (length, _), _ in contents)
            checksum += sum(crc for (_, crc), _ in contents)
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
