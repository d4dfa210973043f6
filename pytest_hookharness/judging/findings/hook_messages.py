"""
Findings about what hooks say: text that does not reach the agent, duplicates, and empty advice.

Also changes of files that a scenario expects with a decision and that did not happen.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress

from pytest_hookharness.judging.findings import codes, finding_catalogue
from pytest_hookharness.model.outcome import effective_ruling
from pytest_hookharness.model.processes import Exited
from pytest_hookharness.model.protocol import Reply, Ruling, Unheard
from pytest_hookharness.model.regex import found_in
from pytest_hookharness.model.trace import Happened, HookEvent, HookRun, Moved, Step, Trace, commands_of
from pytest_hookharness.model.verdicts import Finding

_REFUSALS = (Ruling.ASK, Ruling.DEFER, Ruling.DENY)
_LONGEST = 600


def find_unheard(trace: Trace, for_agent: Sequence[str] = ()) -> Iterator[Finding]:
    """
    Find output that the host wrongly treats as a refusal, and text for the agent that does not reach it.

    The reason of an allow is usually a note for the user. It counts as text for the agent if it has several
    lines, or if it matches a pattern in ``for_agent``: what the scenario expects the agent to get.
    """
    for step, hooked in trace.hooked():
        for hook_run in hooked.hook_runs:
            if hook_run.reply.unmeant and hook_run.reply.ruling is Ruling.DENY:
                text = f"{hooked.event}: exit code 0 with {_output(hook_run)}, and the host refuses."
                yield codes.STDOUT_DENIES.found(
                    text, turn=step.turn, hook=hook_run.hook.command, rule=hook_run.reply.rule
                )
            unheard = hook_run.reply.unheard
            if unheard is not None and not _reaches_agent(unheard, hooked):
                yield from _unheard(unheard, hook_run, step.turn, for_agent)


def _unheard(unheard: Unheard, hook_run: HookRun, turn: int, for_agent: Sequence[str]) -> Iterator[Finding]:
    event, hook = hook_run.hook.event, hook_run.hook.command
    words = _quoted(unheard.text)
    match unheard.place:
        case "output on a prompt":
            text = f"{event}: {words} was printed as plain text and does not reach the agent."
            yield codes.PROMPT_NOISE.found(text, turn=turn, hook=hook, rule=unheard.rule)
        case "reason of an allow":
            if "\n" in unheard.text.strip() or any(
                found_in(pattern, [unheard.text]) for pattern in for_agent
            ):
                text = f"{event}: {words} is the reason of an allow and does not reach the agent."
                yield codes.UNSEEN_REASON.found(text, turn=turn, hook=hook, rule=unheard.rule)


def _reaches_agent(unheard: Unheard, hooked: HookEvent) -> bool:
    return any(unheard.text.strip() in text for text in hooked.decision.to_agent)


def find_double_noise(trace: Trace) -> Iterator[Finding]:
    """Find events where several hooks say the same, or several write to standard error without deciding."""
    for step, hooked in trace.hooked():
        noisy = [hook_run for hook_run in hooked.hook_runs if _is_noise(hook_run)]
        if len(noisy) > 1:
            lines = sum(len(_stderr(hook_run).splitlines()) for hook_run in noisy)
            text = (
                f"{hooked.event}: {len(noisy)} hooks write to standard error and decide nothing; "
                f"{lines} lines for one event."
            )
            yield codes.DOUBLE_NOISE.found(text, turn=step.turn, hook=commands_of(noisy))
        for words, hook_runs in _speakers(hooked).items():
            if len(hook_runs) > 1:
                text = f"{hooked.event}: {len(hook_runs)} hooks say the same, {_quoted(words)}."
                yield codes.DOUBLE_NOISE.found(text, turn=step.turn, hook=commands_of(hook_runs))


def _is_noise(hook_run: HookRun) -> bool:
    if hook_run.run is None or hook_run.ending != Exited(0) or hook_run.reply.ruling in _REFUSALS:
        return False
    # Some hosts read an answer from standard error if standard output is empty; that is no noise.
    answered = not hook_run.run.stdout.text.strip() and hook_run.reply != Reply(rule=hook_run.reply.rule)
    return bool(_stderr(hook_run)) and not answered


def _speakers(hooked: HookEvent) -> dict[str, list[HookRun]]:
    """Return the hook runs that said each text."""
    speakers: dict[str, list[HookRun]] = {}
    for hook_run in hooked.hook_runs:
        texts = {hook_run.reply.context.strip(), hook_run.reply.user_text.strip()}
        if hook_run.reply.ruling in _REFUSALS and not hook_run.reply.silent:
            # Hosts put the command before a reason from standard error, so the reasons of two hooks would
            # never be equal.
            texts.add(_stderr(hook_run) or hook_run.reply.reason.strip())
        for text in sorted(texts - {""}):
            speakers.setdefault(text, []).append(hook_run)
    return speakers


def _stderr(hook_run: HookRun) -> str:
    return hook_run.run.stderr.text.strip() if hook_run.run is not None else ""


def _output(hook_run: HookRun) -> str:
    text = hook_run.run.stdout.text.strip() if hook_run.run is not None else ""
    return f"{_quoted(text)} on standard output" if text else "nothing on standard output"


def _quoted(text: str) -> str:
    first, _, more = text.strip().partition("\n")
    cut = len(first) > _LONGEST or bool(more)
    return repr(first[:_LONGEST] + (" ..." if cut else ""))


def find_lost_effects(trace: Trace, effects: Mapping[str, Sequence[str]]) -> Iterator[Finding]:
    """Find decisions without the changes of files that the scenario expects with an ``event[:ruling]``."""
    for when, files in effects.items():
        event, _, ruling = when.partition(":")
        asked = [(step, hooked) for step, hooked in trace.hooked(event) if hooked.hook_runs]
        for step, hooked in asked:
            if ruling and effective_ruling(hooked).value != ruling:
                continue
            for file in files:
                if not _changes(hooked, file):
                    others = [other for _, other in asked if _changes(other, file)]
                    text = f"{_title(hooked)}: {file} did not change{_elsewhere(hooked, others)}."
                    yield codes.EARLY_EXIT.found(text, turn=step.turn, hook=commands_of(hooked.hook_runs))


def _changes(hooked: HookEvent, file: str) -> bool:
    path = f"workspace/{file.strip('/')}"
    return any(change.path == path or change.path.startswith(f"{path}/") for change in hooked.changes)


def _title(hooked: HookEvent) -> str:
    target = f" of {hooked.target}" if hooked.target else ""
    return f"{hooked.event}{target}, {effective_ruling(hooked).value}"


def _elsewhere(hooked: HookEvent, others: Sequence[HookEvent]) -> str:
    mine = {hook_run.hook.command for hook_run in hooked.hook_runs}
    same = [other for other in others if mine & {hook_run.hook.command for hook_run in other.hook_runs}]
    if not same:
        return ", and no other hook run changed it"
    decisions = ", ".join(dict.fromkeys(_title(other) for other in same))
    return f"; the same hook changed it on {decisions}"


# Words of every refusal: with two others, it says what may not be done, which is all that a call needs.
_OWN_WORDS = 2
_USUAL = re.compile(
    r"(?:"
    r"this|that|the|an|is|are|was|be|been|it|its|in|of|on|at|to|for|by|from|"
    r"with|and|or|not|no|never|here|now|you|your|we|as|has|have|can|cannot|may|"
    r"will|would|only|any|all|very|too|command|commands|operation|operations|action|"
    r"actions|tool|tools|call|calls|request|requests|bash|shell|hook|hooks|guard|"
    r"guards|policy|security|safety|rule|rules|reason|blocked|block|denied|deny|"
    r"refused|rejected|forbidden|prohibited|disallowed|allowed|permitted|prevented|"
    r"dangerous|unsafe|harmful|risky|destructive|bad|wrong|detected|error|warning|"
    r"violation|access|permission|project"
    r")"
)
# Advice is judged with caution: a reason is empty only if it neither names a thing nor contains a usual word
# for an action. Long texts and texts in another alphabet always pass.
_TIMES = 3
# A loop can be proved after two turns, and then the third refusal is known without being played.
_TIMES_IN_LOOP = 2
_LONG = 4096
# A quoted word, a path, a number, an option, a variable, or what starts with a program's name and a colon.
_WORD = re.compile(r"[\w.-]{2,}")
_THING = re.compile(
    r"""[`"'<{\[][^`"'>}\]]+[`"'>}\]]|\w[./\\_]\w|\d|(?<!\S)--?\w|\$\w|\A[a-z][\w-]*: |[^\x00-\x7f]"""
)
_STEP = re.compile(
    r"\b(?:"
    r"add|allow|approve|ask|avoid|call|change|check|choose|clean|commit|complete|"
    r"configure|continue|correct|create|delete|describe|do|edit|ensure|explain|file|finish|"
    r"first|fix|format|give|include|insert|install|instead|keep|let|lint|look|make|mark|"
    r"mend|merge|missing|move|must|need|needs|open|pass|please|provide|put|read|remove|"
    r"rename|replace|resolve|restore|retry|revert|review|rewrite|run|save|say|set|should|"
    r"show|split|start|stop|switch|tell|test|tests|try|turn|undo|unless|until|update|"
    r"use|verify|wait|without|write"
    r")\b",
    re.IGNORECASE,
)

