"""Checks: problems of a project's hooks, found without a scenario file."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import field
from functools import lru_cache
from pathlib import Path

from pytest_hookharness.model.fast_dataclass import dataclass
from pytest_hookharness.model.file_change import FileChange
from pytest_hookharness.model.moves import Act
from pytest_hookharness.model.protocol import Hook, Json
from pytest_hookharness.model.scenario import Scenario
from pytest_hookharness.model.verdicts import Finding

_SCRIPT = re.compile(r"[\w./~$@{}+-]+\.(?:sh|bash|zsh|py|js|mjs|cjs|ts|rb|pl|php|cmd|ps1)(?![\w.(])")
_LONGEST = 50


def script_of(command: str) -> str:
    """Return the last word of a command that looks like a script; empty for none."""
    return str(next(reversed(_SCRIPT.findall(command)), ""))


def hook_name(hooks: Sequence[Hook], command: str, entries: Sequence[int] = ()) -> str:
    """
    Return a name for the hooks with a command, such as ``Stop 2 (gate.sh)``; the command if none has it.

    ``entries`` are the positions of the hooks that are meant among all hooks of the settings, from 1; empty
    for all.
    """
    counts: dict[str, int] = {}
    places: list[str] = []
    for number, hook in enumerate(hooks, 1):
        counts[hook.event] = counts.get(hook.event, 0) + 1
        if hook.command == command and (not entries or number in entries):
            places.append(f"{hook.event} {counts[hook.event]}")
    script = script_of(command).rpartition("/")[2]
    words = " ".join(command.split())
    what = script or (words if len(words) <= _LONGEST else f"{words[:_LONGEST]}...")
    return f"{', '.join(places)} ({what})" if places else command


def hook_names(hooks: Sequence[Hook], commands: str, entries: Sequence[int] = ()) -> str:
    """Return the names for several commands, which are separated by commas."""
    return ", ".join(list_hook_names(hooks, commands, entries)) or commands


def list_hook_names(hooks: Sequence[Hook], commands: str, entries: Sequence[int] = ()) -> list[str]:
    """Return a name for each of the hooks with one of several commands, which are separated by commas."""
    known = dict.fromkeys(hook.command for hook in hooks)
    return [hook_name(hooks, command, entries) for command in known if is_named(command, commands)]


def is_named(command: str, commands: str) -> bool:
    """Return whether a command is one of several, which are separated by commas."""
    return bool(command) and f", {command}, " in f", {commands}, "


@lru_cache(maxsize=1 << 14)
def _named_parts(command: str, script: str) -> int:
    """Return twice how many parts of a script's path, from its end, a command names, and 1 more for all."""
    parts = script.split("/")
    for many in range(len(parts), 0, -1) if parts[-1] in command else ():
        if re.search(rf"(?<![\w.-]){re.escape('/'.join(parts[-many:]))}(?![\w-])", command):
            return 2 * many + (many == len(parts))
    return 0


