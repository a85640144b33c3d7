"""A reader that knows of no restart: unaware_reader.py MOUNT SOURCE SEED STOP

Reads samples in random order, lists directories, looks for names that are not there, and has the kernel forget pages, until the file STOP exists. Compares all with the
source. Prints, as JSON, how many reads there were and the longest in seconds. What fails, or differs, ends it with an error.
"""
import json
import os
import random
import sys
import time

mount, source, seed, stop = sys.argv[1:]
names = sorted(
    os.path.relpath(os.path.join(directory, name), source)
    for directory, _, files in os.walk(source)
    for name in files
)
content = {name: open(f"{source}/{name}", "rb").read() for name in names}
rng = random.Random(int(seed))
reads, longest = 0, 0.0
while not os.path.exists(stop):
    name = rng.choice(names)
    begun = time.monotonic()
    with open(f"{mount}/{name}", "rb", buffering=0) as file:
        if rng.random() < 0.05:
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        got = b""
        while piece := file.read(1 << 16):
            got += piece
        assert got == content[name], f"{name}: {len(got)} bytes, and not the source's"
    directory = os.path.dirname(name)
    if rng.random() < 0.1:
        assert sorted(os.listdir(f"{mount}/{directory}")) == sorted(os.listdir(f"{source}/{directory}")), directory
    assert not os.path.exists(f"{mount}/{directory}/absent{reads}")
    longest = max(longest, time.monotonic() - begun)
    reads += 1
    time.sleep(0.002)
json.dump({"reads": reads, "longest": longest}, sys.stdout)