# A sentence, or a part of one, that begins with a verb and what it is done to: "Bump the version."
_ORDER = re.compile(
    r"(?:\A|[.;:!,\n]\s*|\b(?:and|then|please)\s+)(?!\w*(?:ed|ing|es)\b|(?:not?|is|are|was|has|had|with|for|from|in|on|at|by|of|to"
    r"|and|but|or|as|like|only|still|yet|even|once|this|that|what|when|after|before|about|because|see|against|outside|inside|since|while|during|under|over|beyond|where|how|nor|via|within"
    r"|without|violates|requires|needs|says)\b)[a-z]{3,}\s+"
    r"(?:the|your|an?|all|every|each|any|it|its|them|this|these|those|what|again|onto)\b",
    re.IGNORECASE,
)


def find_empty_advice(trace: Trace, *, endless: bool = False) -> Iterator[Finding]:
    """
    Find reasons that were given three times or more, word for word, and name nothing to act on.

    In a loop that is ``endless`` two times are enough.

    Only refusals of the agent's own moves count: the reason for a refused prompt, or for a question, is for
    the person. A refusal without any reason is another finding.
    """
    times: Counter[tuple[str, str]] = Counter()
    first: dict[tuple[str, str], tuple[int, str]] = {}
    named: set[tuple[str, str]] = set()
    for step, hooked in _after_own_moves(trace):
        if not hooked.decision.refused or hooked.decision.ruling is Ruling.ASK:
            continue
        called = _words_of_call(hooked)
        for reason in hooked.decision.reasons:
            givers = [one for one in hooked.hook_runs if one.reply.reason.strip() == reason.strip()]
            if any(hook_run.reply.silent for hook_run in givers):
                continue
            # Hosts put the name of the hook before its reason; only the hook's own text is judged.
            key = (hooked.event, (givers[0].reason if givers else reason).strip())
            times[key] += 1
            if called.intersection(_WORD.findall(key[1].casefold())) or (called and _is_prohibition(key[1])):
                named.add(key)
            first.setdefault(key, (step.turn, commands_of(givers)))
    enough = _TIMES_IN_LOOP if endless else _TIMES
    for (event, reason), number in times.items():
        if reason and number >= enough and (event, reason) not in named and not names_something(reason):
            turn, hook = first[event, reason]
            text = f'{event} was refused {number} times with nothing but "{reason}".'
            yield finding_catalogue.EMPTY_ADVICE.found(text, turn=turn, hook=hook)


