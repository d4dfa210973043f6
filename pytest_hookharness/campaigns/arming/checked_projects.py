"""
Files of a project without which hooks run no check: a package.json with scripts, a Cargo.toml, a Makefile.

They are named as a hook's source names them, and have the scripts or targets that it asks for. A file that
the project has is left as it is.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping, Sequence

from pytest_hookharness.model.checkup import HookSet
from pytest_hookharness.model.fast_dataclass import dataclass

# Names that projects give to scripts and targets which check them.
_KINDS = (
    r"test|lint|build|check|typecheck|type-check|types|tsc|format|fmt|verify|validate|ci|coverage|e2e|quality"
)
_RUNS = r"npm|pnpm|yarn|bun|npm run|pnpm run|yarn run|bun run|run-script|make"
_NAME = rf"(?:{_KINDS})(?:[:_-][\w:-]+)?"
# As a text of its own, after what runs it, as a key, or in a word that is searched in the file.
_NAMED = re.compile(
    rf"(?<!\w)[\"'`]\\?[\"']?(?P<text>{_NAME})\\?[\"']?[\"'`]"
    rf"|\b(?:{_RUNS})[ \t]+(?P<run>{_NAME})(?![\w:-])"
    rf"|\bscripts\??\.(?P<key>{_NAME})(?!\w)|\^(?P<target>{_NAME}):"
)
_COMMENT = re.compile(r"^[ \t]*(?:#|//)[^\n]*", re.MULTILINE)
_CHECKERS = ("eslint", "prettier", "typescript", "vitest", "jest", "biome")
_PLAIN: Mapping[str, str] = {
    "Cargo.toml": '[package]\nname = "project"\nversion = "0.1.0"\nedition = "2021"\n',
    "go.mod": "module example.com/project\n\ngo 1.22\n",
    "tsconfig.json": '{"compilerOptions": {"strict": true}}\n',
    "pyproject.toml": (
        '[project]\nname = "project"\nversion = "0.1.0"\n\n[tool.ruff]\n\n[tool.mypy]\n\n'
        "[tool.pytest.ini_options]\n"
    ),
}
# The programs that check a project with such a file, and the kind of source files in it.
_OF_NODE = frozenset({
    "npm", "pnpm", "yarn", "npx", "pnpx", "bun", "bunx", "tsc", "eslint", "biome", "prettier", "vitest",
    "jest", "turbo", "nx",
})  # fmt: skip
_OF_PYTHON = frozenset({
    "pytest", "ruff", "mypy", "pyright", "flake8", "black", "uv", "uvx", "poetry", "tox", "nox", "pre-commit",
})  # fmt: skip
_PROGRAMS: Mapping[str, tuple[frozenset[str], str]] = {
    "package.json": (_OF_NODE, "ts"),
    "tsconfig.json": (_OF_NODE, "ts"),
    "pyproject.toml": (_OF_PYTHON, "py"),
    "Cargo.toml": (frozenset({"cargo"}), "rs"),
    "go.mod": (frozenset({"go", "gofmt", "golangci-lint"}), "go"),
    "Makefile": (frozenset({"make"}), "c"),
}
_PACKAGE, _MAKEFILE = "package.json", "Makefile"


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedProject:
    """The files that hooks need before they check a project, also in words, and the suffixes of sources."""

    files: Mapping[str, str]
    words: str
    kinds: tuple[str, ...]


def project_for_checks(hook_set: HookSet, texts: Sequence[str], programs: Collection[str]) -> CheckedProject:
    """
    Return the files that sources of hooks name and that the project lacks.

    Only files of programs with test doubles are included: other files would start the real programs.
    """
    code = _COMMENT.sub("", "\n".join(texts))
    names = sorted({next(filter(None, found.groups())) for found in _NAMED.finditer(code)})
    named = [
        name for name in (_PACKAGE, _MAKEFILE, *_PLAIN) if re.search(rf"(?<![\w-]){re.escape(name)}\b", code)
    ]
    checked = [name for name in named if not _PROGRAMS[name][0].isdisjoint(programs)]
    # A plugin is used in projects of any kind.
    missing = [name for name in checked if hook_set.plugin or not (hook_set.root / name).exists()]
    files, words = dict[str, str](), list[str]()
    for name in missing:
        if name in _PLAIN:
            files[name] = _PLAIN[name]
            words.append(f"a {name}")
        elif names:
            files[name] = _package(names, code) if name == _PACKAGE else _makefile(names)
            kind = "scripts" if name == _PACKAGE else "targets"
            words.append(f"a {name} with the {kind} {', '.join(names)}")
    kinds = tuple(dict.fromkeys(_PROGRAMS[name][1] for name in files))
    return CheckedProject(files=files, words=" and ".join(words), kinds=kinds)


def _package(names: Sequence[str], code: str) -> str:
    programs = {name: "*" for name in _CHECKERS if name in code}
    package = {
        "name": "project",
        "scripts": {name: f"check-project {name}" for name in names},
        "devDependencies": programs,
    }
    return f"{json.dumps(package, indent=2)}\n"


def _makefile(names: Sequence[str]) -> str:
    return "".join(f"{name}:\n\tcheck-project {name}\n\n" for name in names)
