"""
The structure of the package, read from its imports and sizes: layers, cycles and limits.
"""

import ast
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path, PurePath

import pytest

import pytest_hookharness

PACKAGE = "pytest_hookharness"
# From the top. A package imports only from the rows below its own.
LAYERS = (
    ("__init__", "__main__", "plugin"),
    ("frontends",),
    ("campaigns",),
    ("simulation", "guard", "coverage"),
    ("hosts", "agents", "execution", "judging", "scenario_files", "reports"),
    ("model", "_imports"),
)
ROW = {name: number for number, row in enumerate(reversed(LAYERS)) for name in row}
# The version is in the package itself, so code that prints it may import it from there.
FACE = frozenset({"frontends.cli.check_output", "frontends.cli.main", "frontends.pytest_plugin.ci_files"})
# Packages that import a name when it is first used. The stub of each has the same imports as statements.
# The shell command imports modules of its own folder only.
LAZY = frozenset({"__init__", "hosts", "frontends.cli.main"})

LINES_OF_FILE = 350
LINES_OF_FUNCTION = 60
FILES_OF_ROOT = 6
FILES_OF_FOLDER = 28
REPEATED_NAMES = 15


@dataclass(frozen=True)
class Module:
    """
    One file of the package.

    Attributes:
        path: Its path below the package.
        source: Its text.
        others: The dotted names of all modules of the package.
    """

    path: PurePath
    source: str
    others: frozenset[str]

    @property
    def name(self) -> str:
        return dotted(self.path)

    @property
    def package(self) -> str:
        return self.name.partition(".")[0]

    @property
    def unit(self) -> str:
        """The first-level folder or file of its package: what cycles are looked for between."""
        return ".".join(self.name.split(".")[:2])

    @cached_property
    def tree(self) -> ast.Module:
        return ast.parse(self.source)

    @cached_property
    def nodes(self) -> tuple[ast.AST, ...]:
        return tuple(ast.walk(self.tree))

    @cached_property
    def imports(self) -> tuple[tuple[int, str], ...]:
        """Line and name of every module of ours that is imported, in functions and behind conditions too."""
        return tuple(self._imports())

    def _imports(self) -> Iterator[tuple[int, str]]:
        folder = [PACKAGE, *self.path.parent.parts]
        for node in self.nodes:
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                base = folder[: len(folder) + 1 - node.level] if node.level else []
                origin = ".".join([*base, *filter(None, [node.module])])
                names = [f"{origin}.{alias.name}" for alias in node.names]
            else:
                continue
            for name in names:
                first, _, rest = name.partition(".")
                if first == PACKAGE:
                    known = rest in self.others or (rest.partition(".")[0] in ROW and "." not in rest)
                    yield node.lineno, rest if known else rest.rpartition(".")[0] or "__init__"


def dotted(path: PurePath) -> str:
    """The name of a module from its path below the package."""
    parts = path.with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" and len(parts) > 1 else parts)


def upward(module: Module) -> Iterator[str]:
    """Imports of the same row or a higher one."""
    for line, other in module.imports:
        package = other.partition(".")[0]
        if package in ("__init__", module.package) and (package != "__init__" or module.name in FACE):
            continue
        if ROW[package] >= ROW[module.package]:
            yield f"{module.path}:{line}: imports {other}, which is not in a row below {module.package}"


def hidden(module: Module) -> Iterator[str]:
    """Imports that cannot be read off an import statement. Lazy packages may have them."""
    others = {
        id(call.func)
        for call in module.nodes
        if isinstance(call, ast.Call) and call.args and names_another_package(call.args[0])
    }
    for node in module.nodes:
        name = getattr(node, "attr", getattr(node, "id", ""))
        if name in ("import_module", "__import__") and module.name not in LAZY and id(node) not in others:
            yield f"{module.path}: uses {name}; write an import statement"


def names_another_package(node: ast.expr) -> bool:
    """Whether an argument is a literal that names a package that is not ours."""
    return isinstance(node, ast.Constant) and str(node.value).partition(".")[0] not in ("", PACKAGE)


def meddling(module: Module) -> Iterator[str]:
    """Assignments to what belongs to a testbed, outside of its class: others ask for changes by methods."""
    if module.path.stem == "testbed":
        return
    for node in module.nodes:
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        for target in targets if isinstance(node, ast.Assign | ast.AugAssign | ast.AnnAssign) else ():
            if isinstance(target, ast.Attribute) and re.search(r"\b_?testbed\.", ast.unparse(target)):
                yield f"{module.path}:{node.lineno}: assigns {ast.unparse(target)}; give the testbed a method"


