"""
What several profiles share: sources of facts, what real programs answered about them, and plain tools.

The answers are in a data file for each host; `hookharness calibrate` writes it. Plain tools differ only in
names, and their results are plain text. They serve hosts whose results were not recorded.
"""

from __future__ import annotations

import json
import posixpath
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import field
from functools import cache
from pathlib import Path
from typing import Any, TypedDict

from pytest_hookharness.hosts.rules.profile import Power
from pytest_hookharness.hosts.rules.replies import AnswerRules, CodeRule, Merging
from pytest_hookharness.hosts.rules.tools_and_transcript import Operation, ToolRules
from pytest_hookharness.hosts.rules.turns import Role
from pytest_hookharness.model.fast_dataclass import dataclass
from pytest_hookharness.model.moves import Edit, Performance, Read, RunCommand, ToolCall, ToolResult
from pytest_hookharness.model.protocol import Basis, EventFields, Field, Payload, Rule

_FOLDER = Path(__file__).parent / "calibrated"


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """
    The answers of one version of a real program.

    Attributes:
        profile: Name and version of the profile that was compared with it.
        same: Names of the questions for which both did the same.
        different: What differs, by the name of the question.
        known: The same for differences that are listed with their reason.
        unreached: Why there is no answer, by the name of the question.
        facts: For the text of each fact that was asked about, the questions about it.
    """

    version: str
    profile: str
    date: str
    same: Sequence[str] = ()
    different: Mapping[str, str] = field(default_factory=dict)
    known: Mapping[str, str] = field(default_factory=dict)
    unreached: Mapping[str, str] = field(default_factory=dict)
    facts: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def source(self, host: str) -> str:
        """Return the source of a fact that its questions confirmed."""
        return f"{host} {self.version}, asked {self.date}"

    def confirms(self, text: str) -> bool:
        """Return whether the program did the same for every question about a fact, at least one."""
        asked = [one for one in self.facts.get(text, ()) if one not in self.unreached]
        return bool(asked) and not any(one in self.different or one in self.known for one in asked)

    def contradicts(self, text: str) -> bool:
        """Return whether the program did something else for a question about a fact, for no known reason."""
        return any(one in self.different for one in self.facts.get(text, ()))


def facts_file(host: str) -> Path:
    """Return the data file of a host, by its name without a version; it need not exist."""
    return _FOLDER / f"{host}.json"


@cache
def read_calibrations(host: str) -> tuple[Calibration, ...]:
    """Return the answers of all versions of a host's program, the one that was asked last first."""
    try:
        text = facts_file(host).read_text(encoding="utf-8")
    except OSError:
        return ()
    return parse_calibrations(text)


def parse_calibrations(text: str) -> tuple[Calibration, ...]:
    """Return the answers that a data file has."""
    stored: list[dict[str, Any]] = json.loads(text)
    return tuple(Calibration(**one) for one in stored)


def find_calibration(profile: str) -> Calibration | None:
    """Return the newest answers that a profile, by name and version, was compared with."""
    host = profile.partition("@")[0]
    return next((one for one in read_calibrations(host) if one.profile == profile), None)


def calibrated(host: str, rule: Rule) -> Rule:
    """Return a fact with its basis and source as real programs answered questions about it."""
    for one in read_calibrations(host):
        if one.contradicts(rule.text):
            return Rule(
                rule.text, rule.basis, f"{rule.source}; not always on {one.version}, asked {one.date}"
            )
        if one.confirms(rule.text):
            return Rule(rule.text, Basis.OBSERVED, one.source(host))
    return rule


