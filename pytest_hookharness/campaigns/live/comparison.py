"""
The simulated and the real session side by side: what agrees, and which rule of the profile does not hold.

Hook runs between two messages of the model are compared by number and, where the host orders them, in order.
The inputs of the runs are compared run by run, as often as a hook ran on both sides.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Literal, TypeAlias, get_args

from pytest_hookharness.campaigns.live.normalisation import NOT_COMPARED, normalised, normalised_text
from pytest_hookharness.campaigns.live.session_record import ComparableSession, RecordedRun, SeenText
from pytest_hookharness.hosts.rules.profile import Profile
from pytest_hookharness.model.fast_dataclass import dataclass
from pytest_hookharness.model.protocol import Json, Rule

Category: TypeAlias = Literal[
    "turns",
    "hook runs",
    "order of events",
    "payload keys",
    "payload values",
    "final newline",
    "surroundings",
    "told",
    "files",
    "end",
]
CATEGORIES: tuple[Category, ...] = get_args(Category)
# Stands for a value that one side does not have.
NOTHING = "nothing"
_MOST_TOLD = 2000


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """
    One item in which the simulation and the real host differ.

    Attributes:
        rule: The rule of the profile that does not hold; ``None`` if no single rule says it.
        turn: How many messages of the model came before it, counting one that answers what was told; ``None``
            if it is about the whole session.
    """

    category: Category
    where: str
    simulated: str
    real: str
    rule: Rule | None = None
    turn: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """A scenario in the simulation and on the real host; ``host`` is the profile's name and version."""

    host: str
    version: str
    compared: Mapping[Category, int]
    differences: tuple[Difference, ...] = ()

    def agreed(self, category: Category) -> int:
        """Return how many items of a category agree."""
        return self.compared.get(category, 0) - sum(one.category == category for one in self.differences)


class _Tally:
    def __init__(self) -> None:
        self.turn: int | None = None
        self.compared: Counter[Category] = Counter()
        self.differences: list[Difference] = []

    def note(
        self, category: Category, where: str, simulated: object, real: object, rule: Rule | None = None
    ) -> None:
        self.compared[category] += 1
        if simulated != real:
            difference = Difference(
                category=category,
                where=where,
                simulated=_shown(simulated),
                real=_shown(real),
                rule=rule,
                turn=self.turn,
            )
            self.differences.append(difference)

    def in_order(self) -> tuple[Difference, ...]:
        """Return the differences in the order of the session; those about all of it come last."""

        def place(one: Difference) -> tuple[bool, int, bool]:
            return one.turn is None, one.turn or 0, one.category != "told"

        return tuple(sorted(self.differences, key=place))


def _shown(value: object) -> str:
    return value if isinstance(value, str) and value else repr(value) if value is not None else NOTHING


def compare(
    profile: Profile,
    version: str,
    simulated: ComparableSession,
    real: ComparableSession,
    *,
    unordered: Sequence[frozenset[str]] = (),
) -> Comparison:
    """Compare two records of one scenario; ``unordered`` are sets of events that may run at the same time."""
    tally = _Tally()
    for turn in range(max(len(simulated.runs), len(real.runs))):
        tally.turn = turn
        where = f"after message {turn} of the model" if turn else "before the first message of the model"
        mine, theirs = (side.runs[turn] if turn < len(side.runs) else () for side in (simulated, real))
        _compare_runs(tally, where, profile, simulated, mine, theirs, unordered)
    _compare_inputs(tally, profile, simulated, real)
    for turn, (before, after) in enumerate(zip(simulated.told, real.told, strict=False), 1):
        tally.turn = turn
        _compare_told(tally, f"before message {turn} of the model", simulated, before, real, after)
    tally.turn = None
    last = _last_rule(simulated)
    tally.note("turns", "in the whole session", simulated.turns, real.turns, last)
    for path in sorted({*simulated.files, *real.files}):
        tally.note("files", path, _content(simulated, path), _content(real, path))
    tally.note("end", "of the session", simulated.end, real.end, last)
    return Comparison(
        host=profile.id, version=version, compared=dict(tally.compared), differences=tally.in_order()
    )


def _content(record: ComparableSession, path: str) -> str | None:
    content = record.files.get(path)
    return None if content is None else normalised_text(content, record.folders)


def _last_rule(simulated: ComparableSession) -> Rule | None:
    """Return the rule of the last event that the simulated host decided, before which both sides may part."""
    events = [run.event for runs in simulated.runs for run in runs]
    return simulated.rules.get(events[-1]) if events else None


def _compare_runs(
    tally: _Tally,
    where: str,
    profile: Profile,
    simulated: ComparableSession,
    mine: Sequence[RecordedRun],
    theirs: Sequence[RecordedRun],
    unordered: Sequence[frozenset[str]],
) -> None:
    counts = [Counter((run.event, run.command) for run in runs) for runs in (mine, theirs)]
    for event, command in dict.fromkeys((run.event, run.command) for run in (*mine, *theirs)):
        rule = simulated.rules.get(event) or (profile.events[event].rule if event in profile.events else None)
        ours, real = (count[event, command] for count in counts)
        tally.note("hook runs", f"{where}: {event} `{command}`", ours, real, rule)
    if mine or theirs:
        tally.note("order of events", where, _order(mine, unordered), _order(theirs, unordered))