@dataclass(frozen=True, slots=True, kw_only=True)
class HookSet:
    """
    The hooks that one host finds in a project.

    Attributes:
        root: Folder of the project or the plugin.
        files: Settings files, relative to it.
        part: The plugin, skill, command or subagent that has these hooks, if there are several; else empty.
        only: The only settings file that is read; empty for all of the host's places.
        elsewhere: Whether that file is not where the host looks, such as one that an installer copies.
        inline: Settings with the hooks of a component, as if it were active; else ``None``.
        env: Variables of that component.
        plugin: Whether the folder is a plugin.
        shared: Hooks of other files that this host reads too, which are checked with another host.
        flaws: Problems in the settings, in sentences.
        findings: The same as findings.
        off: The switch in the settings that turns all hooks off, in a sentence; empty for none.
        sources: Texts of the scripts in their commands, as pairs of path (relative to the folder) and text.
        meant: Missing paths in commands, each with the path of the only file of that name.
        lent: What of the person's HOME is lent to the hooks, by path below it.
        installed: What an installer copies to HOME, as pairs of path there and in the project; ``.`` for all.
        looked_for: Missing files of the project that hooks looked for; a path may have ``{{session_id}}``.
        aside: Files that hooks look for or write where the agent works, as pairs of path there and command.
        home: The folder that each session gets as HOME; ``None`` for an empty one.
        reach: Folders of the person's that hooks find at their real paths.
        lent_env: Variables that name these folders.
        texts: Files that the sessions have in the place of the project's own, by their paths in it.
        git: Whether Git is installed, so that copies of the project can be repositories.
        found: The hook set as it was found, if this is another form of it for sessions; else ``None``.
    """

    host: str
    root: Path
    files: tuple[str, ...]
    part: str = ""
    only: str = ""
    elsewhere: bool = False
    inline: Mapping[str, Json] | None = None
    env: Mapping[str, str] = field(default_factory=dict)
    plugin: bool = False
    hooks: tuple[Hook, ...] = ()
    shared: tuple[Hook, ...] = ()
    flaws: tuple[str, ...] = ()
    findings: tuple[Finding, ...] = ()
    off: str = ""
    sources: tuple[tuple[str, str], ...] = ()
    meant: Mapping[str, str] = field(default_factory=dict)
    lent: tuple[str, ...] = ()
    installed: tuple[tuple[str, str], ...] = ()
    looked_for: tuple[str, ...] = ()
    aside: tuple[tuple[str, str], ...] = ()
    home: Path | None = None
    reach: tuple[str, ...] = ()
    lent_env: Mapping[str, str] = field(default_factory=dict)
    texts: Mapping[str, str] = field(default_factory=dict)
    git: bool = True
    found: HookSet | None = None

    def sources_of(self, hook: Hook) -> list[tuple[str, str]]:
        """
        Return the scripts whose names are in the command of a hook, as pairs of path and text.

        If several have the same name, the command means those of which it names more folders.
        """
        command = " ".join(hook.words)
        named = [(one, parts) for one in self.sources if (parts := _named_parts(command, one[0]))]
        most: dict[str, int] = {}
        for (path, _), parts in named:
            most[path.rpartition("/")[2]] = max(parts, most.get(path.rpartition("/")[2], 0))
        return [one for one, parts in named if parts == most[one[0].rpartition("/")[2]]]

    def scripts_of(self, hook: Hook) -> list[str]:
        """Return the texts of the scripts whose names are in the command of a hook."""
        return [text for _, text in self.sources_of(hook)]

    def code_of(self, *hooks: Hook) -> list[str]:
        """Return the texts of the scripts of some hooks; the command of a hook that has none."""
        return [text for hook in hooks for text in self.scripts_of(hook) or [hook.command]]

    def hooks_of(self, script: str) -> list[Hook]:
        """Return the hooks whose commands have the name of a script."""
        if script not in dict(self.sources):
            return [hook for hook in self.hooks if _named_parts(hook.command, script)]
        return [hook for hook in self.hooks if script in dict(self.sources_of(hook))]

    @property
    def documented(self) -> bool:
        """Whether the settings stand in the documentation, for users to copy them."""
        return self.elsewhere and self.files[0].endswith(".md")

    @property
    def unnamed(self) -> bool:
        """Whether no settings name the scripts, so that their events are guessed."""
        return self.elsewhere and self.inline is not None and not self.documented

    @property
    def title(self) -> str:
        """The host, and the part of the project where there are several."""
        return f"{self.host} ({self.part})" if self.part else self.host


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckSession:
    """
    One session that a check simulates.

    Attributes:
        title: What it tries, in words that follow "with".
        ends: Whether its end is judged; otherwise it is over after its last act.
        event: The single event that hooks receive without a session; empty for a session.
        fields: Fixed values of their input; the other values are generated.
        harmless: Whether no hook has a reason to refuse anything in it.
        only: Text that selects the mutations that are tried; empty for all.
        active: What was activated for it, so that nothing can be left out of it; empty for nothing.
        way_out: What an agent does whose stop is allowed, in words that follow "if it"; empty for nothing.
        proof: Whether it is small, and shows again what another session showed.
    """

    title: str
    scenario: Scenario
    ends: bool = True
    event: str = ""
    fields: Mapping[str, str] = field(default_factory=dict)
    harmless: bool = False
    only: str = ""
    active: str = ""
    way_out: str = ""
    proof: bool = False


