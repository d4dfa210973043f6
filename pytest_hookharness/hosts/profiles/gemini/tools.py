"""
The tools of Gemini CLI 0.61.0 and their results.

The forms of run_shell_command, of write_file for a new file and of a failed read_file were recorded; the
others are assumed, as the profile says.
"""

from __future__ import annotations

import posixpath

from pytest_hookharness.hosts.profiles.file_changes import describe_change, join_output, result_with_display
from pytest_hookharness.hosts.profiles.shared import PlainTools, make_call
from pytest_hookharness.hosts.rules.profile import Operation
from pytest_hookharness.model.moves import Edit, Performance, Read, RunCommand, ToolCall, ToolResult
from pytest_hookharness.model.protocol import Payload

SHELL, WRITE, REPLACE, READ = "run_shell_command", "write_file", "replace", "read_file"

# The operation that a call performs in the workspace.
operation = PlainTools(run=SHELL, write=WRITE, edit=REPLACE, read=READ).operation


def call(operation: Operation, workspace: str) -> ToolCall:  # noqa: ARG001 - paths stay as the model gives them
    """Return the call that the model would make for an operation."""
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
    return make_call(operation, name, given)


def result(tool_call: ToolCall, performance: Performance, workspace: str) -> ToolResult:
    """Return the host's result of a performed call."""
    path = posixpath.join(workspace, str(tool_call.input.get("file_path", "")))
    if performance.error:
        return _error_result(tool_call, path, performance.error)
    if tool_call.name == SHELL:
        return _command_result(performance)
    if tool_call.name in (WRITE, REPLACE):
        return _write_result(tool_call, path, performance)
    if tool_call.name == READ:
        return result_with_display(performance.content or "", "")
    return result_with_display(performance.stdout, performance.stdout)


def _error_result(tool_call: ToolCall, path: str, error: str) -> ToolResult:
    missing = tool_call.name == READ and "no such file" in error.lower()
    text, display, message, kind = error, error, error, "execution_failed"
    if missing:
        text = "Could not read file because no file was found at the specified path."
        display, message, kind = "File not found.", f"File not found: {path}", "file_not_found"
    return _failed_result(text, display, message, kind)


def _failed_result(text: str, display: str, message: str, kind: str) -> ToolResult:
    error: Payload = {"message": message, "type": kind}
    response: Payload = {"llmContent": text, "returnDisplay": display, "error": error}
    return ToolResult(text=text, failed=True, response=response)


def _command_result(performance: Performance) -> ToolResult:
    printed = join_output(performance)
    lines = [f"Output: {printed or '(empty)'}"]
    if performance.exit is None:
        lines = [f"Command was cancelled before it could complete. {lines[0]}"]
    elif performance.exit:
        lines.append(f"Exit Code: {performance.exit}")
    # The real host names a process group here. An invented number could be that of an unrelated process.
    lines.append("Process Group PGID: (none)")
    text = "\n".join(["<untrusted_context>", *lines, "</untrusted_context>"])
    return result_with_display(text, printed)


def _write_result(tool_call: ToolCall, path: str, performance: Performance) -> ToolResult:
    what = f"Successfully overwrote file: {path}."
    if tool_call.name == REPLACE:
        what = f"Successfully modified file: {path} (1 replacements)."
    elif performance.original is None:
        what = f"Successfully created and wrote to new file: {path}."
    kind: Payload = {"isNewFile": performance.original is None, "isBuildFile": False}
    text = f"{what} Here is the updated code:\n{performance.content or ''}"
    return result_with_display(text, {**describe_change(path, performance), **kind})


def given(tool_call: ToolCall, supplied: ToolResult) -> ToolResult:  # noqa: ARG001 - all tools have one form
    """Return a result that a scenario supplies in the form that the host would give it."""
    if supplied.response is not None:
        return supplied
    if supplied.failed:
        return _failed_result(supplied.text, supplied.text, supplied.text, "execution_failed")
    return result_with_display(supplied.text, supplied.text)
