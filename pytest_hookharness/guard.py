"""
The loop guard: a hook for Claude Code that refuses tool calls which repeat without progress.

Configure it for PreToolUse, PostToolUse, PostToolUseFailure, UserPromptSubmit and Stop. It keeps the state of
each session in a file below ``--state``. If it fails, it reports that on standard error and refuses nothing:
it protects against waste, not against harm.
"""

from __future__ import annotations

import fcntl
import json
import os
import sys
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from pytest_hookharness.judging.detectors.messages import LoopLimits, Refusal
from pytest_hookharness.judging.detectors.online import Malformed, OnlineDetector, from_json, to_json
from pytest_hookharness.judging.detectors.signatures import digest, file_of
from pytest_hookharness.model.actions import Action, ActionResult

if TYPE_CHECKING:
    from pytest_hookharness.model.protocol import Json, Payload

LONGEST_PAYLOAD = 64 << 20
LONGEST_STATE = 1 << 20
LONGEST_FILE = 4 << 20
_CALLS = ("PreToolUse", "PostToolUse", "PostToolUseFailure")
# The person speaks, or is about to: later calls are not compared with earlier ones.
_BREAKS = ("UserPromptSubmit", "Stop")


def main(argv: Sequence[str] | None = None) -> int:
    """
    Answer one event.

    Returns:
        0 if the event was answered, 1 if it could not be; the host takes neither for a refusal.
    """
    try:
        limits, folder = _options(sys.argv[1:] if argv is None else argv)
        answer = _answer(_payload(), limits, folder)
    except (OSError, ValueError, RecursionError) as error:
        sys.stderr.write(f"loop guard: {error}; this call was not checked\n")
        return 1
    if answer is not None:
        sys.stdout.write(json.dumps(answer) + "\n")
    return 0


def _options(argv: Sequence[str]) -> tuple[LoopLimits, str]:
    home = os.environ.get("XDG_STATE_HOME") or os.path.join(os.path.expanduser("~"), ".local", "state")
    folder = os.path.join(home, "loop-guard")
    if not argv:
        return LoopLimits(), folder
    # A hook usually has no options, and argparse takes longer to import than all that it does.
    import argparse

    parser = argparse.ArgumentParser(prog="python3 -m pytest_hookharness.guard", description=__doc__)
    usual = LoopLimits()
    parser.add_argument(
        "--repetitions", type=int, default=usual.repetitions, help="least number of repetitions of a sequence"
    )
    parser.add_argument("--failures", type=int, default=usual.failures, help="least number of equal failures")
    parser.add_argument("--window", type=int, default=usual.window, help="most actions that a loop may span")
    parser.add_argument("--state", default=folder, help="folder for the states of sessions")
    try:
        given = parser.parse_args(argv)
    except SystemExit as end:
        # argparse would exit with status 2, which the host takes for a refusal of every call.
        if end.code:
            raise ValueError("these options are not understood; `--help` lists the known ones") from end
        raise
    limits = LoopLimits(repetitions=given.repetitions, failures=given.failures, window=given.window)
    return limits, given.state


def _payload() -> Payload:
    # One line only: not every host closes standard input.
    text = sys.stdin.buffer.readline(LONGEST_PAYLOAD + 1)
    if len(text) > LONGEST_PAYLOAD:
        raise ValueError(f"standard input: a payload of more than {LONGEST_PAYLOAD >> 20} MB")
    value = json.loads(text.decode("utf-8", "replace"))
    if not isinstance(value, Mapping):
        raise Malformed("standard input: not a JSON object, which Claude Code passes to its hooks")
    return value


def _answer(payload: Payload, limits: LoopLimits, folder: str) -> Payload | None:
    event = str(payload.get("hook_event_name", ""))
    if event not in (*_CALLS, *_BREAKS):
        allowed = ", ".join((*_CALLS, *_BREAKS))
        raise ValueError(f"hook_event_name: {event!r}; configure it only for {allowed}")
    names = (str(payload.get(key, "")) for key in ("session_id", "agent_id"))
    os.makedirs(folder, mode=0o700, exist_ok=True)
    with _locked(os.path.join(folder, f"{digest(*names)}.json")) as file:
        known = _read_state(file)
        state, refusal = _check(known, payload, event, limits)
        if state != known:
            text = json.dumps(to_json(state)).encode()
            os.ftruncate(file, 0)
            os.pwrite(file, text, 0)
    return None if refusal is None else _answer_of(event, refusal)


@contextmanager
def _locked(path: str) -> Generator[int]:
    file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        # Claude Code runs hooks of parallel calls in parallel; they share the state file.
        fcntl.flock(file, fcntl.LOCK_EX)
        yield file
    finally:
        os.close(file)


def _check(
    known: OnlineDetector, payload: Payload, event: str, limits: LoopLimits
) -> tuple[OnlineDetector, Refusal | None]:
    if event in _BREAKS:
        return known.cleared(), None
    action, content = _action(payload, event), _content(payload)
    look = known.before if event == "PreToolUse" else known.after
    return look(action, content, limits)


def _answer_of(event: str, refused: Refusal) -> Payload:
    if event == "PreToolUse":
        refusal = {"permissionDecision": "deny", "permissionDecisionReason": refused.text}
        return {"hookSpecificOutput": {"hookEventName": event, **refusal}}
    return {"hookSpecificOutput": {"hookEventName": event, "additionalContext": refused.text}}


def _read_state(file: int) -> OnlineDetector:
    text = os.pread(file, LONGEST_STATE, 0)
    if not text:
        return OnlineDetector()
    try:
        return from_json(json.loads(text))
    except (ValueError, RecursionError) as error:
        why = error if isinstance(error, Malformed) else "not JSON"
        sys.stderr.write(
            f"loop guard: the state of this session is lost ({why}); starting again without it\n"
        )
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
        # Durations differ in every call, so they would hide that results are equal.
        kept = {key: value for key, value in response.items() if not key.endswith(("Ms", "_ms", "Seconds"))}
        if "stdout" in kept:
            return "\n".join(str(kept[key]) for key in ("stdout", "stderr") if kept.get(key))
        response = kept
    return json.dumps(response, sort_keys=True)


def _content(payload: Payload) -> str | None:
    """Return the contents of the file that a call is about; ``None`` for a file outside of the project."""
    given = payload.get("tool_input")
    name = file_of(given) if isinstance(given, Mapping) else ""
    if not name:
        return None
    folder = str(payload.get("cwd") or ".")
    root = os.path.realpath(os.environ.get("CLAUDE_PROJECT_DIR") or folder)
    path = os.path.realpath(os.path.join(folder, name))
    if os.path.commonpath([root, path]) != root:
        return None
    # Nothing here asks for times, so that the harness need not look for an influence of the clock.
    if not os.path.isfile(path):
        return None
    try:
        # Without blocking: opening a named pipe, if it is one now, would wait for its writer.
        file = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        content = os.read(file, LONGEST_FILE + 1)
    except OSError:
        return None
    finally:
        os.close(file)
    return None if len(content) > LONGEST_FILE else content.decode("utf-8", "replace")


if __name__ == "__main__":
    raise SystemExit(main())
