"""
Files that a hook of edits looks for in its input, at a host that only sends a patch.

Codex sends the text of the patch as `command`, and the names of the files stand in it (recorded in 0.169.0).
A script that reads only a key for a file never learns which file it is about. A script that knows patches,
looks at more of the input, or may learn the file in another way is left out.
"""

from __future__ import annotations

import re
from collections.abc import Collection

from pytest_hookharness import hosts
from pytest_hookharness.campaigns.check.reads.input_keys import ALL_INPUT, FILE_KEYS, reads_of
from pytest_hookharness.campaigns.check.reads.key_meanings import TOOL_ROLES
from pytest_hookharness.campaigns.check.reads.key_reads import KeyPath
from pytest_hookharness.campaigns.check.reads.shell_reads import INPUT_VARIABLE
from pytest_hookharness.campaigns.check.reads.unknown_keys import has_another
from pytest_hookharness.model.checkup import HookSet
from pytest_hookharness.model.moves import Edit
from pytest_hookharness.model.protocol import Hook

_PATCH, _INPUT = "command", "tool_input"
# Tools for edits that other hosts have, and that fit nothing at a host with patches.
_ELSEWHERE = frozenset(["MultiEdit", "NotebookEdit"])
# What may look at the patch, or learn from something else which files were changed.
_OTHERWISE = re.compile(
    r"\bcommand\b(?![ \t]+-[vVp])|[Pp]atch|\*\*\*|[\"'.](?:input|diff|changes)\b|transcript|tool_response"
    r"|\bgit\b[^\n|]*\b(?:diff|status|ls-files)\b|\bstr\(\s*\w*(?:data|event|input|payload)\b"
    r"|\bin\s+(?:raw|text|stdin|payload|data|body)\w*\b(?!\s*:)|tool_input\[\]|\bto_entries\b"
    r"|\bre\.(?:findall|search|match|finditer|split)\(|\.match(?:All)?\(|\.test\(|Object\.(?:entries|values)"
)
# An answer, which is no look at the input.
_ANSWERED = re.compile(r"print\(\s*json\.dumps\((?=\s*\{)")
# What looks for words in the whole input, in a line with its variable.
_SEARCHED = (
    r"\b(?:e?grep|rg|sed|awk|case|tee)\b[^\n]*\$\{{?{0}\b|\[\[?[^\n\]]*\$\{{?{0}\b[^\n]*="
    r"|\$\{{?{0}\b[^\n|]*\|(?![ \t]*(?:jq\b|(?:python3?|node)[ \t]+-[ce]))"
    r"|^(?![^\n]*\bjq\b)[^\n]*<<<[ \t]*\"?\$\{{?{0}\b"
)
_KEY = re.compile(rf"[\"'.](?:{'|'.join(sorted(FILE_KEYS))})\b")
_NAME = re.compile(r"^[ \t]*(?:local[ \t]+)?(\w+)[ \t]*(?::[^=\n]+)?=(?!=)")
_GIVEN = re.compile(r"environ|getenv|argv|process\.env|\$\{?[1-9@*]")


def unnamed_file(hook_set: HookSet, hook: Hook) -> tuple[str, str]:
    """Return the keys by which a script looks for a file in vain, and what is sent, in words; or nothing."""
    rule = hosts.find(hook_set.host).events.get(hook.event)
    if rule is None or rule.role not in TOOL_ROLES or not _is_for_patches(hook_set.host, hook):
        return "", ""
    given = reads_of(hook_set, hook)
    if given is None or ALL_INPUT.search(_ANSWERED.sub("", given.text)) or _OTHERWISE.search(given.text):
        return "", ""
    sent = {field.name for field in rule.fields.fields}
    found = [min(read) for read in given.reads if _is_file(read, sent)]
    lines = [line for line in given.text.splitlines() if _KEY.search(line)]
    names = {name[1] for line in lines if (name := _NAME.match(line))}
    inputs = INPUT_VARIABLE.findall(given.text)
    if any(re.search(_SEARCHED.format(one), given.text, re.MULTILINE) for one in inputs):
        return "", ""
    if any(map(_GIVEN.search, lines)) or any(has_another(given.text, name) for name in names):
        return "", ""
    keys = ", ".join(f"`{'.'.join(path)}`" for path in dict.fromkeys(found))
    return (keys, f"`{_INPUT}.{_PATCH}` with the text of the patch") if keys else ("", "")


def _is_for_patches(host: str, hook: Hook) -> bool:
    """Return whether all calls of a hook are patches: edits of which the host sends one text alone."""
    profile = hosts.find(host)
    calls = [profile.tools.call(Edit(file="f", text="t", old=old), "/w") for old in (None, "o")]
    if any({*call.input} != {_PATCH} for call in calls):
        return False
    names = {name for call in calls for name in (call.name, *profile.matchers.aliases.get(call.name, ()))}
    matched = {part.strip().strip("^$()") for part in (hook.matcher or "").split("|")}
    return matched <= names | _ELSEWHERE and bool(matched & names)


def _is_file(read: Collection[KeyPath], sent: Collection[str]) -> bool:
    """Return whether a script looks for a value only in keys for a file, and also in the tool's input."""
    below = [path[1:] for path in read if path[0] == _INPUT]
    others = [path for path in read if path[0] != _INPUT]
    return (
        bool(below)
        and all(len(path) == 1 and path[0] in FILE_KEYS for path in below)
        and all(path[-1] in FILE_KEYS and path[0] not in sent for path in others)
    )