def overlong(module: Module) -> Iterator[str]:
    """A file or a function that does not fit on its screen."""
    lines = len(module.source.splitlines())
    if lines > LINES_OF_FILE:
        yield f"{module.path}:1: has {lines} lines, at most {LINES_OF_FILE} for one concept"
    for node in module.nodes:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            lines = (node.end_lineno or node.lineno) - node.lineno + 1
            if lines > LINES_OF_FUNCTION:
                where = f"{module.path}:{node.lineno}"
                yield f"{where}: {node.name} has {lines} lines, at most {LINES_OF_FUNCTION}"


def cycles(edges: Mapping[str, set[str]]) -> Iterator[str]:
    """The nodes of a graph that lie on a cycle, in one sentence."""
    arrows = {name: targets - {name} for name, targets in edges.items()}
    # A node without remaining imports, or without remaining importers, cannot be on a cycle.
    while True:
        aims = set().union(*arrows.values()) if arrows else set()
        loose = {name for name, targets in arrows.items() if not targets & arrows.keys() or name not in aims}
        if not loose:
            break
        arrows = {name: targets for name, targets in arrows.items() if name not in loose}
    if arrows:
        around = ", ".join(f"{name} -> {'/'.join(sorted(arrows[name] & arrows.keys()))}" for name in arrows)
        yield f"cycle: {around}; a name that both need belongs below both"


def circles(modules: list[Module]) -> Iterator[str]:
    """Cycles between modules, and between the folders directly below a package."""
    yield from cycles({module.name: {name for _, name in module.imports} for module in modules})
    units = {module.name: module.unit for module in modules}
    edges: dict[str, set[str]] = defaultdict(set)
    for module in modules:
        for _, name in module.imports:
            if name.partition(".")[0] == module.package and "." in name:
                edges[module.unit].add(units[name])
    yield from cycles(edges)


def crowds(modules: list[Module]) -> Iterator[str]:
    """Folders with too many files, and file names that repeat too often."""
    folders = Counter(str(module.path.parent) for module in modules)
    for folder, number in folders.items():
        most = FILES_OF_ROOT if folder == "." else FILES_OF_FOLDER
        if number > most:
            yield f"{folder}: holds {number} files, at most {most}"
    homes: dict[str, list[Module]] = defaultdict(list)
    for module in modules:
        if module.path.stem != "__init__" and "profiles" not in module.path.parts:
            homes[module.path.stem].append(module)
    repeated = {stem: found for stem, found in homes.items() if len(found) > 1}
    for stem, found in repeated.items():
        if len({module.package for module in found}) < len(found):
            yield f"{found[0].package}: has two files called {stem}"
    if len(repeated) > REPEATED_NAMES:
        yield f"{len(repeated)} file names repeat, at most {REPEATED_NAMES}: {', '.join(sorted(repeated))}"


def namesakes(modules: list[Module]) -> Iterator[str]:
    """Classes of one name in two modules: a reader who searches for the name finds the wrong one."""
    homes: dict[str, list[str]] = defaultdict(list)
    for module in modules:
        for node in module.nodes:
            if isinstance(node, ast.ClassDef):
                homes[node.name].append(f"{module.path}:{node.lineno}")
    for name, places in homes.items():
        if len(places) > 1:
            yield f"{places[0]}: class {name} has the name of another one, at {', '.join(places[1:])}"


def offences(root: Path) -> list[str]:
    """All rules that a package breaks."""
    files = sorted(path.relative_to(root) for path in root.rglob("*.py"))
    names = frozenset(dotted(path) for path in files)
    modules = [Module(path, (root / path).read_text(encoding="utf-8"), names) for path in files]
    known = [module for module in modules if module.package in ROW]
    strange = [
        f"{module.path}: stands in no row; give {module.package!r} one here and in ARCHITECTURE.md"
        for module in modules
        if module.package not in ROW
    ]
    rules = (upward, hidden, meddling, overlong)
    found = [offence for module in known for rule in rules for offence in rule(module)]
    return list(dict.fromkeys([*strange, *found, *circles(known), *crowds(modules), *namesakes(modules)]))


def plant(root: Path, tree: Mapping[str, str]) -> Path:
    """Write a toy package."""
    for name, text in tree.items():
        (root / name).parent.mkdir(exist_ok=True, parents=True)
        (root / name).write_text(text)
    return root


