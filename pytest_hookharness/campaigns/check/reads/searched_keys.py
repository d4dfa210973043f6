"""
Keys that a shell script looks for in the text of its input by `grep` or `sed`, and that are not in it.

Such a search finds a key at any depth, so only events that send nothing of a tool's own are judged: there all
keys are known.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from pytest_hookharness import hosts
from pytest_hookharness.campaigns.check.answers.unread_answers import named_hosts
from pytest_hookharness.campaigns.check.reads.shell_reads import INPUT_VARIABLE
from pytest_hookharness.campaigns.check.reads.unknown_keys import has_another
from pytest_hookharness.campaigns.check.shell_code.shell_scripts import (
    SHELL_SCRIPT,
    code_of,
    without_comment_lines,
)
from pytest_hookharness.model.checkup import HookSet
from pytest_hookharness.model.protocol import Hook

# Values of a tool, which may have keys of their own.
_OPEN_KINDS = frozenset(["input", "input text", "response"])
# A name for a file, and for the status of a command.
_FILES = frozenset(["file", "filename", "fileName", "file_name", "filePath", "filepath", "path"])
_EXITS = frozenset(["exit_code", "exitCode", "exit_status", "exitStatus", "returncode", "return_code"])
_FILE = "file_path"
_SEARCH = re.compile(
    r"(?<![\w$.-])(?P<name>[A-Za-z_]\w*)=\"?\$\([ \t]*(?:echo|printf[ \t]+(?:--[ \t]+)?[\"']%s(?:\\n)?[\"'])"
    r"[ \t]+\"?\$\{?(?P<input>\w+)\}?\"?[ \t]*\|[ \t]*"
    r"(?:grep[ \t]+-\w*o\w*[ \t]+|sed[ \t]+-\w*n\w*[ \t]+)(?P<mark>[\"'])(?:s[/|#,])?(?:\^?\.\*)?"
    r"\\?\"(?P<key>\w+)\\?\"(?:\\s[*+]?|\[\[:space:\]\][*+]?|[ \t]+\*?)*:"
)


def searched_keys(hook_set: HookSet, hook: Hook) -> tuple[str, str]:
    """Return the keys for which a hook's script searches in vain, and what is sent, in words; or nothing."""
    events, texts = hosts.find(hook_set.host).events, hook_set.scripts_of(hook)
    if len(texts) != 1 or hook.type != "command" or not SHELL_SCRIPT.match(texts[0]):
        return "", ""
    hooks = [one for path, _ in hook_set.sources_of(hook) for one in hook_set.hooks_of(path)] or [hook]
    known = all(one.event in events for one in hooks)
    if not known or any(named_hosts(hook_set.host, without_comment_lines(texts[0]))):
        return "", ""
    sent = [{field.name: field.kind for field in events[one.event].fields.fields} for one in hooks]
    if any(not _OPEN_KINDS.isdisjoint(one.values()) for one in sent):
        return "", ""
    found = [*_in_vain(texts[0], set[str]().union(*sent), of_files=all(_FILE in one for one in sent))]
    keys, meant = dict.fromkeys(key for key, _ in found), dict.fromkeys(what for _, what in found)
    return ", ".join(f"`{key}`" for key in keys), ", ".join(meant)


def _in_vain(text: str, sent: set[str], *, of_files: bool) -> Iterator[tuple[str, str]]:
    """Yield the keys that are searched for and not sent, with what is sent in their place."""
    code, shown = without_comment_lines(text), code_of(text)
    inputs = {*INPUT_VARIABLE.findall(shown)}
    for found in _SEARCH.finditer(code):
        key, alone = found["key"], not has_another(code, found["name"])
        if key in sent or found["input"] not in inputs or not alone or shown[found.start()] == "_":
            continue
        if key in _FILES and of_files and _FILE not in code:
            yield key, f"`{_FILE}`"
        elif key in _EXITS and "command" in sent and _EXITS.isdisjoint(sent):
            yield key, "no status"
