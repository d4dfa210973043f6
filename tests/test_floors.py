"""
The house rules that can be read off the source: who may import whom, and how long things may be.
"""

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path, PurePath

import pytest_hookharness

PACKAGE = "pytest_hookharness"
LINES_OF_FILE = 350
LINES_OF_FUNCTION = 60

ROOMS = frozenset({"hosts", "agents", "execution", "judging", "processes", "reports", "loading", "lines"})
LOOP = frozenset({"model", "hosts", "agents", "execution", "judging"})
# What each part below the doors may import, besides itself. A part that is in no table has no floor yet.
BELOW: Mapping[str, frozenset[str]] = {
    "model": frozenset(),
    "imports": frozenset(),
    **dict.fromkeys(ROOMS, frozenset({"model"})),
    "settings": frozenset({"model"}),
    "firing": frozenset({"model", "settings"}),
    "deliveries": frozenset({"model"}),
    "conditions": frozenset({"model", "hosts", "settings", "deliveries"}),
    "opening": frozenset({"model", "hosts", "execution", "settings", "conditions"}),
    "stage": LOOP | {"settings", "firing", "opening", "conditions"},
    "witness": frozenset({"model", "stage"}),
    "asking": frozenset({"model", "hosts", "firing", "stage"}),
    "references": frozenset({"model", "hosts", "settings"}),
    "playing": LOOP | {"settings", "firing", "stage"},
    "rehearsal": LOOP | {"settings", "stage", "playing"},
    "history": LOOP | {"playing"},
    "sources": frozenset({"model", "hosts", "stage"}),
    "probing": LOOP | {"settings", "stage", "playing", "rehearsal"},
    "experiments": LOOP | {"playing", "history", "sources", "probing"},
    "standin": LOOP | {"settings", "firing", "opening"},
    "gates": frozenset({"model", "hosts", "judging", "stage", "playing", "rehearsal"}),
    "drives": frozenset({"model", "judging", "history", "rehearsal"}),
    "alterations": frozenset({"model", "hosts", "judging"}),
    "crowds": frozenset({"model", "hosts", "agents", "judging", "stage", "playing", "rehearsal"}),
    "parallels": LOOP | {"settings", "stage", "playing", "rehearsal"},
    "plans": frozenset({"model", "hosts", "judging", "stage", "sources", "alterations"}),
    "faults": frozenset({"model", "alterations"}),
    "fault_plans": frozenset({"model", "hosts", "plans"}),
    "trials": frozenset({"model", "execution", "judging", "settings", "faults", "alterations", "crowds"}),
    "matrices": frozenset({"model", "hosts", "settings", "plans", "fault_plans"}),
    "crews": frozenset({"model", "execution"}),
    "variations": LOOP | {"settings", "stage", "alterations", "plans", "crowds"} | {"matrices", "trials"},
    "tracking": LOOP | {"processes", "settings", "stage"},
    "threads": LOOP | {"processes", "settings", "stage", "opening", "playing", "tracking", "witness"},
    "loop": LOOP
    | {"settings", "stage", "playing", "references", "rehearsal", "history", "experiments", "drives"}
    | {"gates", "witness"},
    "simulation": LOOP
    | {"settings", "stage", "references", "drives", "loop", "variations", "plans"}
    | {"crews", "matrices", "trials"}
    | {"threads", "tracking", "alterations", "parallels", "witness"}
    | {"excursions", "menus", "exploration"},
    "siblings": frozenset({"model", "execution", "simulation"}),
    "drafts": frozenset({"model", "hosts", "settings", "alterations"}),
    "copies": frozenset({"model", "execution"}),
    "places": frozenset({"model", "hosts", "settings", "drafts"}),
    "phrasings": frozenset({"model", "hosts", "agents", "judging"}),
    "toolnames": frozenset({"model", "hosts", "agents"}),
    "checkups": frozenset({"model", "hosts", "agents", "phrasings", "toolnames"}),
    "records": frozenset({"model", "judging", "toolnames"}),
    "problem_names": frozenset({"model", "judging", "settings", "records"}),
    "causes": frozenset({"model", "hosts", "judging", "alterations", "checkups", "records"})
    | {"problem_names"},
    "shrinking": frozenset({"model", "alterations"}),
    "examinations": LOOP
    | {"settings", "stage", "asking", "crews", "simulation", "checkups", "causes"}
    | {"phrasings", "shrinking"},
    "filings": frozenset({"model", "execution", "judging", "loading", "checkups"}),
    "excursions": LOOP | {"settings", "stage", "playing", "rehearsal"},
    "filenames": frozenset(),
    "menus": frozenset({"model", "hosts", "stage", "sources", "filenames"}),
    "atlas": frozenset({"model", "judging"}),
    "exploration": frozenset({"model", "hosts", "judging", "settings", "excursions", "menus", "atlas"}),
    "analysis": frozenset({"model", "hosts", "judging", "loading"}),
}
UPPER = frozenset(BELOW) - ROOMS - {"model", "imports"}
INSIDE = frozenset(BELOW)
MAY_IMPORT: Mapping[str, frozenset[str]] = {
    **BELOW,
    "quantities": frozenset(),
    "progress": frozenset({"model", "reports"}),
    "traces": INSIDE | {"entries"},
    "harness": INSIDE | {"quantities", "progress", "traces"},
    "guard": frozenset({"model", "judging"}),
    "bench": INSIDE | {"harness", "traces"},
    "fixtures": INSIDE | {"harness", "bench"},
    "entries": frozenset({"model", "reports"}),
    "sarif": frozenset({"model", "reports", "judging", "github", "__init__"}),
    "github": frozenset({"model", "reports"}),
    "pages": frozenset({"model", "reports", "reporting", "traces"}),
    "replacing": frozenset(),
    "updating": frozenset({"model", "reports", "loading", "replacing"}),
    "summary": frozenset({"model", "reports", "harness", "bench", "entries", "traces", "updating"})
    | {"github", "sarif"},
    "collection": INSIDE | {"harness"},
    "coverage": frozenset({"model", "lines"}),
    "covering": INSIDE | {"harness", "coverage"},
    "plugin": INSIDE
    | {"harness", "bench", "fixtures", "summary", "collection", "entries"}
    | {"pages", "updating", "checking", "progress", "sarif", "covering"},
    "stress": INSIDE | {"harness", "bench"},
    "reporting": frozenset({"model", "reports", "entries", "traces"}),
    "trying": INSIDE | {"harness", "bench"},
    "exploring": INSIDE | {"harness", "bench", "quantities"},
    "consents": frozenset({"model", "settings"}),
    "check": INSIDE | {"harness", "consents", "entries"},
    "checking": INSIDE | {"harness", "check"},
    "init": frozenset({"model", "execution", "hosts", "loading", "places", "settings", "entries"}),
    "recorder": frozenset({"model", "reports"}),
    "recording": frozenset({"model", "hosts", "places", "settings", "entries", "replacing"}),
    "cli": INSIDE
    | {"harness", "bench", "fixtures", "entries", "__init__"}
    | {"traces", "reporting", "stress", "trying", "check", "init", "recording"}
    | {"quantities", "progress", "exploring", "covering"},
    "__main__": frozenset({"cli"}),
    "__init__": frozenset(),
}


