"""The tools of Gemini CLI 0.61.0, their results, its detector of repeated calls, and its approval modes."""

from __future__ import annotations

import posixpath

from pytest_hookharness.hosts.profiles.file_changes import describe_change, join_output, result_with_display
from pytest_hookharness.hosts.profiles.gemini.events import FACTS
from pytest_hookharness.hosts.profiles.shared import PlainTools
from pytest_hookharness.hosts.rules.turns import ModeRefusal, OptionRule, StuckRules
from pytest_hookharness.model.moves import Performance, ToolCall, ToolResult
from pytest_hookharness.model.protocol import Payload

SHELL, WRITE, REPLACE, READ = "run_shell_command", "write_file", "replace", "read_file"

# A row of up to five calls that comes five times without another call is a repetition.
_LONGEST, _TIMES = 5, 5

PLAIN = PlainTools(
    run=SHELL,
    write=WRITE,
    edit=REPLACE,
    read=READ,
    absolute=False,
    more={SHELL: {"description": "Runs a command"}, REPLACE: {"instruction": "Replaces a passage"}},
)


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
    change = describe_change(path, performance, replaced=tool_call.name == REPLACE)
    kind: Payload = {"isNewFile": performance.original is None, "isBuildFile": False}
    text = f"{what} Here is the updated code:\n{performance.content or ''}"
    return result_with_display(text, {**change, **kind})


def find_repetition(recent: tuple[tuple[str, str], ...]) -> str:
    """Return why the newest calls are a repetition; empty if they are none. Texts do not separate calls."""
    calls = [digest for kind, digest in recent if kind == "call"]
    for length in range(1, _LONGEST + 1):
        newest = calls[-_TIMES * length :]
        if len(newest) == _TIMES * length and newest == newest[-length:] * _TIMES:
            row = "same call" if length == 1 else f"same {length} calls"
            return f"the model asked for the {row} {_TIMES} times in a row, and then again"
    return ""


STUCK = StuckRules(
    detect=find_repetition,
    before_call=True,
    warning=(
        "System: Potential loop detected. Details: Repeated tool call: {name} with arguments {input}. Please "
        "take a step back and confirm you're making forward progress. If not, take a step back, analyze your "
        "previous actions and rethink how you're approaching the problem. Avoid repeating the same tool "
        "calls or responses without new results."
    ),
    # Texts lie between calls: twice as many moves as the longest repetition has calls.
    remembered=2 * _LONGEST * _TIMES,
    status="loop detected",
    rule=FACTS.observed(
        "when the model asks for the same row of up to 5 calls 5 times, the last call is not made and the "
        "model gets a warning instead; the next time the turn ends without AfterAgent"
    ),
)

# What the model gets if it asks for a tool that needs an approval: the host does not offer it.
_MISSING = 'Tool "{}" not found. Did you mean one of: "{}", "{}", "{}"?'
_NO_COMMANDS = {SHELL: _MISSING.format(SHELL, "update_topic", "grep_search", "replace")}
_PLANNING = (
    "Tool execution denied by policy. You are in Plan Mode and cannot modify source code. You may ONLY use "
    "write_file or replace to save plans to the designated plans directory as .md files."
)

REFUSED_BY_MODE = (
    ModeRefusal(
        modes=("default",),
        texts={
            SHELL: _MISSING.format(SHELL, "update_topic", "grep_search", "invoke_agent"),
            WRITE: _MISSING.format(WRITE, "read_file", "update_topic", "grep_search"),
            REPLACE: _MISSING.format(REPLACE, "read_file", "grep_search", "glob"),
        },
    ),
    ModeRefusal(modes=("auto_edit", "plan"), texts=_NO_COMMANDS),
    ModeRefusal(modes=("plan",), texts=dict.fromkeys((WRITE, REPLACE), _PLANNING), after_hooks=True),
)

OPTIONS = {
    "permission_mode": OptionRule(
        default="yolo",
        choices=("default", "auto_edit", "plan", "yolo"),
        rule=FACTS.observed(
            "--approval-mode sets the mode; without a person, default has no tools for commands and "
            "edits, auto_edit and plan none for commands, so no hook runs for such a call; plan refuses "
            "an edit after the hooks before it"
        ),
    )
}


def given(tool_call: ToolCall, supplied: ToolResult) -> ToolResult:  # noqa: ARG001 - all tools have one form
    """Return a result that a scenario supplies in the form that the host would give it."""
    if supplied.response is not None:
        return supplied
    if supplied.failed:
        return _failed_result(supplied.text, supplied.text, supplied.text, "execution_failed")
    return result_with_display(supplied.text, supplied.text)
