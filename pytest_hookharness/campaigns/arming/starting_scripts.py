"""
Scripts of a project that start a loop: they write the file that a hook looks for.

A command, a skill or a README tells a person or a model to run them, each in words of its own, so the scripts
are found by what they write and by their names. Several are run in the order in which a person would.
"""

from __future__ import annotations

import posixpath
import re
import shlex
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from pytest_hookharness.campaigns.arming.project_texts import files_by_path, is_small, read_known_text
from pytest_hookharness.campaigns.arming.state_names import TASK
from pytest_hookharness.campaigns.arming.state_paths import HookScript, looked_for, scripts
from pytest_hookharness.model.checkup import HookSet
from pytest_hookharness.model.fast_dataclass import replace

# The program that runs a script, by its suffix.
_RUNNERS = {".sh": "bash", ".bash": "bash", ".py": "python3", ".js": "node", ".mjs": "node", ".cjs": "node"}
# Names of scripts that begin something, those first that others need; and of scripts that do not.
_STEPS = (
    re.compile(r"(?<![a-z])(?:init\w*|set-?up|create|new)(?![a-z])", re.IGNORECASE),
    re.compile(r"(?<![a-z])(?:add|enqueue|queue)(?![a-z])", re.IGNORECASE),
    re.compile(r"(?<![a-z])(?:start|begin|activate|enable|enter|arm)(?![a-z])", re.IGNORECASE),
)
_OTHERS = re.compile(
    r"(?<![a-z])(?:stop|cancel|end|status|remove|reset|clear|clean|delete|update|install|uninstall|deploy|release"
    r"|publish|test|tests|check|validate|verify|lint|format|build|hook|help|show|list|edit|archive|migrate|bench"
    r"|disable|deactivate|pause|ci|e2e|session[-_]?start|bootstrap|benchmark|telemetry)(?![a-z])",
    re.IGNORECASE,
)
_NOT_SHIPPED = re.compile(r"(?:^|/)(?:tests?|__tests__|examples?|fixtures|dist|vendor|docs|\.github|evals?)/")
_WRITES = re.compile(
    r"(?<![<>&\d=-])>{1,2}\s*[\"']?\$?[\w{./]|\btouch\s|\btee\s|\bwriteFile|\.write_text\(|\bjson\.dump\("
    r"|\bopen\([^)\n]*[\"'][wa]"
)
# The name of a state file, with any variable or star in it.
_NAME = re.compile(r"[\w.${}*-]*[\w}*-]\.(?:json|md|ya?ml|txt|state|flag|local|lock|active)(?![\w-])")
_VARIABLE = re.compile(r"\$?\{[^{}\n]*\}|\$\w+|\*")
_TAKES_WORDS = re.compile(r"\$(?:\{?[1@*]|ARGUMENTS)|argv\b|argparse|parseArgs")
# The step that needs another one.
_FURTHER = 1
_LARGEST, _MOST = 1 << 16, 3


def starting_command(hook_set: HookSet) -> str:
    """Return the shell command that runs the scripts which start loops of the hooks; empty for none."""
    own = scripts(hook_set)
    hooks = {name for name, _ in hook_set.sources}
    found = [
        (step, path, text)
        for path, file in files_by_path(hook_set.root).items()
        for step in [_step(path)]
        if step is not None and path not in hooks
        for text in [_text(file)]
        if _WRITES.search(text) and any(_names_state(hook_set, script, text) for script in own)
    ]
    # The same script in several folders is one in several languages.
    unique = {posixpath.basename(one[1]): one for one in sorted(found, key=lambda one: -len(one[1]))}
    chosen = sorted(unique.values(), key=lambda one: one[:2])[-_MOST:]
    if all(step == _FURTHER for step, _, _ in chosen):
        return ""
    return "; ".join(_command(hook_set, path, text) for _, path, text in chosen)


def _names_state(hook_set: HookSet, script: HookScript, text: str) -> bool:
    """Return whether a text names a file that a hook looks for; the hook may name the script in a message."""
    hook = replace(script, text=script.text.replace(text, ""))
    wanted = {posixpath.basename(path) for path in looked_for(hook_set, hook)}
    wanted |= {name for name in _file_names(hook.text) if "*" in name}
    return not wanted.isdisjoint(_file_names(text))


def _step(path: str) -> int | None:
    """Return the place of a script among those that start a loop; ``None`` by its name if it starts none."""
    name = posixpath.basename(path)
    stem = PurePosixPath(name).stem
    if PurePosixPath(name).suffix not in _RUNNERS or _NOT_SHIPPED.search(path) or _OTHERS.search(stem):
        return None
    return next((place for place, words in reversed([*enumerate(_STEPS)]) if words.search(stem)), None)


def _text(file: Path) -> str:
    return read_known_text(file) if is_small(file, _LARGEST) else ""


def _file_names(text: str) -> Iterator[str]:
    """Yield the names of files in a text, with a star for what is filled in."""
    for found in _NAME.findall(text):
        name = _VARIABLE.sub("*", posixpath.basename(found))
        # A name of a variable alone says nothing.
        if re.search(r"\w{3}", name.partition(".")[0] or name):
            yield name


def _command(hook_set: HookSet, path: str, text: str) -> str:
    # The copies of project and plugin lie side by side.
    place = posixpath.join("../plugin", path) if hook_set.plugin else path
    words = [_RUNNERS[PurePosixPath(path).suffix], place, *([TASK] if _TAKES_WORDS.search(text) else [])]
    return shlex.join(words)
