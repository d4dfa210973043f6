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

from pytest_hookharness.hosts.rules.profile import Operation
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


def look(recent: Moves) -> str:
    """
    Return why the newest moves are a repetition; empty if they are none.
    """
    calls = _in_sight(recent)
    if _are_alike(calls[-_SAME:], _SAME):
        return f"the agent made the same call {_SAME} times with the same result"
    failing = calls[-_FAILING:]
    if _are_alike(failing, _FAILING) and all(kind == "failed" for kind, _ in failing):
        return f"the agent made the same call {_FAILING} times in error"
    newest = calls[-_ALTERNATING:]
    if len(newest) == _ALTERNATING and newest[:-2] == newest[2:]:
        return f"the agent alternates between two calls, {_ALTERNATING} times"
    return ""


def look_also_at_texts(recent: Moves) -> str:
    """
    Return the same for releases that count texts too.

    In these releases the feedback of a refused stop does not separate one text of the agent from the next.
    """
    newest = recent[-_TEXTS:]
    if len(newest) == _TEXTS and all(kind == "stop" for kind, _ in newest):
        return f"the agent wrote {_TEXTS} texts and made no call between them"
    return look(recent)


def _are_alike(calls: Sequence[tuple[str, str]], number: int) -> bool:
    return len(calls) == number and len(set(calls)) == 1


def _in_sight(recent: Moves) -> Moves:
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
    """
    Return the call that the model would make for an operation.
    """
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
    return ToolCall(
        name=name, input=given, given=operation.given, expect=operation.expect, label=operation.label
    )


def operation(made: ToolCall, workspace: str) -> Operation | None:
    """
    Return the operation of a call; ``None`` for a tool that the harness cannot perform.
    """
    text = {key: value for key, value in made.input.items() if isinstance(value, str)}
    if made.name == "terminal" and "command" in text and made.input.get("is_input") is not True:
        return RunCommand(command=text["command"], label=made.label)
    if made.name != "file_editor" or not text.get("path"):
        return None
    # A path outside of the workspace stays absolute: the code that performs the call decides about it.
    file = text["path"].removeprefix(workspace.rstrip("/") + "/")
    match text.get("command"):
        case "create" if "file_text" in text:
            return Edit(file=file, text=text["file_text"], label=made.label)
        case "str_replace" if "old_str" in text:
            return Edit(file=file, text=text.get("new_str", ""), old=text["old_str"], label=made.label)
        case "view":
            return Read(file=file, label=made.label)
        case _:
            return None


def seen_as(made: ToolCall) -> Payload:
    """
    Return the input of a call as hooks see it: every key that the tool knows, with defaults, and no other.
    """
    defaults = _DEFAULTS.get(made.name)
    if defaults is None:
        return made.input
    whole = {key: made.input.get(key, value) for key, value in defaults.items()}
    return {**whole, "kind": f"{_KINDS[made.name]}Action"}


def internal(made: ToolCall) -> ToolResult | None:
    """
    Return the result of a call that the host performs itself: a thought, or the end.
    """
    if made.name == "think":
        return _observed(made, "Your thought has been logged.")
    if made.name == "finish":
        return _observed(made, str(made.input.get("message", "")))
    return None


def result(made: ToolCall, done: Performance, workspace: str) -> ToolResult:
    """
    Return the host's result of a performed call.
    """
    if made.name == "terminal":
        return _ran(made, done, workspace)
    return _edited(made, done)


def given(made: ToolCall, supplied: ToolResult) -> ToolResult:
    """
    Return a result that a scenario supplies in the form that the host would give it.
    """
    if supplied.failed or supplied.response is not None:
        return supplied
    if made.name == "terminal":
        return _ran(made, Performance(exit=0, stdout=supplied.text), "")
    if made.name == "file_editor":
        return _of_file(made, supplied.text, Performance(content=str(made.input.get("file_text") or "")))
    return _observed(made, supplied.text)


def _observed(made: ToolCall, text: str, *, failed: bool = False, **own: Json) -> ToolResult:
    kind = _KINDS.get(made.name, "MCPTool")
    response: dict[str, Json] = {
        "content": [{"cache_prompt": False, "type": "text", "text": text}],
        "is_error": failed,
        **own,
        "kind": f"{kind}Observation",
    }
    return ToolResult(text=text, failed=failed, response=response)


def _ran(made: ToolCall, done: Performance, workspace: str) -> ToolResult:
    parts = [part.rstrip("\n") for part in (done.stdout, done.stderr)]
    text = done.error or "\n".join(part for part in parts if part)
    code = done.exit if done.exit is not None else -1
    suffix = f"\n[The command completed with exit code {code}.]"
    metadata: Payload = {
        "exit_code": code,
        "pid": -1,
        "username": "user",
        "hostname": "host",
        "working_dir": done.folder or workspace,
        "py_interpreter_path": "/usr/bin/python3",
        "prefix": "",
        "suffix": suffix,
    }
    made_of = _observed(
        made,
        text,
        failed=bool(done.error),
        command=made.input.get("command", ""),
        exit_code=code,
        timeout=False,
        metadata=metadata,
        full_output_save_dir=None,
    )
    return ToolResult(text=f"{text}{suffix}", failed=made_of.failed, response=made_of.response)


def _edited(made: ToolCall, done: Performance) -> ToolResult:
    path, command = str(made.input.get("path", "")), made.input.get("command")
    if done.error:
        missing = "no such file" in done.error.lower()
        why = f"The path {path} does not exist. Please provide a valid path."
        return _of_file(made, f"Invalid `path` parameter: {path}. {why}" if missing else done.error, None)
    if command == "create":
        return _of_file(made, f"File created successfully at: {path}", done)
    listed = _numbered(done.content or "")
    if command == "str_replace":
        text = (
            f"The file {path} has been edited. Here's the result of running `cat -n` on a snippet of {path}:"
            f"\n{listed}\nReview the changes and make sure they are as expected. Edit the file again if "
            "necessary."
        )
        return _of_file(made, text, done)
    return _of_file(made, f"Here's the result of running `cat -n` on {path}:\n{listed}\n", done)


def _of_file(made: ToolCall, text: str, done: Performance | None) -> ToolResult:
    # An error names no file and says that there was one before: that is what was recorded.
    viewed = made.input.get("command") == "view"
    changed = done if done is not None and not viewed else None
    return _observed(
        made,
        text,
        failed=done is None,
        command=made.input.get("command"),
        path=made.input.get("path") if done is not None else None,
        prev_exist=changed is None or changed.original is not None,
        old_content=changed.original if changed is not None else None,
        new_content=changed.content if changed is not None else None,
    )


def _numbered(content: str) -> str:
    return "\n".join(f"{number:>6}\t{line}" for number, line in enumerate(content.splitlines(), 1))