@pytest.mark.usefixtures("many_values")
def test_the_package_keeps_its_layers():
    """Imports only point down, no folder or file lies on a cycle, and no file or folder is overfull."""
    found = offences(Path(pytest_hookharness.__path__[0]))

    assert not found, "\n" + "\n".join(found)


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("model/up.py", "from pytest_hookharness.hosts import profile\n"),
        ("hosts/sideways.py", "import pytest_hookharness.judging.judge\n"),
        ("judging/late.py", "def f():\n    from ..execution import runner\n"),
        ("agents/face.py", "import pytest_hookharness\n"),
        ("agents/face_again.py", "from pytest_hookharness import simulate\n"),
        ("reports/typing_only.py", "if TYPE_CHECKING:\n    from pytest_hookharness import hosts\n"),
        ("scenario_files/by_name.py", 'importlib.import_module("pytest_hookharness.hosts")\n'),
        ("simulation/up.py", "from pytest_hookharness.campaigns import run\n"),
        ("frontends/up.py", "from pytest_hookharness import plugin\n"),
        ("simulation/meddles.py", "def f(testbed):\n    testbed.workspace.clock.seconds = 1\n"),
        ("campaigns/meddles.py", "class A:\n    def f(self):\n        self._testbed.files += 1\n"),
        ("utils.py", ""),
        ("hosts/long_file.py", "x = 1\n" * (LINES_OF_FILE + 1)),
        ("hosts/long_function.py", "def long():\n" + "    pass\n" * LINES_OF_FUNCTION),
    ],
)
def test_a_breach_is_reported(tmp_path, file, text):
    """A file that breaks one rule is reported by its path, and a file that keeps all of them is not."""
    found = offences(plant(tmp_path, {file: text, "model/moves.py": "import json\n"}))

    assert [offence.partition(":")[0] for offence in found] == [file]


def test_a_cycle_of_modules_is_reported(tmp_path):
    """Two modules that import each other are a cycle, though one of them does it for type checkers only."""
    tree = {
        "hosts/one.py": "from pytest_hookharness.hosts.two import b\n",
        "hosts/two.py": "if TYPE_CHECKING:\n    from pytest_hookharness.hosts.one import a\n",
        "hosts/beside.py": "from pytest_hookharness.hosts import one\n",
    }
    found = offences(plant(tmp_path, tree))

    assert found[0].startswith("cycle: hosts.one -> hosts.two, hosts.two -> hosts.one;")


def test_a_cycle_of_folders_is_reported(tmp_path):
    """Two folders of one package that import from each other are a cycle, though no two modules are."""
    tree = {
        "hosts/rules/a.py": "from pytest_hookharness.hosts.session.b import b\n",
        "hosts/session/b.py": "",
        "hosts/session/c.py": "from pytest_hookharness.hosts.rules.d import d\n",
        "hosts/rules/d.py": "",
    }
    (found,) = offences(plant(tmp_path, tree))

    assert found.startswith("cycle: hosts.rules -> hosts.session, hosts.session -> hosts.rules;")


def test_crowds_are_reported(tmp_path):
    """A folder with too many files, a name twice in one package, and too many repeated names are reported."""
    tree = {f"hosts/many/file_{number}.py": "" for number in range(FILES_OF_FOLDER + 1)}
    tree |= {"hosts/a/same.py": "", "hosts/b/same.py": ""}
    tree |= {f"{top}/x{number}.py": "" for top in ("hosts", "judging") for number in range(REPEATED_NAMES)}
    found = offences(plant(tmp_path, tree))

    assert [offence.partition(":")[0] for offence in found] == [
        "hosts/many",
        "hosts",
        f"{REPEATED_NAMES + 1} file names repeat, at most {REPEATED_NAMES}",
    ]


def test_classes_of_one_name_are_reported(tmp_path):
    """Two classes of one name are reported, also where one is private to its function."""
    tree = {
        "hosts/one.py": "class _Row: ...\nclass Session: ...\n",
        "reports/two.py": "def f():\n    class _Row: ...\n",
    }
    (found,) = offences(plant(tmp_path, tree))

    assert found == "hosts/one.py:1: class _Row has the name of another one, at reports/two.py:2"


def test_what_is_allowed_is_not_reported(tmp_path):
    """A tree that keeps the rules has nothing reported."""
    tree = {
        "model/moves.py": "",
        "model/scenario.py": "from pytest_hookharness.model.moves import Move\n",
        "hosts/profile.py": "import json\n",
        "hosts/session.py": "from ..model import scenario\nfrom . import profile\n",
        "execution/late.py": '__import__("subprocess")\n',
        "simulation/loop.py": "from pytest_hookharness import hosts\n",
        "plugin.py": "def f():\n    from pytest_hookharness import frontends\n",
        "hosts/__init__.py": "",
    }

    assert offences(plant(tmp_path, tree)) == []
