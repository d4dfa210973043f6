"""
The tools of Codex 0.169.0, their results, and its patches.

Names and forms of Bash, of a patch that adds a file and of the start of a subagent were recorded; the other
forms are assumed, as the profile says. The harness changes one place of one file, so it cannot perform a
patch of several files, or of several places in one file.
"""

from __future__ import annotations

import json
import posixpath
import shlex
from collections.abc import Mapping

from pytest_hookharness.hosts.rules.profile import Operation
from pytest_hookharness.model.moves import Edit, Performance, Read, RunCommand, Subagent, ToolCall, ToolResult
from pytest_hookharness.model.protocol import Json, Payload

_BEGIN, _END = "*** Begin Patch", "*** End Patch"
_ADD, _UPDATE = "*** Add File: ", "*** Update File: "
_PLACE, _LAST = "@@", "*** End of File"


def write_patch(edit: Edit) -> str:
    """
    Return the patch that makes a change.

    A passage that begins or ends within a line is written as if it were whole lines, because the text around
    it in the file is not known here.
    """
    if edit.old is None:
        body = [f"{_ADD}{edit.file}", *(f"+{line}" for line in _lines(edit.text))]
        return "\n".join((_BEGIN, *body, _END, ""))
    old, new = edit.old.split("\n"), edit.text.split("\n")
    if edit.old.endswith("\n") and (not edit.text or edit.text.endswith("\n")):
        # Whole lines replace whole lines, or are removed.
        old, new = old[:-1], new[:-1]
    body = [f"{_UPDATE}{edit.file}", _PLACE]
    body += [*(f"-{line}" for line in old), *(f"+{line}" for line in new)]
    return "\n".join((_BEGIN, *body, _END, ""))


def read_patch(text: str, workspace: str) -> Edit | None:
    """
    Return the change that a patch makes; ``None`` for more than one change of one file, or for no patch.
    """
    lines = text.strip("\n").split("\n")
    if len(lines) < 3 or lines[0].strip() != _BEGIN or lines[-1].strip() != _END:
        return None
    head, body = lines[1], lines[2:-1]
    if head.startswith(_ADD) and all(line.startswith("+") for line in body):
        text = "".join(f"{line[1:]}\n" for line in body)
        return Edit(file=_relative_path(head[len(_ADD) :], workspace), text=text)
    if not head.startswith(_UPDATE):
        return None
    passage = _read_passage(body)
    if passage is None:
        return None
    old, new = passage
    return Edit(file=_relative_path(head[len(_UPDATE) :], workspace), text=new, old=old)


def _read_passage(body: list[str]) -> tuple[str, str] | None:
    hunk = [line for line in body if line.strip() != _LAST]
    if hunk and hunk[0].startswith(_PLACE):
        hunk = hunk[1:]
    # An empty context line may have lost its space.
    marked = [line or " " for line in hunk]
    if any(line[0] not in " -+" for line in marked):
        return None
    old = [line[1:] for line in marked if line[0] in " -"]
    new = [line[1:] for line in marked if line[0] in " +"]
    if not old:
        return None
    # Removed lines lose their newlines too.
    end = "" if new else "\n"
    return "\n".join(old) + end, "\n".join(new)


def _lines(text: str) -> list[str]:
    return text.removesuffix("\n").split("\n") if text else []


def _relative_path(path: str, workspace: str) -> str:
    # A path outside of the workspace stays absolute: the code that performs the call decides about it.
    return posixpath.normpath(path.strip()).removeprefix(workspace.rstrip("/") + "/")


def summarise(tool_call: Edit, *, new: bool) -> str:
    """Return the host's message about a patch that it has applied."""
    return f"Success. Updated the following files:\n{'A' if new else 'M'} {tool_call.file}\n"


SHELL, PATCH, SPAWN = "Bash", "apply_patch", "spawn_agent"


def call(operation: Operation, _workspace: str) -> ToolCall:
    """Return the call that the model would make for an operation; it reads files with the shell."""
    match operation:
        case RunCommand():
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


def operation(tool_call: ToolCall, workspace: str) -> Operation | None:
    """Return the operation of a call; ``None`` for a tool that the harness cannot perform."""
    command = tool_call.input.get("command")
    if not isinstance(command, str):
        return None
    if tool_call.name == SHELL:
        return RunCommand(command=command, label=tool_call.label)
    edit = read_patch(command, workspace) if tool_call.name == PATCH else None
    return None if edit is None else Edit(file=edit.file, text=edit.text, old=edit.old, label=tool_call.label)


def result(tool_call: ToolCall, performance: Performance, workspace: str) -> ToolResult:
    """Return the host's result of a performed call."""
    if tool_call.name == PATCH:
        return _apply_result(tool_call, performance, workspace)
    if performance.error:
        return ToolResult(text=performance.error, response=performance.error, failed=True)
    output = performance.stdout + performance.stderr
    if performance.exit == 0 or tool_call.name != SHELL:
        return ToolResult(text=output, response=output)
    how = "command timed out" if performance.exit is None else f"Process exited with code {performance.exit}"
    return ToolResult(text=f"{how}\nOutput:\n{output}", response=output, failed=True)


def _apply_result(tool_call: ToolCall, performance: Performance, workspace: str) -> ToolResult:
    edit = read_patch(str(tool_call.input.get("command", "")), workspace)
    if performance.error or edit is None:
        text = f"apply_patch verification failed: {performance.error or 'the patch cannot be read'}"
        return ToolResult(text=text, response=text, failed=True)
    return _patch_result(summarise(edit, new=edit.old is None))


def _patch_result(output: str) -> ToolResult:
    text = f"Exit code: 0\nWall time: 0 seconds\nOutput:\n{output}"
    return ToolResult(text=text, response=text)


def given(_tool_call: ToolCall, supplied: ToolResult) -> ToolResult:
    """Return a result that a scenario supplies in the form that the host would give it: plain text."""
    if supplied.response is not None:
        return supplied
    return ToolResult(text=supplied.text, response=supplied.text, failed=supplied.failed)


def launch(move: Subagent) -> Payload:
    """Return the input of the call that starts a subagent."""
    kind: dict[str, Json] = {} if move.kind == Subagent().kind else {"agent_type": move.kind}
    return {"message": move.prompt, **kind}


def launched(_asked: Payload, folders: Mapping[str, str]) -> Json:
    """Return the host's response to the start of a subagent, which gets a name."""
    response = {"agent_id": folders["agent"], "nickname": "Mill"}
    return json.dumps(response, separators=(",", ":"))
