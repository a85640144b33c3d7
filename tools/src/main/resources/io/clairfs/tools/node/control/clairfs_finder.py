"""Keeps imports of others' modules off the mount. Each module that a training loads first runs this file by its path, before it imports what is not
clairfs' own."""

import os
import sys
from importlib.machinery import SOURCE_SUFFIXES, FileFinder, SourceFileLoader


class OwnFinder(FileFinder):
    """Looks in its directory for clairfs' own modules alone. The directory is on a mount: a look at it fails while the mount's process is dead, and
    waits while it hangs.

    sitecustomize is left out: Python has found it before, and that of another directory looks for the next one, not for this one again."""

    def find_spec(self, name, target=None):
        try:
            return super().find_spec(name, target) if name.startswith("clairfs_") else None
        except OSError:
            return None


def find_only_ours(directory):
    """Has imports look for our own modules alone in this directory of a mount, whether it is in sys.path already or comes there later."""
    if directory.endswith("/.clairfs/python"):  # the files may have been copied to a directory with other modules
        for entry in [directory] + [each for each in sys.path if isinstance(each, str) and os.path.abspath(each) == directory]:
            sys.path_importer_cache[entry] = OwnFinder(directory, (SourceFileLoader, SOURCE_SUFFIXES))
