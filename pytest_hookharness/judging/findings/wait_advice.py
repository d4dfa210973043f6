"""Advice on a hook that did not end, by what its processes waited for."""

from __future__ import annotations

import math
import re

from pytest_hookharness.judging.findings.finding_catalogue import HUNG_HOOK
from pytest_hookharness.model.processes import Activity, Cut, TimedOut

# Waits for another process of the same hook, which waits for something itself.
_FOR_OTHERS = re.compile(r"(its child|a child|a signal, as when)|shared with")
_SLEEP = "a timer: it sleeps"
# By what the wait is called in `execution/processes/activities.py`; the first that fits counts.
_BY_WAIT = (
    (
        r"input from the terminal",
        "Nobody answers on a terminal: tell the program not to ask, for example with `--yes`.",
    ),
    (r".*\bstdin\b", "Read one line instead of the whole input, or set a time limit: `timeout 5 cat`."),
    (
        r"a file to be opened",
        "If it opens a FIFO, let its other end be opened first, or set a time limit: `timeout 5 cat FIFO`.",
    ),
    (
        r"its connection to be accepted|a client to connect|.*\ba socket$",
        "Set a time limit for the connection, for example with `curl --max-time 5`.",
    ),
    (r"a lock on ", "Set a time limit for the lock: `flock --timeout 5`."),
)


def advise_on_wait(cut: TimedOut, host_limit: float) -> str:
    """
    Return what to do about a hook run that was cut; general advice if it is unknown what it waited for.

    The host waits for ``host_limit`` seconds; infinite without a limit, or if unknown.
    """
    causes = [one for one in cut.doing if not _waits_for_others(one)]
    if cut.by is Cut.LIMIT and causes and all(one.waits_for == _SLEEP and not one.asks for one in causes):
        return f"Let it end before the host's limit of {cut.after:g} s, or set a longer one."
    found = {_advise(one, host_limit) for one in causes}
    return found.pop() if len(found) == 1 else HUNG_HOOK.fix


def _waits_for_others(activity: Activity) -> bool:
    return not activity.asks and _FOR_OTHERS.search(activity.waits_for) is not None


def _advise(activity: Activity, host_limit: float) -> str:
    waits_for = "input from the terminal" if activity.asks else activity.waits_for
    if waits_for == _SLEEP:
        if math.isinf(host_limit):
            return "Let it give up: the agent waits as long as the hook does."
        return (
            f"Let it give up before the host's limit of {host_limit:g} s, unless its sleep is shorter "
            "anyway: the agent waits as long as the hook does."
        )
    return next((advice for wait, advice in _BY_WAIT if re.match(wait, waits_for)), HUNG_HOOK.fix)
