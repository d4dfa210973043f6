"""
Plans of faults: which of them make sense for a scenario that was played once.

What cannot be tried is a cell with its reason, so that silence never passes for a good sign.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from pathlib import Path

from pytest_hookharness import hosts
from pytest_hookharness.campaigns.stress.plans import HookTraits
from pytest_hookharness.model.delivery import Delivery, Inlet
from pytest_hookharness.model.faults import (
    CAUSES,
    Cause,
    Fault,
    Fed,
    FullDisk,
    InWorktree,
    JunkTool,
    Occupied,
    Placed,
    ReadOnly,
    SpoiledScript,
    StartedIn,
    Surroundings,
    TrialResult,
    WorkingFolder,
)
from pytest_hookharness.model.mutations import FailingTool, HangingTool, Shell, WithoutTool
from pytest_hookharness.model.outcome import Outcome
from pytest_hookharness.model.processes import Stdio, Tier
from pytest_hookharness.model.trace import StateEntry

_MOST = 3
# Bytes that a terminal takes in one line; the kernel drops the rest.
_LINE = 4095
_WAYS = (
    Fed("standard input that is /dev/null", Delivery(kind="null")),
    Fed("standard input that is closed", Delivery(kind="closed")),
    Fed("nothing on standard input", Delivery(shape="empty")),
    Fed("standard input that is never closed", Delivery(close=False)),
    Fed("half of the JSON on standard input", Delivery(shape="partial-json")),
    Fed("a byte order mark before the JSON", Delivery(shape="bom")),
    Fed("standard input that comes after 200 ms", Delivery(delay=0.2)),
    Fed("standard input that comes after 500 ms", Delivery(delay=0.5)),
    Fed("standard input in pieces of 64 bytes", Delivery(chunk=64, delay=0.002)),
    Fed("65,537 bytes on standard input", Delivery(size=(1 << 16) + 1)),
    Fed("2 MB on standard input", Delivery(size=1 << 21)),
)
_NAMES = {
    "a space": "my project",
    "a quote": "it's",
    "a dollar sign": "a$HOME",
    "a line end": "two\nlines",
    "a letter beyond ASCII": "h\u00e4user",
}
_C = {"LC_ALL": "C", "LANG": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
# Of its bytes in UTF-8, cp1252 knows some not at all.
_BEYOND_ASCII = "\u00cd\u010f \u65e5\u672c \U0001f600"
_LOCALES = (
    Surroundings("the locale C, and a text beyond ASCII in its input", _C, extra=_BEYOND_ASCII),
    Surroundings(
        "Python's streams in cp1252, and a text beyond ASCII in its input",
        {"PYTHONIOENCODING": "cp1252", "PYTHONUTF8": "0"},
        extra=_BEYOND_ASCII,
    ),
)
_PROFILE = Surroundings(
    "a file named by BASH_ENV that prints a line",
    {"BASH_ENV": "./.noisy-profile"},
    {".noisy-profile": "echo Welcome.\n"},
)
_LOGIN = Surroundings(
    "bash as a login shell, with a profile that prints a line",
    {"SHELL": "/bin/bash"},
    home={".bash_profile": "echo Welcome.\n"},
)
_GIT = Surroundings(
    "the GIT_DIR and GIT_INDEX_FILE of another repository",
    {"GIT_DIR": "/nonexistent/other.git", "GIT_INDEX_FILE": "/nonexistent/other.git/index"},
)


def plan_faults(outcome: Outcome, clues: HookTraits) -> tuple[list[Fault], list[TrialResult]]:
    """
    The faults that a scenario asks for, and what of them cannot be tried.
    """
    planned: list[Fault | TrialResult] = []
    for wish in outcome.scenario.vary:
        if wish.kind == "stdin":
            planned += _stdin(outcome)
        elif wish.kind == "faults":
            planned += [one for one in _world(outcome, clues) if one.cause in (wish.names or CAUSES)]
    faults = [one for one in planned if isinstance(one, Fault)]
    return faults, [one for one in planned if isinstance(one, TrialResult)]


def _world(outcome: Outcome, clues: HookTraits) -> Iterator[Fault | TrialResult]:
    yield from _tools(outcome, clues)
    yield from _folders(outcome)
    for words, name in _NAMES.items():
        yield Fault("path", Placed(words, name))
    yield from _scripts(outcome, clues)
    yield from _state(outcome)
    yield from _disk(outcome)
    yield from _variables(outcome, clues)
    yield from _shell(clues)


def _untried(cause: Cause, fault: str, why: str) -> TrialResult:
    return TrialResult(cause=cause, fault=fault, verdict="not tried", evidence=why)


def _stdin(outcome: Outcome) -> Iterator[Fault | TrialResult]:
    process = hosts.find(outcome.scenario.host).process
    kind: Inlet = "pipe" if process.stdio is Stdio.SOCKET else "socket"
    yield Fault("stdin", Fed(f"standard input that is a {kind}", Delivery(kind=kind)))
    longest = max((len(fire.stdin) for _, fire in outcome.trace.hook_runs()), default=0)
    terminal = Fed("standard input that is a terminal", Delivery(kind="pty"))
    if longest > _LINE:
        yield _untried("stdin", str(terminal), f"one line has {longest} bytes, and a terminal takes {_LINE}")
    else:
        yield Fault("stdin", terminal)
    unended = Fed("a line without its end, and nothing after it", Delivery(shape="partial-line", close=False))
    yield from (Fault("stdin", way) for way in (*_WAYS, unended))


def _tools(outcome: Outcome, clues: HookTraits) -> Iterator[Fault | TrialResult]:
    names = tuple(dict.fromkeys([*outcome.scenario.commands, *clues.tools]))
    if not names:
        yield _untried("tools", "a tool that is missing", "the hooks name none that may be")
    for name in names[:_MOST]:
        for change in (WithoutTool(name), FailingTool(name), HangingTool(name), JunkTool(name)):
            yield Fault("tools", change)
    yield from (_untried("tools", f"`{name}` missing", "one of many") for name in names[_MOST:])


def _folders(outcome: Outcome) -> Iterator[Fault | TrialResult]:
    scenario = outcome.scenario
    if scenario.cwd is not None:
        yield _untried("folder", "started in another folder", "the scenario names one itself (`world.cwd`)")
        return
    yield Fault("folder", StartedIn("a sub-directory", WorkingFolder("a-sub-directory")))
    yield Fault("folder", StartedIn("another folder", WorkingFolder("/")))
    yield Fault("folder", StartedIn("a folder that is gone", WorkingFolder("a-folder", removed=True)))
    if scenario.git and not scenario.worktree and hosts.find(scenario.host).worktrees is not None:
        yield Fault("folder", InWorktree())
    else:
        why = "it takes `git: true`, and a host that starts sessions in one"
        yield _untried("folder", str(InWorktree()), why)


def _scripts(outcome: Outcome, clues: HookTraits) -> Iterator[Fault | TrialResult]:
    if not clues.scripts:
        yield _untried("script", "a script that is spoiled", "the hooks' commands name none of the workspace")
    entries = _entries(outcome)
    for path, text in [*clues.scripts.items()][:_MOST]:
        crlf, bom, lost = (SpoiledScript(path, how) for how in ("crlf", "bom", "chmod"))
        if b"\r\n" in text or b"\n" not in text:
            yield _untried("script", str(crlf), "it has such ends already, or none")
        else:
            yield Fault("script", crlf)
        yield Fault("script", bom)
        entry = entries.get(f"workspace/{path}")
        if entry is None or not entry.mode & 0o111:
            yield _untried("script", str(lost), "it is not executable anyway")
        else:
            yield Fault("script", lost)
    for path in [*clues.scripts][_MOST:]:
        yield _untried("script", f"{path} spoiled", "one of many")


def _entries(outcome: Outcome) -> Mapping[str, StateEntry]:
    """
    The files before the first hook.
    """
    states = outcome.trace.states
    if not states:
        return {}
    first = min(states)
    made = {
        change.path
        for step, hooked in outcome.trace.hooked()
        for change in hooked.changes
        if step.turn <= first and change.how == "added"
    }
    return {path: entry for path, entry in states[first].files.items() if path not in made}


def _written(outcome: Outcome) -> list[str]:
    """
    The files of workspace and home that hooks wrote.
    """
    changed = (change.path for _, hooked in outcome.trace.hooked() for change in hooked.changes)
    states = outcome.trace.states.values()
    files = {path for state in states for path, entry in state.files.items() if entry.kind == "file"}
    own = (path for path in dict.fromkeys(changed) if path.startswith(("workspace/", "home/")))
    return [path for path in own if path in files and not path.startswith("workspace/.git/")]


def _state(outcome: Outcome) -> Iterator[Fault | TrialResult]:
    written, entries = _written(outcome), _entries(outcome)
    if not written:
        yield _untried("state", "state that cannot be written", "no hook wrote a file of workspace or home")
    for path in written[:_MOST]:
        there = path
        while "/" in there and there not in entries:
            there = posixpath.dirname(there)
        closed = ReadOnly(there)
        if outcome.tier is Tier.NAMESPACES:
            yield Fault("state", closed)
        else:
            yield _untried("state", str(closed), f"the tier {outcome.tier.value!r} cannot do that")
        inside = path.removeprefix("workspace/")
        if path in entries or inside == path:
            yield _untried("state", f"a folder in the place of {path}", "a file is there at the beginning")
        else:
            yield Fault("state", Occupied(inside))
    yield from (
        _untried("state", f"{path} that cannot be written", "one of many") for path in written[_MOST:]
    )


def _disk(outcome: Outcome) -> Iterator[Fault | TrialResult]:
    entries = _entries(outcome)
    folders = dict.fromkeys(posixpath.dirname(path) for path in _written(outcome))
    for folder in ["tmp", *folders][:_MOST]:
        full = FullDisk(folder)
        if outcome.tier is not Tier.NAMESPACES:
            yield _untried("disk", str(full), f"the tier {outcome.tier.value!r} cannot do that")
        elif folder in ("workspace", "home") or any(path.startswith(f"{folder}/") for path in entries):
            yield _untried("disk", str(full), "it would hide what is there at the beginning")
        else:
            yield Fault("disk", full)


def _variables(outcome: Outcome, clues: HookTraits) -> Iterator[Fault | TrialResult]:
    named = b"\n".join(clues.scripts.values()) + " ".join(clues.words).encode()
    process = hosts.find(outcome.scenario.host).process
    wanted: tuple[tuple[Cause, Surroundings, bytes], ...] = (
        *(("locale", one, b"") for one in _LOCALES[:1]),
        *(("locale", one, b"python") for one in _LOCALES[1:]),
        ("profile", _PROFILE, b"" if _is_bash(process.shell[0]) else b"bash"),
        ("git", _GIT, b"git"),
    )
    for cause, one, word in wanted:
        if word not in named:
            yield _untried(cause, str(one), f"no hook names {word.decode()}")
        elif any(fnmatchcase(name, pattern) for name in one.env for pattern in process.removed):
            yield _untried(cause, str(one), f"{outcome.host} does not pass such variables on")
        else:
            yield Fault(cause, one)
    if "bash" not in process.login_shells:
        yield _untried("profile", str(_LOGIN), f"{outcome.host} starts hooks by no login shell")
    elif not Path(_LOGIN.env["SHELL"]).exists():
        yield _untried("profile", str(_LOGIN), "there is none on this machine")
    else:
        yield Fault("profile", _LOGIN)


def _is_bash(shell: str) -> bool:
    return posixpath.basename(shell) == "bash"


def _shell(clues: HookTraits) -> Iterator[Fault | TrialResult]:
    dash = Shell("dash")
    if Path("/bin/sh").resolve().name == "dash":
        yield _untried("shell", str(dash), "it is the shell of this machine anyway")
    elif clues.has("dash"):
        yield Fault("shell", dash)
    else:
        yield _untried("shell", str(dash), "there is none on this machine")
