"""
Changes that may fix a problem of a check. None of them is offered before it was played.

Only what follows from a problem is tried: a limiter around a Stop hook that does not end, an executable bit,
a path, the unit of a timeout, and the words of an answer.
"""

from __future__ import annotations

import posixpath
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from fnmatch import fnmatchcase
from pathlib import Path

from pytest_hookharness import hosts
from pytest_hookharness.campaigns.arming.hook_roles import STOPS
from pytest_hookharness.campaigns.arming.project_texts import without_json_comments
from pytest_hookharness.campaigns.check.answers.script_answers import reworded_answers
from pytest_hookharness.campaigns.check.fixes.draft_files import DraftFiles
from pytest_hookharness.campaigns.check.static.correctable_hooks import (
    ROOT_VARIABLE,
    corrected,
    path_in_folder,
)
from pytest_hookharness.campaigns.check.static.hook_program import relative_script
from pytest_hookharness.campaigns.check.static.split_paths import unquoted_paths
from pytest_hookharness.campaigns.check.static.timeout_units import in_right_unit, is_odd
from pytest_hookharness.execution import hookharness_limit
from pytest_hookharness.judging.findings import codes, finding_catalogue
from pytest_hookharness.model.bad_ends import ENDLESS
from pytest_hookharness.model.checkup import HookSet, Problem
from pytest_hookharness.model.fast_dataclass import dataclass
from pytest_hookharness.model.protocol import Hook

