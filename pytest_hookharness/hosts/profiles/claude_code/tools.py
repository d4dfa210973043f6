"""The tools of Claude Code 2.1.329, their results, and its task list."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import replace

from pytest_hookharness.hosts.profiles.shared import PlainTools
from pytest_hookharness.hosts.rules.tools_and_transcript import TaskItem, TaskStep
from pytest_hookharness.model.moves import Performance, Subagent, ToolCall, ToolResult
from pytest_hookharness.model.protocol import Json, Payload

PLAIN = PlainTools(
    run="Bash", write="Write", edit="Edit", read="Read", more={"Bash": {"description": "Runs a command"}}
)


def seen_as(tool_call: ToolCall) -> Payload:
    """Return the input of a call as hooks see it: that of Edit names its default."""
    default = {"replace_all": False} if tool_call.name == "Edit" else {}
    return {**tool_call.input, **({} if "replace_all" in tool_call.input else default)}


def result(tool_call: ToolCall, performance: Performance, workspace: str) -> ToolResult:
    """Return the host's result of a performed call."""
    path = str(tool_call.input.get("file_path", ""))
    if performance.error:
        missing = tool_call.name == "Read" and "no such file" in performance.error.lower()
        note = f"File does not exist. Note: your current working directory is {workspace}."
        return ToolResult(text=note if missing else performance.error, failed=True)
    if tool_call.name == "Bash":
        return _command_result(str(tool_call.input.get("command", "")), performance)
    if tool_call.name == "Write":
        return _write_result(path, performance)
    if tool_call.name == "Edit":
        return _edit_result(tool_call, path, performance)
    if tool_call.name == "Read":
        return _read_result(path, performance.content or "")
    return ToolResult(text=performance.stdout, response=performance.stdout)


# What exit code 1 says of these commands. It is no failure then.
_NO_MATCH, _FALSE = "No matches found", "Condition is false"
_EXIT_1 = {
    "grep": _NO_MATCH,
    "rg": _NO_MATCH,
    "test": _FALSE,
    "[": _FALSE,
    "diff": "Files differ",
    "find": "Some directories were inaccessible",
}
_SILENT = {"cd", "cp", "mkdir", "mv", "rm", "touch"}


def _command_result(command: str, performance: Performance) -> ToolResult:
    stdout, stderr = performance.stdout.rstrip("\n"), performance.stderr.rstrip("\n")
    text = "\n".join(part for part in (stdout, stderr) if part)
    if performance.exit is None:
        return ToolResult(text=f"Command was interrupted\n{text}".rstrip("\n"), failed=True)
    programs = _programs(command)
    meaning = _EXIT_1.get(programs[-1], "") if programs and performance.exit == 1 else ""
    if performance.exit != 0 and not meaning:
        return ToolResult(text=f"Exit code {performance.exit}\n{text}".rstrip("\n"), failed=True)
    silent = bool(programs) and _SILENT.issuperset(programs)
    response = _bash_response(text, meaning, silent=silent)
    return ToolResult(text=text or "(Bash completed with no output)", response=response)


def _programs(command: str) -> list[str]:
    """Return the programs of a command line, in order; none if it cannot be parsed."""
    lexer = shlex.shlex(command, posix=True, punctuation_chars=";&|")
    lexer.whitespace_split, lexer.commenters = True, ""
    try:
        words = list(lexer)
    except ValueError:
        return []
    begins = [place + 1 for place, word in enumerate(words) if not word.strip(";&|")]
    return [words[place] for place in (0, *begins) if place < len(words)]


def _bash_response(output: str, meaning: str = "", *, silent: bool = False) -> Json:
    # Both streams of a command are one.
    return {
        "stdout": output,
        "stderr": "",
        "interrupted": False,
        "isImage": False,
        **({"returnCodeInterpretation": meaning} if meaning else {}),
        "noOutputExpected": silent,
    }


_UPDATED = "has been updated successfully."
_CURRENT = "(file state is current in your context \N{EM DASH} no need to Read it back)"


def _write_result(path: str, performance: Performance) -> ToolResult:
    new, old = performance.content or "", performance.original
    response: Payload = {
        "type": "create" if old is None else "update",
        "filePath": path,
        "content": new,
        "structuredPatch": [] if old is None else _patch(old, new),
        "originalFile": old,
        "userModified": False,
    }
    text = f"File created successfully at: {path}" if old is None else f"The file {path} {_UPDATED}"
    return ToolResult(text=f"{text} {_CURRENT}", response=response)


