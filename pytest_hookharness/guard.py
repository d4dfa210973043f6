"""
The loop guard: the detectors as a hook of Claude Code.

It is configured for
PreToolUse, PostToolUse, PostToolUseFailure, UserPromptSubmit and Stop, and keeps what it knows of a
session in a file below ``--state``. If it cannot do its work it says so on standard error and refuses
nothing: it guards against waste, not against harm.
"""

from __future__ import annotations

import fcntl
import json
import os
import stat
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from pytest_hookharness.judging.detectors.messages import Limits, Refusal
from pytest_hookharness.judging.detectors.online import Malformed, OnlineDetector, from_json, to_json
from pytest_hookharness.judging.detectors.signatures import digest, file_of
from pytest_hookharness.model.actions import Action, ActionResult
from pytest_hookharness.model.protocol import Json, Payload

MOST_OF_PAYLOAD = 64 << 20
MOST_OF_STATE = 1 << 20
MOST_OF_FILE = 4 << 20
_CALLS = ("PreToolUse", "PostToolUse", "PostToolUseFailure")
# Somebody else speaks, or is about to: what comes after is not compared with what was before.
_BREAKS = ("UserPromptSubmit", "Stop")


def main(argv: Sequence[str] | None = None) -> int:
    """
    Answer one event.

    Returns:
        0 if it was answered, 1 if it could not be; the host takes no refusal from either.
    """
    try:
        limits, folder = _options(sys.argv[1:] if argv is None else argv)
        answer = _answer(_payload(), limits, folder)
    except (OSError, ValueError, RecursionError) as error:
        sys.stderr.write(f"loop guard: {error}; this call was not looked at\n")
        return 1
    if answer is not None:
        sys.stdout.write(json.dumps(answer) + "\n")
    return 0


def _options(argv: Sequence[str]) -> tuple[Limits, Path]:
    home = os.environ.get("XDG_STATE_HOME")
    folder = (Path(home) if home else Path.home() / ".local" / "state") / "loop-guard"
    if not argv:
        return Limits(), folder
    # The usual call has no options and shall not wait for what reads them.
    import argparse

    parser = argparse.ArgumentParser(prog="python3 -m pytest_hookharness.guard", description=__doc__)
    usual = Limits()
    parser.add_argument(
        "--repetitions", type=int, default=usual.repetitions, help="how often a sequence must come"
    )
    parser.add_argument("--failures", type=int, default=usual.failures, help="how many must fail alike")
    parser.add_argument("--window", type=int, default=usual.window, help="actions that a loop may span")
    parser.add_argument("--state", type=Path, default=folder, help="where sessions are remembered")
    try:
        given = parser.parse_args(argv)
    except SystemExit as end:
        # A wrong option ends with 2 there, which the host would take for a refusal of every call.
        if end.code:
            raise ValueError("these options are not understood; `--help` names those that are") from end
        raise
    return Limits(repetitions=given.repetitions, failures=given.failures, window=given.window), Path(
        given.state
    )


def _payload() -> Payload:
    # One line, because not every host closes the input.
    text = sys.stdin.buffer.readline(MOST_OF_PAYLOAD + 1)
    if len(text) > MOST_OF_PAYLOAD:
        raise ValueError(f"standard input: a payload of more than {MOST_OF_PAYLOAD >> 20} MB")
    value = json.loads(text.decode("utf-8", "replace"))
    if not isinstance(value, Mapping):
        raise Malformed("standard input: not a JSON object, as hooks of Claude Code are given")
    return value


def _answer(payload: Payload, limits: Limits, folder: Path) -> Payload | None:
    event = str(payload.get("hook_event_name", ""))
    if event not in (*_CALLS, *_BREAKS):
        allowed = ", ".join((*_CALLS, *_BREAKS))
        raise ValueError(f"hook_event_name: {event!r}; configure it for {allowed} alone")
    names = (str(payload.get(key, "")) for key in ("session_id", "agent_id"))
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
    file = os.open(folder / f"{digest(*names)}.json", flags, 0o600)
    try:
        # Calls made at once are looked at one after the other.
        fcntl.flock(file, fcntl.LOCK_EX)
        known = _remembered(file)
        kept, said = _looked_at(known, payload, event, limits)
        if kept != known:
            text = json.dumps(to_json(kept)).encode()
            os.ftruncate(file, 0)
            os.pwrite(file, text, 0)
    finally:
        os.close(file)
    return None if said is None else _spoken(event, said)


def _looked_at(
    known: OnlineDetector, payload: Payload, event: str, limits: Limits
) -> tuple[OnlineDetector, Refusal | None]:
    if event in _BREAKS:
        return known.cleared(), None
    action, content = _action(payload, event), _content(payload)
    look = known.before if event == "PreToolUse" else known.after
    return look(action, content, limits)


def _spoken(event: str, said: Refusal) -> Payload:
    if event == "PreToolUse":
        refusal = {"permissionDecision": "deny", "permissionDecisionReason": said.text}
        return {"hookSpecificOutput": {"hookEventName": event, **refusal}}
    return {"hookSpecificOutput": {"hookEventName": event, "additionalContext": said.text}}


def _remembered(file: int) -> OnlineDetector:
    text = os.pread(file, MOST_OF_STATE, 0)
    if not text:
        return OnlineDetector()
    try:
        return from_json(json.loads(text))
    except (ValueError, RecursionError) as error:
        why = error if isinstance(error, Malformed) else "no JSON"
        sys.stderr.write(f"loop guard: what was remembered is lost ({why}); it begins anew\n")
        return OnlineDetector()


def _action(payload: Payload, event: str) -> Action:
    given, tool = payload.get("tool_input"), payload.get("tool_name")
    if not isinstance(given, Mapping) or not isinstance(tool, str):
        raise Malformed(f"{event}: tool_name and tool_input are missing")
    match event:
        case "PostToolUse":
            return Action(
                tool=tool,
                arguments=given,
                outcome=ActionResult.DONE,
                result=_result(payload.get("tool_response")),
            )
        case "PostToolUseFailure":
            error = str(payload.get("error", ""))
            return Action(tool=tool, arguments=given, outcome=ActionResult.FAILED, result=error)
        case _:
            return Action(tool=tool, arguments=given)


def _result(response: Json) -> str:
    if isinstance(response, str):
        return response
    if isinstance(response, Mapping):
        # How long it took is never part of what came out.
        kept = {key: value for key, value in response.items() if not key.endswith(("Ms", "_ms", "Seconds"))}
        if "stdout" in kept:
            return "\n".join(str(kept[key]) for key in ("stdout", "stderr") if kept.get(key))
        response = kept
    return json.dumps(response, sort_keys=True)


def _content(payload: Payload) -> str | None:
    """
    What the file holds that a call is about; ``None`` for one that lies outside of the project.
    """
    given = payload.get("tool_input")
    name = file_of(given) if isinstance(given, Mapping) else ""
    if not name:
        return None
    folder = Path(str(payload.get("cwd") or "."))
    root = os.path.realpath(os.environ.get("CLAUDE_PROJECT_DIR") or folder)
    path = os.path.realpath(folder / name)
    if os.path.commonpath([root, path]) != root:
        return None
    try:
        file = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        found = os.fstat(file)
        if not stat.S_ISREG(found.st_mode) or found.st_size > MOST_OF_FILE:
            return None
        return os.read(file, MOST_OF_FILE).decode("utf-8", "replace")
    finally:
        os.close(file)


if __name__ == "__main__":
    raise SystemExit(main())