_LIMITER = Path(hookharness_limit.__file__)
# The second is for hosts whose own cap acts before the tenth refusal.
_LIMITS = {"--after 3": 10, "--after 3 --at-most 5": 5}
_ALLOWS = "It allows the stop after 3 refusals without a change in the repository, and after {most} in all."
# A command that means the same with words in front: no operators, no assignment, no keyword of a shell.
_PLAIN = re.compile(r"""[\w./"${}@%+:,~-][\w./"${}@%+=:,~-]*(?: +[\w./"${}@%+=:,~-]+)*""")
_OF_SHELL = frozenset(
    [".", "cd", "command", "eval", "exec", "exit", "export", "if", "set", "source", "time", "ulimit", "umask"]
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """
    A change that may fix a problem.

    Attributes:
        text: What changes, as a command to a person.
        renamed: The new command for each command that changes.
        limits: Whether it only limits how often a hook refuses a stop.
        honoured: Whether a refusal of the hook must be honoured with it.
        timeout: The new timeout of the hook in seconds; ``None`` if it stays.
        place: Name of the folder in which it is played; empty for the usual one.
        away: Whether an agent that works in another folder has to find the hook too.
    """

    text: str
    files: DraftFiles
    renamed: Mapping[str, str] = field(default_factory=dict)
    limits: bool = False
    honoured: bool = False
    timeout: float | None = None
    place: str = ""
    away: bool = False


def find_candidates(problem: Problem, place: HookSet, files: DraftFiles) -> Iterator[Candidate]:
    """Yield the changes that may fix a problem, the best first."""
    hooks = [hook for hook in place.hooks if f", {hook.command}, " in f", {problem.symptom.hook}, "]
    if not hooks or any(hook.type != "command" or hook.args is not None for hook in hooks):
        return
    if any(_has_comments(files.read(file) or b"") for file in place.files):
        # The host would have to read them first.
        return
    kind = problem.symptom.kind
    if kind in ENDLESS:
        # Where settings are copied elsewhere, what lies beside them here need not be copied with them.
        yield from _limit(hooks, place, files) if not place.elsewhere else ()
    elif kind == finding_catalogue.NOT_RUN.name:
        yield from _make_executable(hooks, files)
        yield from _correct_path(hooks[0], place, files) if not place.elsewhere else ()
    elif kind == finding_catalogue.MANGLED.name:
        yield from _reword(hooks[0], place, files)
    elif kind == codes.UNQUOTED_PATH.name:
        yield from _quote(hooks, place, files)
    elif kind == codes.RELATIVE_PATH.name:
        yield from _name_from_root(hooks, place, files)
    elif kind in (codes.TIMEOUT_UNIT.name, finding_catalogue.HUNG_HOOK.name):
        yield from _change_unit(hooks, place, files)


def _has_comments(settings: bytes) -> bool:
    """Return whether settings are JSON only without their comments."""
    text = settings.decode("utf-8", "replace")
    return without_json_comments(text) not in ("", text)


def _limit(hooks: Sequence[Hook], place: HookSet, files: DraftFiles) -> Iterator[Candidate]:
    """Yield the limiter around the hooks. It would open a guard of tool calls, so such a command is left."""
    profile = hosts.find(place.host)
    commands = {hook.command for hook in hooks}
    uses = [hook for hook in place.hooks if hook.command in commands]
    known = profile.events
    if any(hook.event not in known or known[hook.event].role not in STOPS for hook in uses):
        return
    for options, most in _LIMITS.items():
        draft = files
        renamed: dict[str, str] = {}
        for file in place.files:
            limiter = posixpath.join(posixpath.dirname(file), _LIMITER.name)
            new = {
                command: f"{path_in_folder(place, command, limiter)} {options} -- {_behind(place, command)}"
                for command in commands
            }
            changed = draft.with_commands(place.host, file, new)
            if changed is not None:
                draft = changed.write(limiter, _LIMITER.read_bytes(), 0o755)
                renamed |= new
        if renamed:
            which = "the hooks" if len(renamed) > 1 else "the hook"
            limited = " and ".join(f"`{one}`" for one in renamed.values())
            text = f"Limit the refusals: run {which} as {limited}. {_ALLOWS.format(most=most)}"
            yield Candidate(text=text, files=draft, renamed=renamed, limits=True)


def _behind(place: HookSet, command: str) -> str:
    """Return a command as words that may follow others."""
    first = command.split(" ", maxsplit=1)[0]
    if _PLAIN.fullmatch(command) and first not in _OF_SHELL and "=" not in first:
        return command
    return shlex.join([*hosts.find(place.host).process.shell, command])


def _script(command: str) -> str:
    """Return the path that a command begins with, in the project; empty if it begins with a name."""
    try:
        first = next(iter(shlex.split(command)), "")
    except ValueError:
        return ""
    inside = re.sub(r"^\$\{?\w+(?::-\.)?\}?/+", "", first)
    return posixpath.normpath(inside) if "/" in first and not inside.startswith(("/", "~", "$")) else ""


def _make_executable(hooks: Sequence[Hook], files: DraftFiles) -> Iterator[Candidate]:
    draft, scripts = files, list[str]()
    for script in filter(None, dict.fromkeys(_script(hook.command) for hook in hooks)):
        data, mode = files.read(script), files.mode(script)
        if data is not None and not mode & 0o100:
            # Everyone who may read the file may then run it, as after `chmod +x`.
            draft = draft.write(script, data, mode | (mode & 0o444) >> 2)
            scripts.append(script)
    if scripts:
        yield Candidate(text=f"Make {', '.join(scripts)} executable.", files=draft)


def _correct_path(hook: Hook, place: HookSet, files: DraftFiles) -> Iterator[Candidate]:
    """Yield the command with the path of the one file of this name, below the folder that the host names."""
    new = corrected(place, hook)
    for file in place.files if new else ():
        draft = files.with_commands(place.host, file, {hook.command: new})
        if draft is not None:
            text = f"Name the script by its path: `{new}`."
            yield Candidate(text=text, files=draft, renamed={hook.command: new})


def _quote(hooks: Sequence[Hook], place: HookSet, files: DraftFiles) -> Iterator[Candidate]:
    """Yield the commands with their paths in quotes."""
    renamed: dict[str, str] = {}
    for hook in hooks:
        new = hook.command
        for variable in reversed(unquoted_paths(place, hook)):
            new = f'{new[: variable.start()]}"{variable[0]}"{new[variable.end() :]}'
        renamed[hook.command] = new
    if (draft := _renamed(place, files, renamed)) is not files:
        text = f"Quote the paths, as in `{next(iter(renamed.values()))}`."
        yield Candidate(text=text, files=draft, renamed=renamed, place="a folder")


def _name_from_root(hooks: Sequence[Hook], place: HookSet, files: DraftFiles) -> Iterator[Candidate]:
    """Yield the commands with their scripts named from the project's folder."""
    renamed: dict[str, str] = {}
    for hook in hooks:
        script = relative_script(place, hook)
        before, word, after = hook.command.partition(script) if script else ("", "", "")
        path = path_in_folder(place, hook.command, posixpath.normpath(script))
        if variable := ROOT_VARIABLE.search(path):
            path = _for_all_readers(place, variable[1], path)
        if word and before[-1:] in ("", " ") and after[:1] in ("", " ") and path.startswith('"$'):
            renamed[hook.command] = f"{before}{path}{after}"
    if (draft := _renamed(place, files, renamed)) is not files:
        text = f"Name the script from the project's folder: `{next(iter(renamed.values()))}`."
        yield Candidate(text=text, files=draft, renamed=renamed, away=True)


def _renamed(place: HookSet, files: DraftFiles, commands: Mapping[str, str]) -> DraftFiles:
    """Return the files, with these commands replaced in all settings of a hook set."""
    for file in place.files:
        files = files.with_commands(place.host, file, commands) or files
    return files


def _for_all_readers(place: HookSet, variable: str, path: str) -> str:
    """Return a path that stays a relative one on the hosts that read the settings and lack its variable."""
    for profile in hosts.known():
        read = profile.settings_paths
        reads = any(fnmatchcase(f"workspace/{file}", each) for file in place.files for each in read)
        if reads and variable not in profile.process.env:
            return path.replace(f"${variable}", f"${{{variable}:-.}}")
    return path


def _reword(hook: Hook, place: HookSet, files: DraftFiles) -> Iterator[Candidate]:
    for script, _ in place.sources:
        data = files.read(script)
        if data is None or posixpath.basename(script) not in hook.command:
            continue
        for words, after in reworded_answers(data.decode("utf-8", "surrogateescape")):
            draft = files.write(script, after.encode("utf-8", "surrogateescape"))
            text = f"Answer in the words of {place.host}: in {script}, {words}."
            yield Candidate(text=text, files=draft, honoured=True)


def _change_unit(hooks: Sequence[Hook], place: HookSet, files: DraftFiles) -> Iterator[Candidate]:
    """Yield the settings with all timeouts like those of the hooks in the unit of the host."""
    unit = hosts.find(place.host).config.limits.unit
    odd = {hook.timeout for hook in hooks if hook.timeout is not None and is_odd(hook.timeout, unit)}
    for file in place.files:
        text = (files.read(file) or b"").decode("utf-8", "surrogateescape")
        after, found = in_right_unit(text, odd, unit)
        if found:
            draft = files.write(file, after.encode("utf-8", "surrogateescape"))
            words = ", and ".join(f"{meant} for each timeout of {limit}" for limit, meant in found.items())
            shortest = min(found.values()) * unit
            yield Candidate(text=f"In {file}, write {words}.", files=draft, timeout=shortest)