# Names of findings about hooks that work, and could work better.
_WORTH_KNOWING = frozenset([
    "EMPTY-ADVICE", "FALSE-ADVICE", "TEXT-MATCH", "RAW-JSON", "BASENAME", "DOUBLE-NOISE", "PROMPT-NOISE",
    "UNSEEN-REASON", "STATUS-LEAK", "UNGUARDED-TOOL", "WRONG-KEY", "LEFTOVER", "SLOW", "TIMEOUT-UNIT",
    "UNQUOTED-PATH", "RELATIVE-PATH", "BYPASS", "UNASKED", "OVERBLOCK", "MISSED-SECRET", "ORDER",
])  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Symptom:
    """
    One wrong behaviour in one session.

    Attributes:
        kind: Name of a finding or a verdict.
        code: Code of the finding; empty for a verdict.
        hook: Command of the hook; several are separated by commas.
        text: The observation, in one sentence.
        printed: The deciding lines that the hook wrote to standard error; empty if there are none.
        effect: What the host made of it, in one sentence; empty if that is in ``text``.
        assumes: What a verdict rests on that another agent or another time may change, in sentences.
        shared: Whether only a group of hooks is known, and not which of them caused it.
        entries: The positions of the hooks among all, from 1, if not all with the command are meant.
        avoidable: Whether some agents do not meet it, such as one that does what it is told.
        topic: What it is about, where a hook may have several problems of the kind; else empty.
    """

    kind: str
    code: str = ""
    hook: str = ""
    text: str
    advice: str = ""
    turn: int = 0
    printed: str = ""
    effect: str = ""
    assumes: tuple[str, ...] = ()
    shared: bool = False
    entries: tuple[int, ...] = ()
    avoidable: bool = False
    topic: str = ""

    @property
    def cause(self) -> tuple[str, str, str]:
        """The key by which symptoms are grouped: equal causes are one problem."""
        return self.kind, self.hook, self.topic

    @property
    def must_fix(self) -> bool:
        """Whether the hook fails or does harm; otherwise it is only worth knowing."""
        return not self.avoidable and (self.kind not in _WORTH_KNOWING or bool(self.effect))


@dataclass(frozen=True, slots=True, kw_only=True)
class Fix:
    """
    A change that was played and showed neither the problem nor another one, as a command to a person.

    The evidence is what was played and seen. No files are ``written`` until it is applied.
    """

    text: str
    evidence: str
    files: tuple[str, ...] = ()
    written: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """
    One cause of symptoms, with a small session that shows it.

    Attributes:
        id: Name of the problem, for the command line.
        shown_by: Titles of all sessions that showed it.
        move: The agent's last move before it, if the session could not be made smaller; else ``None``.
        file: The scenario file written for it; ``None`` if there is none.
        unwritten: Why a requested file could not be written; empty otherwise.
        active: What was activated, as the hook does nothing without it; empty for nothing.
        fix: A fix that was played; ``None`` if none was found.
    """

    id: str
    symptom: Symptom
    scenario: Scenario
    shown_by: tuple[str, ...] = ()
    move: Act | None = None
    file: Path | None = None
    unwritten: str = ""
    active: str = ""
    fix: Fix | None = None

    @property
    def is_fixed(self) -> bool:
        """Whether its fix was written."""
        return self.fix is not None and bool(self.fix.written)


@dataclass(frozen=True, slots=True, kw_only=True)
class AcceptedProblem:
    """A problem that somebody accepted, with the reason."""

    problem: Problem
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckReport:
    """
    The result of the check of one hook set.

    Attributes:
        problems: The problems, one for each cause.
        accepted: The problems that a baseline accepts; they are not among the others.
        only: The only problem that was searched for; empty for all.
        triggered: Commands of the hooks that ran.
        hindered: Commands of those that failed each time for want of something on this machine.
        tried: What was tried, in sentences.
        open: Inconclusive results, in sentences.
        untried: Hooks that could not be tried here, and why, in sentences.
        undecided: Why the check does not prove that the hooks are correct, in sentences; empty if it does.
        changes: The files that all fixes of the problems change together.
        interrupted: Whether Ctrl-C ended it.
        failed: Whether an error of the harness ended it.
    """

    place: HookSet
    problems: tuple[Problem, ...] = ()
    accepted: tuple[AcceptedProblem, ...] = ()
    only: str = ""
    triggered: tuple[str, ...] = ()
    hindered: tuple[str, ...] = ()
    tried: tuple[str, ...] = ()
    open: tuple[str, ...] = ()
    untried: tuple[str, ...] = ()
    undecided: tuple[str, ...] = ()
    changes: tuple[FileChange, ...] = ()
    interrupted: bool = False
    failed: bool = False
    seconds: float = 0.0
