"""
What happens before the rest is imported: no assertion rewriting.

PYTEST_DONT_REWRITE

pytest rewrites the assertions of every module of a distribution with a ``pytest11`` entry point. Our modules
have no assertions to rewrite, and each would be parsed and compiled again in every run that cannot write
bytecode. The word above, in the docstring of each module, would save only the rewriting: pytest still parses
and compiles the file and ignores Python's own cache. A finder before pytest's saves both.
"""

import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType


class PlainFinder:
    """
    Finds the submodules of one package as Python does without pytest.

    Attributes:
        package: The full name of the package, which is imported already.
    """

    # Not a dataclass: creating one takes longer than the rest of this module, in every run of pytest.
    __slots__ = ("package",)

    def __init__(self, package: str) -> None:
        self.package = package

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return Python's own spec for a submodule of the package, and nothing for any other module."""
        if name.startswith(self.package + "."):
            return PathFinder.find_spec(name, path, target)
        return None


def import_plainly(package: str) -> None:
    """
    Keep pytest from rewriting the modules of a package that are imported from now on.

    It may be called again, as a pytest run inside pytest puts its own finder first.
    """
    for finder in sys.meta_path[:]:
        if isinstance(finder, PlainFinder) and finder.package == package:
            sys.meta_path.remove(finder)
    sys.meta_path.insert(0, PlainFinder(package))
