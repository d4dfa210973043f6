"""One folder knows the operating system; the rest of the package asks it."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path, PurePath

import pytest

import pytest_hookharness

FOLDER = PurePath("execution/platform")
# Names of the standard library and of the kernel that only the folder uses, as names or attributes.
NAMES = re.compile(
    r"prctl|ptrace|memfd_create|inotify\w*|ctypes|listxattr|[gs]etxattr|removexattr|pidfd_\w+|unshare|setns|mount"
)
ASKS_FOR_SYSTEM = {("sys", "platform"), ("os", "uname"), ("platform", "machine")}
# A path below /proc, in Python or in a script that the package writes; not the word in a sentence.
PROC = re.compile(r"""(?:^|[\s"'=<>(])/proc(?:/|$)""")
# A text without any of these words uses nothing of the system.
WORDS = re.compile(
    rf"\b(?:{NAMES.pattern})\b|/proc|\b(?:{'|'.join(name for _, name in sorted(ASKS_FOR_SYSTEM))})\b"
)


def breaches(root: Path) -> list[str]:
    """All places outside of the folder that know the operating system."""
    found = []
    for path in sorted(root.rglob("*.py")):
        place = path.relative_to(root)
        if place.is_relative_to(FOLDER):
            continue
        text = path.read_text(encoding="utf-8")
        # Few files have such a word at all, and parsing each takes long.
        if WORDS.search(text):
            found += [f"{place}:{line}: {what}" for line, what in sorted(uses(ast.parse(text)))]
    return found


def uses(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Line and name of everything in a module that belongs to one operating system."""
    docstrings = {
        id(node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=names):
                yield from ((node.lineno, alias.name) for alias in names if NAMES.fullmatch(alias.name))
            case ast.ImportFrom(module=str(module), names=names):
                yield from ((node.lineno, word) for word in module.split(".") if NAMES.fullmatch(word))
                named = [alias.name for alias in names if (module, alias.name) in ASKS_FOR_SYSTEM]
                yield from ((node.lineno, f"{module}.{name}") for name in named)
            case ast.Attribute(value=ast.Name(id=owner), attr=name) if (owner, name) in ASKS_FOR_SYSTEM:
                yield node.lineno, f"{owner}.{name}"
            case ast.Attribute(value=ast.Name(id=owner), attr=name) if owner in (
                "os",
                "libc",
            ) and NAMES.fullmatch(name):
                yield node.lineno, f"{owner}.{name}"
            case ast.Constant(value=str(text)) if id(node) not in docstrings and PROC.search(text):
                yield node.lineno, "/proc"
            case _:
                pass


@pytest.mark.usefixtures("many_values")
def test_only_one_folder_knows_the_operating_system():
    """No module outside of the folder asks for the system, calls the kernel past Python or reads /proc."""
    assert breaches(Path(pytest_hookharness.__path__[0])) == []


@pytest.mark.parametrize(
    "text",
    [
        "import sys\nif sys.platform == 'linux':\n    pass\n",
        "from sys import platform\n",
        "import ctypes\n",
        "def f():\n    from ctypes import CDLL\n",
        "import os\nos.uname()\n",
        "import os\nos.listxattr('/')\n",
        "text = open('/proc/self/stat').read()\n",
        "def f(pid):\n    return open(f'/proc/{pid}/stat')\n",
        "import os\nos.listdir('/proc')\n",
        "SCRIPT = 'read -r status <\"/proc/$$/stat\"'\n",
    ],
)
def test_knowledge_elsewhere_is_reported(tmp_path, text):
    """A module that knows the operating system is reported outside of the folder, and not in it."""
    for folder in ("execution/state", FOLDER):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / "toy.py").write_text(text)

    assert [offence.partition(":")[0] for offence in breaches(tmp_path)] == ["execution/state/toy.py"]


@pytest.mark.parametrize(
    "text",
    [
        '"""Reads /proc/self/stat elsewhere."""\n',
        "MESSAGE = 'shared with you: the kernel, /proc, the clock'\n",
        "from pytest_hookharness.execution.platform.current import system\nsystem.row(1)\n",
    ],
)
def test_words_about_the_system_are_allowed(tmp_path, text):
    """A sentence may name /proc, and every module may ask the folder."""
    (tmp_path / "toy.py").write_text(text)

    assert breaches(tmp_path) == []
