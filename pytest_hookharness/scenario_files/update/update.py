"""
Update the expectations of a scenario file to what its items did.

The changed text is loaded again, and is used only if exactly these expectations changed as intended.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from pytest_hookharness.model.expectations import Expectation, VerdictName
from pytest_hookharness.model.fast_dataclass import dataclass
from pytest_hookharness.model.scenario import Scenario
from pytest_hookharness.scenario_files.loader import loads
from pytest_hookharness.scenario_files.update.edit_yaml import NotEditable, rewrite
from pytest_hookharness.scenario_files.update.revise import ObservedRun, Unclear, changes, revise
from pytest_hookharness.scenario_files.yaml.errors import ScenarioErrors

# Verdicts that no hook should have; they become expected only on request.
TROUBLE = frozenset({"livelock", "hung", "recursing", "lockout", "capped"})


@dataclass(frozen=True, slots=True)
class Update:
    """
    The updated text of a file.

    Attributes:
        text: The whole text; unchanged if nothing could be changed.
        refused: Changes that were not made, with reasons, in sentences.
    """

    text: str
    refused: tuple[str, ...] = ()


class _Refused(Exception):
    """An expectation is not changed; the text says why."""


def update(
    text: str, path: Path, seen: Mapping[str, Sequence[ObservedRun]], *, trouble: bool = False
) -> Update:
    """
    Return the text of a scenario file with unmet expectations changed to what was observed.

    Args:
        text: The text that was loaded for the runs.
        path: Its file.
        seen: Observed values of each run of each item, by name of the item.
        trouble: Whether bad verdicts such as ``livelock`` may become expected.

    Raises:
        ScenarioErrors: The text is not a valid scenario file.
    """
    scenarios = loads(text, path)
    strangers = seen.keys() - {scenario.id for scenario in scenarios}
    refused = [f"{name}: the file does not name that host" for name in sorted(strangers)]
    for place in dict.fromkeys(map(_place, scenarios)):
        try:
            text = _updated(text, path, place, seen, trouble)
        except (_Refused, Unclear) as why:
            refused.append(f"{'.'.join(place)}: {why}")
        except (NotEditable, ScenarioErrors) as why:
            refused.append(f"{'.'.join(place)}: {why}; change it by hand")
    return Update(text, tuple(refused))


def _place(scenario: Scenario) -> tuple[str, ...]:
    """Return the keys of an item's expectation: its variant's own, or the base's."""
    own = scenario.mark("expect") != "expect"
    return ("variants", scenario.variant, "expect") if own else ("expect",)


def _updated(
    text: str, path: Path, place: tuple[str, ...], seen: Mapping[str, Sequence[ObservedRun]], trouble: bool
) -> str:
    scenarios = loads(text, path)
    sharing = [scenario for scenario in scenarios if _place(scenario) == place]
    before = sharing[0].expect
    given = {scenario.id: runs[0] for scenario in sharing if (runs := seen.get(scenario.id))}
    if not given:
        return text
    after = revise(before, given, written=_is_written(sharing[0]))
    wanted = tuple(changes(before, after))
    if not wanted:
        return text
    for scenario in sharing:
        runs = seen.get(scenario.id, ())
        if not runs:
            raise _Refused(f"{scenario.id} shares this expectation and did not run to its end; run it too")
        if inconclusive := runs[0].inconclusive:
            raise _Refused(
                f"{scenario.id} had {', '.join(inconclusive)}, so its hooks did not decide; fix that first"
            )
        if any(run != runs[0] for run in runs):
            raise _Refused(f"{scenario.id} had different results in several runs")
    if after.verdict != before.verdict:
        _check(after.verdict, trouble)
    rewritten = rewrite(text, place, wanted)
    _compare(scenarios, loads(rewritten, path), place, after)
    return rewritten


def _is_written(scenario: Scenario) -> bool:
    return scenario.origin is not None and scenario.mark("expect") in scenario.origin.marks


def _check(verdict: VerdictName | None, trouble: bool) -> None:
    """Refuse a verdict that must not become expected only because it was observed."""
    if verdict == "undecided":
        raise _Refused("the verdict was undecided, which cannot be expected; allow more time or turns")
    if verdict in TROUBLE and not trouble:
        raise _Refused(f"the verdict was {verdict}; fix the hook, or accept it with --hook-update=all")


def _compare(
    before: Sequence[Scenario], after: Sequence[Scenario], place: tuple[str, ...], expect: Expectation
) -> None:
    """Raise ``NotEditable`` unless exactly one expectation changed, and changed as intended."""
    meant = [
        replace(scenario, origin=None, expect=expect if _place(scenario) == place else scenario.expect)
        for scenario in before
    ]
    if meant != [replace(scenario, origin=None) for scenario in after]:
        raise NotEditable("cannot be changed without changing something else")
