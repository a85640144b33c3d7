"""open() without a question that Python before 3.14 asks of each file: whether it is a terminal.

The kernel passes that on to the mount's process, also for a sample that is staged, and no filesystem can keep it from doing so. Who says how large a
buffer is wanted is spared it.
"""

import builtins
import io
import os
import sys

_BUFFER = 128 * 1024  # as large as Python's own choice: the block size of the mount's files


class _Open:
    """open() as it was, but for files below a directory. No function, so that a class that has it as an attribute does not make it a method."""

    def __init__(self, own, directory):
        self.__wrapped__, self.__doc__ = own, own.__doc__
        self.__name__ = self.__qualname__ = "open"
        self.__module__ = "io"
        self._below = os.path.join(directory, "")

    def __call__(self, file, mode="r", buffering=-1, *more, **named):
        if buffering == -1 and isinstance(file, (str, os.PathLike)) and str(file).startswith(self._below):
            buffering = _BUFFER
        return self.__wrapped__(file, mode, buffering, *more, **named)

    def __reduce__(self):
        return "open"


def spare(directory):
    """Spares files below a directory that question, if this Python asks it."""
    if sys.version_info < (3, 14):
        same = builtins.open is io.open
        io.open = _Open(io.open, directory)
        builtins.open = io.open if same else _Open(builtins.open, directory)
