"""
The tools of Gemini CLI 0.61.0 and their results.

The forms of run_shell_command, of write_file for a new file and of a failed read_file were recorded; the
others are assumed, as the profile says.
"""

from __future__ import annotations

import posixpath

from pytest_hookharness.hosts.profiles.shared import PlainTools, count_changes, write_diff
from pytest_hookharness.hosts.rules.profile import Operation
from pytest_hookharness.model.moves import Edit, Performance, Read, RunCommand, ToolCall, ToolResult
from pytest_hookharness.model.protocol import Json, Payload

SHELL, WRITE, REPLACE, READ = "run_shell_command", "write_file", "replace", "read_file"

# The operation that a call performs in the workspace.
operation = PlainTools(run=SHELL, write=WRITE, edit=REPLACE, read=READ).operation


def call(operation: Operation, workspace: str) -> ToolCall:  # noqa: ARG001 - paths stay as the model gives them
    """
    Return the call that the model would make for an operation.
    """
    given: Payload
    match operation:
        case RunCommand():
            name, given = SHELL, {"command": operation.command, "description": "Runs a command"}
        case Edit(old=None):
            name, given = WRITE, {"file_path": operation.file, "content": operation.text}
        case Edit():
            name = REPLACE
            given = {
                "file_path": operation.file,
                "instruction": "Replaces a passage",
                "old_string": operation.old or "",
                "new_string": operation.text,
            }
        case Read():
            name, given = READ, {"file_path": operation.file}
    return ToolCall(
        name=name, input=given, given=operation.given, expect=operation.expect, label=operation.label
    )


def result(made: ToolCall, done: Performance, workspace: str) -> ToolResult:
    """
    Return the host's result of a performed call.
    """
    path = posixpath.join(workspace, str(made.input.get("file_path", "")))
    if done.error:
        return _failed(made, path, done.error)
    if made.name == SHELL:
        return _ran(done)
    if made.name in (WRITE, REPLACE):
        return _written(made, path, done)
    if made.name == READ:
        return _respond(done.content or "", "")
    return _respond(done.stdout, done.stdout)


def _respond(text: str, display: Json) -> ToolResult:
    return ToolResult(text=text, response={"llmContent": text, "returnDisplay": display})


def _failed(made: ToolCall, path: str, error: str) -> ToolResult:
    missing = made.name == READ and "no such file" in error.lower()
    text, display, message, kind = error, error, error, "execution_failed"
    if missing:
        text = "Could not read file because no file was found at the specified path."
        display, message, kind = "File not found.", f"File not found: {path}", "file_not_found"
    return _fail(text, display, message, kind)


def _fail(text: str, display: str, message: str, kind: str) -> ToolResult:
    error: Payload = {"message": message, "type": kind}
    response: Payload = {"llmContent": text, "returnDisplay": display, "error": error}
    return ToolResult(text=text, failed=True, response=response)


def _ran(done: Performance) -> ToolResult:
    printed = "\n".join(part.rstrip("\n") for part in (done.stdout, done.stderr) if part.strip())
    lines = [f"Output: {printed or '(empty)'}"]
    if done.exit is None:
        lines = [f"Command was cancelled before it could complete. {lines[0]}"]
    elif done.exit:
        lines.append(f"Exit Code: {done.exit}")
    # The real host names a process group here. An invented number could be that of an unrelated process.
    lines.append("Process Group PGID: (none)")
    text = "\n".join(["<untrusted_context>", *lines, "</untrusted_context>"])
    return _respond(text, printed)


def _written(made: ToolCall, path: str, done: Performance) -> ToolResult:
    old, new = done.original, done.content or ""
    what = f"Successfully overwrote file: {path}."
    if made.name == REPLACE:
        what = f"Successfully modified file: {path} (1 replacements)."
    elif old is None:
        what = f"Successfully created and wrote to new file: {path}."
    name = posixpath.basename(path)
    display: Payload = {
        "fileDiff": write_diff(name, old or "", new, "Written"),
        "fileName": name,
        "filePath": path,
        "originalContent": old or "",
        "newContent": new,
        "diffStat": count_changes(old or "", new),
        "isNewFile": old is None,
        "isBuildFile": False,
    }
    return _respond(f"{what} Here is the updated code:\n{new}", display)


def given(made: ToolCall, supplied: ToolResult) -> ToolResult:  # noqa: ARG001 - all tools have one form
    """
    Return a result that a scenario supplies in the form that the host would give it.
    """
    if supplied.response is not None:
        return supplied
    if supplied.failed:
        return _fail(supplied.text, supplied.text, supplied.text, "execution_failed")
    return _respond(supplied.text, supplied.text)
