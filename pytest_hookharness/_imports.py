"""
How modules are imported under pytest: as they were written.

PYTEST_DONT_REWRITE

pytest rewrites the assertions of every module that belongs to a distribution with a ``pytest11`` entry
point. That is meant for plugins that assert. Our engine does not, and would be parsed, rewritten and
compiled anew in every run that may not write bytecode. The word above, in the docstring of each module,
would save only the rewriting: pytest still parses and compiles the file by itself, past Python's own
cache. A finder that stands before pytest's saves all of it.
"""

import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType


class PlainFinder:
    """
    Finds the submodules of one package as Python does when pytest is not there.

    Attributes:
        package: The package's full name. The package itself is not concerned, it is there already.
    """

    # Not a dataclass: to build one takes longer than all the rest of this module, in every run of pytest.
    __slots__ = ("package",)

    def __init__(self, package: str) -> None:
        self.package = package

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """
        The stock answer for a submodule of the package, and no answer for any other.
        """
        if name.startswith(self.package + "."):
            return PathFinder.find_spec(name, path, target)
        return None


def import_plainly(package: str) -> None:
    """
    Keep pytest from rewriting what is imported from a package from now on.

    It may be called again: a pytest inside pytest puts its own finder first.
    """
    for finder in sys.meta_path[:]:
        if isinstance(finder, PlainFinder) and finder.package == package:
            sys.meta_path.remove(finder)
    sys.meta_path.insert(0, PlainFinder(package))