def _words_of_call(hooked: HookEvent) -> frozenset[str]:
    """Return the words of the command or path that an event is about; a reason with one of them names it."""
    payload = next((hook_run.payload for hook_run in hooked.hook_runs), {})
    given = payload.get("tool_input", payload.get("toolArgs"))
    if isinstance(given, str):
        # Copilot CLI sends a text of JSON.
        with suppress(ValueError):
            given = json.loads(given)
    inputs = given if isinstance(given, dict) else {}
    command = payload.get("command") or inputs.get("command") or inputs.get("file_path")
    return frozenset(_WORD.findall(command.casefold())) if isinstance(command, str) else frozenset()


def _is_prohibition(reason: str) -> bool:
    """Return whether a reason for a refused call says what is not done, in words of its own."""
    words = {*_WORD.findall(reason.casefold().replace(".", " "))}
    return sum(_USUAL.fullmatch(word) is None for word in words) >= _OWN_WORDS


def _after_own_moves(trace: Trace) -> Iterator[tuple[Step, HookEvent]]:
    """Yield the hook events that a move of the agent caused, and no prompt or other event of the script."""
    by_agent = False
    for step in trace.steps:
        match step.exchange:
            case Moved():
                by_agent = True
            case Happened():
                by_agent = False
            case HookEvent() as hooked if by_agent:
                yield step, hooked
            case _:
                pass


def names_something(reason: str) -> bool:
    """Return whether a reason names a thing, gives an order, or contains a usual word for an action."""
    return len(reason) > _LONG or any(one.search(reason) is not None for one in (_THING, _ORDER, _STEP))
