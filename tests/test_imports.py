"""Claims about what commands and pytest runs load of this package, and whether pytest rewrites it."""

import json
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

import pytest_hookharness
from pytest_hookharness import plugin
from pytest_hookharness._imports import PlainFinder, import_plainly

SPY = """
import json, os, sys

def pytest_unconfigure():
    found = {name: getattr(module, "__spec__", None) for name, module in sys.modules.items()}
    seen = {name: type(spec.loader).__name__ for name, spec in found.items() if spec}
    with open(os.environ["SPY_REPORT"], "w") as report:
        json.dump(seen, report)
"""

TOY = {
    "toy/__init__.py": '"""PYTEST_DONT_REWRITE"""\n',
    "toy/engine.py": "",
    "toy/plugin.py": "from toy import engine\n",
    "toy-1.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: toy\nVersion: 1.0\n",
    "toy-1.0.dist-info/entry_points.txt": "[pytest11]\ntoy = toy.plugin\n",
    "toy-1.0.dist-info/RECORD": "toy/__init__.py,,\ntoy/engine.py,,\ntoy/plugin.py,,\n",
}

PLAINLY = """
from pytest_hookharness._imports import import_plainly

import_plainly("toy")
"""

COUNT = """
import sys
from pytest_hookharness.__main__ import main

try:
    main()
except SystemExit:
    pass
ours = [each for name, each in sys.modules.items() if name.partition(".")[0] == "pytest_hookharness"]
# Folders without a module of their own have no file.
print("modules:", sum(1 for each in ours if each.__file__), "pytest" in sys.modules)
"""
PLAIN = 'name: plain\nhooks: {Stop: "true"}\nagent: [{prompt: Go.}, {stop: Done.}]\n'

UNUSED = {"pytest_hookharness", "pytest_hookharness.plugin", "pytest_hookharness._imports"}


def write(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


def loaders(folder: Path, *arguments: str) -> dict[str, str]:
    """Run pytest in a folder with a test that does nothing, and give the loader of each module it loaded."""
    write(folder, {"spy.py": SPY, "test_nothing.py": "def test_nothing(): pass\n"})
    env = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST", "COV"))}
    ours = str(Path(pytest_hookharness.__path__[0]).parent)
    env |= {
        "PYTHONPATH": os.pathsep.join([str(folder), ours]),
        "SPY_REPORT": str(folder / "report.json"),
    }
    foreign = (f"no:{name}" for name in ("cacheprovider", "hypothesispytest", "rerunfailures", "xdist"))
    plugins = [word for name in (*foreign, "spy") for word in ("-p", name)]
    command = [sys.executable, "-m", "pytest", "-q", *plugins, *arguments]
    run = subprocess.run(
        command, cwd=folder, env=env, capture_output=True, text=True, timeout=60, check=False
    )

    assert run.returncode == 0, run.stdout + run.stderr
    return json.loads((folder / "report.json").read_text())


@pytest.mark.slow
@pytest.mark.parametrize(
    ("prefix", "loader"),
    [(PLAINLY, "SourceFileLoader"), ("", "AssertionRewritingHook")],
    ids=["plainly", "as usual"],
)
def test_engine_of_a_plugin_is_imported_plainly(tmp_path, prefix, loader):
    """A module of a plugin's distribution is rewritten by pytest unless its package is imported plainly."""
    write(tmp_path, TOY | {"toy/plugin.py": prefix + TOY["toy/plugin.py"]})

    assert loaders(tmp_path)["toy.engine"] == loader


@pytest.mark.slow
def test_unused_plugin_loads_three_modules(tmp_path):
    """A run that does not use the plugin loads three of its modules, and no foreign module for it."""
    without = loaders(tmp_path, "-p", "no:hookharness")
    having = loaders(tmp_path)

    assert set(having) - set(without) == UNUSED


@pytest.mark.slow
def test_engine_is_not_rewritten(tmp_path):
    """A run over scenario files loads the engine, and pytest rewrites none of it."""
    write(tmp_path, {"nothing.scenario.yaml": 'name: nothing\nhooks: {Stop: "true"}\n'})
    seen = loaders(tmp_path, "--hook-scenarios", ".")
    ours = {name: loader for name, loader in seen.items() if name.split(".")[0] == "pytest_hookharness"}

    assert len(ours) > len(UNUSED)
    assert {name for name, loader in ours.items() if loader == "AssertionRewritingHook"} <= UNUSED


def modules_of(folder: Path, *words: str) -> int:
    """Run the shell command, and return how many modules of this package it loads; none of pytest's."""
    command = [sys.executable, "-c", COUNT, *words]
    printed = subprocess.check_output(command, cwd=folder, text=True, timeout=60)
    _, number, pytest_is_loaded = printed.splitlines()[-1].split()

    assert pytest_is_loaded == "False"
    return int(number)


@pytest.mark.parametrize(
    ("words", "most"),
    [
        (["--version"], 40),
        (["schema"], 40),
        (["findings"], 40),
        (["hosts"], 110),
        (["run", "plain.scenario.yaml"], 180),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else "",
)
def test_a_command_loads_what_it_needs(tmp_path, words, most):
    """A command that only prints loads few modules of this package, a plain passing scenario at most 180."""
    write(tmp_path, {"plain.scenario.yaml": PLAIN})

    assert modules_of(tmp_path, *words) <= most


def test_face_is_nearly_free():
    """Importing the package alone loads none of its modules."""
    program = "import sys, pytest_hookharness; print(*(n for n in sys.modules if 'hookharness' in n))"
    printed = subprocess.check_output([sys.executable, "-c", program], text=True, timeout=60)

    assert printed.split() == ["pytest_hookharness"]


def test_face_offers_what_it_lists():
    """Every name that the package lists can be imported from it."""
    missing = [name for name in pytest_hookharness.__all__ if not hasattr(pytest_hookharness, name)]

    assert missing == []


def test_face_names_what_it_offers():
    """A name that the package does not have is an error that lists those it has."""
    with pytest.raises(AttributeError, match=r"no 'simulat'.*simulate"):
        pytest_hookharness.simulat  # noqa: B018


def test_face_is_typed_as_it_is():
    """The package and its stub list the same names."""
    stub = Path(pytest_hookharness.__path__[0], "__init__.pyi").read_text()
    names: dict[str, list[str]] = {}
    exec(stub[stub.index("__all__") : stub.index("__version__")], names)  # noqa: S102

    assert names["__all__"] == pytest_hookharness.__all__


def test_plain_import_can_be_asked_for_again(monkeypatch):
    """A package that is imported plainly twice has one finder, and it stands first."""
    monkeypatch.setattr(sys, "meta_path", sys.meta_path[:])
    import_plainly("toy")
    sys.meta_path.insert(0, PlainFinder("other"))
    import_plainly("toy")
    packages = [finder.package for finder in sys.meta_path if isinstance(finder, PlainFinder)]

    assert packages[:2] == ["toy", "other"]
    assert packages.count("toy") == 1


def test_unused_plugin_reads_a_folder_once(tmp_path, monkeypatch):
    """A folder is searched for scenarios once, however many folders are in it."""
    folders = [tmp_path / f"package{number}" for number in range(20)]
    for folder in folders:
        folder.mkdir()
    read, config = [], SimpleNamespace(stash=pytest.Stash())
    usual = Path.iterdir
    monkeypatch.setattr(Path, "iterdir", lambda path: read.append(path) or usual(path))

    assert [plugin.pytest_ignore_collect(folder, config) for folder in folders] == [None] * 20
    assert read == [tmp_path]
