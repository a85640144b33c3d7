"""States of torch's generators: seeds that are known by them, words that lie between two, and the place of the next word in one."""

import re
import struct

import torch

DRAWS_SEARCHED = 64
VERSION = tuple(int(part) for part in re.match(r"(\d+)\.(\d+)", torch.__version__).groups())


class Unpredicted(Exception):
    """No job line gives the order of this loader. The message says why, and what would change it."""


def words_before(seed, drawn):
    """How many words a generator with this seed gives before it gives `drawn` as a seed of 63 bits; None when it is not near."""
    for odd in (0, 1):
        g = torch.Generator().manual_seed(seed)
        if odd:
            torch.empty((), dtype=torch.int32).random_(generator=g)
        found = (torch.empty(1 << 16, dtype=torch.int64).random_(generator=g) == drawn).nonzero()
        if len(found):
            return 2 * int(found[0]) + odd
    return None


def unread(state, words):
    """The state of a generator before it gave its last words. torch has their place behind its seed: left, seeded, next."""
    content = bytearray(state.numpy().tobytes())
    left, seeded, at = struct.unpack_from("<iiQ", content, 8)
    if at <= words:
        raise Unpredicted("the state of its generator is at the begin of a block")
    struct.pack_into("<iiQ", content, 8, left + words, seeded, at - words)
    return torch.tensor(list(content), dtype=torch.uint8)


def words_between(state, later):
    """How many words lead from a state of a generator to a later one; None when these are many, or it is not on the way."""
    g = torch.Generator()
    g.set_state(state)
    word = torch.empty((), dtype=torch.int32)
    for words in range(DRAWS_SEARCHED + 1):
        if torch.equal(g.get_state(), later):
            return words
        word.random_(generator=g)
    return None


def skipped(state, words):
    g = torch.Generator()
    g.set_state(state)
    torch.empty(words, dtype=torch.int32).random_(generator=g)
    return g.get_state()


def same(moment, other):
    return torch.equal(moment, other) if isinstance(moment, torch.Tensor) and isinstance(other, torch.Tensor) else moment is other or (
        isinstance(moment, int) and isinstance(other, int) and moment == other
    )
