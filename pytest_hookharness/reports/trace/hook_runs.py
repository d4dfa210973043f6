"""
Hook runs in a trace file: what a process received and how it ended, as JSON of bounded size.

A text is an excerpt: an object that states how much of the text it holds, and whether bytes that are no
characters were replaced.
"""

from __future__ import annotations

import dataclasses
import enum
import json
import math
import re
from collections.abc import Mapping
from typing import TypeAlias, assert_never

from pytest_hookharness.model import processes
from pytest_hookharness.model.delivery import Dialogue
from pytest_hookharness.model.protocol import Decision, Hook, Json, Reply, Rule
from pytest_hookharness.model.trace import HookEvent, HookRun
from pytest_hookharness.reports.terminal.phrases import describe_activity, describe_ending, describe_reply

TraceRecord: TypeAlias = dict[str, Json]

# Bytes of one text, and items of one list, that a record holds at most.
LONGEST = 64 << 10
MOST = 1000
_REPLACED = "\N{REPLACEMENT CHARACTER}"
_HALVES = re.compile("[\ud800-\udfff]")


def excerpt(text: str) -> TraceRecord:
    """Return an excerpt that has all of a text."""
    known = _HALVES.sub(_REPLACED, text)
    return {"text": known, "bytes": len(known.encode()), "cut_at": None, "replaced": known != text}


def of_bytes(data: bytes, size: int | None = None) -> TraceRecord:
    """Return bytes as an excerpt, decoded as UTF-8 with replacements."""
    text = data.decode("utf-8", "replace")
    total = len(data) if size is None else size
    cut_at = len(data) if total > len(data) else None
    replaced = _REPLACED in text and text.encode() != data
    return {"text": text, "bytes": total, "cut_at": cut_at, "replaced": replaced}


def of_output(output: processes.Output) -> TraceRecord:
    """Return an output stream as an excerpt."""
    return of_bytes(output.data, max(output.total, len(output.data)))


def of_json(value: object) -> TraceRecord:
    """Return a value of unknown shape as an excerpt of its JSON text."""
    return excerpt(json.dumps(as_data(value), ensure_ascii=False))


def as_data(value: object) -> Json:
    """Return a value of the model as JSON: its attributes by name."""
    match value:
        case None | bool() | int() | float() | str():
            return value
        case enum.Enum():
            return as_data(value.value)
        case bytes():
            return value.decode("utf-8", "replace")
        case Mapping():
            return {str(key): as_data(item) for key, item in value.items()}
        case tuple() | list() | frozenset():
            return [as_data(item) for item in value]
        case _ if dataclasses.is_dataclass(value):
            fields = dataclasses.fields(value)
            return {field.name: as_data(getattr(value, field.name)) for field in fields}
        case _:
            return str(value)


def attributes(value: object, *names: str) -> TraceRecord:
    """Return the attributes that a record names as the model does."""
    return {name: as_data(getattr(value, name)) for name in names}


def bound(value: Json, longest: int = LONGEST) -> Json:
    """Return JSON with texts and lists cut to the allowed size; excerpts state what was cut."""
    match value:
        case str():
            return _cut(value, longest)
        case float() if not math.isfinite(value):
            return None
        case Mapping():
            whole = {_cut(key, longest): bound(item, longest) for key, item in [*value.items()][:MOST]}
            text = whole.get("text")
            if "cut_at" in whole and text != value["text"]:
                whole["cut_at"] = len(str(text).encode())
            return whole
        case list() | tuple():
            return [bound(item, longest) for item in value[:MOST]]
        case _:
            return value


def _cut(text: str, longest: int) -> str:
    known_text = _HALVES.sub(_REPLACED, text)
    # Every character has four bytes at most; most texts are short.
    if len(known_text) <= longest // 4:
        return known_text
    data = known_text.encode()
    return known_text if len(data) <= longest else data[:longest].decode("utf-8", "ignore")


def hook_data(hook: Hook) -> TraceRecord:
    """Return a hook as it is configured."""
    return attributes(hook, "event", "command", "type", "matcher", "timeout", "source")


