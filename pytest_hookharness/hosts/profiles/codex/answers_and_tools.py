"""
The answers that Codex 0.169.0 accepts, its tools, their results, and its patches.

Codex reads an answer by a strict schema for each event: one key too many, or a key that it knows but does
not support, makes the whole answer invalid, including a refusal in it.

Names and forms of Bash, of a patch that adds a file and of the start of a subagent were recorded; the other
forms are assumed, as the profile says. The harness changes one place of one file, so it cannot perform a
patch of several files, or of several places in one file.
"""

from __future__ import annotations

import json
import posixpath
import shlex
from collections.abc import Mapping

from pytest_hookharness.hosts.profiles.shared import make_call
from pytest_hookharness.hosts.replies.json_parser import dig
from pytest_hookharness.hosts.rules.replies import AnswerRules, Halting, JsonParser, VerdictPath
from pytest_hookharness.hosts.rules.tools_and_transcript import Operation
from pytest_hookharness.hosts.rules.turns import Role
from pytest_hookharness.model.moves import Edit, Performance, Read, RunCommand, Subagent, ToolCall, ToolResult
from pytest_hookharness.model.protocol import Json, Payload, Ruling

_OWN = "hookSpecificOutput"

_COMMON: Mapping[str, type] = {
    "continue": bool,
    "stopReason": str,
    "suppressOutput": bool,
    "systemMessage": str,
}

_RULED: Mapping[str, type] = {**_COMMON, "decision": str, "reason": str}

_NESTED: Mapping[str, type] = {_OWN: Mapping}

# Keys at the top, by event; all other events have only the common keys.
_TOP: Mapping[str, Mapping[str, type]] = {
    "PreToolUse": {**_RULED, **_NESTED},
    "PostToolUse": {**_RULED, **_NESTED},
    "UserPromptSubmit": {**_RULED, **_NESTED},
    "Stop": _RULED,
    "SubagentStop": _RULED,
    "PermissionRequest": {**_COMMON, **_NESTED},
    "SessionStart": {**_COMMON, **_NESTED},
    "SubagentStart": {**_COMMON, **_NESTED},
}

_CONTEXT: Mapping[str, type] = {"hookEventName": str, "additionalContext": str}

_SPECIFIC: Mapping[str, Mapping[str, type]] = {
    "PreToolUse": {
        **_CONTEXT,
        "permissionDecision": str,
        "permissionDecisionReason": str,
        "updatedInput": Mapping,
    },
    "PostToolUse": {**_CONTEXT, "updatedMCPToolOutput": object},
    "UserPromptSubmit": _CONTEXT,
    "SessionStart": _CONTEXT,
    "SubagentStart": _CONTEXT,
    "PermissionRequest": {"hookEventName": str, "decision": Mapping},
}

_GRANT: Mapping[str, type] = {
    "behavior": str,
    "message": str,
    "updatedInput": Mapping,
    "updatedPermissions": object,
    "interrupt": bool,
}

_DECISIONS: Mapping[str, tuple[str, ...]] = {"PreToolUse": ("approve", "block")}

_PERMISSIONS = ("allow", "deny", "ask")

# Keys that the schema knows but the host does not support: the key path, and the value without effect.
_UNSUPPORTED: Mapping[str, tuple[tuple[tuple[str, ...], Json], ...]] = {
    "PreToolUse": ((("continue",), True), (("stopReason",), None), (("suppressOutput",), False)),
    "PostToolUse": ((("suppressOutput",), False), ((_OWN, "updatedMCPToolOutput"), None)),
    "PermissionRequest": (
        (("continue",), True),
        (("stopReason",), None),
        (("suppressOutput",), False),
        ((_OWN, "decision", "updatedInput"), None),
        ((_OWN, "decision", "updatedPermissions"), None),
        ((_OWN, "decision", "interrupt"), False),
    ),
}


def check(event: str, answer: Payload) -> str | None:
    """Return why the host rejects an answer; ``None`` if it accepts it."""
    specific = answer.get(_OWN)
    return (
        _misfit(answer, _TOP.get(event, _COMMON), f"an answer to {event}")
        or (_check_specific(event, specific) if isinstance(specific, Mapping) else None)
        or _unsupported(event, answer)
        or _check_decision(event, answer)
        or (_check_permission(specific) if event == "PreToolUse" and isinstance(specific, Mapping) else None)
    )


def _misfit(given: Mapping[str, Json], table: Mapping[str, type], where: str) -> str | None:
    for key, value in given.items():
        if key not in table:
            return f"{key!r} is not a key of {where}; the host knows {', '.join(table)}"
        if value is not None and not isinstance(value, table[key]):
            return f"{key!r} is {value!r}, which has the wrong type"
    return None


