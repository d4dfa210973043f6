"""
This module is concerned with fires in a trace file: what a process was given, and what became of it.

Middle floor: reports. Pure. Every union is matched to its end.
"""

from __future__ import annotations

from typing import assert_never

from pytest_hookharness.model.processes import (
    Activity,
    Ending,
    Exited,
    HeldOpen,
    NotStarted,
    Process,
    Run,
    Signaled,
    TimedOut,
)
from pytest_hookharness.model.protocol import Decision, Hook, Reply, Rule
from pytest_hookharness.model.terminals import Dialogue
from pytest_hookharness.model.trace import Fire, Hooked
from pytest_hookharness.reports.excerpts import Record, excerpt, of_bytes, of_json, of_output
from pytest_hookharness.reports.words import activity_words, ending_words, reply_words


def hook_data(hook: Hook) -> Record:
    """
    A hook as it is configured.
    """
    return {
        "event": hook.event,
        "command": hook.command,
        "type": hook.type,
        "matcher": hook.matcher,
        "timeout": hook.timeout,
        "source": hook.source,
    }


def fire_data(fire: Fire, hooked: Hooked) -> Record:
    """
    One run of one hook.
    """
    return {
        **hook_data(fire.hook),
        "stdin": of_bytes(fire.stdin) if fire.stdin else of_json(fire.payload),
        "run": None if fire.run is None else run_data(fire.run),
        "reply": _reply(fire, hooked),
        "transcript_opened": fire.transcript_opened,
    }


def run_data(run: Run) -> Record:
    """
    What became of a process.
    """
    doing = run.ending.doing if isinstance(run.ending, TimedOut) else ()
    return {
        "words": ending_words(run.ending, run.wall),
        "ending": _ending(run.ending),
        "stdout": of_output(run.stdout),
        "stderr": of_output(run.stderr),
        "stdin_taken": run.stdin_taken,
        "stdin_read": run.stdin_read,
        "started": run.started,
        "seconds": run.wall,
        "cpu_seconds": run.cpu,
        "peak_memory": run.peak_memory,
        "pid": run.pid,
        "processes": [process_data(process) for process in run.leftovers],
        "doing": [_activity(activity) for activity in doing],
        "dialogue": None if run.dialogue is None else _dialogue(run.dialogue),
    }


def process_data(process: Process) -> Record:
    """
    A process that was seen.
    """
    return {"pid": process.pid, "command": process.command, "age": process.age}


def _activity(activity: Activity) -> Record:
    return {
        **process_data(activity.process),
        "words": activity_words(activity),
        "state": activity.state,
        "blocked_in": activity.blocked_in,
        "waits_for": activity.waits_for,
        "asks": activity.asks,
    }


def _ending(ending: Ending) -> Record:
    match ending:
        case Exited(code):
            return {"kind": "exited", "code": code}
        case Signaled(signal):
            return {"kind": "signaled", "signal": signal}
        case TimedOut():
            return {
                "kind": "timed-out",
                "after": ending.after,
                "by": ending.by.value,
                "ignored_term": ending.ignored_term,
                "ended": None if ending.ended is None else _ending(ending.ended),
            }
        case HeldOpen():
            return {
                "kind": "held-open",
                "ended": _ending(ending.exit),
                "waited": ending.waited,
                "holders": [process_data(process) for process in ending.holders],
            }
        case NotStarted(reason):
            return {"kind": "not-started", "reason": reason}
        case _:
            assert_never(ending)


def _dialogue(dialogue: Dialogue) -> Record:
    return {
        "shown": of_bytes(dialogue.shown, max(dialogue.total, len(dialogue.shown))),
        "asked": [{"question": asked.question, "answer": asked.answer} for asked in dialogue.asked],
        "unanswered": dialogue.unanswered,
    }


def _reply(fire: Fire, hooked: Hooked) -> Record:
    reply: Reply = fire.reply
    unheard = reply.unheard
    return {
        "words": reply_words(fire, hooked),
        "ruling": reply.ruling.value,
        "reason": excerpt(fire.reason),
        "context": excerpt(reply.context),
        "to_user": excerpt(reply.user_text),
        "updated_input": None if reply.updated_input is None else of_json(reply.updated_input),
        "updated_output": None if reply.updated_output is None else of_json(reply.updated_output),
        "halt": reply.halt,
        "behaviour": reply.behaviour,
        "folder": reply.folder,
        "fault": reply.fault,
        "silent": reply.silent,
        "unmeant": reply.unmeant,
        "unheard": None
        if unheard is None
        else {"place": unheard.place, "text": excerpt(unheard.text), "rule": rule_data(unheard.rule)},
        "rule": rule_data(reply.rule),
    }


def decision_data(decision: Decision) -> Record:
    """
    What the host made of all replies, and the facts about it by which it did.
    """
    return {
        "ruling": decision.ruling.value,
        "refused": decision.refused,
        "overridden": decision.overridden,
        "reasons": [excerpt(text) for text in decision.reasons],
        "to_agent": [excerpt(text) for text in decision.to_agent],
        "to_user": [excerpt(text) for text in decision.to_user],
        "updated_input": None if decision.updated_input is None else of_json(decision.updated_input),
        "updated_output": None if decision.updated_output is None else of_json(decision.updated_output),
        "halt": decision.halt,
        "folder": decision.folder,
        "rule": rule_data(decision.rule),
        "rests_on": [rule_data(rule) for rule in decision.rests_on],
    }


def rule_data(rule: Rule) -> Record:
    """
    A fact about a host, with how and where it is known from.
    """
    return {"text": rule.text, "basis": rule.basis.value, "source": rule.source}
