"""
The tools of hosts as far as they differ in names alone.

That is all there is to calls that are read. Where results were not recorded, what a call
gives is plain text, without a form around it; where they were, the host has forms of its own.

How Gemini CLI, and Qwen Code after it, show what changed in a file.

The form was recorded of Gemini CLI 0.61.0 for a new file.

Hosts that nobody has measured for us: what their documents say, and what not.

What a document leaves open is a fact that says so, never a silent default.
"""

from __future__ import annotations

import difflib
import posixpath
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from pytest_hookharness.hosts.rules.profile import Operation, ToolRules
from pytest_hookharness.model.moves import Edit, Performance, Read, RunCommand, ToolCall, ToolResult
from pytest_hookharness.model.protocol import Basis, EventFields, Field, Json, Rule

CHOSEN = "not documented; chosen for the simulation"

# What the engine may name for a reply, where a host's documents are silent.
_REPLIES = {
    "silent": "exit code 0 without output is no opinion",
    "plain": "plain text on standard output does not reach the agent",
    "shown": "plain output of this event goes to the model",
    "answer": "an answer in JSON is read by the keys that are documented",
    "crashed": "a hook that fails is ignored: it fails open",
    "signalled": "a hook that a signal ended is ignored: it fails open",
    "timed out": "a hook that is cut at its limit has no say, whatever it had printed",
    "not run": "a command that cannot be run is ignored: it fails open",
    "unparsable": "output that begins with a brace and is not JSON is ignored: it fails open",
    "invalid": "an answer with a value that the host does not know is ignored",
    "no power": "a refusal of this event is ignored",
    "unanswered": "a handler without an answer has no opinion",
    "precedence": "a refusal goes before ask, and ask before allow",
    "several": "of several refusals each is told, in the order of configuration",
    "no hooks": "an event without hooks changes nothing",
}
_SETTINGS = {
    "malformed": "a malformed entry is left out, and the rest of its file is used",
    "unreadable": "a settings file that cannot be parsed is not used at all",
    "unknown event": "an unknown event name is skipped, the rest of the file is used",
    "unpassable": "a command that no process can be given is left out; the rest of its file is used",
    "unreachable": "hooks of events that are never come to change nothing for the others",
    "merge": "the hooks of all settings files add up",
    "reload": "changed settings hold from the next event on",
}
_PROCESS = {
    "shell": "hooks run by a shell with -c",
    "stdio": "standard input, output and error are pipes",
    "newline": "no newline follows the JSON on standard input",
    "kill": "SIGTERM to the group of the hook, SIGKILL half a second later",
    "pipe wait": "output held open by a child is waited for half a second, and is kept",
    "output": "what a hook prints is read whole, however long it is",
    "order": "all hooks of an event start at once",
    "env": "no variables but those that are documented",
}


@dataclass(frozen=True, slots=True)
class Documentation:
    """
    What a host is known from.

    Attributes:
        source: The documents, with the host's version or their date.
    """

    source: str

    def documented(self, text: str, source: str = "") -> Rule:
        """
        A documented fact; another source than the usual one can be named.
        """
        return Rule(text, Basis.DOCUMENTED, source or self.source)

    def assumed(self, text: str) -> Rule:
        """
        A fact that no document settles.
        """
        return Rule(text, Basis.ASSUMED, CHOSEN)

    def replies(self, own: Mapping[str, Rule]) -> Mapping[str, Rule]:
        """
        The facts about replies: the host's own, and what is assumed for the rest.
        """
        return self._filled(_REPLIES, own)

    def settings(self, own: Mapping[str, Rule]) -> Mapping[str, Rule]:
        """
        The facts about settings, likewise.
        """
        return self._filled(_SETTINGS, own)

    def process(self, own: Mapping[str, Rule]) -> Mapping[str, Rule]:
        """
        The facts about processes, likewise.
        """
        return self._filled(_PROCESS, own)

    def _filled(self, assumed: Mapping[str, str], own: Mapping[str, Rule]) -> Mapping[str, Rule]:
        return {**{name: self.assumed(text) for name, text in assumed.items()}, **own}

    def fields(self, event: str, *fields: Field) -> EventFields:
        """
        The keys of an event; documents name them and leave their order open.
        """
        rule = self.documented(f"{event} hooks get these keys; their order is assumed")
        return EventFields(event=event, fields=fields, rule=rule)


_RULE = "=" * 67


def write_diff(name: str, old: str, new: str, label: str) -> str:
    """
    The change of a file as a patch.
    """
    head = [f"Index: {name}", _RULE, f"--- {name}\tOriginal", f"+++ {name}\t{label}"]
    return "\n".join([*head, *_hunks(old.splitlines(), new.splitlines())]) + "\n"


