"""
The tools of the OpenHands SDK 1.58, their results, and its detector of repeated calls.

Names, inputs and results of terminal, file_editor (create, str_replace, a failed view), think and finish were
recorded; the other forms are assumed, as the profile says. The detector compares only calls; a text between
two calls changes nothing.
"""

from __future__ import annotations

import posixpath
from collections.abc import Mapping, Sequence
from typing import TypeAlias

from pytest_hookharness.hosts.profiles.shared import make_call
from pytest_hookharness.hosts.rules.tools_and_transcript import Operation
from pytest_hookharness.model.moves import Edit, Performance, Read, RunCommand, ToolCall, ToolResult
from pytest_hookharness.model.protocol import Json, Payload

Moves: TypeAlias = tuple[tuple[str, str], ...]

_SAME = 4
_FAILING = 3
_ALTERNATING = 6
_TEXTS = 3

# The host looks at its newest 20 events only. A call is two of them. A text is three: itself, the run of the
# stop hook, and the feedback. Runs of other hooks are events too, but they are not known here.
_EVENTS = 20
_EVENTS_OF = {"call": 2, "failed": 2, "stop": 3}


def find_repetition(recent: Moves) -> str:
    """Return why the newest moves are a repetition; empty if they are none."""
    calls = _remembered_calls(recent)
    if _are_alike(calls[-_SAME:], _SAME):
        return f"the agent made the same call {_SAME} times with the same result"
    failing = calls[-_FAILING:]
    if _are_alike(failing, _FAILING) and all(kind == "failed" for kind, _ in failing):
        return f"the agent made the same call {_FAILING} times in error"
    newest = calls[-_ALTERNATING:]
    if len(newest) == _ALTERNATING and newest[:-2] == newest[2:]:
        return f"the agent alternates between two calls, {_ALTERNATING} times"
    return ""


def find_repetition_of_texts(recent: Moves) -> str:
    """
    Return the same for releases that count texts too.

    In these releases the feedback of a refused stop does not separate one text of the agent from the next.
    """
    newest = recent[-_TEXTS:]
    if len(newest) == _TEXTS and all(kind == "stop" for kind, _ in newest):
        return f"the agent wrote {_TEXTS} texts and made no call between them"
    return find_repetition(recent)


def _are_alike(calls: Sequence[tuple[str, str]], number: int) -> bool:
    return len(calls) == number and len(set(calls)) == 1


def _remembered_calls(recent: Moves) -> Moves:
    left, seen = _EVENTS, 0
    for kind, _ in reversed(recent):
        left -= _EVENTS_OF.get(kind, 1)
        if left < 0:
            break
        seen += 1
    newest = recent[len(recent) - seen :]
    return tuple((kind, digest) for kind, digest in newest if kind in ("call", "failed"))


# The keys of an input as hooks see it, and their values if the model gave none.
_DEFAULTS: Mapping[str, Mapping[str, Json]] = {
    "terminal": {"command": "", "is_input": False, "timeout": None, "reset": False},
    "file_editor": {
        "command": "view",
        "path": "",
        "file_text": None,
        "old_str": None,
        "new_str": None,
        "insert_line": None,
        "view_range": None,
    },
    "think": {"thought": ""},
    "finish": {"message": ""},
}
_KINDS = {"terminal": "Terminal", "file_editor": "FileEditor", "think": "Think", "finish": "Finish"}


def call(operation: Operation, workspace: str) -> ToolCall:
    """Return the call that the model would make for an operation."""
    if isinstance(operation, RunCommand):
        name: str = "terminal"
        given: dict[str, Json] = {"command": operation.command}
    else:
        name, path = "file_editor", posixpath.join(workspace, operation.file)
        match operation:
            case Edit(old=None):
                given = {"command": "create", "path": path, "file_text": operation.text}
            case Edit():
                words = {"old_str": operation.old, "new_str": operation.text}
                given = {"command": "str_replace", "path": path, **words}
            case Read():
                given = {"command": "view", "path": path}
    return make_call(operation, name, given)


def operation(tool_call: ToolCall, workspace: str) -> Operation | None:
    """Return the operation of a call; ``None`` for a tool that the harness cannot perform."""
    text = {key: value for key, value in tool_call.input.items() if isinstance(value, str)}
    if tool_call.name == "terminal" and "command" in text and tool_call.input.get("is_input") is not True:
        return RunCommand(command=text["command"], label=tool_call.label)
    if tool_call.name != "file_editor" or not text.get("path"):
        return None
    # A path outside of the workspace stays absolute: the code that performs the call decides about it.
    file = text["path"].removeprefix(workspace.rstrip("/") + "/")
    match text.get("command"):
        case "create" if "file_text" in text:
            return Edit(file=file, text=text["file_text"], label=tool_call.label)
        case "str_replace" if "old_str" in text:
            return Edit(file=file, text=text.get("new_str", ""), old=text["old_str"], label=tool_call.label)
        case "view":
            return Read(file=file, label=tool_call.label)
        case _:
            return None


