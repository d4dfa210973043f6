"""
Keys that a script reads from the input of its hook, and that no host sends at any event.

Only hosts whose input was recorded are judged, and only keys of two words, as a key of one may be that of a
program which starts the script. The value must have no other source: what the script does without it stands
in no condition and in no other assignment.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from pytest_hookharness import hosts
from pytest_hookharness.campaigns.check.reads.input_keys import (
    InputReads,
    key_words,
    never_sent,
    reads_of,
    sent_by,
)
from pytest_hookharness.campaigns.check.reads.other_starts import is_given_elsewhere
from pytest_hookharness.model.checkup import HookSet
from pytest_hookharness.model.protocol import Basis, Hook

# Keys that hosts document, and send only in some cases.
_SOMETIMES = (
    frozenset(["trigger_file_path", "parent_file_path", "elicitation_id", "session_title", "initialPrompt"])
    | {"mcp_context", "original_request_name", "is_background_agent", "composer_mode", "final_status"}
    | {"context_usage_percent", "context_window_size", "message_count", "messages_to_compact"}
    | {"is_first_compaction", "subagent_id", "parent_conversation_id", "subagent_model", "git_branch"}
    | {"is_parallel_worker", "result_json", "tool_call_count"}
)
# Defaults that mean nothing: no value, or a word that says so.
_NOTHING = (
    r"(?:[\"'`]\s*(?:unknown|none|n/a|0|null|undefined|\?+|-+)?\s*[\"'`]|empty\b|null\b|None\b|undefined\b"
    r"|0\b(?!\.?\d)|\[\s*\]|\{\s*\}|dict\(\)|list\(\))"
)
# Another source for the value, after its key.
_OTHERWISE = re.compile(
    rf"(?:\?\?|\|\||//|\bor\b)[\s(]*(?!\s|(?:echo\s+|printf\s+)?{_NOTHING}|true\b|:)"
    rf"|^[\"'],(?!\s*{_NOTHING})|\belse\b|\?(?![\s?.\"'/)])[^\n:]*:",
    re.IGNORECASE,
)
# How far after a key another source is looked for.
_NEAR = 300
_OF_OUTPUT = re.compile(r"[\"']?\s*:")
_GIVEN = re.compile(r"[\"']?\s*\]?\s*(?:\|\|?|\?\?)?=(?!=)")
_ASSIGNED = re.compile(
    r"^[ \t]*(?:(?:local|export|readonly|declare|const|let|var)\s+)*(\w+)\s*(?::[^=\n]+)?=(?!=)"
)


def unknown_keys(hook_set: HookSet, hook: Hook) -> str:
    """Return the keys, in words, that a hook's script reads and that no host sends; or nothing."""
    profile = hosts.find(hook_set.host)
    found = reads_of(hook_set, hook) if _is_recorded(hook_set.host) else None
    if found is None or found.shared or profile.events[hook.event].unreachable:
        return ""
    keys = [*dict.fromkeys(_unknown(found))]
    # At another event the same command may read it in the place of a key that is sent there.
    same = [one for one in hook_set.hooks if keys and one.command == hook.command]
    reported = "".join(never_sent(hook_set, one)[0] for one in same)
    left = [key for key in keys if f"`{key}`" not in reported]
    return "" if is_given_elsewhere(hook_set, hook, left) else ", ".join(f"`{key}`" for key in left)


def _unknown(found: InputReads) -> Iterator[str]:
    known = _known()
    for read in found.reads:
        keys = {path[0] for path in read}
        if keys.isdisjoint(known) and all(len(key_words(key)) > 1 for key in keys):
            yield from (key for key in sorted(keys) if _is_only_source(found.text, key))


@cache
def _known() -> frozenset[str]:
    """Return the keys that any host sends, or may send."""
    return _SOMETIMES.union(*(sent_by(profile.name) for profile in hosts.known()))


@cache
def _is_recorded(host: str) -> bool:
    """Return whether the input of a host was recorded, so that all its keys are known."""
    return any(rule.fields.rule.basis is Basis.OBSERVED for rule in hosts.find(host).events.values())


def _is_only_source(text: str, key: str) -> bool:
    """Return whether a script looks for a value nowhere but under a key of its input."""
    quoted = rf"[\"']{key}[\"']"
    asked = rf"{quoted}\s+(?:not\s+)?in\b|\bhas\(\s*{quoted}|\bif\b[^\n]{{0,200}}\.get\({quoted}"
    if re.search(asked, text):
        return False
    names = set[str]()
    for found in re.finditer(rf"(?<=[\"'.]){key}\b", text):
        begin, end = text.rfind("\n", 0, found.start()) + 1, text.find("\n", found.end())
        line = text[begin : end if end >= 0 else len(text)]
        after = line[found.end() - begin :][:_NEAR]
        if _OF_OUTPUT.match(after):
            continue
        if _GIVEN.match(after) or _OTHERWISE.search(after):
            return False
        if name := _ASSIGNED.match(line):
            names.add(name[1])
    return not any(has_another(text, name) for name in names)


def has_another(text: str, name: str) -> bool:
    """Return whether a variable gets a value in more than one place, or has a default where it is used."""
    given = rf"(?<![\w$.-]){name}\s*(?::[^=\n]+)?=(?![=~])\s*(?!{_NOTHING}\s*(?:[;,)\n]|$))"
    default = rf"\$\{{{name}:?[-=+](?:[^}}]*\$|[^}}]*\w)"
    return len(re.findall(given, text)) > 1 or bool(re.search(default, text))