def _edit_result(tool_call: ToolCall, path: str, performance: Performance) -> ToolResult:
    old, new = performance.original or "", performance.content or ""
    response: Payload = {
        "filePath": path,
        "oldString": tool_call.input.get("old_string", ""),
        "newString": tool_call.input.get("new_string", ""),
        "originalFile": old,
        "structuredPatch": _patch(old, new),
        "userModified": False,
        "replaceAll": bool(tool_call.input.get("replace_all", False)),
    }
    return ToolResult(text=f"The file {path} {_UPDATED} {_CURRENT}", response=response)


def _read_result(path: str, content: str) -> ToolResult:
    # A newline at the end begins one more line.
    lines = content.split("\n")
    numbered = "\n".join(f"{number}\t{line}" for number, line in enumerate(lines, 1))
    file: Payload = {
        "filePath": path,
        "content": content,
        "numLines": len(lines),
        "startLine": 1,
        "totalLines": len(lines),
    }
    return ToolResult(text=numbered, response={"type": "text", "file": file})


def _patch(old: str, new: str) -> Json:
    import difflib

    from pytest_hookharness.hosts.profiles.file_changes import hunk_lines

    before, after = old.splitlines(), new.splitlines()
    matcher = difflib.SequenceMatcher(a=before, b=after, autojunk=False)
    hunks: list[Payload] = []
    for group in matcher.get_grouped_opcodes(3):
        first, last = group[0], group[-1]
        hunks.append(
            {
                "oldStart": first[1] + 1,
                "oldLines": last[2] - first[1],
                "newStart": first[3] + 1,
                "newLines": last[4] - first[3],
                "lines": [*hunk_lines(group, before, after)],
            }
        )
    return hunks


def given(tool_call: ToolCall, supplied: ToolResult) -> ToolResult:
    """Return a result that a scenario supplies in the form that the host would give it."""
    if supplied.failed or supplied.response is not None:
        return supplied
    return ToolResult(text=supplied.text, response=_response(tool_call, supplied.text))


def _response(tool_call: ToolCall, text: str) -> Json:
    given = {key: str(value) for key, value in tool_call.input.items()}
    path = given.get("file_path", "")
    match tool_call.name:
        case "Bash":
            return _bash_response(text)
        case "Write":
            return _write_result(path, Performance(content=given.get("content", ""))).response
        case "Edit":
            old, new = given.get("old_string", ""), given.get("new_string", "")
            return _edit_result(tool_call, path, Performance(original=old, content=new)).response
        case "Read":
            return _read_result(path, text).response
        case _:
            return text


_OUTPUT = "{tmp}/claude-0/{slug}/{session}/tasks/{agent}.output"
STARTED = (
    "Async agent launched successfully. (This tool result is internal metadata \N{EM DASH} never quote or "
    "paste any part of it, including the agentId below, into a user-facing reply.)\n"
    "agentId: {agent} (internal ID - do not mention to user. Use SendMessage with to: '{agent}', summary: "
    "'<5-10 word recap>' to continue this agent.)\n"
    "The agent is working in the background. You will be notified automatically when it completes. You know "
    "nothing about its results until that notification arrives \N{EM DASH} do not report, assume, or predict "
    "them; continue other work or respond to the user in the meantime.\n"
    "Do not duplicate this agent's work \N{EM DASH} avoid working with the same files or topics it is "
    "using.\n"
    f"output_file: {_OUTPUT}\n"
    "Do NOT Read or tail this file via the shell tool \N{EM DASH} it is the full subagent JSONL transcript "
    "and reading it will overflow your context. If the user asks for progress, say the agent is still "
    "running; you'll get a completion notification."
)
NOTICE = (
    "<task-notification>\n<task-id>{agent}</task-id>\n<tool-use-id>{call}</tool-use-id>\n"
    f"<output-file>{_OUTPUT}</output-file>\n<status>completed</status>\n"
    '<summary>Agent "{description}" finished</summary>\n<note>A task-notification fires each time this '
    "agent stops with no live background children of its own. The user can send it another message and "
    "resume it, so the same task-id may notify more than once.</note>\n<result>{text}</result>\n"
    "<usage><subagent_tokens>2</subagent_tokens><tool_uses>0</tool_uses><duration_ms>700</duration_ms>"
    "</usage>\n</task-notification>"
)


def launch(move: Subagent) -> Payload:
    """Return the input of the call that starts a subagent."""
    return {
        "description": move.prompt[:40] or move.kind,
        "prompt": move.prompt,
        "subagent_type": move.kind,
    }