def floor_of(part: str) -> str:
    """
    What the docstring of a part's modules must say.
    """
    if part in ("model", "imports"):
        return "Ground floor"
    if part in ROOMS:
        return "Middle floor"
    return "Upper floor" if part in UPPER else "Top floor"


@dataclass(frozen=True)
class Module:
    """
    One file of the package.

    Attributes:
        path: Its path below the package.
        source: Its text.
        siblings: The names of all modules of the package, dotted, without the package's own.
    """

    path: PurePath
    source: str
    siblings: frozenset[str]

    @property
    def part(self) -> str:
        return self.path.parts[0] if len(self.path.parts) > 1 else self.path.stem

    @property
    def name(self) -> str:
        return dotted(self.path)

    @cached_property
    def tree(self) -> ast.Module:
        return ast.parse(self.source)

    def imports(self) -> Iterator[tuple[int, str]]:
        """
        Line and name of every module of ours that is imported, in functions and behind conditions too.
        """
        folder = [PACKAGE, *self.path.parent.parts]
        for node in ast.walk(self.tree):
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
                    yield (
                        node.lineno,
                        rest if rest in self.siblings else rest.rpartition(".")[0] or "__init__",
                    )


def dotted(path: PurePath) -> str:
    """
    The name of a module from its path below the package.
    """
    parts = path.with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" and len(parts) > 1 else parts)


