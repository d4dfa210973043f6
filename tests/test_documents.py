"""The files, commands and options that the documents name exist."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from pytest_hookharness import plugin
from pytest_hookharness.frontends.cli import main

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "pytest_hookharness"
# Documents that explain the code, by paths from the root of the repository or of the package.
ABOUT_CODE = [
    ROOT / "ARCHITECTURE.md",
    ROOT / "CONTRIBUTING.md",
    ROOT / "docs" / "adding-a-host.md",
    ROOT / "docs" / "loop-detection.md",
    *sorted((ROOT / "docs" / "design-notes").glob("*.md")),
]
DOCUMENTS = [
    *sorted(ROOT.glob("*.md")),
    *sorted((ROOT / "docs").rglob("*.md")),
    ROOT / "scenarios" / "README.md",
]
INLINE = re.compile(r"`([^`\s]+)`")
# `a/b/`, `b.py`, `a.b` with `<x>` for anything; what begins with a slash lies on the reader's machine.
PATH = re.compile(r"(?:[\w.<>-]+/)+[\w.<>-]*|\w+\.pyi?")
MODULE = re.compile(r"[a-z_]+(?:\.[a-z_]+)+")
COMMAND = re.compile(r"(?:^|`|\$ |&& )hookharness ([a-z]+)", re.MULTILINE)
OPTION = re.compile(r"(?<![\w-])--hook-([a-z-]+)")
SESSION = re.compile(r"\bnox -s ([a-z]+)")
OPTIONS = frozenset(plugin._OPTIONS)


def lost_paths(text: str) -> Iterator[str]:
    """The files, folders and modules that a document names and that do not exist."""
    for name in INLINE.findall(text):
        if PATH.fullmatch(name):
            pattern = re.sub(r"<[^<>]+>", "*", name.rstrip("/"))
        elif MODULE.fullmatch(name) and (PACKAGE / name.partition(".")[0]).is_dir():
            pattern = f"{name.replace('.', '/')}*"
        else:
            continue
        if not any(any(folder.glob(pattern)) for folder in (ROOT, PACKAGE)):
            yield name


def lost_words(text: str, sessions: str) -> Iterator[str]:
    """The commands, options of pytest and sessions of nox that a document names and that do not exist."""
    yield from (f"hookharness {name}" for name in COMMAND.findall(text) if name not in main._COMMANDS)
    yield from (f"--hook-{name}" for name in OPTION.findall(text) if name not in OPTIONS)
    yield from (f"nox -s {name}" for name in SESSION.findall(text) if f"\ndef {name}(" not in sessions)


@pytest.mark.parametrize("page", ABOUT_CODE, ids=lambda page: page.stem)
def test_paths_in_documents_exist(page):
    """Every file, folder and module that a document about the code names is in the repository."""
    assert list(lost_paths(page.read_text())) == []


@pytest.mark.parametrize("page", DOCUMENTS, ids=lambda page: str(page.relative_to(ROOT)))
def test_commands_in_documents_exist(page):
    """Every command, every option of pytest and every session of nox that a document names exists."""
    assert list(lost_words(page.read_text(), (ROOT / "noxfile.py").read_text())) == []


def test_lost_names_are_seen():
    """Names of missing things are reported, and names of existing ones are not."""
    paths = "`hosts/gone.py` `model/` `reports/<format>/` `campaigns.run` `campaigns.walk` `/x/y` `gone.py`"
    words = (
        "`hookharness entry X` `hookharness run X` --hook-entry-dir D --hook-cov, nox -s lint, nox -s flint"
    )

    assert list(lost_paths(paths)) == ["hosts/gone.py", "campaigns.walk", "gone.py"]
    assert list(lost_words(words, "\ndef lint(session):")) == [
        "hookharness entry",
        "--hook-entry-dir",
        "nox -s flint",
    ]