def launched(asked: Payload, folders: Mapping[str, str]) -> Json:
    """Return the host's response to the start of a subagent."""
    return {
        "isAsync": True,
        "status": "async_launched",
        "agentId": folders["agent"],
        "description": asked.get("description", ""),
        "resolvedModel": folders["model"],
        "prompt": asked.get("prompt", ""),
        "outputFile": _OUTPUT.format(**folders),
        "canReadOutputFile": True,
        "canContinueAgent": True,
    }


_STATES = ("pending", "in_progress", "completed", "deleted")
_DELETED = "deleted"
_COMPLETED = "completed"


def plan(tool_call: ToolCall, items: tuple[TaskItem, ...]) -> TaskStep | None:
    """Return what a call would do with the task list; ``None`` for any other tool."""
    match tool_call.name:
        case "TaskCreate":
            return _create_task(tool_call, items)
        case "TaskUpdate":
            return _update_task(tool_call, items)
        case "TaskList":
            return _list_tasks(items)
        case "TaskGet":
            return _get_task(tool_call, items)
        case _:
            return None


def _create_task(tool_call: ToolCall, items: tuple[TaskItem, ...]) -> TaskStep:
    subject, description = tool_call.input.get("subject"), tool_call.input.get("description")
    if not isinstance(subject, str) or not isinstance(description, str):
        return _failed_step(items, "TaskCreate needs the texts 'subject' and 'description'")
    form = str(tool_call.input.get("activeForm", ""))
    task = TaskItem(id=str(len(items) + 1), subject=subject, description=description, form=form)
    response: Payload = {"task": {"id": task.id, "subject": task.subject}}
    result = ToolResult(text=f"Task #{task.id} created successfully: {task.subject}", response=response)
    return TaskStep(items=(*items, task), result=result, created=task)


# The keys of an input, by the attributes of a task.
_TASK_KEYS = {"subject": "subject", "description": "description", "form": "activeForm", "status": "status"}


def _update_task(tool_call: ToolCall, items: tuple[TaskItem, ...]) -> TaskStep:
    before = _find_task(tool_call, items)
    if before is None:
        return _failed_step(items, "Task not found")
    status = tool_call.input.get("status", before.status)
    if status not in _STATES:
        return _failed_step(items, f"'status' is {status!r}; allowed are {', '.join(_STATES)}")
    own = {key: str(tool_call.input[name]) for key, name in _TASK_KEYS.items() if name in tool_call.input}
    after = replace(before, **own)
    fields = [name for key, name in _TASK_KEYS.items() if getattr(after, key) != getattr(before, key)]
    response: dict[str, Json] = {"success": True, "taskId": after.id, "updatedFields": fields}
    if after.status != before.status:
        response["statusChange"] = {"from": before.status, "to": after.status}
    result = ToolResult(text=f"Updated task #{after.id} {', '.join(fields)}".rstrip(), response=response)
    return TaskStep(
        items=tuple(after if item.id == after.id else item for item in items),
        result=result,
        completed=after if after.status == _COMPLETED != before.status else None,
    )


def _list_tasks(items: tuple[TaskItem, ...]) -> TaskStep:
    shown = _existing(items)
    tasks: list[Payload] = [
        {"id": item.id, "subject": item.subject, "status": item.status, "blockedBy": []} for item in shown
    ]
    lines = [f"#{item.id} [{item.status}] {item.subject}" for item in shown]
    result = ToolResult(text="\n".join(lines) or "No tasks found", response={"tasks": tasks})
    return TaskStep(items=items, result=result)


def _get_task(tool_call: ToolCall, items: tuple[TaskItem, ...]) -> TaskStep:
    task = _find_task(tool_call, items)
    if task is None:
        return TaskStep(items=items, result=ToolResult(text="Task not found", response={"task": None}))
    shown: Payload = {
        "id": task.id,
        "subject": task.subject,
        "description": task.description,
        "status": task.status,
        "blocks": [],
        "blockedBy": [],
    }
    lines = (f"Task #{task.id}: {task.subject}", f"Status: {task.status}", f"Description: {task.description}")
    return TaskStep(items=items, result=ToolResult(text="\n".join(lines), response={"task": shown}))


def _find_task(tool_call: ToolCall, items: Sequence[TaskItem]) -> TaskItem | None:
    wanted = tool_call.input.get("taskId")
    return next((item for item in _existing(items) if item.id == wanted), None)


def _existing(items: Sequence[TaskItem]) -> tuple[TaskItem, ...]:
    # A deleted task stays in the list, so that no other task gets its number.
    return tuple(item for item in items if item.status != _DELETED)


def _failed_step(items: tuple[TaskItem, ...], why: str) -> TaskStep:
    return TaskStep(items=items, result=ToolResult(text=why, failed=True))
