"""Replies: what the host reads from one hook run, by how its process ended and what it printed."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, assert_never

from pytest_hookharness.hosts.replies.background import read_late_context, read_unawaited
from pytest_hookharness.hosts.replies.json_answer import (
    BYTE_ORDER_MARK,
    AnswerReader,
    Unparsable,
    announces_background,
    answer_keys,
    parse,
    read_answer,
    trim,
)
from pytest_hookharness.hosts.replies.json_parser import dig
from pytest_hookharness.hosts.replies.lost_refusals import (
    find_error,
    find_message,
    find_overwritten,
    find_refusal,
    is_stack_trace,
)
from pytest_hookharness.hosts.rules.profile import EventRule, Power, Profile
from pytest_hookharness.hosts.rules.replies import AnswerRules, CodeMeaning, CodeRule, Precedence, Stream
from pytest_hookharness.hosts.rules.turns import Role
from pytest_hookharness.model.fast_dataclass import replace
from pytest_hookharness.model.processes import Detach, Exited, NotStarted, ProcessResult, Signaled, TimedOut
from pytest_hookharness.model.protocol import HARNESS_KEEPS, Hook, Payload, Reply, Ruling, Unheard

if TYPE_CHECKING:
    from pytest_hookharness.model.start_failures import StartFailure

# Exit codes of a shell that could not run the command.
_NOT_RUN_CODES = (126, 127)
# The exit code that refuses on most hosts.
_REFUSAL_CODE = 2
_NO_OUTPUT = CodeRule()


def read_reply(profile: Profile, hook: Hook, event: str, run: ProcessResult | Payload | None) -> Reply:
    """Return the host's reading of one hook run, or of the answer that a scenario gives for a handler."""
    rules, rule = profile.replies, profile.events[event]
    reader = AnswerReader(profile, hook, rule, profile.answers(event, foreign=hook.foreign))
    if run is None:
        return reader.no_opinion("unanswered")
    if not isinstance(run, ProcessResult):
        return read_answer(reader, run)
    announced = rules.announced and announces_background(reader.answers, run.stdout.text)
    detached = profile.detachment(hook) is Detach.AT_ONCE
    if detached and rules.late_context and rule.role is Role.AFTER_TOOL:
        return read_late_context(reader, run)
    if detached or announced:
        return read_unawaited(reader, run.own_ending, partial(_read_run, reader, run))
    reply = _with_failure(_with_error(reader, _read_run(reader, run), run), run.failure)
    # A cut answer cannot be judged, so this fault replaces any other.
    cut = run.stdout.cut_at
    if cut is not None:
        whole = f"of the {run.stdout.total} bytes that were printed"
        keeps = f"{HARNESS_KEEPS} {cut} {whole}"
        host_reads = f"too-long: the host reads {cut} {whole}"
        reply = replace(reply, fault=keeps if profile.process.output_limit is None else host_reads)
    return reply


def _with_error(reader: AnswerReader, reply: Reply, run: ProcessResult) -> Reply:
    """Return a reply with the error that a hook printed before it let everything pass, if it could refuse."""
    ending = run.own_ending
    decided = reply.ruling is not Ruling.NONE or reply.halt is not None or reply.behaviour is not None
    decided = decided or bool(reply.context) or reply.updated_input is not None
    if ending != Exited(0) or decided or reply.fault or reader.event.power is Power.NOTHING:
        return reply
    # Plain text on standard output is a note for the person, if the host reads it at all.
    plain = not isinstance(parse(reader.answers, run.stdout.text), Mapping)
    error = find_error(run.stderr.text, run.stdout.text if plain else "")
    fault = f'ignored: exit code 0 allows, although it says "{error}"'
    return replace(reply, fault=fault) if error else reply


def _with_failure(reply: Reply, failure: StartFailure | None) -> Reply:
    """Return a reply with the reason why the hook's program failed, which the host cannot know."""
    if failure is None:
        return reply
    return replace(reply, fault=f"{'not-run' if failure.prevents else 'crashed'}: {failure}")