def seen_as(tool_call: ToolCall) -> Payload:
    """Return the input of a call as hooks see it: all keys that the tool knows, with defaults."""
    defaults = _DEFAULTS.get(tool_call.name)
    if defaults is None:
        return tool_call.input
    whole = {key: tool_call.input.get(key, value) for key, value in defaults.items()}
    return {**whole, "kind": f"{_KINDS[tool_call.name]}Action"}


def internal(tool_call: ToolCall) -> ToolResult | None:
    """Return the result of a call that the host performs itself: a thought, or the end."""
    if tool_call.name == "think":
        return _observation(tool_call, "Your thought has been logged.")
    if tool_call.name == "finish":
        return _observation(tool_call, str(tool_call.input.get("message", "")))
    return None


def result(tool_call: ToolCall, performance: Performance, workspace: str) -> ToolResult:
    """Return the host's result of a performed call."""
    if tool_call.name == "terminal":
        return _command_result(tool_call, performance, workspace)
    return _edit_result(tool_call, performance)


def given(tool_call: ToolCall, supplied: ToolResult) -> ToolResult:
    """Return a result that a scenario supplies in the form that the host would give it."""
    if supplied.failed or supplied.response is not None:
        return supplied
    if tool_call.name == "terminal":
        return _command_result(tool_call, Performance(exit=0, stdout=supplied.text), "")
    if tool_call.name == "file_editor":
        return _file_result(
            tool_call, supplied.text, Performance(content=str(tool_call.input.get("file_text") or ""))
        )
    return _observation(tool_call, supplied.text)


def _observation(tool_call: ToolCall, text: str, *, failed: bool = False, **own: Json) -> ToolResult:
    kind = _KINDS.get(tool_call.name, "MCPTool")
    response: dict[str, Json] = {
        "content": [{"cache_prompt": False, "type": "text", "text": text}],
        "is_error": failed,
        **own,
        "kind": f"{kind}Observation",
    }
    return ToolResult(text=text, failed=failed, response=response)


# The host's text about a terminal; the values that differ by call are filled in.
_METADATA: Payload = {
    "exit_code": 0,
    "pid": -1,
    "username": "user",
    "hostname": "host",
    "working_dir": "",
    "py_interpreter_path": "/usr/bin/python3",
    "prefix": "",
    "suffix": "",
}


def _command_result(tool_call: ToolCall, performance: Performance, workspace: str) -> ToolResult:
    parts = [part.rstrip("\n") for part in (performance.stdout, performance.stderr)]
    text = performance.error or "\n".join(part for part in parts if part)
    code = performance.exit if performance.exit is not None else -1
    suffix = f"\n[The command completed with exit code {code}.]"
    own: Payload = {"exit_code": code, "working_dir": performance.folder or workspace, "suffix": suffix}
    observation = _observation(
        tool_call,
        text,
        failed=bool(performance.error),
        command=tool_call.input.get("command", ""),
        exit_code=code,
        timeout=False,
        metadata={**_METADATA, **own},
        full_output_save_dir=None,
    )
    return ToolResult(text=f"{text}{suffix}", failed=observation.failed, response=observation.response)


def _edit_result(tool_call: ToolCall, performance: Performance) -> ToolResult:
    path, command = str(tool_call.input.get("path", "")), tool_call.input.get("command")
    if performance.error:
        return _file_result(tool_call, _edit_error(path, performance.error), None)
    if command == "create":
        return _file_result(tool_call, f"File created successfully at: {path}", performance)
    listed = _numbered(performance.content or "")
    if command == "str_replace":
        text = (
            f"The file {path} has been edited. Here's the result of running `cat -n` on a snippet of {path}:"
            f"\n{listed}\nReview the changes and make sure they are as expected. Edit the file again if "
            "necessary."
        )
        return _file_result(tool_call, text, performance)
    return _file_result(
        tool_call, f"Here's the result of running `cat -n` on {path}:\n{listed}\n", performance
    )


def _edit_error(path: str, error: str) -> str:
    if "no such file" not in error.lower():
        return error
    return f"Invalid `path` parameter: {path}. The path {path} does not exist. Please provide a valid path."


def _file_result(tool_call: ToolCall, text: str, performance: Performance | None) -> ToolResult:
    # An error names no file and says that there was one before: that is what was recorded.
    viewed = tool_call.input.get("command") == "view"
    changed = performance if performance is not None and not viewed else None
    return _observation(
        tool_call,
        text,
        failed=performance is None,
        command=tool_call.input.get("command"),
        path=tool_call.input.get("path") if performance is not None else None,
        prev_exist=changed is None or changed.original is not None,
        old_content=changed.original if changed is not None else None,
        new_content=changed.content if changed is not None else None,
    )


def _numbered(content: str) -> str:
    return "\n".join(f"{number:>6}\t{line}" for number, line in enumerate(content.splitlines(), 1))
