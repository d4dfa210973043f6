"""
Which scenarios have a live equivalent, the form in which both sides play them, and the real programs for it.

Each program is installed in a folder named after its host and version.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import fields, replace
from pathlib import Path, PurePosixPath

from pytest_hookharness import hosts
from pytest_hookharness.hosts.settings.configuration import expand_short_form
from pytest_hookharness.hosts.wire.programs import LiveProgram, find_program
from pytest_hookharness.model.fast_dataclass import dataclass
from pytest_hookharness.model.moves import (
    Act,
    Edit,
    Prompt,
    Read,
    Resume,
    RunCommand,
    Stop,
    Subagent,
    ToolCall,
    Tools,
)
from pytest_hookharness.model.protocol import Hook
from pytest_hookharness.model.scenario import Scenario

# How many messages of the model a session has at most: some hosts would go on forever.
MOST_TURNS = 30
# Keys whose values a real host and its model server cannot follow.
_SIMULATED_ONLY = (
    *("answers", "cap", "company", "cover", "cwd", "flags", "full", "home_folder", "network"),
    *("order", "pace", "payload", "processes", "readonly", "relaunched", "setup", "shell", "stdin"),
    *("terminal", "worktree"),
)
# Commands that do no harm if the hook that should refuse them does not.
_HARMLESS = re.compile(r"(?:echo|true|:)(?: [^;&|<>()`$\n]*)?")


class NoLiveEquivalent(Exception):
    """A scenario asks for something that a real program cannot be made to do; the message says what."""


def check_playable(scenario: Scenario) -> None:
    """
    Check that a scenario can be played on a real program.

    Raises:
        NoLiveEquivalent: It cannot.
    """
    for reason in _reasons(scenario):
        raise NoLiveEquivalent(reason)


def _reasons(scenario: Scenario) -> Iterator[str]:
    usual = {field.name: getattr(Scenario(name=""), field.name) for field in fields(Scenario)}
    for key in _SIMULATED_ONLY:
        if getattr(scenario, key) != usual[key]:
            yield f"`{key}` has no live equivalent"
    profile = hosts.find(scenario.host)
    program, own_paths = find_program(profile.name), profile.config.paths
    for name in scenario.options:
        if program is None or name not in program.options:
            yield f"the option `{name}` has no live equivalent"
    if scenario.fake_agents:
        yield "fake agents have no live equivalent"
    if isinstance(scenario.hooks, str) and f"workspace/{scenario.hooks}" not in own_paths:
        yield f"the real host does not read hooks from {scenario.hooks}"
    if scenario.plugin is not None and (program is None or not program.plugin):
        yield f"plugins are not loaded into the real program of {scenario.host}"
    # A prompt begins a process of the program: at first, and after a resume.
    before: Act = Resume()
    for act in scenario.script.acts:
        if isinstance(act, Prompt) and not isinstance(before, Resume):
            yield "a second prompt in one session has no live equivalent"
        before = act
        yield from _of_act(act)
    reactions = [act for reaction in scenario.script.reactions for act in reaction.moves]
    for act in reactions:
        if isinstance(act, Prompt):
            yield "a second prompt in one session has no live equivalent"
        yield from _of_act(act)
    starts = any(_starts_subagent(scenario, act) for act in (*scenario.script.acts, *reactions))
    if starts and (program is None or not program.subagents):
        yield f"subagents are not played on the real program of {scenario.host}"


def _starts_subagent(scenario: Scenario, act: Act) -> bool:
    name = hosts.find(scenario.host).tools.subagent
    calls = act.calls if isinstance(act, Tools) else ()
    return isinstance(act, Subagent) or any(call.name == name != "" for call in calls)


def _of_act(act: Act) -> Iterator[str]:
    match act:
        case Prompt() | Stop() | Subagent():
            return
        case Resume(fork=fork):
            if fork:
                yield "a copy of a session has no live equivalent"
        case Tools(calls=calls):
            for call in calls:
                yield from _of_call(call)
        case RunCommand() | Edit() | Read():
            yield from _of_call(act)
        case _:
            yield f"`{type(act).__name__.lower()}` has no live equivalent"


def _of_call(call: ToolCall | RunCommand | Edit | Read) -> Iterator[str]:
    if call.given is not None:
        yield "a call with a given result has no live equivalent"
    if call.expect in ("deny", "ask") and not _is_harmless(call):
        yield "the real program would carry out a call that hooks should refuse, if they do not"


def _is_harmless(call: ToolCall | RunCommand | Edit | Read) -> bool:
    command = call.input.get("command") if isinstance(call, ToolCall) else getattr(call, "command", None)
    return isinstance(command, str) and _HARMLESS.fullmatch(command) is not None


def live_form(scenario: Scenario, program: LiveProgram, most: int | None = None) -> Scenario:
    """
    Return a scenario as both sides play it: without campaigns, with its hooks in the host's own file.

    It ends at the host's cap or after ``most`` turns, because a real host knows of no proof.

    Raises:
        NoLiveEquivalent: It resumes a session, and the program cannot do so.
    """
    if not program.resumes and any(isinstance(act, Resume) for act in scenario.script.acts):
        raise NoLiveEquivalent(f"the real program of {program.host} resumes no session here")
    profile = hosts.find(scenario.host)
    files = dict(scenario.files)
    if not isinstance(scenario.hooks, str) and scenario.hooks is not None:
        content = expand_short_form(profile, scenario.hooks)
        name = PurePosixPath(scenario.subfolder, program.hooks_file.removeprefix("workspace/"))
        files[str(name)] = json.dumps(content, indent=2)
    turns = min(scenario.turns, most or MOST_TURNS)
    return replace(
        scenario, files=files, hooks=None, vary=(), explore=None, parallel=None, until="guard", turns=turns
    )


def check_recordable(found: tuple[Hook, ...]) -> None:
    """
    Check that the runs of all hooks can be recorded on the real host.

    Raises:
        NoLiveEquivalent: Some cannot.
    """
    for hook in found:
        if hook.type != "command" or hook.args is not None:
            raise NoLiveEquivalent(
                f"a hook of {hook.event} is no command line, so its runs cannot be recorded"
            )
        if not hook.source.endswith(".json"):
            raise NoLiveEquivalent(f"runs of hooks in {hook.source} cannot be recorded")


# The environment variable that names the folder of real programs.
VARIABLE = "HOOKHARNESS_LIVE"


class NoProgram(Exception):
    """The real program is missing, has another version, or cannot be isolated here; with what to do next."""


@dataclass(frozen=True, slots=True)
class InstalledProgram:
    """A real program on this machine."""

    program: LiveProgram
    version: str
    folder: Path
    command: tuple[str, ...]


def find_installed(program: LiveProgram, version: str, path: Path | None) -> InstalledProgram:
    """
    Return a real program at a version, from its folder below a folder of installations.

    Raises:
        NoProgram: It is not there, or says that it is another version.
    """
    name = f"{program.host}@{version}"
    if path is None:
        raise NoProgram(
            f"no folder of real programs is known; set the ini key hook_live_path or {VARIABLE} to one, "
            f"and run: {program.install_command(f'FOLDER/{name}', version)}"
        )
    folder = path / name
    install = program.install_command(str(folder), version)
    found = [
        next(iter(sorted(folder.glob(one))), None) for one in (program.interpreter, program.binary) if one
    ]
    words = [str(one) for one in found if one is not None]
    if len(words) < len(found):
        raise NoProgram(f"{name} is not installed in {folder}; run: {install}")
    seen = _installed_version(program, folder)
    if seen != version and not seen.startswith(f"{version}."):
        raise NoProgram(
            f"the program in {folder} has the version {seen or 'unknown'}, not {version}; run: {install}"
        )
    return InstalledProgram(program, version, folder, tuple(words))


def _installed_version(program: LiveProgram, folder: Path) -> str:
    """Return the installed version: npm silently installs an older one if node is too old."""
    if program.python:
        name = program.packages[0].partition("==")[0].replace("-", "_")
        found = next(iter(folder.glob(f"lib/python*/site-packages/{name}-*.dist-info")), None)
        return found.name.removeprefix(f"{name}-").removesuffix(".dist-info") if found is not None else ""
    package = folder / "node_modules" / program.packages[0].rpartition("@")[0]
    try:
        return str(json.loads((package / "package.json").read_text(encoding="utf-8"))["version"])
    except (OSError, ValueError, KeyError):
        return ""
