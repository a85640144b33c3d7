"""Reads a DataLoader: `read` says what order its batches have. Nothing of the loader is changed or drawn from."""

from torch.utils.data import BatchSampler, IterableDataset

import clairfs_torch
from clairfs_generator import VERSION, Unpredicted
from clairfs_sampler import ORDER_FILE, iterates_as, of_sampler

LONG_DATASET = 1 << 27


def read(loader):
    """The Reading of a loader, which may be wrapped by accelerate or Lightning. Raises Unpredicted."""
    if type(loader).__name__ == "DataLoaderDispatcher":
        raise Unpredicted("accelerate's DataLoaderDispatcher reads in one process for all; prepare the loader with dispatch_batches=False")
    loader = unwrapped(loader)
    if isinstance(loader.dataset, IterableDataset):
        raise Unpredicted("an IterableDataset chooses itself what it reads; give the loader a dataset with indices")
    if chosen(loader.dataset) is not None:
        raise Unpredicted(
            "its dataset is a part of another one, of samples chosen by their indices (%s); put these files in a directory of their own, or %s"
            % (type(loader.dataset).__name__, ORDER_FILE)
        )
    keys = {}
    sampler, shard = _batches(loader, keys)
    if loader.num_workers > 0:
        keys["workers"] = loader.num_workers
        if loader.prefetch_factor not in (None, 2):
            keys["prefetch_factor"] = loader.prefetch_factor
        if loader.persistent_workers:
            keys["persistent_workers"] = "true"
    if VERSION < (1, 11) or len(loader.dataset) >= LONG_DATASET:
        keys["torch"] = "%d.%d" % VERSION
    of = getattr(sampler, "data_source", getattr(sampler, "dataset", None))
    if hasattr(of, "__len__") and len(of) != len(loader.dataset):
        raise Unpredicted("its sampler is over %d samples and its dataset has %d; %s" % (len(of), len(loader.dataset), ORDER_FILE))
    return of_sampler(loader, keys, sampler, shard)


def unwrapped(loader):
    """The torch DataLoader in accelerate's DataLoaderShard and Lightning Fabric's _FabricDataLoader."""
    for name in ("base_dataloader", "_dataloader"):
        loader = getattr(loader, "__dict__", {}).get(name, loader)
    return loader


def chosen(dataset):
    """The indices that a Subset, or what wraps one, takes from its dataset; None when it takes all in their order."""
    for _ in range(clairfs_torch.WRAPPERS_FOLLOWED):
        indices = getattr(dataset, "indices", None)
        inner = clairfs_torch._inner(dataset)
        if hasattr(indices, "__len__") and inner is not None:
            if len(indices) != len(inner) or any(int(index) != place for place, index in enumerate(indices)):
                return indices
        if inner is None:
            return None
        dataset = inner
    return None


def _batches(loader, keys):
    """Takes the batches of a loader apart. Returns the sampler of single indices, and accelerate's BatchSamplerShard if there is one."""
    batches = loader.batch_sampler
    if batches is None:
        if not isinstance(loader.sampler, BatchSampler):
            keys["batch"] = 1
            return loader.sampler, None
        batches = loader.sampler
    if type(batches).__name__ == "_RepeatSampler":  # timm, ultralytics
        keys["endless"] = "true"
        batches = batches.sampler
    if type(batches).__name__ == "SkipBatchSampler":
        if batches.skip_batches:
            keys["skip_batches"] = batches.skip_batches
        batches = batches.batch_sampler
    shard = None
    if type(batches).__name__ == "BatchSamplerShard":
        if batches.num_processes > 1:
            shard = batches
        batches = batches.batch_sampler
    if not iterates_as(batches, BatchSampler, "BatchSampler"):
        raise Unpredicted("its batches come from a %s; %s" % (type(batches).__name__, ORDER_FILE))
    keys["batch"] = batches.batch_size
    if batches.drop_last:
        keys["drop_last"] = "true"
    return batches.sampler, shard
