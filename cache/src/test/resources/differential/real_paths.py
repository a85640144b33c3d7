"""Makes random trees and lists them with the real torchvision, glob and os.walk.

Usage: real_paths.py SEED TREES DIRECTORY. Prints for each tree and rule: the tree's number, the rule, and the paths in
hexadecimal, or "refused"; between them tabs.
"""
import glob
import os
import random
import re
import sys

rnd = random.Random(int(sys.argv[1]))
here = os.fsencode(sys.argv[3])

NAMES = [b"a", b"A", b"b", b"a-", b"a.b", b"a b", b".h", b"_", b"10", b"9", b"09", b"x1", b"x01", b"x10", "\u00e9".encode(),
         "e\u0301".encode(), "\ue000".encode(), "\U0001f600".encode(), b"\xff", b"\xed\xa0\x80", "\u00c4".encode(),
         "\u0663".encode(), "\u1e9e".encode(), "\u03a3".encode(), "\u0130".encode()]
ENDS = [b".jpg", b".JPG", b".png", b".jpeg", b".bmp", b".gif", b".txt", b"", b".heic", b".tiff", b".pgm"]


def name(end):
    return b"".join(rnd.choice(NAMES) for _ in range(rnd.choice([1, 1, 2]))) + (rnd.choice(ENDS) if end else b"")


def make(root):
    os.mkdir(root)
    directories, linked = [root], False
    for _ in range(rnd.randint(1, 9)):
        below = os.path.join(rnd.choice(directories), name(rnd.random() < 0.1))
        if not os.path.lexists(below):
            os.mkdir(below)
            directories.append(below)
    for directory in directories:
        for _ in range(rnd.choice([0, 1, 3, 12])):
            path = os.path.join(directory, name(True))
            if os.path.lexists(path):
                continue
            kind = rnd.random()
            if kind < 0.9:
                open(path, "wb").close()
            elif kind < 0.95:
                os.symlink(rnd.choice([b"nowhere", b"a.jpg", b"../a.png"]), path)
            elif not linked:  # one at most: links in circles are walked forty deep, several of them for ever
                target = rnd.choice(directories)
                if not directory.startswith(target) or rnd.random() < 0.1:
                    os.symlink(os.path.relpath(target, directory), path)
                    linked = True


def torchvision_paths(root):
    from torchvision.datasets import ImageFolder

    try:
        return [path for path, _ in ImageFolder(root).samples]
    except FileNotFoundError:
        return None


def yolo_paths(root):
    ends = {"bmp", "dng", "jpeg", "jpg", "mpo", "png", "tif", "tiff", "webp", "pfm", "heic"}
    found = glob.glob(os.path.join(root, "**", "*.*"), recursive=True)
    return sorted(x for x in found if x.rpartition(".")[-1].lower() in ends and not os.path.isdir(x)) or None


def fail(error):
    raise error


def sorted_paths(root):
    # Without onerror a directory that cannot be listed just now would be left out, and the reference be wrong.
    return sorted(os.path.join(d, f) for d, _, files in os.walk(root, onerror=fail, followlinks=True) for f in files) or None


def timm_paths(root):
    def key(path):
        return [int(part) if i % 2 else part for i, part in enumerate(re.split(r"(\d+)", path.lower()))]

    paths = []
    for directory, subdirectories, files in walk_bottom_up(root):
        paths += [os.path.join(directory, f) for f in files if os.path.splitext(f)[1].lower() in {".png", ".jpg", ".jpeg"}]
    return sorted(paths, key=key) or None


def walk_bottom_up(directory):
    """os.walk(topdown=False, followlinks=True) on a disk that lists names sorted by their bytes."""
    names = sorted(os.listdir(directory), key=os.fsencode)
    below = [n for n in names if os.path.isdir(os.path.join(directory, n))]
    for each in below:
        yield from walk_bottom_up(os.path.join(directory, each))
    yield directory, below, [n for n in names if n not in below]


for number in range(int(sys.argv[2])):
    root = os.path.join(here, str(number).encode())
    make(root)
    text = os.fsdecode(root)
    for rule, list_paths in [("imagefolder", torchvision_paths), ("yolo", yolo_paths), ("sorted", sorted_paths),
                             ("timm", timm_paths)]:
        try:
            paths = list_paths(text)
        except OSError:  # the library itself ends with a traceback, at a link to itself for example
            print(number, rule, "fails", sep="\t")
            continue
        shown = "refused" if paths is None else " ".join(os.fsencode(os.path.relpath(p, text)).hex() for p in paths)
        print(number, rule, shown, sep="\t")
