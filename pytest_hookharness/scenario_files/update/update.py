"""
Updates: the promises of a file changed to what its items gave.

Pure. What was changed is loaded again, and stands only if nothing but these promises became
different, and they became what was meant.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from pytest_hookharness.model.expectations import Expectation, VerdictName
from pytest_hookharness.model.scenario import Scenario
from pytest_hookharness.scenario_files.loader import loads
from pytest_hookharness.scenario_files.update.edit_yaml import NotEditable, rewrite
from pytest_hookharness.scenario_files.update.revise import ObservedRun, Unclear, changes, revise
from pytest_hookharness.scenario_files.yaml.errors import ScenarioErrors

# What nobody wants of a hook; whoever promises it should have seen it.
TROUBLE = frozenset({"livelock", "hung", "recursing", "lockout", "capped"})


@dataclass(frozen=True, slots=True)
class Update:
    """
    What becomes of a file.

    Attributes:
        text: The whole text; as it was if nothing can be changed.
        refused: What was not written, and why, in sentences.
    """

    text: str
    refused: tuple[str, ...] = ()


class _Refused(Exception):
    """
    A promise stays as it is; the text says why.
    """


def update(
    text: str, path: Path, seen: Mapping[str, Sequence[ObservedRun]], *, trouble: bool = False
) -> Update:
    """
    The text of a scenario file with the promises that were broken changed to what was seen.

    Args:
        text: The text that was played.
        path: Its file.
        seen: What the items gave each time that they were played, by their names.
        trouble: Whether endless loops and their like may be promised too.

    Raises:
        ScenarioErrors: The text is no scenario file.
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
    """
    The keys that lead to the promise of an item: its variant's own, or the base's.
    """
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
            raise _Refused(f"{scenario.id} shares this promise and was not played to its end; play it too")
        if hollow := runs[0].hollow:
            raise _Refused(
                f"{scenario.id} had {', '.join(hollow)}, so its hooks did not decide; mend that first"
            )
        if any(run != runs[0] for run in runs):
            raise _Refused(f"{scenario.id} gave different things when it was played again")
    if after.verdict != before.verdict:
        _check(after.verdict, trouble)
    rewritten = rewrite(text, place, wanted)
    _compare(scenarios, loads(rewritten, path), place, after)
    return rewritten


def _is_written(scenario: Scenario) -> bool:
    return scenario.origin is not None and scenario.mark("expect") in scenario.origin.marks


def _check(verdict: VerdictName | None, trouble: bool) -> None:
    """
    Refuse verdicts that are not to be promised just because they were seen.
    """
    if verdict == "undecided":
        raise _Refused(
            "undecided was seen, which is nothing that could be promised; give it more time or turns"
        )
    if verdict in TROUBLE and not trouble:
        raise _Refused(f"{verdict} was seen; mend the hook, or promise that too with --hook-update=all")


def _compare(
    before: Sequence[Scenario], after: Sequence[Scenario], place: tuple[str, ...], expect: Expectation
) -> None:
    """
    See that one promise became what was meant, and that nothing else became different.
    """
    meant = [
        replace(scenario, origin=None, expect=expect if _place(scenario) == place else scenario.expect)
        for scenario in before
    ]
    if meant != [replace(scenario, origin=None) for scenario in after]:
        raise NotEditable("cannot be changed without changing something else")
