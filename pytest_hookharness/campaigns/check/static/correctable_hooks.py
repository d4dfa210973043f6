"""
Hooks that cannot start because of a fault that sessions correct, so that their other defects show too.

The script lacks the executable bit, or the command names it by a wrong path.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterable, Mapping
from dataclasses import replace

from pytest_hookharness import hosts
from pytest_hookharness.campaigns.check.static.hook_program import (
    find_obstacle,
    known_variables,
    plain_words,
)
from pytest_hookharness.model.checkup import HookSet, Problem, Symptom
from pytest_hookharness.model.protocol import Hook, fill_variables

NOT_EXECUTABLE = "not executable"
# The folder of the project, in a command.
ROOT_VARIABLE = re.compile(r"\$\{?(\w+_PROJECT_DIR)\b")
# A word of a shell command, with its quotes.
_WORD = re.compile(r"(?:\"[^\"]*\"|'[^']*'|[^\s\"'])+")


def bare_scripts(hook_set: HookSet) -> dict[str, Mapping[str, str]]:
    """Return the scripts that only lack the executable bit, by path, for each command that they stop."""
    bare = [hook for hook in hook_set.hooks if _lacks_bit(hook_set, hook)]
    found = {hook.command: _scripts(hook_set, hook) for hook in bare}
    return {command: scripts for command, scripts in found.items() if scripts}


def cannot_run(hook_set: HookSet, hook: Hook) -> bool:
    """Return whether sessions cannot try a hook, as its program or its script is missing here."""
    found = find_obstacle(hook_set, hook)
    return found is not None and found.cause != NOT_EXECUTABLE and not corrected(hook_set, hook)


def _lacks_bit(hook_set: HookSet, hook: Hook) -> bool:
    # A session has the settings of a component, and not its file.
    if hook_set.inline is not None:
        return False
    found = find_obstacle(hook_set, hook)
    return found is not None and found.cause == NOT_EXECUTABLE


def _scripts(hook_set: HookSet, hook: Hook) -> dict[str, str]:
    """Return the scripts of a hook that are programs and may not be executed, by their paths."""
    own = {path: text for path, text in hook_set.sources_of(hook) if text.startswith("#!")}
    return {path: text for path, text in own.items() if not os.access(hook_set.root / path, os.X_OK)}


def right_commands(hook_set: HookSet) -> dict[str, str]:
    """
    Return the corrected command for each one that names its script by a wrong path.

    Inline settings are not corrected, and no two hooks get the same command.
    """
    if hook_set.inline is not None:
        return {}
    found: dict[str, str] = {}
    taken = {hook.command for hook in hook_set.hooks}
    for hook in hook_set.hooks:
        new = corrected(hook_set, hook)
        if new and hook.command not in found and new not in taken:
            found[hook.command] = new
            taken.add(new)
    return found


def as_written(hook_set: HookSet) -> tuple[Hook, ...]:
    """Return the hooks in their order as the settings have them, without what is corrected for sessions."""
    written = hook_set.found.hooks if hook_set.found is not None else ()
    # If the settings have a malformed entry, the host itself runs no hook of them.
    return written if len(written) == len(hook_set.hooks) else hook_set.hooks


def original_commands(hook_set: HookSet) -> dict[str, str]:
    """Return the command that the settings have in the place of each one that was corrected for sessions."""
    pairs = zip(hook_set.hooks, as_written(hook_set), strict=True)
    return {one.command: before.command for one, before in pairs if one.command != before.command}


def as_found(hook_set: HookSet, problems: Iterable[Problem]) -> list[Problem]:
    """Return problems whose hooks are named by the commands that the settings have."""
    before = original_commands(hook_set)
    return [replace(one, symptom=rename_hooks(one.symptom, before)) for one in problems]


def rename_hooks(symptom: Symptom, commands: Mapping[str, str]) -> Symptom:
    """Return a symptom whose hooks are named by other commands."""
    hook = ", ".join(commands.get(command, command) for command in symptom.hook.split(", "))
    return replace(symptom, hook=hook)


def missing_script(hook_set: HookSet, hook: Hook) -> str:
    """Return the path of a missing script, as a plain command gives it; empty for none."""
    # No shell is started to ask whether it can read another command.
    plain = hook.type == "command" and plain_words(hook_set, hook)
    found = find_obstacle(hook_set, hook) if plain else None
    return found.missing if found is not None else ""


def corrected(hook_set: HookSet, hook: Hook) -> str:
    """Return the command of a hook with the path of the only script of its name; empty for none."""
    missing = missing_script(hook_set, hook)
    there = hook_set.meant.get(missing)
    if there is None or hook.args is not None or hook.folder:
        return ""
    places = [word for word in _WORD.finditer(hook.command) if _is(hook_set, word[0], missing)]
    if len(places) != 1:
        return ""
    (place,) = places
    right = path_in_folder(hook_set, hook.command, there)
    return f"{hook.command[: place.start()]}{right}{hook.command[place.end() :]}"


def _is(hook_set: HookSet, written: str, word: str) -> bool:
    """Return whether a word of a command line, as it is written there, means a path."""
    folders = known_variables(hook_set)
    try:
        return [fill_variables(one, folders, keep_unknown=True) for one in shlex.split(written)] == [word]
    except ValueError:
        return False


def path_in_folder(hook_set: HookSet, command: str, path: str) -> str:
    """Return how a command names a file of the project or the plugin, wherever it is started."""
    used = None if hook_set.plugin else ROOT_VARIABLE.search(command)
    profile = hosts.find(hook_set.host)
    own = (profile.config.plugin_root,) if hook_set.plugin else profile.process.project_variables
    variable = used[1] if used else next(iter(own), "")
    # The host fills in a plugin's variable only in this form.
    folder = f"${{{variable}}}" if hook_set.plugin else f"${variable}"
    return f'"{folder}"/{shlex.quote(path)}' if variable else shlex.quote(f"./{path}")