# The facts about replies that a decision can rest on, for a host whose documents are silent.
_REPLIES = {
    "silent": "exit code 0 without output has no effect",
    "plain": "plain text on standard output does not reach the agent",
    "shown": "plain output of this event reaches the model",
    "answer": "a JSON answer is read by the documented keys",
    "crashed": "a hook that fails is ignored: it fails open",
    "signalled": "a hook that was ended by a signal is ignored: it fails open",
    "timed out": "a hook that reaches its timeout is ignored, whatever it printed: it fails open",
    "not run": "a command that cannot be started is ignored: it fails open",
    "unparsable": "output that begins with a brace and is not JSON is ignored: it fails open",
    "invalid": "an answer with a value that the host does not know is ignored",
    "no power": "a refusal of this event is ignored",
    "unanswered": "a handler without an answer has no effect",
    "precedence": "a refusal wins over ask, and ask over allow",
    "several": "the agent gets each of several refusals, in the order of the settings",
    "no hooks": "an event without hooks has no effect",
}
_SETTINGS = {
    "malformed": "a malformed entry is left out; the rest of its file is used",
    "unreadable": "a settings file that cannot be parsed is not used",
    "unknown event": "an unknown event name is skipped; the rest of the file is used",
    "unpassable": "a command that cannot be passed to a process is left out; the rest of its file is used",
    "unreachable": "hooks of events that do not occur have no effect on other hooks",
    "merge": "the hooks of all settings files are added together",
    "reload": "changed settings apply from the next event on",
}
_PROCESS = {
    "shell": "hooks run with -c of a shell",
    "stdio": "standard input, output and error are pipes",
    "newline": "no newline follows the JSON on standard input",
    "kill": "SIGTERM to the process group of the hook, SIGKILL half a second later",
    "pipe wait": "if a child keeps output open, the host waits half a second and keeps the output",
    "output": "all output of a hook is read, however long it is",
    "order": "all hooks of an event start at once",
    "env": "only the documented variables are added",
}


@dataclass(frozen=True, slots=True)
class FactSources:
    """
    From where the facts about a host are known.

    A question that neither documents nor measurements answer becomes an assumed fact, never a silent default.

    Attributes:
        documents: The documents, with the host's version or their date.
        measurement: What was measured; empty if the host was not.
        host: The host whose real program was asked; empty if it was not.
    """

    documents: str
    measurement: str = ""
    choice: str = "not documented; chosen for the simulation"
    host: str = ""

    def observed(self, text: str, source: str = "") -> Rule:
        """Return a measured fact; ``source`` replaces the usual source."""
        return self._rule(text, Basis.OBSERVED, source or self.measurement)

    def documented(self, text: str, source: str = "") -> Rule:
        """Return a documented fact; ``source`` replaces the usual source."""
        return self._rule(text, Basis.DOCUMENTED, source or self.documents)

    def assumed(self, text: str) -> Rule:
        """Return a fact that is chosen for the simulation."""
        return self._rule(text, Basis.ASSUMED, self.choice)

    def _rule(self, text: str, basis: Basis, source: str) -> Rule:
        rule = Rule(text, basis, source)
        return calibrated(self.host, rule) if self.host else rule

    def replies(self, own: Mapping[str, Rule]) -> Mapping[str, Rule]:
        """Return the facts about replies: the host's own, and assumptions for the rest."""
        return self._filled(_REPLIES, own)

    def settings(self, own: Mapping[str, Rule]) -> Mapping[str, Rule]:
        """Return the facts about settings: the host's own, and assumptions for the rest."""
        return self._filled(_SETTINGS, own)

    def process(self, own: Mapping[str, Rule]) -> Mapping[str, Rule]:
        """Return the facts about processes: the host's own, and assumptions for the rest."""
        return self._filled(_PROCESS, own)

    def _filled(self, assumed: Mapping[str, str], own: Mapping[str, Rule]) -> Mapping[str, Rule]:
        return {**{name: self.assumed(text) for name, text in assumed.items()}, **own}

    def fields(self, event: str, *fields: Field) -> EventFields:
        """Return the keys of an event; the documents name them and leave their order open."""
        rule = self.documented(f"{event} hooks get these keys; their order is assumed")
        return EventFields(event=event, fields=fields, rule=rule)


class EventOptions(TypedDict, total=False):
    """The attributes of an event that a profile sets only where they differ; ``EventRule`` explains them."""

    role: Role
    tools: tuple[str, ...]
    power: Power
    merging: Merging
    codes: tuple[CodeRule, ...]
    answers: AnswerRules
    target: str
    exact: bool
    plain: bool
    plain_fails: bool
    context: bool
    context_continues: bool
    timeout: float
    most: float
    waits: bool
    shared: bool
    env_file: bool
    ignores: tuple[str, ...]
    halts: bool
    after_failures: bool
    unreachable: str