def _read_run(reader: AnswerReader, run: ProcessResult) -> Reply:
    # A child that holds the output open changes nothing about the hook's own end.
    ending = run.own_ending
    if reader.event.role is Role.WORKTREE:
        return _read_folder(reader, ending, run.stdout.text, run.stderr.text)
    match ending:
        case Exited():
            if reader.profile.replies.undecodable_fails and not _decodable(run):
                return _fail(reader, "mangled: the output is not UTF-8", "undecodable")
            return _read_exit(reader, ending.code, run.stdout.text, run.stderr.text)
        case TimedOut():
            held = " because its output stayed open" if ending.ended is not None else ""
            answered = " although it had already answered" if run.stdout.data.strip() else ""
            text = f"it was cut after {ending.after:g} s{held}{answered}"
            return _fail(reader, f"timed-out: {text}", "timed out")
        case Signaled():
            fault = f"crashed: signal {ending.signal} ended it"
            by_signal = CodeRule(meaning=reader.profile.replies.signalled, rule="signalled")
            return _read_alone(reader, by_signal, run.stdout.text, run.stderr.text, fault)
        case NotStarted():
            return _fail(reader, f"not-run: {ending.reason}", "not run")
        case _:
            assert_never(ending)


def _decodable(run: ProcessResult) -> bool:
    try:
        run.stdout.data.decode()
        run.stderr.data.decode()
    except UnicodeDecodeError:
        return False
    return True


# The output of hooks that only log the event.
_NO_FOLDER = re.compile(r"[{\[]|[^/]*\s[^/]*$")
_TAKEN = "mangled: its last line is taken for the folder of the new worktree:"


def _read_folder(
    reader: AnswerReader, ending: Exited | Signaled | TimedOut | NotStarted, stdout: str, stderr: str
) -> Reply:
    lines = [line.strip() for line in stdout.splitlines() if line.strip()]
    match ending:
        case Exited(code=0) if lines:
            fault = f"{_TAKEN} {lines[-1][:60]!r}" if _NO_FOLDER.match(lines[-1]) else None
            return Reply(folder=lines[-1], rule=reader.rule("folder"), fault=fault)
        case Exited(code=0):
            why = f"[{reader.hook.command}]: it printed no folder"
            fault = "mangled: it printed no folder of a new worktree"
            return replace(reader.refuse(why, "no folder", silent=False), fault=fault)
        case Exited(code=code):
            why = f"exit code {code}: {find_message(stderr)}"
        case Signaled(signal=signal):
            why = f"signal {signal} ended it"
        case TimedOut(after=after):
            why = f"it was cut after {after:g} s"
        case NotStarted(reason=reason):
            why = reason
        case _:
            assert_never(ending)
    return reader.refuse(f"[{reader.hook.command}]: {why}", "no folder", silent=not stderr.strip())


def _fail(reader: AnswerReader, fault: str, rule: str) -> Reply:
    if reader.blocks_on_failure:
        reply = reader.refuse(_code_reason(reader, fault.partition(": ")[2]), "failure blocks")
        return replace(reply, fault=fault, unmeant=fault.startswith("mangled"))
    return reader.no_opinion(rule, fault)


