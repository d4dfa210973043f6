"""Sessions that do not end as the agent wants: what was seen, what it rests on, and the host's own limit."""

from __future__ import annotations

from collections.abc import Iterator
from typing import assert_never

from pytest_hookharness.judging.checkup.written_paths import without_run_folder
from pytest_hookharness.judging.findings import finding_catalogue
from pytest_hookharness.model import verdicts
from pytest_hookharness.model.bad_ends import MANY_REFUSALS, advise_on_own_error
from pytest_hookharness.model.checkup import Symptom
from pytest_hookharness.model.expectations import counted
from pytest_hookharness.model.moves import Stop
from pytest_hookharness.model.outcome import Outcome, decisive, last_refusal
from pytest_hookharness.model.processes import Cut, TimedOut
from pytest_hookharness.model.trace import Exchange, HookEvent, HookRun, Moved, commands_of

_ALLOW_STOP = "Let the hook allow the stop if nothing changed since its last refusal"
# Fields in which some hosts report an earlier refusal to a hook, and what they say then.
_SIGNS = {"stop_hook_active": "is true", "loop_count": "is not 0"}
_REASON = 80


def open_questions(outcome: Outcome) -> tuple[str, ...]:
    """Return what an outcome leaves open, in sentences."""
    match outcome.verdict:
        case verdicts.Undecided(why=why) if refused_throughout(outcome) < MANY_REFUSALS:
            return (f"It is unknown whether the session ends: {why}.",)
        case _:
            return ()


def _allow_stop(outcome: Outcome) -> str:
    """Return advice about refused stops, with the field that reports one: some hosts reset it at a call."""
    told = {key for _, hook_run in outcome.trace.hook_runs() for key in _SIGNS if hook_run.payload.get(key)}
    signs = (f", or if `{key}` in its input {says}" for key, says in _SIGNS.items() if key in told)
    last = last_refusal(outcome.trace)
    first = advise_on_own_error(_reason(last)) if last is not None else ""
    return f"{first}{first and ' '}{_ALLOW_STOP}{next(signs, '')}."


def _allowed_later(outcome: Outcome) -> str:
    """Return after how much time the hooks would allow the stop, as tried ahead; empty if that is unknown."""
    limits = (one.threshold for one in outcome.probe_reports[-1:])
    timed = (one.at for one in limits if one and one.allows_stop and one.seconds)
    return "".join(f"; it would be allowed after {at}" for at in timed)


def find_bad_end(outcome: Outcome) -> Iterator[Symptom]:
    """Yield the symptom that the verdict of an outcome is, if hooks are to blame for it."""
    verdict, kind = outcome.verdict, outcome.verdict_name
    event, hook, reason = _last_refusal(outcome)
    said, comma = f' with "{reason}"' if reason else "", ""
    if reason and len(_reasons(outcome, event)) > 1:
        said, comma = f', the last time with "{reason}"', ","
    match verdict:
        case verdicts.Terminated():
            return
        case verdicts.Undecided(turn=turn):
            times = refused_throughout(outcome)
            if times >= MANY_REFUSALS:
                text = (
                    f"{event} was refused{said}{comma} all {times} times, and no end was seen in {turn} turns"
                )
                yield _refused("no-end", f"{text}{_allowed_later(outcome)}.", outcome, turn)
        case verdicts.Livelock(stem=stem, evidence=evidence):
            times = outcome.blocks(event)
            but = "" if evidence == "closed" else " but for what was not seen to decide"
            seen = f"{counted(times, 'time')} until the session repeats itself{but}"
            yield _refused(kind, f"{event} is refused each time{said}, {seen}.", outcome, stem)
        case verdicts.Capped(turn=turn) if any(
            hooked.decision.overridden for _, hooked in outcome.trace.hooked()
        ):
            text = f"{event} is refused{said}{comma} until the host's own limit overrides it"
            yield _refused(kind, f"{text}{_allowed_later(outcome)}.", outcome, turn)
        case verdicts.Capped():
            # The host ended the session because of the agent, so nothing is known about the hooks.
            return
        case verdicts.Hung(command=command) if any(
            run.hook.command in command.split(", ") for run in cut_by_us(outcome)
        ):
            return
        case verdicts.Hung(turn=turn, event=event, command=command):
            text = f"The host waits forever at {event}."
            advice = finding_catalogue.HUNG_HOOK.fix
            yield Symptom(kind=kind, hook=command, text=text, advice=advice, turn=turn)
        case verdicts.Recursing(turn=turn, limit=limit):
            text = f"The hook starts an agent whose hooks start agents: {limit}."
            advice = "Set a variable when the hook starts an agent, and exit at once if it is set."
            yield Symptom(kind=kind, hook=_starter(outcome) or hook, text=text, advice=advice, turn=turn)
        case verdicts.Lockout(turn=turn):
            yield Symptom(kind=kind, hook=hook, text="No sequence of moves leads to a stop.", turn=turn)
        case _:
            assert_never(verdict)