def make_call(operation: Operation, name: str, given: Payload) -> ToolCall:
    """Return the call of a tool, with what the script says about the operation."""
    return ToolCall(
        name=name, input=given, given=operation.given, expect=operation.expect, label=operation.label
    )


def give_plainly(_tool_call: ToolCall, supplied: ToolResult) -> ToolResult:
    """Return a result that a scenario supplies, as plain text."""
    if supplied.response is not None:
        return supplied
    return ToolResult(text=supplied.text, response=supplied.text, failed=supplied.failed)


@dataclass(frozen=True, slots=True, kw_only=True)
class PlainTools:
    """
    The names of a host's tools, and the keys of their inputs.

    Attributes:
        read_path: The key of the file to read; empty if it is the same as ``path``.
        absolute: Whether the model names files by absolute paths.
        more: What the model writes into the input of a tool besides, by the name of the tool.
    """

    run: str
    write: str
    edit: str
    read: str = ""
    command: str = "command"
    path: str = "file_path"
    text: str = "content"
    old: str = "old_string"
    new: str = "new_string"
    read_path: str = ""
    absolute: bool = True
    more: Mapping[str, Payload] = field(default_factory=dict)

    def rules(self, rule: Rule, *, subagent: str = "", gated: bool = False) -> ToolRules:
        """
        Return the rules of these tools.

        Args:
            rule: The fact about their names and results.
            subagent: The tool that starts a subagent; empty if there is none.
            gated: Whether permission hooks run for commands and changes of files.
        """
        return ToolRules(
            subagent=subagent,
            gated=(self.run, self.write, self.edit) if gated else (),
            edits=(self.write, self.edit),
            call=self.call,
            operation=self.operation,
            result=self.result,
            given=give_plainly,
            rules={"names": rule},
        )

    def call(self, operation: Operation, workspace: str) -> ToolCall:
        """Return the call that the model would make for an operation."""
        named = "" if isinstance(operation, RunCommand) else operation.file
        file = posixpath.join(workspace if self.absolute else "", named)
        match operation:
            case RunCommand():
                name, given = self.run, {self.command: operation.command}
            case Edit(old=None):
                name, given = self.write, {self.path: file, self.text: operation.text}
            case Edit():
                name = self.edit
                given = {self.path: file, self.old: operation.old or "", self.new: operation.text}
            case Read():
                shown = {self.command: f"cat {shlex.quote(file)}"}
                name, given = (self.read, {self._read_key: file}) if self.read else (self.run, shown)
        return make_call(operation, name, {**given, **self.more.get(name, {})})

    def operation(self, tool_call: ToolCall, workspace: str) -> Operation | None:
        """Return the operation of a call; ``None`` for a tool that the harness cannot perform."""
        text = {key: value for key, value in tool_call.input.items() if isinstance(value, str)}
        # A path outside of the workspace stays absolute: the code that performs the call decides about it.
        root = workspace.rstrip("/") + "/"
        file = text.get(self.path, "").removeprefix(root)
        if tool_call.name == self.run and self.command in text:
            return RunCommand(command=text[self.command], label=tool_call.label)
        if tool_call.name == self.write and file and self.text in text:
            return Edit(file=file, text=text[self.text], label=tool_call.label)
        if tool_call.name == self.edit and file and self.old in text and self.new in text:
            return Edit(file=file, text=text[self.new], old=text[self.old], label=tool_call.label)
        seen = text.get(self._read_key, "").removeprefix(root)
        if self.read and tool_call.name == self.read and seen:
            return Read(file=seen, label=tool_call.label)
        return None

    @property
    def _read_key(self) -> str:
        return self.read_path or self.path

    def result(self, tool_call: ToolCall, performance: Performance, _workspace: str) -> ToolResult:
        """Return what the agent reads about a performed call."""
        if performance.error:
            return ToolResult(text=performance.error, response=performance.error, failed=True)
        if tool_call.name == self.run:
            parts = (performance.stdout.rstrip("\n"), performance.stderr.rstrip("\n"))
            text = "\n".join(part for part in parts if part)
            failed = performance.exit != 0
            reported = f"exit code {performance.exit}\n{text}".rstrip("\n") if failed else text
            return ToolResult(text=reported, response=reported, failed=failed)
        text = (performance.content or "") if tool_call.name == self.read else "done"
        return ToolResult(text=text, response=text)
