"""Imports modules while a look at the directory of clairfs' own fails: dead_modules.py DIRECTORY WAY

WAY: "run" under `clairfs run`, else the module that the script imports from the directory, or its file, which the script loads before the directory
is in sys.path.
"""

import errno
import importlib.util
import posix
import sys

modules, way = sys.argv[1:]
if way == "run":
    import torch

    assert "clairfs_follow" in sys.modules
elif way.endswith(".py"):
    spec = importlib.util.spec_from_file_location(way[:-3], modules + "/" + way)
    spec.loader.exec_module(importlib.util.module_from_spec(spec))
    assert modules not in sys.path
    sys.path.insert(0, modules)
else:
    sys.path.insert(0, modules)
    importlib.import_module(way)

looked = []


def dead(own):
    """A call of the system as it ends when the mount's process is dead."""

    def call(path=".", *arguments, **further):
        if str(path).startswith(modules):
            looked.append(path)
            raise OSError(errno.ENOTCONN, "Transport endpoint is not connected", path)
        return own(path, *arguments, **further)

    return call


posix.stat, posix.listdir = dead(posix.stat), dead(posix.listdir)  # those that the import system calls
sys.modules.pop("colorsys", None)
import colorsys

for absent in ("no_module_of_this_name", "clairfs_none"):
    assert not looked, looked
    try:
        importlib.import_module(absent)
        raise AssertionError(absent)
    except ModuleNotFoundError:
        pass
assert looked, "no module of ours was looked for"
print("done")
