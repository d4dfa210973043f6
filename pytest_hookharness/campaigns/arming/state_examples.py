"""
Examples of files in the documents of a project: what its commands, skills and agents tell a model to write.

An example is a fenced block or a piece of code near the path of a file, a shell command that writes one, or a
list such as ``active=true, task=""`` behind a path.
"""

from __future__ import annotations

import itertools
import json
import posixpath
import re
import textwrap
from collections.abc import Iterator, Sequence
from pathlib import Path

from pytest_hookharness.campaigns.arming.project_texts import is_small, project_files, read_text
from pytest_hookharness.model.checkup import HookSet
from pytest_hookharness.model.fast_dataclass import dataclass, replace
from pytest_hookharness.simulation.testbed.run_settings import SimulationError

_FENCED = re.compile(
    r"^[ \t]*(?P<fence>```+|~~~+)[ \t]*(?P<language>[\w+-]*)[^\n]*\n(?P<body>.*?)^[ \t]*(?P=fence)[ \t]*$",
    re.MULTILINE | re.DOTALL,
)
# A path with an ending, perhaps after a variable or a placeholder.
_PATH = re.compile(
    r"(?<![\w$@:])(?:\$\{?\w+\}?/|\{[\w ]+\}/|<[\w -]+>/|\./)?"
    r"((?:\.?[\w-]+/)*\.?[\w-]+(?:\.[\w-]+)+)(?![\w/])"
)
_WRITES = re.compile(
    r"\b(?:creat|writ|initiali[sz]|save|saving|stor|add|set ?up|touch|locat|format|state file|exampl|contain"
    r"|content|update|generate|output)",
    re.IGNORECASE,
)
_ENDS_IT = re.compile(
    r"\b(?:cancel|delete|remov|stopped|pause|done\b|complete|archive|finish|reset)", re.IGNORECASE
)
_WORD = r"[\"']?(?P<word>\w+)[\"']?"
_TO = r"[\"']?(?P<path>[^\s\"'<>|;&]+)[\"']?"
_HEREDOCS = tuple(
    re.compile(rf"{begin}[^\n]*\n(?P<body>.*?)^[ \t]*(?P=word)[ \t]*$", re.MULTILINE | re.DOTALL)
    for begin in (rf"\b(?:cat|tee)\b[ \t]*>?\s*{_TO}[ \t]*<<-?\s*{_WORD}", rf"<<-?\s*{_WORD}\s*>\s*{_TO}")
)
_ECHO = re.compile(
    rf"\b(?:echo|printf)\s+(?:-[ne]\s+)?(?P<quote>[\"'])(?P<body>[^\n]*?)(?P=quote)\s*>\s*{_TO}"
)
_TOUCH = re.compile(r"\btouch\s+[\"'`]?(?P<path>[^\s\"'`|;&]+)")
# The parts of a sentence about a file: code, pairs, or a list of keys below it.
_CODE = re.compile(r"`(\{[^`\n]*\}|[\w-]+:[ ][^`\n]+)`")
_LISTED = re.compile(r"\b([a-z]\w*)\s*=\s*(\"[^\"]*\"|\{\}|\[\]|[\w.-]+)")
_ITEM = re.compile(r"\s*[-*]\s+[`*]*([A-Za-z_]\w*)[`*]*\s*[:=]\s*`?([^`\n(\u2014]*[^`\n(\u2014\s])`?")
_KEY = re.compile(r"(?:^|[\s\"'{,-])([A-Za-z_][\w-]*)[\"']?\s*:")
_SHELLS = frozenset(("bash", "sh", "shell", "zsh", "console"))
_DOCUMENTS = frozenset((".md", ".mdc", ".sh"))
_FIRST = ("commands", "skills", "agents", "prompts", "rules", "README.md", "readme.md")
_NO_DOCUMENTS = re.compile(r"(?:^|/)(?:tests?|__tests__|CHANGELOG\.md|dist|vendor|plans)(?:/|$)")
_BEFORE, _LARGEST, _MOST, _LONGEST = 700, 1 << 17, 80, 6000
_FEW = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """
    An example of a file.

    Attributes:
        path: Its path, as far as the text names one; empty if it stands alone.
        text: The example, with its placeholders.
        source: The document, by its path in the project.
        ending: Whether the words before it are about the end of something.
    """

    path: str
    text: str
    source: str
    ending: bool = False
    keys: frozenset[str] = frozenset()


def examples(hook_set: HookSet) -> list[Example]:
    """Return the examples in all documents and scripts of a project, those of commands first."""
    found = [one for file in _documents(hook_set.root) for one in _in_document(hook_set.root, file)]
    return [
        replace(one, keys=frozenset(_KEY.findall(one.text))) for one in found if one.text.strip() or one.path
    ]