def _read_exit(reader: AnswerReader, code: int, stdout: str, stderr: str) -> Reply:
    # The most special table of exit codes applies: imported hooks, then the event, then the host.
    own = reader.event.foreign_codes if reader.hook.foreign else ()
    table = own or reader.event.codes or reader.profile.replies.codes
    rule = next((one for one in table if one.codes is None or code in one.codes), _NO_OUTPUT)
    if rule.ignores_silence and not stdout.strip():
        return reader.no_opinion("silent")
    answer = parse(reader.answers, _first_text(rule.answer, stdout, stderr))
    if isinstance(answer, Mapping):
        problem = reader.answers.check and reader.answers.check(reader.event.name, answer)
        if not problem:
            overwritten = "" if find_refusal(answer) else find_overwritten(stdout)
            return _note_lost(_read_valid(reader, rule, answer, stdout, stderr), code, overwritten)
        if not rule.overrides_answer:
            return reader.no_opinion("invalid", f"ignored: {problem}")
    if isinstance(answer, Unparsable) and rule.meaning is CodeMeaning.PLAIN:
        fault = f"mangled: the output begins like JSON but cannot be parsed: {answer.why}"
        reply = reader.no_opinion("unparsable", fault)
        if not (reader.event.plain and reader.profile.replies.shows_unparsable):
            return reply
        text = trim(reader.answers, stdout)
        return reader.cut_texts(replace(reply, context=text, rule=reader.rule("shown")))
    # No usable answer: from here on the exit code alone decides, and the fault says what was lost.
    kind, name = ("not-run", "not run") if code in _NOT_RUN_CODES else ("crashed", rule.rule)
    fault = f"{kind}: exit code {code}: {find_message(stderr)}"
    said = _first_text((Stream.ERR, Stream.OUT), stdout, stderr)
    if kind == "crashed" and said and not reader.blocks_on_failure:
        fault = f"{kind}: {_describe_failure(reader, table, code, said)}"
    if code == _REFUSAL_CODE and rule.meaning is CodeMeaning.REFUSES_IF_WORDS:
        fault = "mangled: exit code 2 without a word"
    if rule.meaning is CodeMeaning.IGNORED:
        fault = f"ignored: exit code {code} has no effect on {reader.event.name}"
    elif code == 0:
        fault = "mangled: what it printed is no answer that the host knows"
    failed = replace(rule, rule=name) if rule.meaning is CodeMeaning.FAILS else rule
    words = _first_text(rule.answer, stdout, stderr).strip()
    notice = reader.profile.replies.notices.get(rule.meaning, "") if words else ""
    return replace(_read_alone(reader, failed, stdout, stderr, fault), notice=notice.format(words=words))


def _describe_failure(reader: AnswerReader, table: Sequence[CodeRule], code: int, said: str) -> str:
    """Return the fault for a failing exit code, with the hook's words, because it may be a refusal."""
    refusing = (CodeMeaning.REFUSES, CodeMeaning.REFUSES_IF_WORDS)
    refuses = any(_REFUSAL_CODE in (rule.codes or ()) and rule.meaning in refusing for rule in table)
    meant = refuses and not is_stack_trace(said)
    hint = f" is not a refusal on {reader.profile.name} ({_REFUSAL_CODE} is)" if meant else ""
    return f'exit code {code}{hint}: "{find_message(said)}"'


def _first_text(streams: tuple[Stream, ...], stdout: str, stderr: str) -> str:
    texts = (stdout if stream is Stream.OUT else stderr for stream in streams)
    return next((text for text in texts if text.strip()), "")


def _read_alone(reader: AnswerReader, rule: CodeRule, stdout: str, stderr: str, fault: str) -> Reply:
    match rule.meaning:
        case CodeMeaning.PLAIN:
            return _read_plain(reader, stdout, stderr)
        case CodeMeaning.NOTHING:
            return reader.no_opinion("silent")
        case CodeMeaning.IGNORED:
            return reader.no_opinion(rule.rule, fault)
        case CodeMeaning.FAILS:
            return _fail(reader, fault, rule.rule)
        case CodeMeaning.REFUSES:
            return _refuse_by_code(reader, rule, stdout, stderr)
        case CodeMeaning.REFUSES_IF_WORDS:
            if not _first_text(rule.reason_streams, stdout, stderr).strip():
                fault = f"{fault}; the host takes it for a refusal only with a reason"
                return _fail(reader, fault, "wordless")
            return _refuse_by_code(reader, rule, stdout, stderr)
        case _:
            assert_never(rule.meaning)


def _code_reason(reader: AnswerReader, text: str) -> str:
    hook, root = reader.hook, reader.profile.config.plugin_root
    shown = hook.command.replace("${" + root + "}", hook.plugin) if hook.plugin else hook.command
    return reader.profile.replies.code_reason.format(command=shown, words=text)


def _refuse_by_code(reader: AnswerReader, rule: CodeRule, stdout: str, stderr: str) -> Reply:
    whole = _first_text(rule.reason_streams, stdout, stderr)
    given, replies = whole.strip(), reader.profile.replies
    kept = stderr if replies.keeps_blanks else ""
    text = given or kept or replies.no_error_text.format(event=reader.event.name)
    refusal = reader.refuse(_code_reason(reader, text), rule.rule, silent=not given)
    return replace(refusal, blank_end=whole[len(whole.rstrip()) :]) if kept and given else refusal