def _check_specific(event: str, specific: Mapping[str, Json]) -> str | None:
    name = specific.get("hookEventName")
    if name is None:
        return f"{_OWN!r} has no 'hookEventName'"
    if name != event:
        return f"'hookEventName' is {name!r}, but the event is {event}"
    wrong = _misfit(specific, _SPECIFIC.get(event, {}), f"{_OWN!r}")
    grant = specific.get("decision")
    if wrong or not isinstance(grant, Mapping):
        return wrong
    return _misfit(grant, _GRANT, f"'{_OWN}.decision'")


def _unsupported(event: str, answer: Payload) -> str | None:
    for path, harmless in _UNSUPPORTED.get(event, ()):
        value = dig(answer, path)
        if value is not None and value != harmless:
            return f"{path[-1]!r} is not supported on {event}"
    return None


def _check_decision(event: str, answer: Payload) -> str | None:
    decision, reason = answer.get("decision"), answer.get("reason")
    if decision is None:
        lone = event == "PostToolUse" and reason is not None
        return "'reason' stands without 'decision'" if lone else None
    known = _DECISIONS.get(event, ("block",))
    if decision not in known:
        return f"'decision' is {decision!r}; the host knows {', '.join(known)}"
    if decision == "approve":
        return f"'decision' is 'approve', which is not supported on {event}"
    return None if _says(reason) else "'decision' is 'block' without a 'reason'"


def _check_permission(specific: Mapping[str, Json]) -> str | None:
    permission, changed = specific.get("permissionDecision"), specific.get("updatedInput")
    if permission is not None and permission not in [*_PERMISSIONS]:
        return f"'permissionDecision' is {permission!r}; the host knows {', '.join(_PERMISSIONS)}"
    if permission == "ask":
        return "'permissionDecision' is 'ask', which is not supported"
    if permission == "deny" and not _says(specific.get("permissionDecisionReason")):
        return "'permissionDecision' is 'deny' without a 'permissionDecisionReason'"
    if permission == "allow" and changed is None:
        return "'permissionDecision' is 'allow' without 'updatedInput'; without it 'allow' is not supported"
    if permission != "allow" and changed is not None:
        return "'updatedInput' stands without 'permissionDecision': 'allow'"
    return None


def _says(reason: Json) -> bool:
    return isinstance(reason, str) and bool(reason.strip())


ANSWERS = AnswerRules(
    parser=JsonParser.RUST,
    strips_mark=False,
    check=check,
    known=frozenset({*_RULED, _OWN}),
    verdicts=(
        VerdictPath(
            path=(_OWN, "permissionDecision"),
            reason=(_OWN, "permissionDecisionReason"),
            rulings={"allow": Ruling.ALLOW, "deny": Ruling.DENY},
            roles=(Role.BEFORE_TOOL,),
        ),
        VerdictPath(path=("decision",), rulings={"block": Ruling.DENY}),
    ),
    grant=(_OWN, "decision"),
    halting=Halting.AT_ONCE,
    context=((_OWN, "additionalContext"),),
    changed_input=((_OWN, "updatedInput"),),
    input_needs_allow=True,
    person=(("systemMessage",),),
)

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
    """Return the change that a patch makes; ``None`` for several changes of one file, or for no patch."""
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
    return make_call(operation, name, {"command": given})


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
    if performance.exit is None:
        return ToolResult(text=f"command timed out\nOutput:\n{output}", response=output, failed=True)
    tokens = -(-len(output.encode()) // 4)
    how = f"Process exited with code {performance.exit}\nOriginal token count: {tokens}"
    text = f"Chunk ID: 000000\nWall time: 0.0000 seconds\n{how}\nOutput:\n{output}"
    return ToolResult(text=text, response=output, failed=True)


def _apply_result(tool_call: ToolCall, performance: Performance, workspace: str) -> ToolResult:
    edit = read_patch(str(tool_call.input.get("command", "")), workspace)
    if performance.error or edit is None:
        text = f"apply_patch verification failed: {performance.error or 'the patch cannot be read'}"
        return ToolResult(text=text, response=text, failed=True)
    return _patch_result(summarise(edit, new=edit.old is None))


def _patch_result(output: str) -> ToolResult:
    text = f"Exit code: 0\nWall time: 0 seconds\nOutput:\n{output}"
    return ToolResult(text=text, response=text)


def launch(move: Subagent) -> Payload:
    """Return the input of the call that starts a subagent."""
    kind: dict[str, Json] = {} if move.kind == Subagent().kind else {"agent_type": move.kind}
    return {"message": move.prompt, **kind}


def launched(_asked: Payload, folders: Mapping[str, str]) -> Json:
    """Return the host's response to the start of a subagent, which gets a name."""
    response = {"agent_id": folders["agent"], "nickname": "Mill"}
    return json.dumps(response, separators=(",", ":"))