def upward(module: Module) -> Iterator[str]:
    """
    Imports that the floors do not allow.
    """
    for line, other in module.imports():
        part = other.partition(".")[0]
        if part != module.part and part not in MAY_IMPORT[module.part]:
            allowed = ", ".join(sorted(MAY_IMPORT[module.part])) or "nothing of ours"
            yield f"{module.path}:{line}: imports {other}; {module.part} may import {allowed}"


def hidden(module: Module) -> Iterator[str]:
    """
    Imports that cannot be read off an import statement. The face may: it fetches names when asked.
    """
    others = {
        id(call.func)
        for call in ast.walk(module.tree)
        if isinstance(call, ast.Call) and call.args and names_another_package(call.args[0])
    }
    for node in ast.walk(module.tree):
        name = getattr(node, "attr", getattr(node, "id", ""))
        if name in ("import_module", "__import__") and module.part != "__init__" and id(node) not in others:
            yield f"{module.path}: uses {name}; write an import statement"


def names_another_package(node: ast.expr) -> bool:
    """
    Whether an argument says in so many words that a package of somebody else is meant.
    """
    return isinstance(node, ast.Constant) and str(node.value).partition(".")[0] not in ("", PACKAGE)


def overlong(module: Module) -> Iterator[str]:
    """
    A file or a function that does not fit on its screen.
    """
    lines = len(module.source.splitlines())
    if lines > LINES_OF_FILE:
        yield f"{module.path}:1: has {lines} lines, at most {LINES_OF_FILE} for one concept"
    for node in ast.walk(module.tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            lines = (node.end_lineno or node.lineno) - node.lineno + 1
            if lines > LINES_OF_FUNCTION:
                where = f"{module.path}:{node.lineno}"
                yield f"{where}: {node.name} has {lines} lines, at most {LINES_OF_FUNCTION}"


def homeless(module: Module) -> Iterator[str]:
    """
    A docstring that does not say on which floor the module stands.
    """
    floor = floor_of(module.part)
    if floor not in (ast.get_docstring(module.tree) or ""):
        yield f"{module.path}:1: its docstring does not say {floor!r}"


def circles(modules: list[Module]) -> Iterator[str]:
    """
    Modules that import each other, once around; imports for type checkers and late ones count as well.
    """
    arrows = {module.name: {name for _, name in module.imports()} - {module.name} for module in modules}
    # What imports nothing that is left cannot be on a circle, nor can what nothing left imports.
    while True:
        aims = set().union(*arrows.values()) if arrows else set()
        loose = {name for name, targets in arrows.items() if not targets & arrows.keys() or name not in aims}
        if not loose:
            break
        arrows = {name: targets for name, targets in arrows.items() if name not in loose}
    if arrows:
        around = ", ".join(f"{name} -> {'/'.join(sorted(arrows[name] & arrows.keys()))}" for name in arrows)
        yield f"circle: {around}; a name that two modules need belongs on a floor below both"


def offences(root: Path) -> list[str]:
    """
    All that a package does against the rules.
    """
    files = sorted(path.relative_to(root) for path in root.rglob("*.py"))
    names = frozenset(dotted(path) for path in files)
    modules = [Module(path, (root / path).read_text(encoding="utf-8"), names) for path in files]
    known = [module for module in modules if module.part in MAY_IMPORT]
    strange = [
        f"{module.path}: has no floor; give {module.part!r} one here and in ARCHITECTURE.md"
        for module in modules
        if module.part not in MAY_IMPORT
    ]
    rules = (upward, hidden, overlong, homeless)
    found = [offence for module in known for rule in rules for offence in rule(module)]
    return list(dict.fromkeys([*strange, *found, *circles(modules)]))


def plant(root: Path, tree: Mapping[str, str]) -> Path:
    """
    Write a toy package.
    """
    for name, text in tree.items():
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).write_text(text)
    return root


