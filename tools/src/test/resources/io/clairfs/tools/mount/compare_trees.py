"""Compares a mount with its source, entry by entry: compare_trees.py SOURCE MOUNT

Prints one line per difference, and at the end how many entries were the same.
"""
import hashlib
import os
import stat
import sys

source, mount = (os.fsencode(a) for a in sys.argv[1:3])
same = {"file": 0, "directory": 0, "link": 0}


def described(path):
    s = os.lstat(path)
    # A directory's size is the filesystem's own affair.
    size = None if stat.S_ISDIR(s.st_mode) else s.st_size
    text = [oct(s.st_mode), s.st_uid, s.st_gid, size, s.st_mtime_ns]
    if stat.S_ISLNK(s.st_mode):
        text.append(os.readlink(path))
    elif stat.S_ISREG(s.st_mode):
        with open(path, "rb") as file:
            text.append(hashlib.sha256(file.read()).hexdigest())
    return text


def shown(directory):
    names = os.listdir(directory)
    return [n for n in names if (directory, n) not in {(source, b".clairfs"), (source, b"pipe")}]


def compare(below):
    here, there = os.path.join(source, below), os.path.join(mount, below)
    names = shown(here.rstrip(b"/"))
    if sorted(names) != os.listdir(there):
        print("listing of", below, "differs:", sorted(names), os.listdir(there))
    for name in names:
        path = os.path.join(below, name)
        a, b = described(os.path.join(source, path)), described(os.path.join(mount, path))
        if a != b:
            print("differs:", path, a, b)
            continue
        mode = int(a[0], 8)
        if stat.S_ISDIR(mode):
            same["directory"] += 1
            compare(path)
        else:
            same["link" if stat.S_ISLNK(mode) else "file"] += 1


compare(b"")
print("same:", same["file"], "files,", same["directory"], "directories,", same["link"], "links")