def _hunks(before: list[str], after: list[str]) -> Iterator[str]:
    matcher = difflib.SequenceMatcher(a=before, b=after, autojunk=False)
    for group in matcher.get_grouped_opcodes(4):
        _, old_first, _, new_first, _ = group[0]
        _, _, old_last, _, new_last = group[-1]
        olds, news = old_last - old_first, new_last - new_first
        starts = (old_first + bool(olds), new_first + bool(news))
        yield f"@@ -{starts[0]},{olds} +{starts[1]},{news} @@"
        for tag, i1, i2, j1, j2 in group:
            if tag == "equal":
                yield from (f" {line}" for line in before[i1:i2])
                continue
            yield from (f"-{line}" for line in before[i1:i2])
            yield from (f"+{line}" for line in after[j1:j2])


def count_changes(old: str, new: str) -> dict[str, Json]:
    """
    How much the model changed; a person has changed nothing.
    """
    lines = list(difflib.ndiff(old.splitlines(), new.splitlines()))
    added = [line[2:] for line in lines if line.startswith("+ ")]
    removed = [line[2:] for line in lines if line.startswith("- ")]
    counts = {
        "added_lines": len(added),
        "removed_lines": len(removed),
        "added_chars": sum(map(len, added)),
        "removed_chars": sum(map(len, removed)),
    }
    model: dict[str, Json] = {f"model_{name}": number for name, number in counts.items()}
    return {**model, **{f"user_{name}": 0 for name in counts}}


@dataclass(frozen=True, slots=True, kw_only=True)
class PlainTools:
    """
    What a host calls its tools, and the keys of their inputs.

    Attributes:
        run: Runs a command.
        write: Writes a whole file.
        edit: Replaces a passage of a file.
        read: Reads a file; empty if the agent does that with a command.
        command: Key of the command.
        path: Key of the file that is written or edited.
        text: Key of a whole new text.
        old: Key of the passage that is replaced.
        new: Key of what comes in its place.
        read_path: Key of the file that is read, where that is another.
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

    def rules(self, rule: Rule, *, subagent: str = "", gated: bool = False) -> ToolRules:
        """
        The rules of these tools.

        Args:
            rule: Where their names and results are known from.
            subagent: The tool that starts a subagent; empty if there is none.
            gated: Whether hooks are asked for a permission to run commands and to change files.
        """
        return ToolRules(
            subagent=subagent,
            gated=(self.run, self.write, self.edit) if gated else (),
            edits=(self.write, self.edit),
            call=self.call,
            operation=self.operation,
            result=self.result,
            given=self.given,
            rules={"names": rule},
        )

    def call(self, operation: Operation, workspace: str) -> ToolCall:
        """
        An operation as the call that the model would make.
        """
        match operation:
            case RunCommand():
                name, given = self.run, {self.command: operation.command}
            case Edit(old=None):
                file = posixpath.join(workspace, operation.file)
                name, given = self.write, {self.path: file, self.text: operation.text}
            case Edit():
                file = posixpath.join(workspace, operation.file)
                name = self.edit
                given = {self.path: file, self.old: operation.old or "", self.new: operation.text}
            case Read():
                file = posixpath.join(workspace, operation.file)
                shown = {self.command: f"cat {shlex.quote(file)}"}
                name, given = (self.read, {self._read_key: file}) if self.read else (self.run, shown)
        return ToolCall(
            name=name, input=given, given=operation.given, expect=operation.expect, label=operation.label
        )

    def operation(self, made: ToolCall, workspace: str) -> Operation | None:
        """
        What a call does to the workspace; ``None`` for a tool that the harness cannot perform.
        """
        text = {key: value for key, value in made.input.items() if isinstance(value, str)}
        # A path outside the workspace stays absolute: whoever performs it must decide about that.
        root = workspace.rstrip("/") + "/"
        file = text.get(self.path, "").removeprefix(root)
        if made.name == self.run and self.command in text:
            return RunCommand(command=text[self.command], label=made.label)
        if made.name == self.write and file and self.text in text:
            return Edit(file=file, text=text[self.text], label=made.label)
        if made.name == self.edit and file and self.old in text and self.new in text:
            return Edit(file=file, text=text[self.new], old=text[self.old], label=made.label)
        seen = text.get(self._read_key, "").removeprefix(root)
        if self.read and made.name == self.read and seen:
            return Read(file=seen, label=made.label)
        return None

    @property
    def _read_key(self) -> str:
        return self.read_path or self.path

    def result(self, made: ToolCall, done: Performance, _workspace: str) -> ToolResult:
        """
        What the agent reads of what really happened.
        """
        if done.error:
            return ToolResult(text=done.error, response=done.error, failed=True)
        if made.name == self.run:
            parts = (done.stdout.rstrip("\n"), done.stderr.rstrip("\n"))
            text = "\n".join(part for part in parts if part)
            failed = done.exit != 0
            told = f"exit code {done.exit}\n{text}".rstrip("\n") if failed else text
            return ToolResult(text=told, response=told, failed=failed)
        text = (done.content or "") if made.name == self.read else "done"
        return ToolResult(text=text, response=text)

    def given(self, _made: ToolCall, supplied: ToolResult) -> ToolResult:
        """
        A result that a scenario supplies.
        """
        if supplied.response is not None:
            return supplied
        return ToolResult(text=supplied.text, response=supplied.text, failed=supplied.failed)