def test_the_package_keeps_the_floors():
    """Arrows only point down, rooms do not know each other, and every module says where it stands."""
    found = offences(Path(pytest_hookharness.__path__[0]))

    assert not found, "\n" + "\n".join(found)


def test_every_breach_is_reported(tmp_path):
    """A tree that breaks each rule once has every breach reported with its file, and nothing else."""
    room, upper, top = ('"""Middle floor."""\n', '"""Upper floor."""\n', '"""Top floor."""\n')
    tree = {
        "model/up.py": '"""Ground floor."""\nfrom pytest_hookharness.hosts import profile\n',
        "hosts/sideways.py": room + "import pytest_hookharness.judging.judge\n",
        "judging/late.py": room + "def f():\n    from ..execution import runner\n",
        "agents/face.py": room + "import pytest_hookharness\n",
        "agents/face_again.py": room + "from pytest_hookharness import simulate\n",
        "reports/typing_only.py": room + "if TYPE_CHECKING:\n    from pytest_hookharness import hosts\n",
        "loading/by_name.py": room + 'importlib.import_module("pytest_hookharness.hosts")\n',
        "simulation.py": upper + "from pytest_hookharness import reports\n",
        "cli.py": top + "from pytest_hookharness.plugin import options\n",
        "utils.py": room,
        "hosts/silent.py": "",
        "hosts/wrong_floor.py": '"""Ground floor."""\n',
        "hosts/long_file.py": room + "x = 1\n" * LINES_OF_FILE,
        "hosts/long_function.py": room + "def long():\n" + "    pass\n" * LINES_OF_FUNCTION,
    }
    found = offences(plant(tmp_path, tree))

    assert sorted(offence.partition(":")[0] for offence in found) == sorted(tree)


def test_a_circle_is_reported(tmp_path):
    """Two modules that import each other are a circle, though one of them does it for type checkers only."""
    room = '"""Middle floor."""\n'
    tree = {
        "hosts/one.py": room + "from pytest_hookharness.hosts.two import b\n",
        "hosts/two.py": room + "if TYPE_CHECKING:\n    from pytest_hookharness.hosts.one import a\n",
        "hosts/beside.py": room + "from pytest_hookharness.hosts import one\n",
    }
    (found,) = offences(plant(tmp_path, tree))

    assert found.startswith("circle: hosts.one -> hosts.two, hosts.two -> hosts.one;")


def test_what_is_allowed_is_not_reported(tmp_path):
    """A tree that keeps the rules has nothing reported."""
    tree = {
        "model/moves.py": '"""Ground floor."""\n',
        "model/scenario.py": '"""Ground floor."""\nfrom pytest_hookharness.model.moves import Move\n',
        "hosts/profile.py": '"""Middle floor."""\nimport json\n',
        "hosts/session.py": '"""Middle floor."""\nfrom ..model import scenario\nfrom . import profile\n',
        "execution/late.py": '"""Middle floor."""\n__import__("subprocess")\n',
        "simulation.py": '"""Upper floor."""\nfrom pytest_hookharness.hosts.session import advance\n',
        "plugin.py": '"""Top floor."""\ndef f():\n    from pytest_hookharness import collection\n',
        "collection.py": '"""Top floor."""\nfrom pytest_hookharness import simulation\n',
    }

    assert offences(plant(tmp_path, tree)) == []