def _documents(root: Path) -> list[Path]:
    def rank(file: Path) -> tuple[int, str]:
        parts = file.relative_to(root).parts
        places = [_FIRST.index(part) for part in parts if part in _FIRST]
        return min(places, default=len(_FIRST)), str(file)

    found = (file for file in project_files(root) if file.suffix in _DOCUMENTS)
    kept = [file for file in found if not _NO_DOCUMENTS.search(str(file.relative_to(root)))]
    return [file for file in sorted(kept, key=rank)[:_MOST] if is_small(file, _LARGEST)]


def _in_document(root: Path, file: Path) -> Iterator[Example]:
    try:
        text = read_text(file) or ""
    except SimulationError:
        return
    source = str(file.relative_to(root))
    if file.suffix == ".sh":
        yield from _in_shell(text, source)
        return
    for block in _FENCED.finditer(text):
        body = textwrap.dedent(block["body"])
        if block["language"] in _SHELLS:
            yield from _in_shell(body, source)
        elif len(body) <= _LONGEST:
            yield from _in_block(text, block.start(), body, source)
    lines = _FENCED.sub("\n", text).splitlines()
    for number, line in enumerate(lines):
        below = itertools.takewhile(lambda each: each is not None, map(_ITEM.match, lines[number + 1 :]))
        yield from _in_line(line, source, [(each[1], each[2]) for each in below if each is not None])


def _in_block(text: str, begin: int, body: str, source: str) -> Iterator[Example]:
    """Yield a fenced block with the nearest path before it, or with that of its first line."""
    before = text[max(0, begin - _BEFORE) : begin]
    before = before[before.rfind("\n```") + 1 :] if "\n```" in before else before
    paths = [*_PATH.finditer(before)]
    last = before.rstrip().rpartition("\n")[2]
    ending = bool(_ENDS_IT.search(last)) and not _WRITES.search(last)
    named = re.match(r"(?:#|//|<!--)\s*`?([\w./-]+\.\w+)", body)
    if named:
        yield Example(path=_plain(named[1]), text=body.partition("\n")[2], source=source, ending=ending)
    for path in dict.fromkeys(_plain(match[1]) for match in paths[::-1][:_FEW]):
        yield Example(path=path, text=body, source=source, ending=ending)
    yield Example(path="", text=body, source=source, ending=ending)


def _in_shell(text: str, source: str) -> Iterator[Example]:
    for match in itertools.chain.from_iterable(pattern.finditer(text) for pattern in _HEREDOCS):
        if len(match["body"]) <= _LONGEST:
            yield Example(path=_plain(match["path"]), text=textwrap.dedent(match["body"]), source=source)
    for match in _ECHO.finditer(text):
        yield Example(path=_plain(match["path"]), text=f"{match['body']}\n", source=source)
    for match in _TOUCH.finditer(text):
        yield Example(path=_plain(match["path"]), text="", source=source)


def _in_line(line: str, source: str, below: Sequence[tuple[str, str]]) -> Iterator[Example]:
    """Yield what a sentence says of a file, with the list of keys and values below it."""
    paths = [*_PATH.finditer(line)]
    if not paths or not _WRITES.search(line):
        return
    for number, match in enumerate(paths):
        last = number + 1 == len(paths)
        rest = line[match.end() : None if last else paths[number + 1].start()]
        pairs, codes = _LISTED.findall(rest) or (below if last else ()), _CODE.findall(rest)
        path, ending = _plain(match[1]), bool(_ENDS_IT.search(line))
        if pairs or codes:
            text = _written(path, pairs) if pairs else "\n".join(codes)
            yield Example(path=path, text=text, source=source, ending=ending)
    for match in _TOUCH.finditer(line):
        yield Example(path=_plain(match["path"]), text="", source=source)


def _written(path: str, pairs: Sequence[tuple[str, str]]) -> str:
    if not path.endswith(".json"):
        return "".join(f"{key}: {value}\n" for key, value in pairs)
    return f"{{{', '.join(f'{json.dumps(key)}: {_as_json(value)}' for key, value in pairs)}}}"


def _as_json(value: str) -> str:
    try:
        json.loads(value)
    except ValueError:
        return json.dumps(value)
    return value


def _plain(path: str) -> str:
    """Return a path without the variable or placeholder in front of it; empty for a variable alone."""
    path = re.sub(r"^(?:\$\{?\w+[^/]*|\{[\w ]+\}|<[\w -]+>|\.)/|[`\"'.,:]+$", "", path)
    return "" if "$" in path else posixpath.normpath(path)
