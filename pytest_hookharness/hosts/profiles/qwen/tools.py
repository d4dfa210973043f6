"""The tools of Qwen Code 0.24.4 and their results."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping, Sequence

from pytest_hookharness.hosts.profiles.file_changes import describe_change, join_output, result_with_display
from pytest_hookharness.hosts.profiles.shared import PlainTools
from pytest_hookharness.model.moves import Performance, Subagent, ToolCall, ToolResult
from pytest_hookharness.model.protocol import Json, Payload

SHELL, WRITE, EDIT, READ, AGENT = "run_shell_command", "write_file", "edit", "read_file", "agent"

# A larger change of a file is not shown to the model.
_MOST_SHOWN = 1001

PLAIN = PlainTools(
    run=SHELL,
    write=WRITE,
    edit=EDIT,
    read=READ,
    more={SHELL: {"description": "Runs a command", "is_background": False}},
)


def result(tool_call: ToolCall, performance: Performance, workspace: str) -> ToolResult:
    """Return the host's result of a performed call."""
    path = posixpath.join(workspace, str(tool_call.input.get("file_path", "")))
    if performance.error:
        missing = tool_call.name == READ and "no such file" in performance.error.lower()
        return ToolResult(text=f"File not found: {path}" if missing else performance.error, failed=True)
    if tool_call.name == SHELL:
        return _command_result(str(tool_call.input.get("command", "")), performance)
    if tool_call.name in (WRITE, EDIT):
        return _write_result(tool_call, path, performance)
    if tool_call.name == READ:
        return result_with_display(performance.content or "", "")
    return result_with_display(performance.stdout, performance.stdout)


def _command_result(command: str, performance: Performance) -> ToolResult:
    printed = join_output(performance)
    lines = (
        f"Command: {command}",
        "Directory: (root)",
        f"Output: {printed or '(empty)'}",
        "Error: (none)" if performance.exit is not None else "Error: Command was cancelled",
        f"Exit Code: {'(none)' if performance.exit is None else performance.exit}",
        "Signal: (none)",
        "Process Group PGID: (none)",
    )
    text = "\n".join(lines)
    return ToolResult(text=text, failed=True) if performance.exit else result_with_display(text, printed)


def _write_result(tool_call: ToolCall, path: str, performance: Performance) -> ToolResult:
    text = f"Successfully overwrote file: {path}."
    if tool_call.name == EDIT:
        text = f"The file: {path} has been updated.{_shown_change(performance)}"
    elif performance.original is None:
        text = f"Successfully created and wrote to new file: {path}."
    return result_with_display(text, describe_change(path, performance, replaced=tool_call.name == EDIT))


def _shown_change(performance: Performance) -> str:
    """Return what the model gets of a file in which it replaced a passage: four lines around the change."""
    old, new = (performance.original or "").split("\n"), (performance.content or "").split("\n")
    alike = _count_alike(old, new)
    tail = _count_alike(old[alike:][::-1], new[alike:][::-1])
    if old == new or not performance.content or len(new) - tail - alike > _MOST_SHOWN:
        return ""
    start, end = max(0, alike - 4), min(len(new), len(new) - tail + 4)
    shown = "\n".join(new[start:end])
    return f" Showing lines {start + 1}-{end} of {len(new)} from the edited file:\n\n---\n\n{shown}"


def _count_alike(old: Sequence[str], new: Sequence[str]) -> int:
    return next(
        (at for at, pair in enumerate(zip(old, new, strict=False)) if pair[0] != pair[1]),
        min(len(old), len(new)),
    )


def given(tool_call: ToolCall, supplied: ToolResult) -> ToolResult:  # noqa: ARG001 - all tools have one form
    """Return a result that a scenario supplies in the form that the host would give it."""
    if supplied.failed or supplied.response is not None:
        return supplied
    return result_with_display(supplied.text, supplied.text)


def launch(move: Subagent) -> Payload:
    """Return the input of the call that starts a subagent."""
    return {
        "description": move.prompt[:40] or move.kind,
        "prompt": move.prompt,
        "subagent_type": move.kind,
        "run_in_background": False,
    }


_CALLS = ("totalToolCalls", "successfulToolCalls", "failedToolCalls", "successRate")
_TOKENS: Payload = {"inputTokens": 10, "outputTokens": 1, "thoughtTokens": 0, "cachedTokens": 0}
_SUMMARY: Payload = {
    "rounds": 1,
    "totalDurationMs": 1000,
    **dict.fromkeys(_CALLS, 0),
    **_TOKENS,
    "totalTokens": 11,
    "toolUsage": [],
}


def launched(asked: Payload, folders: Mapping[str, str]) -> Json:
    """Return the host's response about a subagent that has done its work, which takes no call here."""
    said = folders["text"]
    display: Payload = {
        "type": "task_execution",
        "subagentName": asked.get("subagent_type", ""),
        "taskDescription": asked.get("description", ""),
        "taskPrompt": asked.get("prompt", ""),
        "executionMode": "foreground",
        "subagentSessionReady": True,
        "status": "completed",
        "tokenCount": 1,
        "terminateReason": "GOAL",
        "result": said,
        "executionSummary": _SUMMARY,
    }
    return {"llmContent": [{"text": said}], "returnDisplay": display}
