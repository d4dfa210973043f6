"""
Scripts beside the hooks of a project that say which hook they are, and that nothing starts.

Only a script counts whose first comment names an event of the host, or says that it is a hook whose answers
name the event, and whose name stands in no settings, script or other program of the project, except in its
tests and documents. A document that shows settings with it leaves the choice to each person.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from pytest_hookharness import hosts
from pytest_hookharness.campaigns.arming.project_texts import files_by_path, is_small, read_known_text
from pytest_hookharness.model.checkup import HookSet

_SCRIPTS = frozenset([".sh", ".bash", ".py", ".js", ".mjs", ".cjs"])
_DOCUMENTS = frozenset([".md", ".mdx", ".rst", ".txt", ".adoc", ".html"])
_OF_TESTS = re.compile(
    r"(?:^|[/_.-])(?:tests?|spec|examples?|templates?|fixtures?)(?:[/_.-]|$)", re.IGNORECASE
)
# A document that tells a model or a host to start a script.
_TOLD = re.compile(r"(?:^|/)(?:commands|agents|skills|prompts|workflows)/", re.IGNORECASE)
# The first comment of a script: of a shell, of Python and of JavaScript.
_COMMENT = re.compile(
    r"\A(?:#!.*\n)?\s*(?:/\*[\s\S]*?\*/|(?:#.*\n\s*)*(?:\"\"\"[\s\S]*?\"\"\"|'''[\s\S]*?''')"
    r"|(?:#.*\n|//.*\n|[ \t]*\n)+)"
)
# Code that starts files with composed names, or all files of a folder.
_LAUNCHES = re.compile(
    r"[\w/-]\*\.(?:sh|bash|py)\b|\$\{?\w+\}?\.(?:sh|bash|py)\b|\bfor\b[^\n]*\*\.m?js|%~?1|import_module"
    r"|argv\[[^\]\n]*\][^\n]*\.m?js"
)
_OFFERS = r"[\"']?command[\"']?\s*[:=][^\n]*(?<![\w-]){0}(?![\w-])"
_INSTALLS = re.compile(r"(?:^|[/_-])(?:install|setup|init)", re.IGNORECASE)
# What a script is that is no hook of this project and host by itself.
_OF_OTHERS = re.compile(
    r"helper|shared|\blib|common|used by|called by|sourced|\bnot an?\b|optional|copilot|cursor|codex|gemini"
    r"|qwen|~/\.|deprecated|disabled|unused|obsolete|legacy|\benable|opt[- ]in|your (?:own )?settings|install"
    r"|settings\.local|pre-commit|husky|\bgit hook|\badd (?:it|this)\b",
    re.IGNORECASE,
)
_WORD = re.compile(r"[A-Z]?[a-z]+")
# The event that an answer of a script names.
_ANSWERED = re.compile(r"[\"']?hookEventName[\"']?\s*:\s*[\"'](\w+)[\"']")
_MOST, _MOST_LINES, _LARGEST = 5000, 12, 1 << 17


def unwired_hooks(hook_set: HookSet) -> Iterator[tuple[str, str, str]]:
    """Yield the paths of such scripts, the event of each, and a document that names it or nothing."""
    known = {name for name, _ in hook_set.sources}
    folders = {str(PurePosixPath(name).parent) for name in known}
    files = files_by_path(hook_set.root)
    found = {
        name: event
        for name, path in files.items()
        if path.suffix in _SCRIPTS and name not in known and not _OF_TESTS.search(name)
        if str(PurePosixPath(name).parent) in folders - {"."} and (event := _event(hook_set.host, path))
    }
    if not found or len(files) > _MOST:
        return
    texts = {name: _read(path) for name, path in files.items()}
    texts[""] = "\n".join(" ".join(hook.words) for hook in hook_set.hooks)
    # The texts of scripts beside the hooks, and of scripts that install them.
    beside = (
        text
        for other, text in texts.items()
        if not _is_document(other, text)
        and (not other or str(PurePosixPath(other).parent) in folders or _INSTALLS.search(other))
    )
    if any(_LAUNCHES.search(text) for text in beside):
        return
    for name, event in found.items():
        script = PurePosixPath(name)
        # A launcher or an import may know it without its ending.
        starts = re.compile(rf"(?<![\w-]){re.escape(script.stem)}(?![\w-])")
        named = [
            other
            for other, text in texts.items()
            if other != name and script.stem in text and starts.search(text)
        ]
        documents = [other for other in named if _is_document(other, texts[other])]
        offers = re.compile(_OFFERS.format(re.escape(script.name)))
        if any(offers.search(texts[other]) for other in documents):
            continue
        if not any(other not in documents and not _OF_TESTS.search(other) for other in named):
            yield name, event, min(documents, key=lambda one: (one.count("/"), one), default="")


def _event(host: str, path: Path) -> str:
    """Return the event of the host that the first comment of a script, or its answer, names as its own."""
    text, events = _read(path), hosts.find(host).events
    comment = _COMMENT.match(text)
    lines = "\n".join(comment[0].splitlines()[:_MOST_LINES]) if comment else ""
    if comment is None or _OF_OTHERS.search(comment[0]):
        return ""
    for event in events:
        words = _WORD.findall(event)
        # A single word, such as Stop, may be no name.
        spelled = "[ -]?".join(words) if len(words) > 1 else event
        ignored = re.IGNORECASE if len(words) > 1 else 0
        near = r"[^\n]{0,20}\b"
        if re.search(rf"\b{spelled}\b{near}[Hh]ook\b|\b[Hh]ook\b{near}{spelled}\b", lines, ignored):
            return event
    answered = {*_ANSWERED.findall(text)} if re.search(r"\b[Hh]ook\b", lines) else set[str]()
    return next(iter(answered)) if len(answered) == 1 and answered <= {*events} else ""


def _is_document(name: str, text: str) -> bool:
    return PurePosixPath(name).suffix in _DOCUMENTS and not (_TOLD.search(name) or text.startswith("---\n"))


def _read(path: Path) -> str:
    return read_known_text(path) if is_small(path, _LARGEST) else ""
