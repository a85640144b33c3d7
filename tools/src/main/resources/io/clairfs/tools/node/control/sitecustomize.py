"""Python runs this at its start under `clairfs run`, which puts this directory first on PYTHONPATH.

Without CLAIRFS_JOB it only passes on to the next sitecustomize of the path. With it, torch's DistributedSampler gives the order of that job,
for datasets below CLAIRFS_MOUNT. torch is not imported here: the sampler is changed when the script imports it.
"""

import os
import sys

_HERE = os.path.dirname(os.path.abspath(__file__))
_SAMPLERS = "torch.utils.data.distributed"


def _order_of(sampler):
    if _HERE not in sys.path:
        sys.path.append(_HERE)
    import clairfs_torch

    return clairfs_torch.order_of(sampler)


def _change(module):
    sampler = module.DistributedSampler
    own_iter, own_len = sampler.__iter__, sampler.__len__

    def __iter__(self):
        order = _order_of(self)
        return own_iter(self) if order is None else iter(order.of(self.epoch))

    def __len__(self):
        order = _order_of(self)
        return own_len(self) if order is None else order.length(self.epoch)

    sampler.__iter__, sampler.__len__ = __iter__, __len__


class _Finder:
    """Finds the module of the sampler as the other finders do, once, and has it changed when it has been executed."""

    def find_spec(self, name, path=None, target=None):
        if name != _SAMPLERS:
            return None
        sys.meta_path.remove(self)
        found = (finder.find_spec(name, path, target) for finder in sys.meta_path if hasattr(finder, "find_spec"))
        spec = next((spec for spec in found if spec is not None), None)
        if spec is None:
            return None
        loader = spec.loader
        execute = loader.exec_module

        def exec_module(module):
            del loader.exec_module
            execute(module)
            _change(module)

        loader.exec_module = exec_module
        return spec


def _pass_on():
    """Runs the sitecustomize that Python would have found without this directory."""
    from importlib.machinery import PathFinder

    spec = PathFinder.find_spec("sitecustomize", [each for each in sys.path if os.path.abspath(each) != _HERE])
    if spec is not None and spec.loader is not None:
        from importlib.util import module_from_spec

        module = module_from_spec(spec)
        sys.modules["sitecustomize"] = module
        spec.loader.exec_module(module)


if os.environ.get("CLAIRFS_JOB"):
    if _SAMPLERS in sys.modules:
        _change(sys.modules[_SAMPLERS])
    else:
        sys.meta_path.insert(0, _Finder())
_pass_on()
