"""Files, programs and commands that the settings of a project deny to an agent without any hook."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from pytest_hookharness import hosts
from pytest_hookharness.campaigns.arming.project_texts import is_small
from pytest_hookharness.model.checkup import HookSet
from pytest_hookharness.model.protocol import Json

# Files in which a project denies files to an agent without a hook, by the folder of their host.
_DENY = {
    ".claude": (".claude/settings.json", ".claude/settings.local.json"),
    ".cursor": (".cursor/cli.json", ".cursorignore", ".cursorindexingignore"),
    ".gemini": (".gemini/settings.json", ".geminiignore", ".aiexclude"),
    ".qwen": (".qwen/settings.json", ".qwenignore"),
}
# Keys of lists in such settings with what is denied, or about which the host asks the user.
_DENIED = re.compile(r"^(?:deny|ask)")
# A rule about commands; the separators of commands in a line; words before a command that hosts skip.
_RULE = re.compile(r"^(?:Bash|Shell)\((.+)\)(\*?)$", re.MULTILINE)
_BETWEEN = re.compile(r"&&|\|\|?|[;&\n]")
_IN_FRONT = re.compile(r"^\s*(?:(?:\w+=\S*|timeout\s+\S+|time|nice|nohup|if|then)\s+)*")
_LARGEST = 1 << 17


def is_denied(hook_set: HookSet, name: str) -> bool:
    """Return whether a file in which a project denies files has the name, or what may stand for it."""
    return any(name in text or "*env" in text for text in _denials(hook_set))


def is_denied_to_shell(hook_set: HookSet, program: str) -> bool:
    """Return whether the settings deny a program, or each command, or let the host ask about it."""
    rule = re.compile(rf"(?<![\w-])(?:Bash|Shell)(?!\()|(?:Bash|Shell)\((?:{re.escape(program)}\b|\*)")
    return any(rule.search(text) for text in _denials(hook_set))


def is_denied_command(hook_set: HookSet, command: str) -> bool:
    """Return whether the settings deny a command in a command line, or let the host ask about it."""
    rules = [_pattern(*found) for text in _denials(hook_set) for found in _RULE.findall(text)]
    parts = [_IN_FRONT.sub("", part).strip() for part in _BETWEEN.split(command)]
    return any(rule.fullmatch(part) for rule in rules for part in parts)


def _pattern(rule: str, more: str) -> re.Pattern[str]:
    """Return a pattern of whole commands for a rule; `npm test:*` and `npm test *` also fit `npm test`."""
    begin = rule.removesuffix(":*").removesuffix(" *")
    words = r"(?:\s.*)?" if begin != rule else ""
    return re.compile(re.escape(begin).replace(r"\*", ".*") + words + (".*" if more else ""))


def _denials(hook_set: HookSet) -> Iterator[str]:
    # A host does not read what denies files to another one.
    own = {path.split("/")[1] for path in hosts.find(hook_set.host).config.paths}
    names = (name for folder, files in _DENY.items() if folder in own for name in files)
    for path in (hook_set.root / name for name in dict.fromkeys([*names, *hook_set.files])):
        if is_small(path, _LARGEST):
            try:
                text = path.read_text("utf-8", "replace")
            except OSError:
                continue
            yield text if path.suffix != ".json" else "\n".join(_listed(text))


def _listed(text: str) -> Iterator[str]:
    """Yield what settings deny, or ask about; the end of a text that is no JSON."""
    try:
        content: Json = json.loads(text)
    except (ValueError, RecursionError):
        # Hosts read comments too.
        yield text.partition('"deny"')[2]
        return
    yield from _below(content, denied=False)


def _below(value: Json, *, denied: bool) -> Iterator[str]:
    match value:
        case str() if denied:
            yield value
        case dict():
            for key, inner in value.items():
                yield from _below(inner, denied=denied or _DENIED.match(key) is not None)
        case list():
            for inner in value:
                yield from _below(inner, denied=denied)
        case _:
            return