def _refused(kind: str, text: str, outcome: Outcome, turn: int) -> Symptom:
    """Return the symptom that stops are refused again and again."""
    _, hook, _ = _last_refusal(outcome)
    own = outcome.verdict.assumptions if isinstance(outcome.verdict, verdicts.Livelock) else ()
    return Symptom(
        kind=kind,
        hook=hook,
        text=text,
        advice=_allow_stop(outcome),
        turn=turn,
        effect=_describe_limit(outcome),
        assumes=decisive([*dict.fromkeys((*own, *outcome.assumptions))]),
    )


def _describe_limit(outcome: Outcome) -> str:
    """Return in one sentence how long the host goes on with an agent whose stops are refused."""
    host, cap = outcome.scenario.host, cap_of(outcome.verdict)
    if until := limit_of(outcome.verdict):
        return f"{host} goes on until {until}."
    if cap is not None:
        return f"{host} has a limit on refusals, which does not end this: {cap.why}."
    if isinstance(outcome.verdict, verdicts.Livelock):
        return f"{host} has no known limit on refusals: it goes on until a person ends it."
    return ""


def cap_of(verdict: verdicts.Verdict) -> verdicts.Cap | None:
    """Return the host's limit on refusals, and its effect on a loop; ``None`` if it has none."""
    loops = (verdicts.Livelock, verdicts.Capped, verdicts.Undecided)
    return verdict.cap if isinstance(verdict, loops) else None


def limit_of(verdict: verdicts.Verdict) -> str:
    """Return what of the host would end a loop, in words that follow "until"; empty for nothing."""
    cap = cap_of(verdict)
    if cap is not None and cap.overrides is not None:
        return f"its own limit, refusal {cap.overrides} in a row"
    limits = verdict.limits if isinstance(verdict, verdicts.Livelock) else ()
    return f"its own limit, turn {limits[0].turn}" if limits else ""


def refused_throughout(outcome: Outcome) -> int:
    """Return how often stops were asked about, if each was refused; else 0."""
    asked = stops_of(outcome)
    return len(asked) if all(hooked.decision.refused for hooked in asked) else 0


def stops_of(outcome: Outcome) -> list[HookEvent]:
    """Return the events of hooks in turns in which the agent wanted to stop."""
    turns = {step.turn for step in outcome.trace.steps if _is_stop(step.exchange)}
    return [hooked for step, hooked in outcome.trace.hooked() if step.turn in turns]


def _is_stop(exchange: Exchange) -> bool:
    return isinstance(exchange, Moved) and isinstance(exchange.move, Stop)


def _last_refusal(outcome: Outcome) -> tuple[str, str, str]:
    hooked = last_refusal(outcome.trace)
    if hooked is None:
        return "A stop", "", ""
    reason = " ".join(without_run_folder(_reason(hooked)).split())
    return hooked.event, commands_of(hooked.deciding), reason[:_REASON]


def _reasons(outcome: Outcome, event: str) -> set[str]:
    """Return the reasons of all refusals at an event."""
    hooked = (one for _, one in outcome.trace.hooked(event))
    refused = (one for one in hooked if one.decision.refused or one.decision.overridden)
    return {" ".join(_reason(one).split()) for one in refused}


def _reason(hooked: HookEvent) -> str:
    return next((one.demand for one in hooked.deciding if one.demand.strip()), "")


def _starter(outcome: Outcome) -> str:
    for _, hooked in outcome.trace.hooked():
        if hooked.children and len(hooked.hook_runs) == 1:
            return hooked.hook_runs[0].hook.command
    return ""


def cut_by_us(outcome: Outcome) -> Iterator[HookRun]:
    """Yield the hook runs that the harness cut, although their host would have waited longer."""
    for _, hook_run in outcome.trace.hook_runs():
        if isinstance(hook_run.ending, TimedOut) and hook_run.ending.by is Cut.HOOK_TIMEOUT:
            yield hook_run
