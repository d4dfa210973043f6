"""Hooks that may start in another folder than the project's: their host starts them where the agent is."""

from __future__ import annotations

import re
from collections.abc import Mapping

from pytest_hookharness import hosts
from pytest_hookharness.campaigns.arming.hook_roles import role_of
from pytest_hookharness.campaigns.arming.project_texts import read_object
from pytest_hookharness.model.checkup import HookSet
from pytest_hookharness.model.protocol import Hook, Json

# With this variable in the settings, Claude Code goes back to the project after each command (documented).
# The simulated host ignores the variable; only the reports about relative paths are left out.
_GOES_BACK = "CLAUDE_BASH_MAINTAIN_PROJECT_WORKING_DIR"
_WORKSPACE = "workspace/"
_BEFORE_WORK = frozenset({"startup", "resume"})


def starts_elsewhere(hook_set: HookSet, hook: Hook) -> bool:
    """Return whether a hook may start in another folder, after a `cd` of the agent."""
    keeps = hosts.find(hook_set.host).tools.keeps_folder
    return keeps and not _is_before_work(hook_set, hook) and not _goes_back(hook_set)


def _is_before_work(hook_set: HookSet, hook: Hook) -> bool:
    """Return whether a hook runs only before the agent could leave its first folder."""
    role = role_of(hook_set.host, hook.event)
    if role is not hosts.Role.SESSION_START:
        return role is hosts.Role.SETUP
    return {*re.split(r"[|,]", (hook.matcher or "").strip("^$()"))} <= _BEFORE_WORK


def _goes_back(hook_set: HookSet) -> bool:
    """Return whether the settings of a project take its agent back; those of a plugin are not its user's."""
    if hook_set.plugin:
        return False
    places = hosts.find(hook_set.host).config.paths
    files = [place.removeprefix(_WORKSPACE) for place in places if place.startswith(_WORKSPACE)]
    # What is written in a later file counts.
    values = [_env(hook_set, file).get(_GOES_BACK) for file in dict.fromkeys([*files, *hook_set.files])]
    last = next((value for value in reversed(values) if value is not None), "")
    return last not in ("", "0", 0)


def _env(hook_set: HookSet, file: str) -> Mapping[str, Json]:
    env = read_object(hook_set.root / file).get("env")
    return env if isinstance(env, Mapping) else {}
