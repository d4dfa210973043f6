"""Edits that match the patterns in the scripts of guards, by the path of the file or by what is written."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Container, Iterator, Sequence
from dataclasses import replace

from pytest_hookharness.campaigns.arming.project_texts import files_by_path, read_known_text
from pytest_hookharness.campaigns.guards.named_commands import GuardTexts
from pytest_hookharness.campaigns.guards.pattern_texts import globs, texts_of
from pytest_hookharness.campaigns.guards.watched_moves import is_asked_before, watched
from pytest_hookharness.model.checkup import HookSet
from pytest_hookharness.model.moves import Edit
from pytest_hookharness.reports.redaction import has_secrets

# Code that reads the text which a tool writes.
_WRITTEN = re.compile(
    r"\bcontent\b|new_string|file_text|new_str\b|\bpatch\b|strings|\binput\b", re.IGNORECASE
)
_TEXT = r"""r?(?:'([^'\n]+)'|"([^"\n]+)")"""
# Strings that a script looks for in a text, and regular expressions that it matches.
_WORDS = re.compile(rf"\.(?:includes|startsWith|endsWith|startswith|endswith)\(\s*{_TEXT}|{_TEXT}\s+in\s+\w")
_COMPARED = re.compile(
    rf"\b[ef]?grep\b(?:\s+-{{1,2}}[\w-]+)*\s+{_TEXT}"
    rf"|\bre\.(?:search|match|fullmatch|compile|findall)\(\s*{_TEXT}"
    r"|=~\s+([^\s\"'$][^\n]*?)\s+\]\]"
    r"|/((?:[^/\\\n]|\\.)+)/[gimsuy]*\.test\("
)
_OF_SHELL = re.compile(r"#!\s*\S*(?:/|\benv )(?:ba|da|z|k)?sh\b")
_SUFFIXES = (
    r"(?:pyi?|tsx?|jsx?|mjs|cjs|go|rs|rb|java|kts?|php|swift|cs|sh|vue|sql|md|pem|key|p12|jks|json|ya?ml|toml|lock"
    r"|mod|sum|xml|cfg|ini|conf|properties|gradle|txt|csv|env|tf|proto|ipynb)"
)
# A path with a folder, a name with a usual end, and a name that begins with a dot.
_PATH = re.compile(rf"(?:[\w.@-]+/)+[\w.@-]*|[\w.-]*\.{_SUFFIXES}|\.[a-z][\w.-]+")
# Paths that are not edited: system folders, and those of Git and of the agents, where the hooks are.
_ELSEWHERE = re.compile(
    r"^(?:tmp|dev|usr|bin|etc|proc|var|home|root|opt|sys)(?:/|$)|\.git(?:/|$)|node_modules/"
    r"|(?:^|/)\.(?:claude|codex|cursor|gemini|qwen|github)(?:/|$)|https?:|\.\.|[A-Z]{2,}[A-Z_]*/"
)
# Input keys, constants, options and very short strings: nothing to write.
_NO_CONTENT = re.compile(r"tool_|session_id|^[A-Z_]+$|transcript|^\W*\w{0,2}\W*$|^-|[^\x20-\x7e]")
# A name that is only a suffix, such as `.py` or `.test.ts`.
_KIND = re.compile(rf"\.(?:(?:test|spec|d|stories)\.)?{_SUFFIXES}")
_SUFFIX = re.compile(r"\.(?:py|tsx?|jsx?|go|rs|rb|java|kt|php|swift|cs|vue|sql)\b")
_MOST, _MOST_PATHS, _MOST_ALONE, _MOST_LINES, _LONGEST = 20, 4, 6, 16, 160
_LONGEST_LINE = 500
# A sample edit, by which the hooks that run for edits are found.
_ANY = Edit(file="src/sample.py", text="text\n")
_PLAIN = "text\n"


