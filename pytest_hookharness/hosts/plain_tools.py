"""
This module is concerned with the tools of hosts as far as they differ in names alone.

Middle floor: hosts. That is all there is to calls that are read. Where results were not recorded, what a call
gives is plain text, without a form around it; where they were, the host has forms of its own.
"""

from __future__ import annotations

import posixpath
import shlex
from dataclasses import dataclass

from pytest_hookharness.hosts.profile import Operation, ToolRules
from pytest_hookharness.model.moves import Edit, Performance, Read, Run, ToolCall, ToolResult
from pytest_hookharness.model.protocol import Rule


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
            case Run():
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
            return Run(command=text[self.command], label=made.label)
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
