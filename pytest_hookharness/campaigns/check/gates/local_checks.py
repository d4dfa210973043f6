"""
Checks that hooks start by a path in the project: programs of its environments, and scripts that it lacks.

Test doubles replace only commands on the PATH, so a script that fails or succeeds replaces such a check. For
`python -m pytest` it is `pytest.py` in the folder of the project: Python looks there first.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from pytest_hookharness.campaigns.arming.state_paths import looked_for, scripts
from pytest_hookharness.campaigns.check.shell_code.shell_scripts import shell_script_of
from pytest_hookharness.model.checkup import HookSet
from pytest_hookharness.model.protocol import Hook

_PROGRAM = (
    r"(?:pytest|ruff|mypy|pyright|black|flake8|tox|eslint|prettier|tsc|vitest|jest|biome|phpunit|phpstan|pint"
    r"|rspec|rubocop)"
)
_IN_FOLDER = re.compile(
    rf"(?<![\w.-])((?:\.?venv/bin|node_modules/\.bin|vendor/bin)/{_PROGRAM}|(?<=\./)(?:gradlew|mvnw))(?![\w/.-])"
)
_MODULES = ("pytest", "unittest", "ruff", "mypy", "pyright", "black", "flake8", "pylint", "tox", "nox")
# Python itself is no check: it may also run the hook.
_MODULE = re.compile(
    r"(?:\bpython[\d.]*|\bpy|\bsys\.executable|\$\{?PYTHON\w*\}?\"?|[\"']python[\d.]*[\"'])[\s,\"']+-m[\s,\"']+"
    rf"({'|'.join(_MODULES)})\b"
)
# The same path as strings that Python or JavaScript joins.
_JOINED = r"[\"']\s*[,/]\s*[\"']"
_IN_PARTS = re.compile(rf"[\"'](\.?venv|node_modules|vendor){_JOINED}(\.?bin){_JOINED}({_PROGRAM})[\"']")
_SCRIPT = re.compile(
    r"(?:^|[/_.-])(?:verify|validate|check|checks|test|tests|lint|quality|ci)(?:[_-][\w-]+)?"
    r"\.(sh|bash|py|mjs|cjs|js)$",
    re.IGNORECASE,
)
# By the extension of a script; programs have none.
_SOURCES = {
    "": "#!/bin/sh\necho {words!r}\nexit {status}\n",
    "py": "#!/usr/bin/env python3\nprint({words!r})\nraise SystemExit({status})\n",
    "js": "#!/usr/bin/env node\nconsole.log({words!r});\nprocess.exitCode = {status};\n",
}
_FAILS, _SUCCEEDS = ("1 check failed", 1), ("All checks passed", 0)


def local_checks(hook_set: HookSet, hooks: Sequence[Hook]) -> list[str]:
    """Return the paths of the checks that hooks start by path: programs, and scripts that are missing."""
    found = [path for text in hook_set.code_of(*hooks) for path in _programs(text)]
    own = {path for hook in hooks for path, _ in hook_set.sources_of(hook)}
    for script in scripts(hook_set):
        if script.name in own:
            found += [path for path in looked_for(hook_set, script) if _SCRIPT.search(path)]
    return [*dict.fromkeys(found)]


def stand_in(path: str, *, fails: bool) -> str:
    """Return the text of a script that replaces a check of the project."""
    extension = path.rpartition("/")[2].rpartition(".")[2]
    kind = "js" if extension in ("mjs", "js", "cjs") else extension
    words, status = _FAILS if fails else _SUCCEEDS
    return _SOURCES.get(kind, _SOURCES[""]).format(words=words, status=status)


def failing_stand_ins(files: Mapping[str, str]) -> list[str]:
    """Return the paths of the scripts that replace checks and fail."""
    return [path for path, text in files.items() if text == stand_in(path, fails=True)]


def is_of_module(path: str) -> bool:
    """Return whether a path is the test double of a module that is run with `python -m`."""
    return path.endswith(".py") and path.removesuffix(".py") in _MODULES


def words_for(path: str) -> str:
    """Return how a hook starts the check that a path replaces, in words."""
    return f"python -m {path.removesuffix('.py')}" if is_of_module(path) else path


def _programs(text: str) -> Iterator[str]:
    yield from _IN_FOLDER.findall(text)
    script = shell_script_of(text)
    for found in _MODULE.finditer(text):
        # A shell only starts what is code, and not what a comment or a message says.
        if script is None or script.is_code(found.start(1)):
            yield f"{found[1]}.py"
    yield from ("/".join(parts) for parts in _IN_PARTS.findall(text))