def _read_plain(reader: AnswerReader, stdout: str, stderr: str) -> Reply:
    lost = find_misplaced_answer(reader.answers, stdout, stderr)
    fault = f"mangled: {lost}" if lost else None
    text = trim(reader.answers, stdout)
    if not text:
        return reader.no_opinion("silent", fault)
    if reader.event.plain:
        return reader.cut_texts(Reply(context=text, fault=fault, rule=reader.rule("shown")))
    if reader.event.plain_fails:
        return reader.no_opinion(
            "plain fails", fault or f"mangled: plain text is not an answer to {reader.event.name}"
        )
    reply = reader.no_opinion("plain", fault)
    if reader.event.role is not Role.PROMPT or fault:
        return reply
    return replace(reply, unheard=Unheard(place="output on a prompt", text=text, rule=reply.rule))


def _read_valid(reader: AnswerReader, rule: CodeRule, answer: Payload, stdout: str, stderr: str) -> Reply:
    reply = read_answer(reader, answer, {Stream.OUT: stdout, Stream.ERR: stderr})
    # On some hosts an exit code that refuses wins over an answer that does not.
    if not rule.overrides_answer or reply.ruling is Ruling.DENY:
        return reply
    refusal = _refuse_by_code(reader, rule, stdout, stderr)
    refusal = replace(refusal, user_text=reply.user_text or refusal.user_text, halt=reply.halt)
    if not rule.keeps_reason:
        return refusal
    reasons = (dig(answer, verdict.reason) for verdict in reader.answers.verdicts)
    reason = next((str(reason) for reason in reasons if reason), "")
    return replace(refusal, context=reply.context, reason=reason or refusal.reason)


def _note_lost(reply: Reply, code: int, overwritten: str) -> Reply:
    if reply.ruling is Ruling.DENY or reply.halt is not None or reply.fault is not None:
        return reply
    fault = f"ignored: {overwritten} is followed by another value of the same key" if overwritten else None
    if code == _REFUSAL_CODE:
        fault = fault or "ignored: exit code 2 has no effect beside an answer that does not refuse"
    return replace(reply, fault=fault)


def refuses_at_once(event: EventRule, replies: Sequence[Reply]) -> bool:
    """Return whether hooks that run one by one have refused already, so that those after them do not run."""
    first = event.merging.precedence is Precedence.FIRST_REFUSAL
    return first and any(reply.ruling is Ruling.DENY for reply in replies)


def find_misplaced_answer(rules: AnswerRules, stdout: str, stderr: str) -> str | None:
    """Return where an answer is that the host does not find; ``None`` if there is none."""
    keys = answer_keys(rules)
    text = stdout.strip().strip(BYTE_ORDER_MARK).strip()
    try:
        whole = json.loads(text) if text else None
    except (ValueError, RecursionError):
        whole = None
    if isinstance(whole, dict) and _is_answer(keys, whole):
        return "the host does not read the answer as JSON; an invisible character stands before it"
    if isinstance(whole, str) and _holds_answer(keys, whole):
        return "the answer is inside a JSON string"
    if isinstance(whole, list) and any(isinstance(item, dict) and _is_answer(keys, item) for item in whole):
        return "the answer is inside a JSON array"
    if whole is None and _holds_answer(keys, text):
        return "the answer does not begin the output; something else is printed before it"
    if not text and stderr.strip().startswith("{") and _holds_answer(keys, stderr):
        return "the answer is on standard error"
    return None


def _is_answer(keys: frozenset[str], value: Payload) -> bool:
    return bool(keys & set(value) or find_refusal(value))


def _holds_answer(keys: frozenset[str], text: str) -> bool:
    decoder = json.JSONDecoder()
    start = text.find("{")
    # Output may be long and full of braces; a real answer is among the first objects.
    for _ in range(20):
        if start < 0:
            return False
        try:
            value, _end = decoder.raw_decode(text, start)
        except (ValueError, RecursionError):
            start = text.find("{", start + 1)
            continue
        return isinstance(value, dict) and _is_answer(keys, value)
    return False
