"""The host's limits on a turn: the cap on refusals of a stop, the number of moves, and repeated moves."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from itertools import islice

from pytest_hookharness.hosts.rules.tools_and_transcript import user_message
from pytest_hookharness.hosts.rules.turns import AtCap, CapRules, FlagUse, Resets, Role, StepRules, StuckRules
from pytest_hookharness.hosts.session_state.facts import derive_digest
from pytest_hookharness.hosts.session_state.session_value import Session
from pytest_hookharness.model.expectations import counted
from pytest_hookharness.model.fast_dataclass import replace
from pytest_hookharness.model.moves import Message, ToolCall
from pytest_hookharness.model.protocol import Decision, Hook, Json, Reply, Rule, Ruling
from pytest_hookharness.model.trace import HookEvent, Performed, Step
from pytest_hookharness.model.verdicts import Cap, Limit

# The fields of the session that count the refusals in a row.
_COUNTS = {Role.STOP: "refusals_in_row", Role.SUBAGENT_STOP: "subagent_refusals"}


def _find_cap(rules: CapRules, written: str) -> int | None:
    """Return the size of the cap; ``None`` if the host honours any number of refusals."""
    # Like parseInt of JavaScript: the digits at the start count, and a text without any sets nothing.
    number = re.match(r"\s*([+-]?\d+)", written)
    cap = rules.cap if number is None else int(number[1])
    if cap is None:
        return None
    if cap < 1:
        return rules.below_one
    return cap if rules.most is None else min(cap, rules.most)


def _written_cap(session: Session) -> str:
    """Return the size of the cap as the user set it; empty if it is not set."""
    rules, configured = session.profile.cap, session.configuration.setting(session.profile.cap.setting)
    # From strongest to weakest: the command line, the environment, the settings files.
    given = session.facts.options.get(rules.option) if rules.option else None
    if given is None:
        given = session.env.get(rules.variable)
    if given is None and isinstance(configured, int | str):
        given = configured
    return "" if given is None or isinstance(given, bool) else str(given)


def _honoured_refusals(rules: CapRules, written: str) -> int | None:
    # With ``overrides_at_cap``, the refusal whose number is the cap is already overridden.
    cap = _find_cap(rules, written)
    return cap - 1 if cap is not None and rules.overrides_at_cap else cap


def apply_cap(session: Session, role: Role, decision: Decision, refusing: Sequence[Hook]) -> Decision:
    """
    Return the decision on a stop after the cap: a refusal beyond the cap is overridden.

    Args:
        role: The role of the event; on other events than stops there is no cap.
        refusing: The hooks that refuse.
    """
    if role not in _COUNTS:
        return decision
    rules, refusals_in_row = session.profile.cap, int(getattr(session, _COUNTS[role]))
    honoured = _honoured_for(rules, refusing, _honoured_refusals(rules, _written_cap(session)))
    if not decision.refused or honoured is None or refusals_in_row < honoured:
        return decision
    # ``calls_refused`` goes with the count of the main agent's stops, not with that of a subagent's.
    rule = _cap_rule(rules, session.calls_refused and role is Role.STOP)
    return replace(decision, refused=False, overridden=True, to_agent=(), rule=rule)


def _honoured_for(rules: CapRules, refusing: Sequence[Hook], honoured: int | None) -> int | None:
    # With caps of their own, the refusing hook with the largest cap decides; one without a cap never ends.
    # The others have the cap of the host.
    own = [hook.options.get(rules.per_hook, honoured) if rules.per_hook else honoured for hook in refusing]
    if any(cap is None for cap in own):
        return None
    return max((int(cap) for cap in own if isinstance(cap, int | float)), default=honoured)


def find_refusing(hooks: Sequence[Hook], replies: Sequence[Reply]) -> list[Hook]:
    """Return the hooks whose reply is a refusal."""
    pairs = zip(hooks, replies, strict=True)
    return [hook for hook, reply in pairs if reply.ruling is Ruling.DENY]


def skips_stop_hooks(session: Session) -> bool:
    """Return whether the host no longer runs the hooks of a stop, because they refused too often."""
    rules = session.profile.cap
    honoured = _honoured_refusals(rules, _written_cap(session))
    return rules.at_cap is AtCap.ASKS_NO_MORE and honoured is not None and session.refusals_in_row >= honoured


def reported_flag(session: Session, refusals: int, *, refused: bool) -> Json:
    """
    Return the value of ``stop_hook_active`` that the hooks of a stop are given; ``absent`` for no value.

    Args:
        session: The session; the flags of its facts, if any, replace the host's own value.
        refusals: How many times this stop was refused before.
        refused: Whether the host still remembers one of these refusals.
    """
    use, flags = session.profile.cap.flag, session.facts.flags
    if flags:
        # The count of refusals, not of stops: the position must be part of the state (``Session.visible``).
        return flags[refusals % len(flags)]
    return use is FlagUse.ALWAYS or (refused and use is not FlagUse.NEVER)


def cap_for(session: Session, repetition: Sequence[Step], played: Sequence[Step] = ()) -> Cap | None:
    """
    Return what the host's cap would do about an endless loop at this point; ``None`` for a host without one.

    Args:
        session: The session at this point.
        repetition: The steps of one repetition of the loop; if empty, the steps since the second-last
            refusal.
        played: All steps, to find the hooks that refused the last stop, which may have caps of their own; if
            empty, the steps of the repetition.
    """
    played = played or repetition
    last_two = [place for place, _ in islice(_refused_stops(session, played), 2)]
    if not repetition and len(last_two) > 1:
        repetition = played[last_two[1] :]
    calls = [step.exchange for step in repetition if isinstance(step.exchange, Performed)]
    refused_too = session.profile.cap.resets is Resets.CALLS_TRIED
    return describe_cap(
        session.profile.cap,
        _written_cap(session),
        repetition_resets=any(refused_too or not call.refused for call in calls),
        calls_refused=session.calls_refused,
        # A repetition lies within one turn, so its refusals are still in the count unless a call reset it.
        stops_refused=max(session.refusals_in_row, session.subagent_refusals) > 0 or not session.in_turn,
        refusing=_refused_last(session, played),
    )


def _refused_stops(session: Session, steps: Sequence[Step]) -> Iterator[tuple[int, HookEvent]]:
    """Yield the place and the event of each stop that was refused, the last one first."""
    stops = {name for name, rule in session.profile.events.items() if rule.role in _COUNTS}
    for place in reversed(range(len(steps))):
        one = steps[place].exchange
        if not isinstance(one, HookEvent) or one.event not in stops:
            continue
        if one.decision.refused or one.decision.overridden:
            yield place, one


def _refused_last(session: Session, steps: Sequence[Step]) -> list[Hook]:
    """Return the hooks that refused the last stop which was refused."""
    events = (one.hook_runs for _, one in islice(_refused_stops(session, steps), 1))
    return [one.hook for hook_runs in events for one in hook_runs if one.reply.ruling is Ruling.DENY]


def refusals_left(session: Session, refusing: Sequence[Hook]) -> int | None:
    """Return how many more refusals of some hooks in a row the host honours; ``None`` for any number."""
    rules = session.profile.cap
    honoured = _honoured_for(rules, refusing, _honoured_refusals(rules, _written_cap(session)))
    return None if honoured is None else honoured - max(session.refusals_in_row, session.subagent_refusals)


def _cap_rule(rules: CapRules, calls_refused: bool) -> Rule:
    across = calls_refused and rules.resets is Resets.CALLS_DONE
    return rules.rules["cap across refused calls" if across else "cap"]


def describe_cap(
    rules: CapRules,
    written: str,
    *,
    repetition_resets: bool,
    calls_refused: bool = False,
    stops_refused: bool = True,
    refusing: Sequence[Hook] = (),
) -> Cap | None:
    """
    Return what the cap would do about an endless loop; ``None`` if the host has no cap.

    Args:
        written: The size of the cap as the user set it; empty if it is not set.
        repetition_resets: Whether each repetition of the loop has a call that can reset the count.
        calls_refused: Whether calls are attempted but refused in it.
        stops_refused: Whether stops are refused in it.
        refusing: The hooks that refuse them.
    """
    if rules.cap is None:
        return None
    of_host = _honoured_refusals(rules, written)
    honoured = _honoured_for(rules, refusing, of_host)
    if honoured is None and of_host is not None:
        why = f"`{rules.per_hook}` of a hook that refuses is null"
        return Cap(overrides=None, why=why, rule=rules.rules["cap"])
    if honoured is None:
        why = f"{rules.variable or rules.option or '.'.join(rules.setting)}={written} switches the cap off"
        return Cap(overrides=None, why=why, rule=rules.rules["off"])
    tried = rules.resets is Resets.CALLS_TRIED and calls_refused
    if (repetition_resets and rules.resets is not Resets.NOTHING) or tried:
        how = "attempts" if rules.resets is Resets.CALLS_TRIED else "carries out"
        why = f"every repetition {how} a tool call, which resets the count"
        return Cap(overrides=None, why=why, rule=rules.rules["reset"])
    if not stops_refused:
        why = "no stop is refused in a repetition, and the cap counts only refused stops"
        return Cap(overrides=None, why=why, rule=rules.rules["counted"])
    after = "overrides the next one" if rules.at_cap is AtCap.OVERRIDES else rules.at_cap.value
    joined = " and " if rules.at_cap is AtCap.OVERRIDES else "; then "
    why = f"the host honours {counted(honoured, 'refusal')} in a row{joined}{after}"
    return Cap(overrides=honoured + 1, why=why, rule=_cap_rule(rules, calls_refused))


def remember_move(session: Session, kind: str, *content: object) -> Session:
    """Return the session with one more move in the list that the host searches for repetitions."""
    stuck = session.profile.stuck
    if stuck is None:
        return session
    digest = derive_digest(0, kind, *content)[:16]
    return replace(session, recent=(*session.recent, (kind, digest))[-stuck.remembered :])


def find_end(session: Session) -> Session | None:
    """Return the session after a limit ended its turn; ``None`` if the agent may make another move."""
    if not session.in_turn:
        return None
    ended = end_if_out_of_steps(session) if session.moves else None
    stuck = session.profile.stuck
    return ended or (None if stuck is None or stuck.before_call else end_if_stuck(session))


def end_if_out_of_steps(session: Session, *, stopped: bool = False) -> Session | None:
    """Return the session after its last allowed move ended the turn; ``None`` if it has more moves."""
    steps = session.profile.steps
    if steps is None or session.moves < _most_moves(session, steps):
        return None
    why = f"the host allows an agent {session.moves} moves in a turn"
    status = (steps.stopped if stopped else "") or steps.status
    return session.finish("capped", why, steps.rule, status)


def _most_moves(session: Session, steps: StepRules) -> int:
    return int(session.facts.options.get(steps.option, steps.most))


def _stuck_rules(session: Session) -> StuckRules | None:
    stuck = session.profile.stuck
    return None if stuck is None or session.facts.options.get(stuck.option) is False else stuck


def end_if_stuck(session: Session, call: ToolCall | None = None) -> Session | None:
    """
    Return the session after the host found that its agent repeats itself; ``None`` if it has not.

    Before its turn ends, a host may warn the agent once, in place of making the call.
    """
    stuck = _stuck_rules(session)
    why = stuck.detect(session.recent) if stuck is not None else ""
    if stuck is None or not why:
        return None
    if call is None or not stuck.warning or session.warned:
        return session.finish("capped", why, stuck.rule, stuck.status)
    given = json.dumps(call.input, ensure_ascii=False, separators=(",", ":"))
    text = stuck.warning.format(name=call.name, input=given)
    warned = replace(session, warned=True).add_messages(Message("context", text))
    return warned.write_line("user", user_message(text)).ask_model()


def find_last_turn(session: Session, turn: int, period: int, recent: Sequence[Step]) -> int | None:
    """
    Return the turn in which the host would end a loop; ``None`` if it would not.

    ``session`` is the state after a repetition of the cycle, which ended in ``turn``.
    """
    cap, left = cap_for(session, recent), refusals_left(session, _refused_last(session, recent))
    events = (step.exchange for step in recent if isinstance(step.exchange, HookEvent))
    refusals = sum(event.decision.refused for event in events)
    ends = [limit.turn for limit in find_limits(session, turn, period)]
    if cap is not None and cap.overrides is not None and left is not None and refusals:
        ends.append(turn + period * -(-(left + 1) // refusals))
    return min(ends, default=None)


def find_limits(session: Session, turn: int, period: int) -> tuple[Limit, ...]:
    """
    Return the limits that would end a loop which neither a hook nor the cap ends, the earliest first.

    ``session`` is the state after a repetition of the cycle, which ended in ``turn``.
    """
    # A prompt resets all counts, so a repetition with a prompt in it never reaches a limit.
    if not period or not session.in_turn or session.moves <= period:
        return ()
    found = [*_step_limit(session, turn), *_stuck_limit(session, turn, period)]
    return tuple(sorted(found, key=lambda limit: limit.turn))


def _step_limit(session: Session, turn: int) -> Iterator[Limit]:
    steps = session.profile.steps
    if steps is not None:
        most = _most_moves(session, steps)
        why = f"the host allows an agent {most} moves in a turn"
        yield Limit(turn=turn + most - session.moves, why=why, rule=steps.rule)


def _stuck_limit(session: Session, turn: int, period: int) -> Iterator[Limit]:
    stuck, recent = _stuck_rules(session), session.recent
    if stuck is None:
        return
    warned = session.warned or not stuck.warning
    halves = (size for size in range(1, len(recent) // 2 + 1) if recent[-size:] == recent[-2 * size : -size])
    size = next(halves, 0)
    for more in range(1, (stuck.remembered if size else 0) + 1):
        recent = (*recent, recent[-size])[-stuck.remembered :]
        why = stuck.detect(recent)
        if why and not warned:
            warned = True
        elif why:
            # ``recent`` has several entries for some turns and none for the rest. If its period is not that
            # of the loop, only the repetition of the end is known, not the turn.
            turns = more if size == period else period * -(-more // size)
            yield Limit(turn=turn + turns, why=why, rule=stuck.rule)
            return