def named_edits(hook_set: HookSet, guards: GuardTexts) -> Iterator[Edit]:
    """
    Yield edits that the patterns in guards may match.

    Files whose paths match are written with plain text, and with texts that match other patterns. The first
    such file of the project gets these texts appended. Playing the session shows which edits a hook refuses.
    """
    own = {name for name, _ in hook_set.sources}
    own |= {path.relative_to(hook_set.root).as_posix() for path in guards.loaded}
    found = (edit for source in _sources(hook_set, guards) for edit in _edits_for(hook_set, own, source))
    yield from [*dict.fromkeys(found)][:_MOST]


def _sources(hook_set: HookSet, guards: GuardTexts) -> Iterator[str]:
    """Yield the command and scripts of each hook that runs before edits, then the files that guards load."""
    for hook in hook_set.hooks:
        if is_asked_before(hook_set.host, hook.event) and watched(replace(hook_set, hooks=(hook,)), _ANY):
            yield from (hook.command, *hook_set.scripts_of(hook))
    yield from guards.loaded.values()


def _edits_for(hook_set: HookSet, own: Container[str], source: str) -> Iterator[Edit]:
    """Yield the edits for one script; ``own`` are the files of the guards themselves."""
    suffix = _suffix_of(source)
    path_of = {text: _path_of(text, suffix) for text in _compared(source)}
    paths = [path for path in dict.fromkeys(path_of.values()) if path and path not in own]
    lines = [text for text, path in path_of.items() if not path and _is_content(text)][:_MOST_LINES]
    content = "".join(f"{line}\n" for line in lines) if _WRITTEN.search(source) else ""
    for path in paths[:_MOST_PATHS]:
        yield Edit(file=path, text=_PLAIN)
        if content:
            yield Edit(file=path, text=content)
    if content:
        # Each line alone first, so that a refusal shows which line caused it.
        for text in (*(f"{line}\n" for line in lines[:_MOST_ALONE]), content):
            yield Edit(file=f"src/sample{suffix}", text=text)
        fitting = (file for file in files_by_path(hook_set.root) if paths and _fits(file, paths))
        file = next((file for file in fitting if file not in own and not _ELSEWHERE.search(file)), "")
        if file and (text := _read(hook_set, file)):
            yield Edit(file=file, text=f"{text}\n{content}")


def _compared(source: str) -> Iterator[str]:
    """Yield samples that match the patterns in a script."""
    # Matching takes long on a line that no person wrote.
    source = "\n".join(line for line in source.split("\n") if len(line) <= _LONGEST_LINE)
    for found in _COMPARED.findall(source):
        pattern = next(filter(None, found))
        yield from texts_of(pattern) if len(pattern) <= _LONGEST else ()
    yield from (next(filter(None, found)) for found in _WORDS.findall(source))
    yield from globs(source) if _OF_SHELL.match(source) else ()


def _path_of(text: str, suffix: str) -> str:
    """Return a text as a file path, with a missing name or suffix added; empty if it is no path."""
    text = text.strip().replace(" ", "x").lstrip("/")
    if not _PATH.fullmatch(text) or _ELSEWHERE.search(text):
        return ""
    folder, name = posixpath.split(text)
    if name.endswith("."):
        name = f"{name}{suffix[1:]}"
    if _KIND.fullmatch(name):
        folder, name = folder or "src", f"x{name}"
    return posixpath.join(folder, name or f"x{suffix}") if folder or "." in name else ""


def _is_content(text: str) -> bool:
    return 2 < len(text) <= _LONGEST and not _NO_CONTENT.search(text)


def _suffix_of(source: str) -> str:
    found = _SUFFIX.search(source)
    return found[0] if found else ".js" if "process." in source else ".py"


def _fits(file: str, paths: Sequence[str]) -> bool:
    """Return whether a file has the suffix of one of the paths, and lies in the folders that it names."""
    return any(
        posixpath.splitext(file)[1] == posixpath.splitext(path)[1] != ""
        and {*path.split("/")[:-1]} - {"x"} <= {*file.split("/")[:-1], "src"}
        for path in paths
    )


def _read(hook_set: HookSet, file: str) -> str:
    """Return the text of a file of the project; empty for one that may hold secrets or cannot be read."""
    text = read_known_text(hook_set.root / file)
    return "" if has_secrets(text) or posixpath.basename(file).startswith(".env") else text
