"""
The files that hooks look for in the project and do not find: the state that makes a loop active.

They are taken from the text of the hooks and of what these load, and from what the kernel saw them look for.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Container, Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path, PurePosixPath

from pytest_hookharness.campaigns.arming.project_texts import files_by_path, read_text
from pytest_hookharness.campaigns.arming.state_contents import is_done_list
from pytest_hookharness.model.checkup import HookSet
from pytest_hookharness.model.fast_dataclass import dataclass
from pytest_hookharness.simulation.testbed.run_settings import SimulationError

_ENDS = r"json|md|markdown|ya?ml|toml|txt|state|lock|flag|local"
# A path in a shell script, perhaps after a variable; without an ending only in a folder whose name is hidden.
_IN_SHELL = re.compile(
    rf"(?<![\w.$}}/~*`<>-])(?:\$\{{?(?P<variable>\w+)(?::-[^}}\n]*\}})?\}}?/)?"
    rf"(?P<path>(?:\.?[\w-]+/)*\.?[\w-]+(?:\.[\w-]+)*\.(?:{_ENDS})|(?:\.[a-z][\w-]*/)(?:[\w.-]+/)*[\w-]+)"
    rf"(?![\w/*$.-])"
)
# Parts of a path in Python or JavaScript: text after text, or after a name.
_JOINED = re.compile(
    r"(?:\b(?P<name>[A-Za-z_]\w*)(?:\(\))?\s*[,/]\s*)?"
    r"(?P<parts>[\"'][\w.-]+(?:/[\w.-]+)*[\"'](?:\s*[,/]\s*[\"'][\w./-]+[\"'])*)"
)
# What stands before a path of which a shell script asks something, or which it keeps in a variable.
_ASKS = re.compile(
    r"=[\"']?(?:\$\{?\w+[^\s\"']*)?$|-[efsrd]\s+[\"']?$|\b(?:cat|jq|grep|sed|awk|head|tail|source|wc|stat|test)\b|<\s*[\"']?$"
)
# What Python and JavaScript assign, names of the project's folder, and what leads elsewhere.
_ASSIGNED = re.compile(
    r"^[ \t]*(?:export\s+)?(?:const\s+|let\s+|var\s+)?(\w+)(?:\s*:\s*\w+)?\s*=(?!=)([^\n]+)$", re.MULTILINE
)
_ROOTS = re.compile(r"cwd|proj|root|workspace|work_?dir|repo|directory|join|Path|resolve", re.IGNORECASE)
_NOT_PROJECT = re.compile(
    r"homedir|expanduser|Path\.home|PLUGIN_ROOT|pluginRoot|__dirname|__file__|import\.meta|tmpdir|gettempdir"
)
_ONLY_ENDING = re.compile(rf"|\.(?:{_ENDS}|tsx?|jsx?)")
_ENDING = re.compile(r"\w\.\w+$")
_TEXT = re.compile(r"[\"']([^\"']+)[\"']")
_LOADED = re.compile(
    r"[\w.-]+\.(?:sh|bash|py|js|mjs|cjs|ts)\b|(?:from|import)\s+([\w.]+)|require\([\"']([\w./-]+)[\"']\)"
)
_SOURCES = frozenset([".sh", ".bash", ".py", ".js", ".mjs", ".cjs", ".ts"])
# What hosts, programs and version control keep in a project, and what no state is called.
_OF_OTHERS = re.compile(
    r"(?:^|/)(?:\.git|node_modules|__pycache__|\.venv|venv|dist|build|\.github)(?:/|$)|"
    r"(?:^|/)(?:settings(?:\.local)?|hooks|plugin|marketplace|package(?:-lock)?|tsconfig|pyproject|poetry|Cargo"
    r"|composer|biome|deno|turbo|README|CHANGELOG|CLAUDE|AGENTS|GEMINI|SKILL|LICENSE|MEMORY)"
    r"\.(?:json|md|toml|lock|ya?ml|txt)$|\.(?:log|tmp|bak|lock|ipynb|test|jsonl)$|(?:^|/)requirements\b"
    r"|^(?:[A-Z]+_)?HEAD$",  # git looks for its own files where a script starts it
)
# The value of a variable that holds a folder, and variables with folders outside of the project.
_VALUE = re.compile(r"(?:\$\{?(?P<variable>\w+)(?::-[^}\n]*(?:\{[^}]*\})?[^}]*)?\}?)?(?P<folder>/?[\w./-]*)")
_ELSEWHERE = frozenset(["HOME", "TMPDIR", "SCRIPT_DIR", "HOOK_DIR", "XDG_STATE_HOME", "XDG_CONFIG_HOME"])
_LOADED_MOST, _MOST, _DEEPEST = 8, 10, 5


@dataclass(frozen=True, slots=True, kw_only=True)
class HookScript:
    """The text of a hook, with all that it loads from its own project or plugin."""

    name: str
    text: str


def scripts(hook_set: HookSet) -> list[HookScript]:
    """Return the scripts of the hooks, each with what it loads."""
    known = _files_by_name(hook_set.root)
    return [
        HookScript(name=name, text="\n".join(_with_loaded(hook_set.root / name, text, known)))
        for name, text in hook_set.sources
        if PurePosixPath(name).suffix in _SOURCES or text.startswith("#!")
    ]


def _files_by_name(root: Path) -> dict[str, Path]:
    found: dict[str, Path] = {}
    for path, file in files_by_path(root).items():
        if file.suffix in _SOURCES and path.count("/") < _DEEPEST and not _OF_OTHERS.search(path):
            found.setdefault(file.name, file)
            found.setdefault(file.stem, file)
    return found


def _with_loaded(file: Path, text: str, known: dict[str, Path]) -> Iterator[str]:
    """Yield the text of a script, and of the scripts that it names, and that they name."""
    seen, waiting = {file}, [text]
    while waiting and len(seen) <= _LOADED_MOST:
        text = waiting.pop(0)
        yield text
        for name in _named_in(text):
            path = known.get(name)
            if path is not None and path not in seen:
                seen.add(path)
                try:
                    waiting.append(read_text(path) or "")
                except SimulationError:
                    continue


@lru_cache(maxsize=256)
def _named_in(text: str) -> Sequence[str]:
    """Return the names of the files that a text may load."""
    found = (one[1].rpartition(".")[2] if one[1] else one[2] or one[0] for one in _LOADED.finditer(text))
    return [*dict.fromkeys(map(posixpath.basename, found))]


def looked_for(hook_set: HookSet, script: HookScript) -> list[str]:
    """
    Return the files that a hook looks for in the project and that are not there, the seen ones first.

    A list of tasks that has no open one, for which the hook looks, counts as not there.
    """
    named = _in_text(script)
    words = {posixpath.basename(path).partition("{{")[0] for path in named}
    seen = [path for path in hook_set.looked_for if _is_named(path, script.text, words)]
    paths = dict.fromkeys(
        path for path in (*seen, *named) if is_state(path) and _is_free(hook_set.root, path, script.text)
    )
    # A path that ends like a longer one is a part of it.
    whole = [path for path in paths if not any(other.endswith(f"/{path}") for other in paths)]
    return whole[:_MOST]


def _is_named(path: str, text: str, words: set[str]) -> bool:
    name = posixpath.basename(path)
    return name in words or name.partition("{{")[0].rstrip("-_.") in text


def _is_free(root: Path, path: str, source: str) -> bool:
    """Return whether a path may get a state: the project has no such file, or one whose tasks are done."""
    try:
        return not (root / path).exists() or is_done_list(path, read_text(root / path) or "", source)
    except (OSError, SimulationError):
        return False


def is_state(path: str) -> bool:
    """Return whether a path in a project may be a state of its hooks, and no file of others."""
    endings = any(_ONLY_ENDING.fullmatch(part) for part in path.split("/"))
    return not (endings or path.startswith(("..", "/", "~")) or _OF_OTHERS.search(path))


@lru_cache(maxsize=256)
def _in_text(script: HookScript) -> Sequence[str]:
    is_shell = PurePosixPath(script.name).suffix not in (".py", ".js", ".mjs", ".cjs", ".ts")
    return [*(_in_shell(script) if is_shell else _in_joined_parts(script.text))]


def _in_shell(script: HookScript) -> Iterator[str]:
    for match in _IN_SHELL.finditer(script.text):
        line = script.text[script.text.rfind("\n", 0, match.start()) + 1 : match.start()]
        if not line.lstrip().startswith("#") and _ASKS.search(line):
            folder = folder_of(match["variable"], script.text)
            path = posixpath.normpath(posixpath.join(folder, match["path"]))
            if "." in posixpath.basename(path) or _is_tested(path, match["path"], script.text):
                yield path


def _is_tested(path: str, written: str, text: str) -> bool:
    """Return whether a shell script asks for a file whose name has no ending, itself or by a variable."""
    names = re.findall(rf"\b(\w+)=[\"']?[^\s\"']*{re.escape(written)}[\"']?\s*$", text, re.MULTILINE)
    asked = [re.escape(posixpath.basename(path)), *(rf"\$\{{?{name}\}}?" for name in names)]
    return any(re.search(rf"-[efs]\s+[\"']?[^\s\"']*{word}[\"']?\s", text) for word in asked)


def folder_of(variable: str | None, text: str) -> str:
    """Return the folder in the project that a variable of a shell script names; ``..`` for one elsewhere."""
    folder = ""
    for _ in range(_DEEPEST):
        if variable is None:
            break
        if "PLUGIN" in variable or variable in _ELSEWHERE:
            return ".."
        assigned = re.findall(
            rf"(?<![\w$]){variable}=[\"']?(?!\$\(|`)([^\s\"'][^\n\"']*?)[\"']?\s*$", text, re.MULTILINE
        )
        value = _VALUE.fullmatch(assigned[0]) if assigned else None
        absolute = value is not None and value["folder"].startswith("/") and value["variable"] is None
        if value is None or absolute:
            # A path that is put together when the hook runs, or none that is known.
            return ".." if assigned else folder.strip("/")
        variable, folder = value["variable"], posixpath.join(value["folder"].lstrip("/"), folder)
    return folder.strip("/")


def _in_joined_parts(text: str) -> Iterator[str]:
    """Yield the paths in the project that Python or JavaScript join from parts, or write as one text."""
    folders = {name: _JOINED.search(value) for name, value in _ASSIGNED.findall(text)}
    elsewhere = {name for name, value in _ASSIGNED.findall(text) if _NOT_PROJECT.search(value)}
    for match in _JOINED.finditer(text):
        parts = _TEXT.findall(match["parts"])
        line = text[text.rfind("\n", 0, match.start()) + 1 : match.end()]
        head = "" if match["name"] is None else _resolved(match["name"], parts, folders, elsewhere)
        ends = re.search(rf"\.(?:{_ENDS})$", parts[-1]) and not any(_ENDING.search(one) for one in parts[:-1])
        if head is not None and ends and not _NOT_PROJECT.search(line):
            yield posixpath.normpath(posixpath.join(head, *parts))


def _resolved(
    name: str, parts: Sequence[str], folders: Mapping[str, re.Match[str] | None], elsewhere: Container[str]
) -> str | None:
    """Return the folder in the project that a name stands for; ``None`` if that is unknown or elsewhere."""
    path = ""
    for _ in range(_DEEPEST):
        match = folders.get(name)
        if name in elsewhere:
            return None
        if match is None:
            known = _ROOTS.search(name) or (path or parts[0]).startswith(".")
            return path if known else None
        path = posixpath.join(*_TEXT.findall(match["parts"]), path)
        if match["name"] is None:
            return path
        name = match["name"]
    return None
