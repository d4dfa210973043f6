"""
This module is concerned with replies: what the host reads from one fire.

Middle floor: hosts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import assert_never

from pytest_hookharness.hosts.answers import (
    KNOWN,
    Unparsable,
    announces_background,
    check,
    find_lost,
    parse,
    trim,
)
from pytest_hookharness.hosts.events import EventRule, Power, Role
from pytest_hookharness.hosts.profile import Profile
from pytest_hookharness.model.processes import Exited, HeldOpen, NotStarted, Run, Signaled, TimedOut
from pytest_hookharness.model.protocol import Hook, Json, Payload, Reply, Rule, Ruling


@dataclass(frozen=True, slots=True)
class _Reader:
    profile: Profile
    hook: Hook
    event: EventRule

    def rule(self, name: str) -> Rule:
        return self.profile.replies.rules[name]

    def none(self, rule: str, fault: str | None = None) -> Reply:
        return Reply(rule=self.rule(rule), fault=fault)

    def refuse(self, reason: str, rule: str, *, silent: bool = False) -> Reply:
        """
        A refusal, as far as the event knows one.
        """
        if self.event.power is Power.NOTHING:
            fault = f"ignored: a refusal means nothing on {self.event.name}"
            return Reply(user_text=reason, fault=fault, rule=self.rule("no power"))
        return self.limit(Reply(ruling=Ruling.DENY, reason=reason, silent=silent, rule=self.rule(rule)))

    def limit(self, reply: Reply) -> Reply:
        """
        The same reply with its texts cut as the host cuts them.
        """
        most = self.profile.replies.text_limit
        longest = max(len(reply.reason), len(reply.context))
        if longest <= most:
            return reply
        fault = reply.fault or f"too-long: {longest} characters were said and {most} reach the model"
        return replace(reply, reason=reply.reason[:most], context=reply.context[:most], fault=fault)


def read_reply(profile: Profile, hook: Hook, event: str, run: Run | Payload | None) -> Reply:
    """
    What the host reads from one fire, or from the answer that a scenario gives for a handler.

    A hook with ``async: true``, or one that begins its output with an answer that says so, has no say.
    The harness waits for it all the same, since all processes of a fire end with it; the host goes on.
    """
    reader = _Reader(profile, hook, profile.events[event])
    if run is None:
        return reader.none("unanswered")
    if not isinstance(run, Run):
        return _read_answer(reader, run)
    if hook.options.get("async") is True or announces_background(run.stdout.text):
        return reader.none("async")
    reply = _read_run(reader, run)
    cut = run.stdout.cut_at
    if cut is not None:
        reply = replace(reply, fault=f"too-long: output was cut after {cut} of {run.stdout.total} bytes")
    return reply


def _read_run(reader: _Reader, run: Run) -> Reply:
    ending = run.ending.exit if isinstance(run.ending, HeldOpen) else run.ending
    if reader.event.role is Role.WORKTREE:
        return _read_folder(reader, ending, run.stdout.text, run.stderr.text)
    match ending:
        case Exited():
            return _read_exit(reader, ending.code, run.stdout.text, run.stderr.text)
        case TimedOut():
            said = " although it had already answered" if run.stdout.data.strip() else ""
            return _fail(reader, f"timed-out: it was cut after {ending.after:g} s{said}", "timed out")
        case Signaled():
            return _fail(reader, f"crashed: signal {ending.signal} ended it", "signalled")
        case NotStarted():
            return _fail(reader, f"not-run: {ending.reason}", "not run")
        case _:
            assert_never(ending)


def _read_folder(
    reader: _Reader, ending: Exited | Signaled | TimedOut | NotStarted, stdout: str, stderr: str
) -> Reply:
    match ending:
        case Exited(code=0):
            lines = [line.strip() for line in stdout.splitlines() if line.strip()]
            if lines:
                return Reply(folder=lines[-1], rule=reader.rule("folder"))
            why = "it printed no folder"
        case Exited(code=code):
            why = f"exit code {code}: {_first_line(stderr)}"
        case Signaled(signal=signal):
            why = f"signal {signal} ended it"
        case TimedOut(after=after):
            why = f"it was cut after {after:g} s"
        case NotStarted(reason=reason):
            why = reason
        case _:
            assert_never(ending)
    return reader.refuse(f"[{reader.hook.command}]: {why}", "no folder", silent=not stderr.strip())


def _fail(reader: _Reader, fault: str, rule: str) -> Reply:
    if reader.hook.on_failure == "block":
        words = fault.partition(": ")[2]
        reply = reader.refuse(f"[{reader.hook.command}]: {words}", "failure blocks")
        return replace(reply, fault=fault)
    return reader.none(rule, fault)


def _read_exit(reader: _Reader, code: int, stdout: str, stderr: str) -> Reply:
    rules = reader.profile.replies
    answer = parse(stdout) if rules.json_codes is None or code in rules.json_codes else None
    if isinstance(answer, Mapping):
        problem = check(rules, reader.event.name, answer)
        if problem is None:
            return _read_valid(reader, code, answer, stderr)
        if code != rules.refusing_code:
            return reader.none("invalid", f"ignored: {problem}")
    if code == rules.refusing_code:
        return _refuse_by_code(reader, stderr)
    if code in rules.not_run_codes:
        return _fail(reader, f"not-run: exit code {code}: {_first_line(stderr)}", "not run")
    if code != 0:
        return _fail(reader, f"crashed: exit code {code}: {_first_line(stderr)}", "crashed")
    if isinstance(answer, Unparsable):
        return reader.none("unparsable", f"mangled: it begins like JSON and is not: {answer.why}")
    return _read_plain(reader, stdout, stderr)


def _first_line(text: str) -> str:
    return next((line.strip() for line in text.splitlines() if line.strip()), "nothing on standard error")


def _refuse_by_code(reader: _Reader, stderr: str) -> Reply:
    said = stderr.strip()
    words = said or reader.profile.replies.no_error_text
    return reader.refuse(f"[{reader.hook.command}]: {words}", "code refuses", silent=not said)


def _read_plain(reader: _Reader, stdout: str, stderr: str) -> Reply:
    lost = find_lost(stdout, stderr)
    fault = f"mangled: {lost}" if lost else None
    text = trim(stdout)
    if not text:
        return reader.none("silent", fault)
    if reader.event.plain:
        return reader.limit(Reply(context=text, fault=fault, rule=reader.rule("shown")))
    return reader.none("plain", fault)


def _read_valid(reader: _Reader, code: int, answer: Payload, stderr: str) -> Reply:
    reply = _read_answer(reader, answer)
    if code == reader.profile.replies.refusing_code and reply.ruling is not Ruling.DENY:
        refusal = _refuse_by_code(reader, stderr)
        return replace(refusal, user_text=reply.user_text or refusal.user_text, halt=reply.halt)
    return reply


def _read_answer(reader: _Reader, answer: Payload) -> Reply:
    if answer.get("async") is True:
        return reader.none("async")
    problem = check(reader.profile.replies, reader.event.name, answer)
    if problem is not None:
        return reader.none("invalid", f"ignored: {problem}")
    specific = answer.get("hookSpecificOutput")
    special: Payload = specific if isinstance(specific, Mapping) else {}
    if reader.event.role is Role.WORKTREE:
        folder = str(special.get("worktreePath") or "")
        named = Reply(folder=folder, rule=reader.rule("folder"))
        return named if folder else reader.refuse("it named no folder", "no folder", silent=True)
    reply = _read_ruling(reader, answer, special)
    reply = _add_texts(reader, reply, answer, special)
    return reader.limit(replace(reply, fault=reply.fault or _unknown(answer)))


def _unknown(answer: Payload) -> str | None:
    if answer and not KNOWN & set(answer):
        return f"ignored: the host knows none of the keys {', '.join(answer)}"
    return None


def _read_ruling(reader: _Reader, answer: Payload, special: Payload) -> Reply:
    rules = reader.profile.replies
    permission, decision = special.get("permissionDecision"), answer.get("decision")
    if permission is not None:
        if reader.event.role is not Role.BEFORE_TOOL:
            fault = f"ignored: 'permissionDecision' means nothing on {reader.event.name}"
            return reader.none("no power", fault)
        reason = str(special.get("permissionDecisionReason") or "")
        return _permit(reader, Ruling(str(permission)), reason)
    if isinstance(special.get("decision"), Mapping) and reader.event.role is Role.PERMISSION:
        return _grant(reader, special["decision"])
    reason = str(answer.get("reason") or "")
    if decision is not None and "decision" in reader.event.ignores:
        return reader.none("ignored", f"ignored: 'decision' means nothing on {reader.event.name}")
    if decision in rules.refusing_words or (answer.get("ok") is False and reader.hook.type != "command"):
        return reader.refuse(reason or rules.no_reason, "answer", silent=not reason.strip())
    if decision in rules.allowing_words:
        return Reply(ruling=Ruling.ALLOW, user_text=reason, rule=reader.rule("answer"))
    return reader.none("answer")


def _permit(reader: _Reader, ruling: Ruling, reason: str) -> Reply:
    if ruling is Ruling.DENY:
        words = reason or reader.profile.replies.no_reason
        return reader.refuse(words, "answer", silent=not reason.strip())
    if ruling is Ruling.ALLOW:
        return Reply(ruling=ruling, user_text=reason, rule=reader.rule("answer"))
    words = reason or (reader.profile.replies.no_reason if ruling is Ruling.ASK else "")
    return Reply(ruling=ruling, reason=words, rule=reader.rule(ruling.value))


def _grant(reader: _Reader, decision: Json) -> Reply:
    given: Payload = decision if isinstance(decision, Mapping) else {}
    behaviour = given.get("behavior")
    if behaviour not in ("allow", "deny"):
        return reader.none("invalid", f"ignored: 'behavior' is {behaviour!r}; the host knows allow, deny")
    changed = given.get("updatedInput")
    message = str(given.get("message") or "")
    halt = message if given.get("interrupt") is True else None
    return Reply(
        ruling=Ruling(behaviour),
        behaviour=str(behaviour),
        reason=message if behaviour == "deny" else "",
        updated_input=changed if isinstance(changed, Mapping) else None,
        halt=halt,
        silent=behaviour == "deny" and not message.strip(),
        rule=reader.rule("answer"),
    )


def _add_texts(reader: _Reader, reply: Reply, answer: Payload, special: Payload) -> Reply:
    fault = reply.fault
    context = str(special.get("additionalContext") or "")
    if context and not reader.event.context:
        fault, context = fault or f"ignored: 'additionalContext' means nothing on {reader.event.name}", ""
    changed = special.get("updatedInput")
    if changed is not None and reader.event.role is not Role.BEFORE_TOOL:
        fault, changed = fault or f"ignored: 'updatedInput' means nothing on {reader.event.name}", None
    output = special.get("updatedToolOutput") if reader.event.role is Role.AFTER_TOOL else None
    halting = answer.get("continue") is False
    if halting and "continue" in reader.event.ignores:
        fault, halting = fault or f"ignored: 'continue' means nothing on {reader.event.name}", False
    return replace(
        reply,
        context=context,
        user_text=str(answer.get("systemMessage") or reply.user_text),
        updated_input=changed if isinstance(changed, Mapping) else reply.updated_input,
        updated_output=output,
        halt=str(answer.get("stopReason") or "") if halting else reply.halt,
        silent=reply.silent and not context.strip(),
        fault=fault,
    )
