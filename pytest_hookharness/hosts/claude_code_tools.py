"""
This module is concerned with the tools of Claude Code 2.1.329 and the form of their results.

Middle floor: hosts. Names and forms of Bash, Write, Read failures and Agent were recorded; the other
forms are assumed, as the profile says.
"""

from __future__ import annotations

import difflib
import posixpath
from collections.abc import Mapping

from pytest_hookharness.hosts.plain_tools import PlainTools
from pytest_hookharness.hosts.profile import Operation
from pytest_hookharness.model.moves import Edit, Performance, Read, Run, Subagent, ToolCall, ToolResult
from pytest_hookharness.model.protocol import Json, Payload

# What a call does to the workspace.
operation = PlainTools(run="Bash", write="Write", edit="Edit", read="Read").operation


def call(operation: Operation, workspace: str) -> ToolCall:
    """
    An operation as the call that the model would make.
    """
    match operation:
        case Run():
            name, given = "Bash", {"command": operation.command, "description": "Runs a command"}
        case Edit(old=None):
            path = posixpath.join(workspace, operation.file)
            name, given = "Write", {"file_path": path, "content": operation.text}
        case Edit():
            path = posixpath.join(workspace, operation.file)
            name = "Edit"
            given = {"file_path": path, "old_string": operation.old or "", "new_string": operation.text}
        case Read():
            name, given = "Read", {"file_path": posixpath.join(workspace, operation.file)}
    return ToolCall(
        name=name, input=given, given=operation.given, expect=operation.expect, label=operation.label
    )


def result(made: ToolCall, done: Performance, workspace: str) -> ToolResult:
    """
    What the host makes of what really happened.
    """
    path = str(made.input.get("file_path", ""))
    if done.error:
        missing = made.name == "Read" and "no such file" in done.error.lower()
        note = f"File does not exist. Note: your current working directory is {workspace}."
        return ToolResult(text=note if missing else done.error, failed=True)
    if made.name == "Bash":
        return _ran(done)
    if made.name == "Write":
        return _written(path, done)
    if made.name == "Edit":
        return _edited(made, path, done)
    if made.name == "Read":
        return _seen(path, done.content or "")
    return ToolResult(text=done.stdout, response=done.stdout)


def _ran(done: Performance) -> ToolResult:
    stdout, stderr = done.stdout.rstrip("\n"), done.stderr.rstrip("\n")
    text = "\n".join(part for part in (stdout, stderr) if part)
    if done.exit is None:
        return ToolResult(text=f"Command was interrupted\n{text}".rstrip("\n"), failed=True)
    if done.exit != 0:
        return ToolResult(text=f"Exit code {done.exit}\n{text}".rstrip("\n"), failed=True)
    return ToolResult(text=text or "(Bash completed with no output)", response=_bash(stdout, stderr))


def _bash(stdout: str, stderr: str) -> Json:
    return {
        "stdout": stdout,
        "stderr": stderr,
        "interrupted": False,
        "isImage": False,
        "noOutputExpected": False,
    }


def _written(path: str, done: Performance) -> ToolResult:
    new, old = done.content or "", done.original
    response: Payload = {
        "type": "create" if old is None else "update",
        "filePath": path,
        "content": new,
        "structuredPatch": [] if old is None else _patch(old, new),
        "originalFile": old,
        "userModified": False,
    }
    words = "File created successfully at" if old is None else "The file has been updated:"
    return ToolResult(text=f"{words} {path}", response=response)


def _edited(made: ToolCall, path: str, done: Performance) -> ToolResult:
    old, new = done.original or "", done.content or ""
    response: Payload = {
        "filePath": path,
        "oldString": made.input.get("old_string", ""),
        "newString": made.input.get("new_string", ""),
        "originalFile": old,
        "structuredPatch": _patch(old, new),
        "userModified": False,
        "replaceAll": bool(made.input.get("replace_all", False)),
    }
    return ToolResult(text=f"The file has been updated: {path}", response=response)


def _seen(path: str, content: str) -> ToolResult:
    lines = content.splitlines()
    numbered = "\n".join(f"{number:>6}\t{line}" for number, line in enumerate(lines, 1))
    file: Payload = {
        "filePath": path,
        "content": content,
        "numLines": len(lines),
        "startLine": 1,
        "totalLines": len(lines),
    }
    return ToolResult(text=numbered, response={"type": "text", "file": file})


def _patch(old: str, new: str) -> Json:
    before, after = old.splitlines(), new.splitlines()
    matcher = difflib.SequenceMatcher(a=before, b=after, autojunk=False)
    hunks: list[Payload] = []
    for group in matcher.get_grouped_opcodes(3):
        lines: list[str] = []
        for tag, i1, i2, j1, j2 in group:
            if tag == "equal":
                lines += [f" {line}" for line in before[i1:i2]]
                continue
            lines += [f"-{line}" for line in before[i1:i2]]
            lines += [f"+{line}" for line in after[j1:j2]]
        first, last = group[0], group[-1]
        hunks.append(
            {
                "oldStart": first[1] + 1,
                "oldLines": last[2] - first[1],
                "newStart": first[3] + 1,
                "newLines": last[4] - first[3],
                "lines": lines,
            }
        )
    return hunks


def given(made: ToolCall, supplied: ToolResult) -> ToolResult:
    """
    A result that a scenario supplies, in the form that the host would have given it.
    """
    if supplied.failed or supplied.response is not None:
        return supplied
    path, text = str(made.input.get("file_path", "")), supplied.text
    response: Json
    match made.name:
        case "Bash":
            response = _bash(text, "")
        case "Write":
            response = _written(path, Performance(content=str(made.input.get("content", "")))).response
        case "Edit":
            old, new = (str(made.input.get(key, "")) for key in ("old_string", "new_string"))
            response = _edited(made, path, Performance(original=old, content=new)).response
        case "Read":
            response = _seen(path, text).response
        case _:
            response = text
    return ToolResult(text=text, response=response)


def launch(move: Subagent) -> Payload:
    """
    The input of the call that starts a subagent.
    """
    return {
        "description": move.prompt[:40] or move.kind,
        "prompt": move.prompt,
        "subagent_type": move.kind,
    }


def launched(asked: Payload, folders: Mapping[str, str]) -> Json:
    """
    What the host says of a subagent that it has started.
    """
    return {
        "isAsync": True,
        "status": "async_launched",
        "agentId": folders["agent"],
        "description": asked.get("description", ""),
        "resolvedModel": folders["model"],
        "prompt": asked.get("prompt", ""),
        "outputFile": "{tmp}/claude-0/{slug}/{session}/tasks/{agent}.output".format(**folders),
        "canReadOutputFile": True,
        "canContinueAgent": True,
    }
