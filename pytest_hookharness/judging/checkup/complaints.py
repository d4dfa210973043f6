"""
Complaints: what of an outcome is wrong with hooks that promise nothing.

Pure. Where nothing is known of what a hook is for, silence is better than a false
alarm: what a host, a machine or a made-up session may be to blame for is no complaint.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from typing import assert_never

from pytest_hookharness.judging.checkup.session_patterns import find_blockades, lies_beside
from pytest_hookharness.judging.findings import finding_catalogue
from pytest_hookharness.judging.findings.codes import (
    CARRIED_OUT,
    RAW_JSON,
    STAGED,
    TEXT_MATCH,
    WRONG_KEY,
)
from pytest_hookharness.model.checkup import Symptom
from pytest_hookharness.model.moves import Stop
from pytest_hookharness.model.mutations import ANOTHER_AGENT
from pytest_hookharness.model.outcome import Outcome
from pytest_hookharness.model.trace import Exchange, Moved, Performed
from pytest_hookharness.model.verdicts import (
    Capped,
    Finding,
    FindingCode,
    Hung,
    Livelock,
    Lockout,
    Recursing,
    Terminated,
    Undecided,
)

# These speak of the session, of the machine, or of a host's options, and not of a hook.
_NO_COMPLAINT = frozenset({"UNREACHED", "NEVER-FIRED", "OPTION-IGNORED", "AGENT-MISSING", "DIVERGE", "CLOCK"})
_STAGED = re.compile(r"/\.git/(?:index|HEAD|packed-refs|refs/.+)$")
_LET_GO = (
    "Let the hook allow when nothing changed since its last refusal, or read `stop_hook_active` from its "
    "input."
)
_REASON = 80
# Refusals without an exception after which nobody would wait for the end.
_MANY = 8


def complaints(outcome: Outcome, *, mark: str = "", harmless: bool = False) -> tuple[Symptom, ...]:
    """
    What is wrong, each cause once.

    Args:
        outcome: What a session showed.
        mark: Name of a file that appears only if input is carried out.
        harmless: Whether nobody would object to anything in that session.
    """
    found = [*_verdict(outcome), *_findings(outcome), *_refused_words(outcome), *_changes(outcome, mark)]
    found += find_blockades(outcome) if harmless else ()
    return tuple({complaint.cause: complaint for complaint in reversed(found)}.values())[::-1]


def doubts(outcome: Outcome) -> tuple[str, ...]:
    """
    What an outcome leaves open, in sentences.
    """
    match outcome.verdict:
        case Undecided(why=why) if _refused_throughout(outcome) < _MANY:
            return (f"Whether it ends is not known: {why}.",)
        case _:
            return ()


def _verdict(outcome: Outcome) -> Iterator[Symptom]:
    verdict, kind = outcome.verdict, outcome.verdict_name
    event, hook, reason = _last_refusal(outcome)
    said = f' with "{reason}"' if reason else ""
    match verdict:
        case Terminated():
            return
        case Undecided(turn=turn):
            times = _refused_throughout(outcome)
            if times >= _MANY:
                text = (
                    f"{event} was refused{said} each of {times} times, and no end was seen in {turn} turns."
                )
                yield Symptom(kind="no-end", hook=hook, text=text, advice=_LET_GO, turn=turn)
        case Livelock(stem=stem):
            text = f"{event} is refused for ever{said}: the agent can never stop."
            yield Symptom(kind=kind, hook=hook, text=text, advice=_LET_GO, turn=stem)
        case Capped(turn=turn) if any(hooked.decision.overridden for _, hooked in outcome.trace.hooked()):
            text = f"{event} is refused{said} until the host's own guard sets that aside."
            yield Symptom(kind=kind, hook=hook, text=text, advice=_LET_GO, turn=turn)
        case Capped():
            # The host ended it over what the agent did, so nothing is known of the hooks.
            return
        case Hung(turn=turn, event=event, command=command):
            text = f"The host waits for ever at {event}."
            yield Symptom(
                kind=kind, hook=command, text=text, advice=finding_catalogue.HUNG_FIRE.fix, turn=turn
            )
        case Recursing(turn=turn, limit=limit):
            text = f"The hook starts an agent whose hooks start agents: {limit}."
            advice = "Set a variable where the hook starts an agent, and end at once where it is set."
            yield Symptom(kind=kind, hook=_starter(outcome) or hook, text=text, advice=advice, turn=turn)
        case Lockout(turn=turn):
            yield Symptom(kind=kind, hook=hook, text="No move of the agent leads to a stop.", turn=turn)
        case _:
            assert_never(verdict)


def _refused_throughout(outcome: Outcome) -> int:
    """
    How often stops were asked about, if each was refused.
    """
    asked = [
        hooked
        for step, hooked in outcome.trace.hooked()
        if any(one.turn == step.turn and _is_stop(one.exchange) for one in outcome.trace.steps)
    ]
    return len(asked) if all(hooked.decision.refused for hooked in asked) else 0


def _is_stop(exchange: Exchange) -> bool:
    return isinstance(exchange, Moved) and isinstance(exchange.move, Stop)


def _last_refusal(outcome: Outcome) -> tuple[str, str, str]:
    for _, hooked in reversed([*outcome.trace.hooked()]):
        if hooked.decision.refused or hooked.decision.overridden:
            refusing = [fire for fire in hooked.hook_runs if fire.reply.ruling is hooked.decision.ruling]
            reason = next((fire.reason for fire in refusing if fire.reason.strip()), "")
            hook = ", ".join(dict.fromkeys(fire.hook.command for fire in refusing))
            return hooked.event, hook, " ".join(reason.split())[:_REASON]
    return "A stop", "", ""


def _starter(outcome: Outcome) -> str:
    for _, hooked in outcome.trace.hooked():
        if hooked.children and len(hooked.hook_runs) == 1:
            return hooked.hook_runs[0].hook.command
    return ""


def _refused_words(outcome: Outcome) -> Iterator[Symptom]:
    """
    Calls that had to be allowed and were refused, where one with other words was allowed just before.
    """
    calls = [
        (step.turn, step.exchange) for step in outcome.trace.steps if isinstance(step.exchange, Performed)
    ]
    asked = [(turn, done) for turn, done in calls if done.call.expect == "allow"]
    controlled = False
    for turn, done in asked:
        if not done.refused or not controlled:
            controlled = not done.refused
            continue
        hooked = [one for step, one in outcome.trace.hooked() if step.turn == turn and one.decision.refused]
        fires = [fire for one in hooked for fire in one.hook_runs if fire.reply.ruling is one.decision.ruling]
        yield Symptom(
            kind=RAW_JSON.name,
            code=RAW_JSON.code,
            hook=", ".join(dict.fromkeys(fire.hook.command for fire in fires)),
            text=f"{done.call.name} is refused for words in a text that only speaks of what is refused.",
            advice=RAW_JSON.fix,
            turn=turn,
        )


def _findings(outcome: Outcome) -> Iterator[Symptom]:
    for finding in outcome.findings:
        if finding.name in _NO_COMPLAINT or any(
            excuses(outcome, finding) for excuses in (_gets_round, _is_of_agents, _says_so)
        ):
            continue
        yield Symptom(
            kind=finding.name,
            code=finding.code,
            hook=finding.hook,
            text=finding.text,
            advice=finding.advice,
            turn=finding.turn,
        )


def _gets_round(outcome: Outcome, finding: Finding) -> bool:
    """
    Whether a guard was only got round, by a form of code that it does not look into.
    """
    if finding.name != TEXT_MATCH.name:
        return False
    refused = (
        row.evidence
        for row in outcome.trial_results
        if row.family == "quoting" and row.outcome == "fail-closed"
    )
    return not any(finding.text.startswith(evidence.partition(": ")[2]) for evidence in refused)


def _is_of_agents(outcome: Outcome, finding: Finding) -> bool:
    """
    Whether a hook only takes the agents of one session for one, which may be meant so.
    """
    odd = (row for row in outcome.trial_results if row.hook == finding.hook and row.outcome != "as declared")
    return finding.name == WRONG_KEY.name and all(row.name == ANOTHER_AGENT for row in odd)


def _says_so(outcome: Outcome, finding: Finding) -> bool:
    """
    Whether a hook that undoes an edit tells the agent, who can then do otherwise.
    """
    return finding.name == finding_catalogue.PINGPONG.name and any(
        step.turn == finding.turn and hooked.decision.to_agent for step, hooked in outcome.trace.hooked()
    )


def _changes(outcome: Outcome, mark: str) -> Iterator[Symptom]:
    for step, hooked in outcome.trace.hooked():
        hooks = dict.fromkeys(fire.hook.command for fire in hooked.hook_runs)
        # What lies deepest says most.
        for change in sorted(hooked.changes, key=lambda change: change.path, reverse=True):
            code, text = _judge(change.path, lies_beside(change.path, hooked), mark)
            if code is not None:
                said = f"{hooked.event}: {text}."
                yield Symptom(
                    kind=code.name,
                    code=code.code,
                    hook=", ".join(hooks),
                    text=said,
                    advice=code.fix,
                    turn=step.turn,
                    shared=len(hooks) > 1,
                )


def _judge(path: str, beside: str, mark: str) -> tuple[FindingCode | None, str]:
    if mark and posixpath.basename(path) == mark:
        return CARRIED_OUT, "what stood in the input was carried out"
    if path.startswith("outside/"):
        return (
            finding_catalogue.OUTSIDE_WRITE,
            f"/{path.removeprefix('outside/')} was written, outside of the project",
        )
    if beside:
        return finding_catalogue.OUTSIDE_WRITE, f"{beside} was written above the project, outside of it"
    if _STAGED.search(path) and path.startswith("workspace/"):
        return STAGED, f"{path.removeprefix('workspace/')} was changed"
    return None, ""
