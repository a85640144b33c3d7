"""Runs the listing of docs/ORDERS.md for random worlds, and prints for each order: a spec, a tab, length and SHA-256.

Usage: partial_local.py ORDERS.md SEED
"""
import hashlib
import itertools
import random
import sys

text = open(sys.argv[1], encoding="utf-8").read()
section = text[text.index("## Partial local shuffling"):]
lines = section[section.index("    import numpy as np"):].splitlines()
listing = itertools.takewhile(lambda line: not line or line.startswith("    "), lines)
names = {}
exec("\n".join(line[4:] for line in listing), names)
rnd = random.Random(int(sys.argv[2]))

for _ in range(200):
    per_node = rnd.randint(1, 4)
    world = per_node * rnd.randint(1, 9)
    samples = world + rnd.choice([0, 1, rnd.randint(0, 300), rnd.randint(0, 5000)])
    exchange = rnd.choice(["0", "1", "0.5", f"0.{rnd.randrange(1000):03d}"])
    seed = rnd.choice([0, 42, rnd.getrandbits(32), rnd.getrandbits(100)])
    epochs = names["partial_local"](samples, world, seed, float(exchange), per_node)
    for epoch, order in enumerate(itertools.islice(epochs, rnd.randint(1, 5))):
        rank = rnd.randrange(world)
        data = order[rank].astype("<i8").tobytes()
        print(f"sampler=partial-local samples={samples} world={world} per_node={per_node} exchange={exchange} seed={seed}"
              f" epoch={epoch} rank={rank}\t{len(data) // 8} {hashlib.sha256(data).hexdigest()}")
