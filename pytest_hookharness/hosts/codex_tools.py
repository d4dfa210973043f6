"""
This module is concerned with the tools of Codex 0.169.0 and the form of their results.

Middle floor: hosts. Names and forms of Bash, of a patch that adds a file and of the start of a subagent were
recorded; the other forms are assumed, as the profile says.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping

from pytest_hookharness.hosts.codex_patches import read_patch, summarise, write_patch
from pytest_hookharness.hosts.profile import Operation
from pytest_hookharness.model.moves import Edit, Performance, Read, Run, Subagent, ToolCall, ToolResult
from pytest_hookharness.model.protocol import Json, Payload

SHELL, PATCH, SPAWN = "Bash", "apply_patch", "spawn_agent"


def call(operation: Operation, _workspace: str) -> ToolCall:
    """
    An operation as the call that the model would make; it reads files by the shell.
    """
    match operation:
        case Run():
            name, given = SHELL, operation.command
        case Edit():
            name, given = PATCH, write_patch(operation)
        case Read():
            file = operation.file if not operation.file.startswith("-") else f"./{operation.file}"
            name, given = SHELL, shlex.join(["cat", file])
    return ToolCall(
        name=name,
        input={"command": given},
        given=operation.given,
        expect=operation.expect,
        label=operation.label,
    )


def operation(made: ToolCall, workspace: str) -> Operation | None:
    """
    What a call does to the workspace; ``None`` for a tool that the harness cannot perform.
    """
    command = made.input.get("command")
    if not isinstance(command, str):
        return None
    if made.name == SHELL:
        return Run(command=command, label=made.label)
    edit = read_patch(command, workspace) if made.name == PATCH else None
    return None if edit is None else Edit(file=edit.file, text=edit.text, old=edit.old, label=made.label)


def result(made: ToolCall, done: Performance, workspace: str) -> ToolResult:
    """
    What the host makes of what really happened.
    """
    if made.name == PATCH:
        return _patched(made, done, workspace)
    if done.error:
        return ToolResult(text=done.error, response=done.error, failed=True)
    output = done.stdout + done.stderr
    if done.exit == 0 or made.name != SHELL:
        return ToolResult(text=output, response=output)
    how = "command timed out" if done.exit is None else f"Process exited with code {done.exit}"
    return ToolResult(text=f"{how}\nOutput:\n{output}", response=output, failed=True)


def _patched(made: ToolCall, done: Performance, workspace: str) -> ToolResult:
    edit = read_patch(str(made.input.get("command", "")), workspace)
    if done.error or edit is None:
        text = f"apply_patch verification failed: {done.error or 'the patch cannot be read'}"
        return ToolResult(text=text, response=text, failed=True)
    return _patch_result(summarise(edit, new=edit.old is None))


def _patch_result(output: str) -> ToolResult:
    text = f"Exit code: 0\nWall time: 0 seconds\nOutput:\n{output}"
    return ToolResult(text=text, response=text)


def given(_made: ToolCall, supplied: ToolResult) -> ToolResult:
    """
    A result that a scenario supplies, in the form that the host would have given it: plain text.
    """
    if supplied.response is not None:
        return supplied
    return ToolResult(text=supplied.text, response=supplied.text, failed=supplied.failed)


def launch(move: Subagent) -> Payload:
    """
    The input of the call that starts a subagent.
    """
    kind: dict[str, Json] = {} if move.kind == Subagent().kind else {"agent_type": move.kind}
    return {"message": move.prompt, **kind}


def launched(_asked: Payload, folders: Mapping[str, str]) -> Json:
    """
    What the host says of a subagent that it has started; it gives each a name.
    """
    said = {"agent_id": folders["agent"], "nickname": "Mill"}
    return json.dumps(said, separators=(",", ":"))
