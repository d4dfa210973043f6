"""Mutations of the environment: variables, shells, locales, shell profiles, and Git's own variables."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, replace
from fnmatch import fnmatchcase
from pathlib import Path

from pytest_hookharness import hosts
from pytest_hookharness.campaigns.stress.first_run import HookTraits, ReplayScript
from pytest_hookharness.campaigns.stress.mutation import Mutation, NotTried
from pytest_hookharness.judging.comparison.traces import (
    Defect,
    Pair,
    by_decision,
    by_failure,
    describe_end,
    failed_silently,
    status,
)
from pytest_hookharness.judging.findings.codes import STRICT_SHELL
from pytest_hookharness.model.fast_dataclass import dataclass
from pytest_hookharness.model.mutations import Shaping, VaryRequest
from pytest_hookharness.model.outcome import Outcome
from pytest_hookharness.model.scenario import Scenario
from pytest_hookharness.model.trace import HookRun, Trace
from pytest_hookharness.model.verdicts import Finding

# Without these nothing runs at all, or it is not the hook that fails.
_NEEDED = frozenset({"PATH", "HOME", "PWD"})
_SHELLS = ("dash", "bash --posix", "busybox sh", "mksh", "yash")
_EXTRA_KEY = "a_text_beyond_ascii"


@dataclass(frozen=True, slots=True)
class Unset(Mutation, family="unset"):
    """One variable that is not in the environment."""

    variable: str

    def __str__(self) -> str:
        return f"the variable {self.variable} not set"

    @property
    def subject(self) -> str:
        return self.variable

    def apply(self, scenario: Scenario, replay: ReplayScript) -> Scenario:
        return replace(scenario, unset=(*scenario.unset, self.variable))

    def look(self, pair: Pair) -> Defect | None:
        return by_failure(pair)


@dataclass(frozen=True, slots=True)
class Shell(Mutation):
    """Another shell for hooks that do not name one; without ``words``, the host's own with ``env``."""

    words: str = ""
    env: Mapping[str, str] = field(default_factory=dict)
    fault: bool = False

    def __str__(self) -> str:
        given = " ".join(f"{name}={value}" for name, value in self.env.items())
        return f"the shell `{self.words or 'bash'}`" + (f" with {given}" if given else "")

    @property
    def family(self) -> str:
        return "shell" if self.fault else "shells"

    @property
    def as_fault(self) -> bool:
        return self.fault

    @property
    def name(self) -> str:
        return str(self).removeprefix("the shell ")

    def apply(self, scenario: Scenario, replay: ReplayScript) -> Scenario:
        return replace(scenario, shell=self.words, env={**scenario.env, **self.env})

    def look(self, pair: Pair) -> Defect | None:
        return by_failure(pair) or by_decision(STRICT_SHELL, pair)


@dataclass(frozen=True, slots=True)
class _Surroundings(Mutation, fault=True):
    """
    Variables, and the files that they name; ``words`` say what they bring about.

    A fault may only show with a further text in each input (``extra``).
    """

    words: str
    env: Mapping[str, str]
    files: Mapping[str, str] = field(default_factory=dict)
    home: Mapping[str, str] = field(default_factory=dict)
    extra: str = ""

    def __str__(self) -> str:
        return self.words

    @property
    def reference(self) -> Mutation | None:
        """The further key alone, so that a hook that minds the key is not blamed for the variables."""
        return replace(self, env={}, files={}, home={}) if self.extra else None

    def apply(self, scenario: Scenario, replay: ReplayScript) -> Scenario:
        files = {**scenario.files, **self.files}
        home = {**scenario.home, **self.home}
        made = replace(scenario, env={**scenario.env, **self.env}, files=files, home=home)
        if not self.extra:
            return made
        shaping = scenario.payload or Shaping()
        return replace(made, payload=replace(shaping, extra={**shaping.extra, _EXTRA_KEY: self.extra}))


class Locale(_Surroundings, family="locale"):
    """Another locale, with a text in the input that it cannot encode."""

    __slots__ = ()


class NoisyProfile(_Surroundings, family="profile"):
    """A profile of the shell that prints a line."""

    __slots__ = ()


class GitVariables(_Surroundings, family="git"):
    """Variables of Git that name another repository."""

    __slots__ = ()


