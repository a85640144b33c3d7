import sys

mount, root, script = sys.argv[1:4]
sys.path.insert(0, mount + "/.clairfs/python")

import clairfs_feed
import numpy
from clairfs_feed import Feed, FeedError, SampleError

# A feeder that a busy machine holds up is waited for, not killed: what it would have freed, or said last, would be missing.
clairfs_feed.END_S = clairfs_feed._LAST_WORDS_S = 120.0


def feed(**options):
    options.setdefault("command", sys.argv[4:])
    return Feed(mount, **options)


def check(job, index, label, sample, skipped):
    """A sample is the file that its number means, and its label the class of that."""
    with open("%s/.clairfs/sample/%s/%d" % (mount, job, index)) as named:
        path = named.read()[:-1]
    with open(root + "/" + path, "rb") as original:
        assert sample.tobytes() == original.read()[skipped:], path
    assert ["a", "a-b", "ä"][label] == path.split("/")[1], (path, label)


exec(script)
