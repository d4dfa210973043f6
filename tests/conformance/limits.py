"""Replay rows about timeouts: hooks that take too long, ignore signals or leave a child behind."""

from __future__ import annotations

import re
import shlex
from typing import Any

from pytest_hookharness import hosts
from pytest_hookharness.model.outcome import Outcome
from pytest_hookharness.model.processes import TimedOut

from .row_scenario import LINGERS, Dialect, Simulate, Terms, marks, performed, runs_of, scenario, texts_seen
from .rows import Row

# Recorded with a timeout of 1, a hook of 10 and a child of 8 seconds. These shorter times still outlast
# every timeout and grace period of a host.
_LIMIT, _STAY, _CHILD_STAYS = 1.0, 5.0, 4.0
# How many seconds sooner than recorded the simulated host may continue. The second value is for a child that
# dies with its hook, where the profile says that the real host takes longer.
_SOONER, _SOONER_WITH_CHILD = 0.3, 1.7


def replay_timeouts(row: Row, dialect: Dialect, simulate: Simulate) -> tuple[Terms, Terms]:
    """Compare the host's reaction to a hook that takes too long or leaves a child behind."""
    limit = _LIMIT if row.recorded["at_limit"] and not dialect.whole else 1.0
    handler = {"command": _lingering_hook(row.given), "timeout": dialect.limit(limit)}
    agent = ({"run": "date +%s.%N"}, {"stop": "done"})
    event = row.events["pre"]
    group = dialect.group(handler, matcher=dialect.shell_tool)
    outcome = simulate(scenario(row, dialect, {event: [group]}, *agent, turns=2))
    run = next(runs_of(outcome, event)).run
    assert run is not None
    seen: dict[str, Any] = {"ran": bool(performed(outcome)), "at_limit": isinstance(run.ending, TimedOut)}
    seen["text"] = "".join(texts_seen(outcome, 1)[:1])
    seen["signal"] = "SIGTERM" if "mark-term" in marks(outcome) else None
    seen["child"] = "lives" if run.leftovers else "ended" if "mark-child-end" in marks(outcome) else "killed"
    terms = ("ran", "at_limit", "signal", "child", "goes_on" if row.recorded["ran"] else "text")
    recorded = {term: row.recorded[term] for term in terms if term in row.recorded}
    if row.recorded["ran"]:
        wanted, waited = _rescaled(row.recorded["goes_on"], limit), _waited(outcome, run.stderr.text)
        as_long = -_tolerance(row) < waited - wanted < 0.8
        seen["goes_on"] = row.recorded["goes_on"] if as_long else f"{waited:.2f} for {wanted:.2f}"
    return recorded, seen


def _tolerance(row: Row) -> float:
    child = row.given.get("child")
    dies = bool(row.given.get("shell")) or (child is not None and not child["session"])
    slower = "dying children" in hosts.find(row.host).process.rules
    return _SOONER_WITH_CHILD if dies and slower else _SOONER


def _rescaled(recorded: float, limit: float) -> float:
    """Return the seconds until the host went on, converted to the shorter times of the replay."""
    for before, now in ((10.0, _STAY), (8.0, _CHILD_STAYS)):
        if -0.1 < recorded - before < 0.9:
            return recorded - before + now
    return recorded - 1.0 + limit if recorded >= 1.0 else recorded


def _waited(outcome: Outcome, stderr: str) -> float:
    """Return the seconds from the start of the hook to the call that it delayed, each by its own output."""
    began = re.search(r"began ([\d.]+)", stderr)
    went_on = re.search(r"\d{9,}\.\d+", performed(outcome)[0].result.text)
    assert began is not None
    assert went_on is not None
    return float(went_on[0]) - float(began[1])


def _lingering_hook(given: Terms) -> str:
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