def _order(runs: Sequence[RecordedRun], unordered: Sequence[frozenset[str]]) -> list[str]:
    """Return the events of some runs in order; those that may run at the same time as one word."""

    def together(run: RecordedRun) -> str:
        mixed = next((events for events in unordered if run.event in events), None)
        return " and ".join(sorted(mixed)) if mixed else run.event

    return [word for word, _ in groupby(runs, together)]


def _pairs(
    simulated: ComparableSession, real: ComparableSession
) -> Iterator[tuple[int, str, RecordedRun, RecordedRun, Json, Json]]:
    """
    Yield the runs that belong together, each with its turn, its place and the normalised inputs of both.

    A run belongs to the first one of the same hook after the same message of the model; of several calls in
    one message, whose order is not fixed, to that of the same call.
    """
    numbers: Counter[tuple[str, str]] = Counter()
    for turn, (mine, theirs) in enumerate(zip(simulated.runs, real.runs, strict=False)):
        left = [(run, normalised(run.payload, real.folders)) for run in theirs]
        for run in mine:
            numbers[run.event, run.command] += 1
            payload = normalised(run.payload, simulated.folders)
            same = [one for one in left if (one[0].event, one[0].command) == (run.event, run.command)]
            other = next((one for one in same if _call(one[1]) == _call(payload)), same[0] if same else None)
            if other is not None:
                left.remove(other)
                where = f"{run.event} `{run.command}`, run {numbers[run.event, run.command]}"
                yield turn, where, run, other[0], payload, other[1]


def _call(payload: Json) -> Json:
    return payload.get("tool_input") if isinstance(payload, Mapping) else None


def _compare_inputs(
    tally: _Tally, profile: Profile, simulated: ComparableSession, real: ComparableSession
) -> None:
    for turn, where, run, other, mine, theirs in _pairs(simulated, real):
        tally.turn = turn
        rule = profile.events[run.event].fields.rule if run.event in profile.events else None
        tally.note("final newline", where, run.stdin.endswith(b"\n"), other.stdin.endswith(b"\n"), rule)
        sides = (_surroundings(run, simulated), _surroundings(other, real))
        _compare_surroundings(tally, where, profile.process.rules.get("env"), *sides)
        if not isinstance(mine, Mapping) or not isinstance(theirs, Mapping):
            tally.note("payload values", where, mine, theirs, rule)
            continue
        tally.note("payload keys", where, ", ".join(mine), ", ".join(theirs), rule)
        for name in mine:
            if name in theirs:
                for path, ours, real_one in _leaves(name, mine[name], theirs[name]):
                    tally.note("payload values", f"{where}: {path}", ours, real_one, rule)


def _surroundings(run: RecordedRun, record: ComparableSession) -> dict[str, Json]:
    """Return the working folder of a hook run, if it is known, and the variables that the host changed."""
    if not run.folder:
        return {}
    variables = {f"variable {name}": value for name, value in run.env.items() if name not in NOT_COMPARED}
    noted = normalised({"working folder": run.folder, **variables}, record.folders)
    return dict(noted) if isinstance(noted, Mapping) else {}


def _compare_surroundings(
    tally: _Tally, where: str, rule: Rule | None, mine: Mapping[str, Json], theirs: Mapping[str, Json]
) -> None:
    for name in {**mine, **theirs} if mine and theirs else ():
        tally.note("surroundings", f"{where}: {name}", mine.get(name), theirs.get(name), rule)


def _leaves(path: str, mine: Json, theirs: Json) -> Iterator[tuple[str, Json, Json]]:
    if isinstance(mine, Mapping) and isinstance(theirs, Mapping) and [*mine] == [*theirs]:
        for name in mine:
            yield from _leaves(f"{path}.{name}", mine[name], theirs[name])
    else:
        yield path, mine, theirs


def _compare_told(
    tally: _Tally,
    where: str,
    simulated: ComparableSession,
    mine: Sequence[SeenText],
    real: ComparableSession,
    theirs: Sequence[SeenText],
) -> None:
    """Compare what the model saw; a real host adds words of its own, so the simulated ones must be in it."""
    said = [(one, normalised_text(one.text, simulated.folders).strip()) for one in mine]
    heard = [(one.event, normalised_text(one.text, real.folders)) for one in theirs]
    # A text may come in several parts, which the model reads as one.
    whole = "\n".join((*(text for _, text in heard), "".join(text for _, text in heard)))
    known = [text for _, text in said if text]
    for one, text in said:
        if text:
            nearest = next((other for event, other in heard if event == one.event), whole)
            tally.note("told", where, text, text if text in whole else nearest[:_MOST_TOLD], one.rule)
    events = {"", *(one.event for one in mine)}
    for event, text in heard:
        if event not in events and not any(words in text or text.strip() in words for words in known):
            tally.note("told", where, None, text[:_MOST_TOLD])
