"""What the sampler of a loader says: the keys of a job, or why no job has its order.

`of_sampler` looks at the samplers of torch, `_distributed` and `_accelerate` at those that deal an order to ranks, `_stateful` at torchdata's.
"""

import torch
from torch.utils.data import RandomSampler, SequentialSampler
from torch.utils.data.distributed import DistributedSampler

import clairfs_torch
from clairfs_generator import Unpredicted, words_before
from clairfs_moment import Reading

ORDER_FILE = "write its indices to a file for each epoch, with sampler=order-file"


def iterates_as(thing, kind, *further):
    """Whether a sampler gives the order of a class of torch: it has its __iter__, or the name of a class known to give the same."""
    return isinstance(thing, kind) and (type(thing).__iter__ is kind.__iter__ or type(thing).__name__ in further)


def of_sampler(loader, keys, sampler, shard):
    name = type(sampler).__name__
    shuffled = not isinstance(sampler, SequentialSampler)
    if isinstance(sampler, DistributedSampler) and shard is None:
        return _distributed(loader, keys, sampler)
    if name == "SeedableRandomSampler" or (shard is not None and not shuffled):
        return _accelerate(loader, keys, sampler, shard, shuffled)
    if shard is not None:
        raise Unpredicted("accelerate shares one generator between the processes; use its default, use_seedable_sampler=True")
    world = clairfs_torch._world() or 1
    if world > 1:
        raise Unpredicted("its %s has no ranks, and the training has %d processes; give it a DistributedSampler" % (name, world))
    if iterates_as(sampler, SequentialSampler):
        keys.pop("torch", None)
        return Reading(loader, dict(keys, sampler="sequential"), shuffled=False)
    if not isinstance(sampler, RandomSampler):
        raise Unpredicted("its order comes from a %s; %s" % (name, ORDER_FILE))
    if sampler.replacement:
        keys["replacement"] = "true"
    if sampler.num_samples != len(loader.dataset):
        keys["num_samples"] = sampler.num_samples
    if type(loader).__name__ == "StatefulDataLoader":
        return _stateful(loader, keys, sampler)
    if not iterates_as(sampler, RandomSampler):
        raise Unpredicted("its order comes from a %s; %s" % (name, ORDER_FILE))
    generator, of_loader = sampler.generator, getattr(loader, "generator", None)
    if generator is None and of_loader is not None:
        raise Unpredicted("its generator is not that of its sampler; give it to RandomSampler(dataset, generator=g)")
    holder = "nobody" if generator is None else "loader" if of_loader is generator else "sampler"
    return Reading(loader, keys, generator=_on_cpu(generator), holder=holder)


def _on_cpu(generator):
    if generator is None:
        return torch.default_generator
    if generator.device.type != "cpu":
        raise Unpredicted("its generator is on %s; give it a generator on the CPU" % generator.device)
    return generator


def _distributed(loader, keys, sampler):
    if type(sampler).__name__ in ("DistributedSamplerWrapper", "UnrepeatedDistributedSamplerWrapper"):  # Lightning, catalyst
        inner = getattr(sampler.dataset, "_sampler", getattr(sampler.dataset, "sampler", None))
        if not iterates_as(inner, SequentialSampler):
            raise Unpredicted("it shuffles the order of a %s again; %s" % (type(inner).__name__, ORDER_FILE))
    elif not iterates_as(sampler, DistributedSampler, "UnrepeatedDistributedSampler", "StatefulDistributedSampler"):
        raise Unpredicted("its order comes from a %s; %s" % (type(sampler).__name__, ORDER_FILE))
    drop_last_batch = keys.pop("drop_last", None)
    keys.update(sampler="torch-distributed", seed=sampler.seed, world=sampler.num_replicas)
    if drop_last_batch:
        keys["drop_last_batch"] = "true"
    if sampler.drop_last:
        keys["drop_last"] = "true"
    elif sampler.total_size == len(loader.dataset) and sampler.total_size % sampler.num_replicas:
        keys["even_divisible"] = "false"  # MONAI's, Lightning's for predictions
    if not sampler.shuffle:
        keys["shuffle"] = "false"
    if getattr(sampler, "next_yielded", None):
        keys["skip_samples"] = sampler.next_yielded
    clock = sampler if sampler.shuffle else None
    return Reading(loader, keys, sampler.num_replicas, sampler.rank, sampler.shuffle, clock)


def _accelerate(loader, keys, sampler, shard, shuffled):
    if shuffled and (sampler.replacement or sampler.num_samples != len(loader.dataset)):
        raise Unpredicted("its sampler draws with replacement or another number of samples; %s" % ORDER_FILE)
    world, rank = (shard.num_processes, shard.process_index) if shard else (1, 0)
    keys.update(sampler="accelerate", seed=sampler.initial_seed if shuffled else 0, world=world)
    if shard and shard.split_batches:
        keys["split_batches"] = "true"
    if shard and not shard.even_batches:
        keys["even_batches"] = "false"
    if not shuffled:
        keys["shuffle"] = "false"
    return Reading(loader, keys, world, rank, shuffled, sampler if shuffled else None)


def _stateful(loader, keys, sampler):
    """torchdata's loader. Its sampler has a generator of its own, which the default generator seeded unless the user gave one."""
    g = _on_cpu(sampler.generator)
    seed = g.initial_seed()
    if sampler.generator is None or not torch.equal(torch.Generator().manual_seed(seed).get_state(), g.get_state()):
        raise Unpredicted("its generator was used before; call follow before the first epoch")
    keys["sampler"] = "torchdata-stateful"
    if loader.generator is g:
        return Reading(loader, dict(keys, seeded="generator", seed=seed))
    first = torch.initial_seed()
    before = words_before(first, seed)
    if before is None:
        raise Unpredicted("its generator was not seeded after torch.manual_seed; give it generator=g")
    return Reading(loader, dict(keys, seed=first, **({"draws_before": before} if before else {})))
