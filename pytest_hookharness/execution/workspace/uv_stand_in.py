"""
A stand-in for ``uv run`` where uv is not installed: this Python runs scripts of which it has all modules.

Run as a module it is a test double. For all other calls it ends as a shell does that finds no uv.
"""

from __future__ import annotations

import ast
import os
import re
import sys
from collections.abc import Iterator, Sequence
from importlib.machinery import PathFinder
from pathlib import Path

_NOT_FOUND = 127
# Options that change nothing for such a script; of the second kind each has a value.
_FLAGS = frozenset(
    ["-q", "--quiet", "-s", "--script", "--no-project", "--offline", "--no-sync", "--frozen", "--isolated"]
)
_VALUES = frozenset(["-p", "--python"])
_PYTHONS = frozenset(["python", "python3"])
_REQUIRED = re.compile(r"^#\s*requires-python\s*=\s*[\"'][>=~]=\s*3\.(\d+)", re.MULTILINE)
_LARGEST = 1 << 18


def find_script(words: Sequence[str]) -> int | None:
    """Return the place of the script among the words after ``uv``; ``None`` if it is no plain ``uv run``."""
    if not words or words[0] != "run":
        return None
    place = 1
    while place < len(words) and words[place].startswith("-"):
        if words[place] not in _FLAGS | _VALUES:
            return None
        place += 2 if words[place] in _VALUES else 1
    if place < len(words) and words[place] in _PYTHONS:
        place += 1
    return place if place < len(words) and words[place].endswith(".py") else None


def needs_only_python(script: Path) -> bool:
    """Return whether a script imports only what this Python has and its own files, or catches the failure."""
    try:
        source = script.read_text("utf-8") if script.stat().st_size <= _LARGEST else ""
    except (OSError, ValueError):
        return False
    return has_all(source, script.parent)


def has_all(source: str, folder: Path) -> bool:
    """Return the same for a script with this text, in a folder that has its own files."""
    try:
        tree = ast.parse(source)
    except (ValueError, SyntaxError):
        return False
    required = _REQUIRED.search(source)
    if not source or (required and int(required[1]) > sys.version_info.minor):
        return False
    return all(_is_at_hand(name, folder) for name in _imported(tree))


def _imported(tree: ast.AST) -> Iterator[str]:
    """Yield the modules that must be there: those in a ``try`` need not."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module.partition(".")[0]
        elif not isinstance(node, ast.Try):
            yield from _imported(node)


def _is_at_hand(name: str, folder: Path) -> bool:
    own = (folder / f"{name}.py", folder / name / "__init__.py")
    if name in sys.stdlib_module_names or any(path.is_file() for path in own):
        return True
    # Not a folder of the project in which this process was started.
    places = [place for place in sys.path if place and os.path.realpath(place) != os.getcwd()]
    spec = PathFinder.find_spec(name, places)
    return spec is not None and spec.origin is not None


def main() -> None:
    """Become the Python that runs the script of the call, or end as where uv is missing."""
    place = find_script(sys.argv[1:])
    words = sys.argv[1:][place:] if place is not None else []
    if words and needs_only_python(Path(words[0])):
        os.execv(sys.executable, [sys.executable, *words])  # noqa: S606 - a script of the hooks under test
    sys.stderr.write("uv: not found\n")
    sys.exit(_NOT_FOUND)


if __name__ == "__main__":
    main()
