"""The reference of sampler=locality-aware, as docs/ORDERS.md prints it, and what it makes for tests.

Usage: locality_aware.py cases SEED COUNT DIRECTORY   random orders of ranks, written to files, and for each a spec, a tab, length and SHA-256
       locality_aware.py golden                       the vectors of resources/golden/locality_aware.json; needs torch
"""
import hashlib
import json
import math
import random
import struct
import sys

# docs/ORDERS.md from here
KEYS = 0x243F6A8885A308D3, 0x13198A2E03707344, 0xA4093822299F31D0, 0x082EFA98EC4E6C89  # digits of pi


def mixed(word):  # 24 bits of 64, by the multipliers of MurmurHash3
    word = word * 0xFF51AFD7ED558CCD % 2**64
    word = (word ^ word >> 32) * 0xC4CEB9FE1A85EC53 % 2**64
    return word >> 40


def permuted(place, size):  # a fixed permutation of range(size)
    bits = max(2, (size - 1).bit_length())
    low_bits = bits // 2
    while True:
        high, low = place >> low_bits, place % 2**low_bits
        for i in 0, 2:
            high ^= mixed((low + KEYS[i]) % 2**64) % 2 ** (bits - low_bits)
            low ^= mixed((high + KEYS[i + 1]) % 2**64) % 2**low_bits
        place = high << low_bits | low
        if place < size:
            return place


def owner(sample, samples, nodes, cached):  # a node, or None
    place = permuted(sample, samples)
    node = place * nodes // samples
    begin, end = (-(-n * samples // nodes) for n in (node, node + 1))
    return node if place - begin < math.ceil(cached * (end - begin)) else None


def locality_aware(base, samples, batch, per_node=1, cached=1.0):
    """What each rank reads, from what each rank reads in the base order; both are lists of lists."""
    ranks, nodes = range(len(base)), range(len(base) // per_node)
    if len(nodes) == 1:
        return base
    dealt = [[] for _ in ranks]
    for first in range(0, max(map(len, base)), batch):
        local = [order[first : first + batch] for order in base]
        held, unowned = [[] for _ in nodes], []
        for i in range(max(map(len, local))):
            for rank in ranks:
                if i < len(local[rank]):
                    node = owner(local[rank][i], samples, len(nodes), cached)
                    (unowned if node is None else held[node]).append(local[rank][i])
        missing = lambda n: sum(map(len, local[n * per_node : (n + 1) * per_node])) - len(held[n])
        for sample in unowned:
            held[max(nodes, key=missing)].append(sample)  # the first of the largest
        while min(map(missing, nodes)) < 0:  # Algorithm 1
            giver, taker = min(nodes, key=missing), max(nodes, key=missing)
            kept = len(held[giver]) - min(-missing(giver), missing(taker))
            held[taker] += held[giver][kept:]
            del held[giver][kept:]
        for rank in ranks:
            node, place = divmod(rank, per_node)
            mine = local[node * per_node : (node + 1) * per_node]
            turns = [r for i in range(max(map(len, local))) for r in range(per_node) if i < len(mine[r])]
            dealt[rank] += [sample for sample, turn in zip(held[node], turns) if turn == place]
    return dealt
# to here


def order(indices):
    data = struct.pack(f"<{len(indices)}q", *indices)
    ends = {"full": indices} if len(indices) <= 32 else {"first8": indices[:8], "last8": indices[-8:]}
    return {"len": len(indices), "sha256_le_i64": hashlib.sha256(data).hexdigest(), **ends}


def cases(seed, count, directory):
    rnd = random.Random(seed)
    for case in range(count):
        per_node = rnd.choice([1, 1, 2, 4])
        world = per_node * rnd.choice([1, 2, 3, rnd.randint(1, 12)])
        samples = rnd.choice([1, 2, rnd.randint(1, 20), rnd.randint(1, 2000)])
        batch = rnd.choice([1, 2, rnd.randint(1, 40), 10**9])
        cached = rnd.choice([1.0, 1.0, 0.8, 0.001, rnd.randint(1, 1000) / 1000])
        longest = rnd.choice([rnd.randint(0, 3), rnd.randint(1, 100), rnd.randint(1, 100)])
        shorter = rnd.choice([0, 0, 1, longest])
        base = [[rnd.randrange(samples) for _ in range(max(0, longest - rnd.randint(0, shorter)))] for _ in range(world)]
        for rank, indices in enumerate(base):
            with open(f"{directory}/{case}.{rank}", "wb") as file:
                file.write(struct.pack(f"<{len(indices)}q", *indices))
        dealt = locality_aware(base, samples, batch, per_node, cached)
        for rank in {0, world - 1, rnd.randrange(world)}:
            made = order(dealt[rank])
            print(
                f"sampler=locality-aware base=order-file file={directory}/{case}.{{rank}} samples={samples} world={world}"
                f" rank={rank} batch={batch} per_node={per_node} cached={cached}\t{made['len']} {made['sha256_le_i64']}"
            )


def golden():
    import torch
    from torch.utils.data import DistributedSampler

    made = []
    for samples, world, batch, per_node, cached, seed, epoch, more in [
        (40, 4, 5, 1, 1.0, 0, 0, {}),
        (40, 4, 5, 2, 1.0, 0, 1, {}),
        (41, 4, 4, 1, 1.0, 7, 2, {}),
        (41, 4, 4, 1, 1.0, 7, 2, {"drop_last": True}),
        (41, 4, 4, 1, 0.5, 7, 2, {"shuffle": False}),
        (5, 8, 2, 2, 1.0, 3, 0, {}),
        (64, 1, 8, 1, 1.0, 3, 0, {}),
        (64, 4, 8, 4, 0.5, 3, 0, {}),
        (2000, 16, 32, 4, 0.8, 42, 3, {}),
        (10007, 12, 32, 3, 1.0, -5, 89, {}),
        (20000, 64, 16, 1, 0.001, 1, 5, {}),
        (100003, 32, 128, 8, 1.0, 42, 1, {}),
    ]:
        base = []
        for rank in range(world):
            sampler = DistributedSampler(range(samples), world, rank, seed=seed, **more)
            sampler.set_epoch(epoch)
            base.append(list(sampler))
        spec = f"sampler=locality-aware samples={samples} world={world} batch={batch} per_node={per_node} cached={cached}"
        spec += f" seed={seed} epoch={epoch}" + "".join(f" {key}={value}" for key, value in more.items())
        dealt = locality_aware(base, samples, batch, per_node, cached)
        made.append({"spec": spec, "ranks": {rank: order(dealt[rank]) for rank in sorted({0, 1 % world, world - 1})}})
    owners = []
    for samples, nodes, cached in [(1, 1, 1.0), (10, 3, 1.0), (100, 7, 0.8), (5, 8, 1.0), (1281167, 16, 0.6), (2147483639, 1024, 0.5)]:
        some = [i * (samples - 1) // 9 for i in range(10)]
        of = [-1 if (node := owner(s, samples, nodes, cached)) is None else node for s in some]
        owners.append({"samples": samples, "nodes": nodes, "cached": cached, "of": some, "owner": of})
    source = {"library": "differential/locality_aware.py over torch's DistributedSampler", "version": torch.__version__}
    encoding = "order objects: len, sha256_le_i64 = SHA-256 over the sequence as little-endian signed 64-bit, and either full[] or first8[]/last8[]."
    print(json.dumps({"source": source, "encoding": encoding, "cases": made, "owners": owners}, separators=(",", ":")))


if sys.argv[1] == "cases":
    cases(int(sys.argv[2]), int(sys.argv[3]), sys.argv[4])
else:
    golden()
