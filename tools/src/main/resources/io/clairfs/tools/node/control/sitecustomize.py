"""Python runs this at its start under `clairfs run`, which puts this directory first on PYTHONPATH.

Without CLAIRFS_JOB and CLAIRFS_MOUNT it only passes on to the next sitecustomize of the path. With them, torch's DistributedSampler gives the order
of that job, for datasets below CLAIRFS_MOUNT; where the user has written no such job, it is written for the training's DataLoader. torch is not
imported here: sampler and loader are changed when the script imports them. And open() asks less of files there (clairfs_open).
"""

import os
import sys
import types
from importlib.machinery import SourceFileLoader

_HERE = os.path.dirname(os.path.abspath(__file__))
_RUN = vars(sys).setdefault("_clairfs_run", set())  # directories whose sitecustomize has run: copies of this file run in one after the other


def _ours(name):
    """A module of this directory, by its path: that of another mount may be found before."""
    module = types.ModuleType(name)
    SourceFileLoader(name, os.path.join(_HERE, name + ".py")).exec_module(module)
    return module


def _find_only_ours_here():
    try:
        _ours("clairfs_finder").find_only_ours(_HERE)
    except Exception:
        pass  # this file was copied without that one, or the mount's process has just died


def _spare_questions():
    try:
        _ours("clairfs_open").spare(os.environ["CLAIRFS_MOUNT"])
    except Exception:
        pass  # as above; files are opened all the same


def _find_ours():
    if _HERE not in sys.path:
        sys.path.append(_HERE)


def _order_of(sampler):
    _find_ours()
    import clairfs_torch

    return clairfs_torch.order_of(sampler)


def _change_sampler(module):
    sampler = module.DistributedSampler
    own_iter, own_len = sampler.__iter__, sampler.__len__

    def __iter__(self):
        order = _order_of(self)
        return own_iter(self) if order is None else iter(order.of(self.epoch))

    def __len__(self):
        order = _order_of(self) if type(self).__iter__ is __iter__ else None  # a class with an order of its own has its length, too
        return own_len(self) if order is None else order.length(self.epoch)

    sampler.__iter__, sampler.__len__ = __iter__, __len__


def _import_followers(module):
    """Imports what a loader's first pass needs when torch has been imported: at that pass the mount's process may be dead."""
    try:
        _find_ours()
        import clairfs_follow
    except Exception:
        pass  # the first pass tries again, and says why


def _say_not_followed(reason):
    try:
        print("clairfs: no job follows the DataLoaders:", reason, file=sys.stderr)
    except (OSError, ValueError):  # stderr is closed, or on a full disk
        pass


def _followed(kind, own_iter):
    """The pass that tells of itself, for who calls it in a pass of its own; None where it cannot be made."""
    try:
        _find_ours()
        import clairfs_follow

        return clairfs_follow.telling(own_iter)
    except Exception as e:
        _say_not_followed(e)
        return None


def _change_loader(kind):
    """Has the first pass of a loader import what follows them: this module is too early for it."""
    own_iter = kind.__iter__

    def __iter__(self):
        if kind.__iter__ is not __iter__:  # the training's own has been put around it since
            return (_followed(kind, own_iter) or own_iter)(self)
        kind.__iter__ = own_iter
        try:
            _find_ours()
            import clairfs_follow

            clairfs_follow.install(kind)
        except Exception as e:
            _say_not_followed(e)
        return kind.__iter__(self)

    __iter__._own_iter = own_iter
    kind.__iter__ = __iter__


_CHANGES = {
    "torch.utils.data.distributed": _change_sampler,
    "torch.utils.data.dataloader": lambda module: _change_loader(module.DataLoader),
    "torchdata.stateful_dataloader.stateful_dataloader": lambda module: _change_loader(module.StatefulDataLoader),
    "torch": _import_followers,
}


class _Finder:
    """Finds the modules above as the other finders do, and has each changed when it has been executed."""

    def find_spec(self, name, path=None, target=None):
        if name not in _CHANGES:
            return None
        others = [finder for finder in sys.meta_path if finder is not self and hasattr(finder, "find_spec")]
        found = (finder.find_spec(name, path, target) for finder in others)
        spec = next((spec for spec in found if spec is not None), None)
        if spec is None or spec.loader is None:  # the second: a directory of that name
            return None
        loader = spec.loader
        execute = loader.exec_module

        def exec_module(module):
            vars(loader).pop("exec_module", None)
            execute(module)
            change = _CHANGES.pop(name, None)  # not before: a script may only look whether there is a torch
            if change is not None:
                change(module)

        loader.exec_module = exec_module
        return spec


def _pass_on():
    """Runs the sitecustomize that Python would have found without this directory. One that it would have found before has run, and called this one. So has
    any other of these files: two copies would run each other without end."""
    from importlib.machinery import PathFinder

    _RUN.add(_HERE)
    entries = [os.path.abspath(each) for each in sys.path]
    begin = entries.index(_HERE) + 1 if _HERE in entries else 0
    spec = PathFinder.find_spec("sitecustomize", [each for each in entries[begin:] if each not in _RUN])
    if spec is not None and spec.loader is not None:
        from importlib.util import module_from_spec

        if spec.origin is not None:
            place = os.path.dirname(os.path.abspath(spec.origin))
            is_package = spec.submodule_search_locations is not None
            _RUN.add(os.path.dirname(place) if is_package else place)
        if not hasattr(spec.loader, "exec_module"):  # of a zip file, before Python 3.10
            spec.loader.load_module("sitecustomize")
            return
        module = module_from_spec(spec)
        sys.modules["sitecustomize"] = module
        spec.loader.exec_module(module)


if not _RUN and os.environ.get("CLAIRFS_JOB") and os.environ.get("CLAIRFS_MOUNT"):
    for _name in [name for name in _CHANGES if name in sys.modules]:
        _CHANGES.pop(_name)(sys.modules[_name])
    sys.meta_path.insert(0, _Finder())
    _spare_questions()
_find_only_ours_here()
_pass_on()
