"""
Time limits: hooks that stay too long, ignore signals or leave a child behind.
"""

from __future__ import annotations

import re
import shlex
from typing import Any

from pytest_hookharness import hosts
from pytest_hookharness.model.outcome import Outcome
from pytest_hookharness.model.processes import TimedOut

from .dialects import Dialect
from .rows import Row
from .staging import LINGERS, Simulate, Terms, fires, marks, performed, scenario, told

# Recorded with a limit of 1, a hook of 10 and a child of 8 seconds. The shorter ones still outlast every
# limit and grace of a host.
_LIMIT, _STAY, _CHILD_STAYS = 1.0, 5.0, 4.0
# How much sooner than recorded the simulated host may go on; the second where a child dies with its hook and
# the profile says that the real host takes longer then.
_SOONER, _SOONER_WITH_CHILD = 0.3, 1.7


def replay_timeouts(row: Row, dialect: Dialect, simulate: Simulate) -> tuple[Terms, Terms]:
    """
    What the host did with a hook that stays too long or leaves a child behind.
    """
    limit = _LIMIT if row.recorded["at_limit"] and not dialect.whole else 1.0
    handler = {"command": _lingering(row.given), "timeout": dialect.limit(limit)}
    agent = ({"run": "date +%s.%N"}, {"stop": "done"})
    event = row.events["pre"]
    group = dialect.group(handler, matcher=dialect.shell_tool)
    outcome = simulate(scenario(row, dialect, {event: [group]}, *agent, turns=2))
    run = next(fires(outcome, event)).run
    assert run is not None
    seen: dict[str, Any] = {"ran": bool(performed(outcome)), "at_limit": isinstance(run.ending, TimedOut)}
    seen["text"] = "".join(told(outcome, 1)[:1])
    seen["signal"] = "SIGTERM" if "mark-term" in marks(outcome) else None
    seen["child"] = "lives" if run.leftovers else "ended" if "mark-child-end" in marks(outcome) else "killed"
    terms = ("ran", "at_limit", "signal", "child", "goes_on" if row.recorded["ran"] else "text")
    recorded = {term: row.recorded[term] for term in terms if term in row.recorded}
    if row.recorded["ran"]:
        wanted, took = _rescaled(row.recorded["goes_on"], limit), _took(outcome, run.stderr.text)
        as_long = -_patience(row) < took - wanted < 0.8
        seen["goes_on"] = row.recorded["goes_on"] if as_long else f"{took:.2f} for {wanted:.2f}"
    return recorded, seen


def _patience(row: Row) -> float:
    child = row.given.get("child")
    dies = bool(row.given.get("shell")) or (child is not None and not child["session"])
    slower = "dying children" in hosts.find(row.host).process.rules
    return _SOONER_WITH_CHILD if dies and slower else _SOONER


def _rescaled(recorded: float, limit: float) -> float:
    """
    Seconds until the host went on, as they would be for our shorter times.
    """
    for before, now in ((10.0, _STAY), (8.0, _CHILD_STAYS)):
        if -0.1 < recorded - before < 0.9:
            return recorded - before + now
    return recorded - 1.0 + limit if recorded >= 1.0 else recorded


def _took(outcome: Outcome, stderr: str) -> float:
    """
    Seconds from the hook's own beginning to the call that it held up, by both clocks' own words.
    """
    began = re.search(r"began ([\d.]+)", stderr)
    went_on = re.search(r"\d{9,}\.\d+", performed(outcome)[0].result.text)
    assert began is not None
    assert went_on is not None
    return float(went_on[0]) - float(began[1])


def _lingering(given: Terms) -> str:
    if given.get("shell"):
        out = shlex.quote(given["stdout"])
        return f"cat >/dev/null; date +'began %s.%N' >&2; printf %s {out}; sleep {_STAY:g}; exit 0"
    words = [LINGERS]
    words += [f"--out={given['stdout']}"] if given.get("stdout") else []
    words += [f"--sleep={_STAY:g}"] if given.get("sleep") else []
    words += [f"--term={given['on_term']}"] if given.get("on_term") else []
    child = given.get("child")
    if child is not None:
        words += [f"--child={_CHILD_STAYS:g}"]
        words += ["--session"] if child["session"] else []
        words += [] if child["streams"] else ["--quiet"]
    return shlex.join(words)