def hook_run_data(run: HookRun, event: HookEvent) -> TraceRecord:
    """Return one hook run."""
    return {
        **hook_data(run.hook),
        "stdin": of_bytes(run.stdin) if run.stdin else of_json(run.payload),
        "run": None if run.run is None else run_data(run.run),
        "reply": _reply(run, event),
        "transcript_opened": run.transcript_opened,
    }


def run_data(run: processes.ProcessResult) -> TraceRecord:
    """Return how a process ended."""
    doing = run.ending.doing if isinstance(run.ending, processes.TimedOut) else ()
    return {
        "words": describe_ending(run.ending, run.wall),
        "ending": _ending(run.ending),
        "stdout": of_output(run.stdout),
        "stderr": of_output(run.stderr),
        **attributes(run, "stdin_taken", "stdin_read", "started", "peak_memory", "pid", "warm"),
        "seconds": run.wall,
        "cpu_seconds": run.cpu,
        "processes": [process_data(process) for process in run.leftovers],
        "unclaimed_processes": [process_data(process) for process in run.unclaimed],
        "doing": [_activity(activity) for activity in doing],
        "dialogue": None if run.dialogue is None else _dialogue(run.dialogue),
    }


def process_data(process: processes.Process) -> TraceRecord:
    """Return a process."""
    return attributes(process, "pid", "command", "age")


def _activity(activity: processes.Activity) -> TraceRecord:
    return {
        **process_data(activity.process),
        "words": describe_activity(activity),
        **attributes(activity, "state", "blocked_in", "waits_for", "asks"),
    }


def _ending(ending: processes.Ending) -> TraceRecord:
    match ending:
        case processes.Exited(code):
            return {"kind": "exited", "code": code}
        case processes.Signaled(signal):
            return {"kind": "signaled", "signal": signal}
        case processes.TimedOut():
            return {
                "kind": "timed-out",
                **attributes(ending, "after", "by", "ignored_term"),
                "ended": None if ending.ended is None else _ending(ending.ended),
            }
        case processes.HeldOpen():
            return {
                "kind": "held-open",
                "ended": _ending(ending.exit),
                "waited": ending.waited,
                "holders": [process_data(process) for process in ending.holders],
            }
        case processes.NotStarted(reason):
            return {"kind": "not-started", "reason": reason}
        case _:
            assert_never(ending)


def _dialogue(dialogue: Dialogue) -> TraceRecord:
    return {
        "shown": of_bytes(dialogue.shown, max(dialogue.total, len(dialogue.shown))),
        "asked": [{"question": asked.question, "answer": asked.answer} for asked in dialogue.asked],
        "unanswered": dialogue.unanswered,
    }


def _reply(run: HookRun, event: HookEvent) -> TraceRecord:
    reply, unheard = run.reply, run.reply.unheard
    return {
        "words": describe_reply(run, event),
        "reason": excerpt(run.reason),
        "context": excerpt(reply.context),
        "to_user": excerpt(reply.user_text),
        **_updates(reply),
        **attributes(reply, "ruling", "halt", "behaviour", "folder", "fault", "silent", "unmeant"),
        "unheard": None
        if unheard is None
        else {"place": unheard.place, "text": excerpt(unheard.text), "rule": rule_data(unheard.rule)},
        "rule": rule_data(reply.rule),
    }


def _updates(changed: Reply | Decision) -> TraceRecord:
    given, result = changed.updated_input, changed.updated_output
    return {
        "updated_input": None if given is None else of_json(given),
        "updated_output": None if result is None else of_json(result),
    }


def decision_data(decision: Decision) -> TraceRecord:
    """Return the decision of the host, and the host facts behind it."""
    return {
        **attributes(decision, "ruling", "refused", "overridden", "halt", "folder"),
        "reasons": [*map(excerpt, decision.reasons)],
        "to_agent": [*map(excerpt, decision.to_agent)],
        "to_user": [*map(excerpt, decision.to_user)],
        **_updates(decision),
        "rule": rule_data(decision.rule),
        "rests_on": [*map(rule_data, decision.rests_on)],
    }


def rule_data(rule: Rule) -> TraceRecord:
    """Return a fact about a host, with how it is known."""
    return attributes(rule, "text", "basis", "source")
