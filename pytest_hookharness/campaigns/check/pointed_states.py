"""
State files whose folder another file names, such as ``.current-feature`` for ``specs/login/state.json``.

A name is written into the first file, and the kernel shows which files a hook then looks for.
"""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TypeAlias

from pytest_hookharness.campaigns.arming.state_files import LoopState, state_files
from pytest_hookharness.campaigns.arming.state_paths import HookScript, looked_for
from pytest_hookharness.campaigns.check.session_scenario import scenario_of
from pytest_hookharness.model.checkup import CheckSession, HookSet
from pytest_hookharness.model.moves import FIRST_PROMPT, Stop

# Plays a session, and returns what hooks looked for in vain in the project.
Look: TypeAlias = Callable[[CheckSession], Sequence[str]]
_NAME = "work"


def pointed_states(hook_set: HookSet, of: Sequence[HookScript], look: Look) -> Iterator[LoopState]:
    """Yield the states that hooks with some scripts look for as soon as a file names their folder."""
    for script in of:
        pointer = next((path for path in looked_for(hook_set, script) if _is_pointer(path)), None)
        if pointer is None:
            continue
        named = {pointer: f"{_NAME}\n"}
        scenario = scenario_of(hook_set, (FIRST_PROMPT, Stop()))
        scenario = replace(scenario, files={**scenario.files, **named}, turns=2)
        seen = look(CheckSession(title=f"{pointer}: {_NAME}", scenario=scenario, ends=False))
        further = [path for path in seen if path not in hook_set.looked_for and _NAME in path.split("/")]
        known = replace(hook_set, looked_for=(*further, *hook_set.looked_for))
        for state in state_files(known, [script]) if further else ():
            if not state.files.keys().isdisjoint(further):
                yield replace(state, files={**state.files, **named})


def _is_pointer(path: str) -> bool:
    """Return whether a file holds a name or nothing, as far as its own name shows."""
    return "." not in posixpath.basename(path).lstrip(".")
