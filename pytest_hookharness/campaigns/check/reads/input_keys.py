"""
Keys that a script reads from the input of its hook, and that its host does not send: another one is meant.

A value counts only if the script looks for it in no place where the host sends it, and if the host sends a
key that means the same, which the script does not read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import PurePath

from pytest_hookharness import hosts
from pytest_hookharness.campaigns.arming.project_texts import COMMENT_LINES, read_text
from pytest_hookharness.campaigns.check.answers.unread_answers import named_hosts
from pytest_hookharness.campaigns.check.reads.javascript_reads import javascript_reads
from pytest_hookharness.campaigns.check.reads.key_meanings import FILE_KEYS, TOOL_ROLES, KeyPath, meanings
from pytest_hookharness.campaigns.check.reads.other_starts import has_other_input, is_given_elsewhere
from pytest_hookharness.campaigns.check.reads.python_reads import python_reads
from pytest_hookharness.campaigns.check.reads.shell_reads import shell_reads
from pytest_hookharness.campaigns.check.shell_code.shell_scripts import SHELL_SCRIPT, inline_program
from pytest_hookharness.campaigns.check.static.session_variables import loaded_by
from pytest_hookharness.model.checkup import HookSet
from pytest_hookharness.model.fast_dataclass import dataclass
from pytest_hookharness.model.moves import Edit, Performance, Read, RunCommand
from pytest_hookharness.model.protocol import Hook

_OF_TOOLS = (
    frozenset(["content", "new_string", "newString", "newContent", "new_content", "file_text", "new_str"])
    | {"new_source", "contents", "text", "CodeContent"},
    FILE_KEYS,
    frozenset(["command", "cmd", "CommandLine", "bash_command"]),
)
# Keys of tools that no session of a check calls.
_OF_OTHER_TOOLS = frozenset(["path", "notebook_path", "new_source", "edits", "url", "prompt", "content"])
_OF_ANY_TOOLS = frozenset(["path", "url", "prompt"])
_NOTEBOOKS, _OF_FILES = "NotebookEdit", ("tool_input", "file_path")
_REFUSES = re.compile(r"\bexit\(?\s*2\b|[\"'\\](?:deny|ask|block)[\"'\\]")
_ASKS_FOR_TYPE = re.compile(r"\bisinstance\b|\btypeof\b|\btype\(|\btype\s*==")
# A status that is 0 if its key is missing, which is right after a success; code that looks for a failure.
_NO_FAILURE = re.compile(
    r"\b(?:exit_?[cC]ode|returncode|return_code|exit_status)\b\S*\s*(?://|\?\?|\|\||,|or\b)\s*[\"']?0\b"
)
_LOOKS_FOR_FAILURE = re.compile(r"-ne\b|-gt\b|!==?\s*[\"']?0|>\s*0|(?:==|-eq)\s*[\"']?[1-9]")
# A text that stands in for a key.
_STANDS_IN = r"[\"'.]{0}\b[\"']?\s*(?://|\?\?|\|\||,|\bor\b)\s*\\?[\"'](?!unknown|none|null|n/a)[A-Za-z]"
# What may look at every key of the input.
ALL_INPUT = re.compile(
    r"notebook_path|\bdumps\(|\.stringify\(|\.values\(|\.items\(|to_entries|tostring|tojson|@json|\.\.\s*\|"
)
# It may refuse all notebooks, whatever their paths.
_BY_TOOL = re.compile(
    r"=\s*[\"']?NotebookEdit\b|^[ \t]*[\"']?NotebookEdit[\"']?\)|[\"']NotebookEdit[\"']\s*[=!]=", re.MULTILINE
)
# A test of a file's extension.
_OF_CODE = re.compile(r"\*\.\w+[|)]|endswith\(|\.(?:suffix|extname)\b|\\\.\(?\w+[|)$]")
# An early exit without a path.
_NEEDS_PATH = re.compile(
    r"-z\s+[\"']?\$\{?(?:\w*file_?path|path|file)\}?[\"']?\s*\]{1,2}\s*(?:&&|;\s*then\s)\s*(?:\{\s*)?exit\s+0"
    r"|\bif not \w*(?:path|file)\w*:\s*(?:return\b|sys\.exit\(0?\)|exit\(0?\))"
    r"|\bif\s*\(!\s*\w*(?:path|file)\w*\)\s*\{?\s*(?:return\b|process\.exit\(0?\))",
    re.IGNORECASE,
)
_LAST = "last_assistant_message"
_EXITS = frozenset(["exit_code", "exitCode", "returncode", "return_code", "exit_status", "code", "status"])
_OUTPUTS = frozenset(["output", "content", "text", "result"])
# Words that people confuse in the name of what the agent said.
_SAID = frozenset({"response", "message", "text", "output"})
# Parts of many keys: one of them alone does not show which key is meant.
_VAGUE = frozenset({"path", "id", "name", "type", "event", "data"})
_ONE_VALUE = frozenset(["text", "word", "path", "folder", "uuid", "flag", "count", "event", "tool"])
# Measured: these hosts send the result of each tool as text.
_TEXT_RESULTS = frozenset(["codex"])
_USUAL = (
    RunCommand(command="true"),
    Edit(file="f", text="t"),
    Edit(file="f", text="t", old="o"),
    Read(file="f"),
)
# Claude Code sends these to the command that prints its status line, which may be the same script.
_STATUS_LINE = re.compile(r"status[ _-]?line", re.IGNORECASE)
_OF_STATUS_LINE = frozenset(["context_window", "cost", "model", "output_style", "version", "workspace"])


@dataclass(frozen=True, slots=True)
class InputReads:
    """
    What a hook's script reads from its input.

    Attributes:
        text: The command, the scripts in it and what they load, without lines that are comments.
        reads: The places of each value, those that replace each other together.
        shared: Whether the scripts name another host, so that what is no key of this one may be one there.
        own: Of a shared script, those that surely count for this host: in branches for it alone.
    """

    text: str
    reads: Sequence[frozenset[KeyPath]]
    shared: bool
    own: Sequence[frozenset[KeyPath]]


def reads_of(hook_set: HookSet, hook: Hook) -> InputReads | None:
    """Return what the script of a hook reads; ``None`` if nothing is known, or if several scripts read it."""
    if hook.event not in hosts.find(hook_set.host).events or hook.type != "command":
        return None
    # What the command itself reads, before or instead of a script.
    program = inline_program(hook.command) or hook.command
    scripts = [*hook_set.sources_of(hook), ("command.sh", program)]
    found = [reads for path, text in scripts if (reads := _reads(hook_set, path, text))]
    if len(found) != 1 or has_other_input(hook_set, hook):
        return None
    shared = any(named_hosts(hook_set.host, "\n".join(hook_set.scripts_of(hook)) or hook.command))
    every = (_reads(hook_set, path, text, hook_set.host) for path, text in scripts if shared)
    loaded = [loaded_by(hook_set, text) for _, text in scripts]
    text = COMMENT_LINES.sub("", "\n".join((*(text for _, text in scripts), *loaded)))
    reads = [one for one in found[0] if not (_STATUS_LINE.search(text) and _is_of_status_line(one))]
    return InputReads(text, reads, shared, [one for reads in every for one in reads])


def _is_of_status_line(read: frozenset[KeyPath]) -> bool:
    return bool(_OF_STATUS_LINE.intersection(path[0] for path in read))


def never_sent(hook_set: HookSet, hook: Hook) -> tuple[str, str]:
    """Return the keys that a script reads and never gets, and those that are meant, in words; or nothing."""
    given = reads_of(hook_set, hook)
    if given is None:
        return "", ""
    judge = _Judge(hook_set, hook, given)
    reads = [read for read in given.reads if not given.shared or read in given.own or _is_for_all(read)]
    found = [pair for read in reads if (pair := judge.meant_by(read))] or [*judge.of_notebooks()]
    keys, meant = dict.fromkeys(key for key, _ in found), dict.fromkeys(key for _, key in found)
    if is_given_elsewhere(hook_set, hook, [key.rpartition(".")[2] for key in keys]):
        return "", ""
    return ", ".join(f"`{key}`" for key in keys), ", ".join(meant)


def _is_for_all(read: frozenset[KeyPath]) -> bool:
    """Return whether a read looks for the keys of several hosts, and so is meant for each of them."""
    keys = {path[0] for path in read}
    every = [sent_by(profile.name) for profile in hosts.known()]
    known = keys.intersection(*[frozenset[str]().union(*every)])
    return len(known) > 1 and not any(known <= sent for sent in every)


def _reads(hook_set: HookSet, path: str, text: str, host: str = "") -> Sequence[frozenset[KeyPath]]:
    """Return what a script reads, or only what it reads in branches for a host."""
    ending = PurePath(path).suffix
    if ending == ".py" or (not ending and re.match(r"#!.*python", text)):
        folder = hook_set.root / PurePath(path).parent
        return python_reads(text, lambda name: read_text(folder / f"{name}.py") or "", host)
    if host:
        return []
    if ending in (".sh", ".bash", ".zsh") or SHELL_SCRIPT.match(text):
        return shell_reads(text)
    return javascript_reads(text)


class _Judge:
    """Compares what one script reads with what its host sends at the event of its hook."""

    def __init__(self, hook_set: HookSet, hook: Hook, given: InputReads) -> None:
        self.profile, self.hook, self.text = hosts.find(hook_set.host), hook, given.text
        rule = self.profile.events[hook.event]
        self.role = rule.role
        self.kinds: Mapping[str, str] = {field.name: field.kind for field in rule.fields.fields}
        self.paths = {path for read in given.reads for path in read}
        self.inputs = _inputs(hook_set.host)
        hooks = {one.event for path, _ in hook_set.sources_of(hook) for one in hook_set.hooks_of(path)}
        events = {hook.event, *hooks} & {*self.profile.events}
        # A script of several events may read what only one of them has.
        self.sent = {field.name for event in events for field in self.profile.events[event].fields.fields}

    def meant_by(self, read: frozenset[KeyPath]) -> tuple[str, str] | None:
        """Return the key that is never sent to a read, and the one that is meant; ``None`` for nothing."""
        if not any(path[0] in self.sent for path in read):
            if all(self._is_optional(path[0]) for path in read):
                return None
            meant = self._instead([path[0] for path in read])
            first = min(read, key=lambda path: (key_words(path[0]) != key_words(meant), path))
            # What is sent at other events shows only with what is below it what the script is after.
            shown = first if first[0] in sent_by(self.profile.name) else first[:1]
            return (".".join(shown), f"`{meant}`") if meant else None
        within = sorted(path for path in read if path[0] in self.sent)
        if any(len(path) == 1 or path[0] not in self.kinds for path in within):
            return None
        meanings = [self._within(path, within) for path in within]
        return (".".join(within[0]), meanings[0]) if all(meanings) else None

    def of_notebooks(self) -> Iterator[tuple[str, str]]:
        """Yield the key that a script wrongly reads for paths of notebooks, and the key that is sent."""
        named = self.profile.name == "claude-code" and _NOTEBOOKS in (self.hook.matcher or "").split("|")
        before = self.role is hosts.Role.BEFORE_TOOL
        guards = before and _REFUSES.search(self.text) and not _BY_TOOL.search(self.text)
        needs = _NEEDS_PATH.search(self.text) if self.role is hosts.Role.AFTER_TOOL else None
        # Skip scripts that handle notebooks earlier, or check the extension.
        idle = needs and not _BY_TOOL.search(self.text, 0, needs.start()) and not _OF_CODE.search(self.text)
        if named and (guards or idle) and _OF_FILES in self.paths and not ALL_INPUT.search(self.text):
            yield ".".join(_OF_FILES), f"`notebook_path` for {_NOTEBOOKS}"

    def _instead(self, keys: Sequence[str]) -> str:
        """Return the key that is sent for some keys that are not; empty if that is unknown."""
        spelled = next(
            (one for one in self.kinds if any(key_words(key) == key_words(one) for key in keys)), ""
        )
        if spelled and any("_" in key or not key.islower() for key in keys):
            return spelled if self._is_unread(spelled) else ""
        for words, sent in meanings(self.role):
            key = next((one for one in sent if one in self.kinds), "")
            if key and words.issuperset(keys):
                # What the agent said last may stand for all that was said.
                others = (_LAST,) if "transcript" in key else ()
                return key if all(map(self._is_unread, (key, *others))) else ""
        if sent_by(self.profile.name).intersection(keys) or all(key_words(key) <= _VAGUE for key in keys):
            return ""
        meant = [key for key in self.kinds if all(_is_part(one, key) for one in keys)]
        return meant[0] if meant and self._is_unread(meant[0]) else ""

    def _is_optional(self, key: str) -> bool:
        """Return whether a key that the host sends at another event has a text of the script in its place."""
        given = re.search(_STANDS_IN.format(re.escape(key)), self.text, re.IGNORECASE)
        return given is not None and key in sent_by(self.profile.name)

    def _is_unread(self, key: str) -> bool:
        """Return whether a script reads a key nowhere, as far as its words show."""
        if any(path[0] == key for path in self.paths):
            return False
        return re.search(rf"[\"'.]{key}\b(?!\()", self.text) is None

    def _within(self, path: KeyPath, all_paths: Sequence[KeyPath]) -> str:
        """Return what is meant by a key below one that the host sends; empty if it may be there."""
        key, below = path[0], path[1]
        kind = self.kinds[key]
        if kind in _ONE_VALUE and (key,) not in self.paths:
            return f"`{key}` as text" if kind in ("text", "word") else ""
        if kind == "response" and not _ASKS_FOR_TYPE.search(self.text):
            return self._in_result(key, below, all_paths)
        return self._in_tool(below) if kind in ("input", "input text") else ""

    def _in_result(self, key: str, below: str, all_paths: Sequence[KeyPath]) -> str:
        if self.profile.name in _TEXT_RESULTS:
            return f"`{key}` as text"
        command = self.profile.tools.call(RunCommand(command="true"), "/w")
        sent = self.profile.tools.result(command, Performance(exit=0, stdout="x\n"), "/w").response
        if not isinstance(sent, Mapping) or self.hook.matcher != command.name:
            return ""
        if below in _OUTPUTS and "stdout" in sent and below not in sent:
            return "" if re.search(r"[\"'.]stdout\b", self.text) else f"`{key}.stdout`"
        failed = next(
            (one.name for one in self.profile.events.values() if one.role is hosts.Role.TOOL_FAILED), ""
        )
        only_exits = all(one[1] in _EXITS for one in all_paths)
        others = any(one[0] == key and len(one) > 1 and one[1] not in _EXITS for one in self.paths)
        fine = _NO_FAILURE.search(self.text) and not _LOOKS_FOR_FAILURE.search(self.text)
        if failed and only_exits and not others and not fine and _EXITS.isdisjoint(sent):
            return f"no `{below}`: after a failed command it runs `{failed}` hooks"
        return ""

    def _in_tool(self, below: str) -> str:
        """Return the keys of tools that a script means; empty if a tool of its hook may have the key."""
        if self.role not in TOOL_ROLES or "mcp" in f"{self.hook.matcher}{self.text}".lower():
            # Tools of a server have keys of their own.
            return ""
        sent = frozenset[str]().union(*self.inputs.values())
        known = {*(self.hook.matcher or "").split("|")} <= {*self.inputs}
        others = _OF_OTHER_TOOLS if self.profile.name == "claude-code" else _OF_ANY_TOOLS
        if below in sent or (below in others and not known):
            return ""
        for words in _OF_TOOLS:
            if below in words:
                meant = sorted(words & sent)
                read = any(re.search(rf"[\"'.]{key}\b", self.text) for key in meant)
                return " and ".join(f"`{key}`" for key in meant) if meant and not read else ""
        return ""


@cache
def sent_by(host: str) -> frozenset[str]:
    """Return the keys that a host sends at any of its events."""
    events = hosts.find(host).events.values()
    return frozenset(field.name for event in events for field in event.fields.fields)


@cache
def _inputs(host: str) -> Mapping[str, frozenset[str]]:
    """Return the keys in the input of a host's usual tools, by the names of the tools."""
    calls = [hosts.find(host).tools.call(operation, "/w") for operation in _USUAL]
    return {
        name: frozenset(key for call in calls if call.name == name for key in call.input)
        for name in {call.name for call in calls}
    }


def key_words(key: str) -> frozenset[str]:
    """Return the words of a key, however they are joined."""
    return frozenset(re.sub(r"(?<=[a-z])(?=[A-Z])", "_", key).lower().split("_"))


def _is_part(key: str, whole: str) -> bool:
    # All words of it are another spelling, such as `toolInput`; `assistant_response` is what the agent said.
    words, others = key_words(key), key_words(whole)
    return words <= others or bool(
        words - _SAID and words - _SAID <= others and words & _SAID and others & _SAID
    )