_OLD_BASH = Shell(env={"BASH_COMPAT": "3.2"})
# Some bytes of its UTF-8 form mean nothing in cp1252.
_BEYOND_ASCII = "\u00cd\u010f \u65e5\u672c \U0001f600"
_C = Locale(
    "the locale C, and a text beyond ASCII in its input",
    {"LC_ALL": "C", "LANG": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
    extra=_BEYOND_ASCII,
)
_CP1252 = Locale(
    "Python's streams in cp1252, and a text beyond ASCII in its input",
    {"PYTHONIOENCODING": "cp1252", "PYTHONUTF8": "0"},
    extra=_BEYOND_ASCII,
)
_PROFILE = NoisyProfile(
    "a file named by BASH_ENV that prints a line",
    {"BASH_ENV": "./.noisy-profile"},
    {".noisy-profile": "echo Welcome.\n"},
)
_LOGIN = NoisyProfile(
    "bash as a login shell, with a profile that prints a line",
    {"SHELL": "/bin/bash"},
    home={".bash_profile": "echo Welcome.\n"},
)
_GIT = GitVariables(
    "the GIT_DIR and GIT_INDEX_FILE of another repository",
    {"GIT_DIR": "/nonexistent/other.git", "GIT_INDEX_FILE": "/nonexistent/other.git/index"},
)


def find_first_failure(usual: Trace) -> Finding | None:
    """
    Return the finding for a hook whose first run alone failed silently.

    Strict shells often fail so, because a counter or file of the hook is empty at first.
    """
    found: dict[tuple[str, str], list[tuple[int, HookRun]]] = {}
    for step, hook_run in usual.hook_runs():
        found.setdefault((hook_run.hook.event, hook_run.hook.command), []).append((step.turn, hook_run))
    for (event, command), ((turn, first), *others) in found.items():
        if failed_silently(first) and others and all(status(hook_run) == 0 for _, hook_run in others):
            end, later = describe_end(first), len(others)
            text = f"{event}: the first run ended with {end}, {later} later ones with exit 0."
            return STRICT_SHELL.found(text, turn=turn, hook=command)
    return None


def plan(request: VaryRequest, outcome: Outcome, traits: HookTraits) -> Iterator[Mutation | NotTried]:
    """Yield unset variables, other shells, and variables that change what the hooks' programs do."""
    match request.family:
        case "unset":
            named = sorted(traits.words & traits.environment.keys() - _NEEDED)
            yield from map(Unset, request.names or named)
            if not (request.names or named):
                yield NotTried("unset", "the hooks name no variable that is set and that nothing else needs")
        case "shells":
            yield from _named_shells(traits, request.names) if request.names else _shells(traits)
        case "faults":
            yield from _surroundings(outcome, traits)
            yield from _other_shell(traits)
        case _:
            return


def _shells(traits: HookTraits) -> Iterator[Mutation | NotTried]:
    known = {words: traits.has(words.partition(" ")[0]) for words in _SHELLS}
    yield from (Shell(words) for words, there in known.items() if there)
    yield _OLD_BASH
    missing = [words for words, there in known.items() if not there]
    yield NotTried("shells", f"{', '.join([*missing, 'bash 3.2 itself'])}, not available here")


def _named_shells(traits: HookTraits, names: Sequence[str]) -> Iterator[Mutation | NotTried]:
    for words in names:
        there = traits.has(words.partition(" ")[0])
        yield Shell(words) if there else NotTried("shells", f"{words}, not available here")


def _surroundings(outcome: Outcome, traits: HookTraits) -> Iterator[Mutation | NotTried]:
    named = b"\n".join(traits.scripts.values()) + " ".join(traits.words).encode()
    process = hosts.find(outcome.scenario.host).process
    runs_bash = posixpath.basename(process.shell[0]) == "bash"
    wanted = ((_C, b""), (_CP1252, b"python"), (_PROFILE, b"" if runs_bash else b"bash"), (_GIT, b"git"))
    for one, word in wanted:
        if word not in named:
            yield NotTried(one.family, f"no hook names {word.decode()}", str(one))
        elif any(fnmatchcase(name, pattern) for name in one.env for pattern in process.removed):
            yield NotTried(one.family, f"{outcome.host} does not pass such variables on", str(one))
        else:
            yield one
    if "bash" not in process.login_shells:
        yield NotTried("profile", f"{outcome.host} starts hooks without a login shell", str(_LOGIN))
    elif not Path(_LOGIN.env["SHELL"]).exists():
        yield NotTried("profile", "there is none on this machine", str(_LOGIN))
    else:
        yield _LOGIN


def _other_shell(traits: HookTraits) -> Iterator[Mutation | NotTried]:
    dash = Shell("dash", fault=True)
    if Path("/bin/sh").resolve().name == "dash":
        yield NotTried("shell", "it is the shell of this machine anyway", str(dash))
    elif traits.has("dash"):
        yield dash
    else:
        yield NotTried("shell", "there is none on this machine", str(dash))
