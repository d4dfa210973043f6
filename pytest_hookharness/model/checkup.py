"""
Check-ups: what is wrong with hooks that nobody wrote a scenario for.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from pytest_hookharness.model.moves import Act
from pytest_hookharness.model.protocol import Hook
from pytest_hookharness.model.scenario import Scenario


@dataclass(frozen=True, slots=True, kw_only=True)
class HookSet:
    """
    Where one host finds hooks in a project.

    Attributes:
        host: Name of the host.
        root: The project's folder, or the plugin's.
        files: The files that configure the hooks, relative to it.
        only: The one file that is read; empty for all places where the host looks.
        plugin: Whether the folder is a plugin.
        hooks: The hooks.
        flaws: What is wrong with the settings, in sentences.
        sources: The texts of the scripts that their commands name, by path relative to the folder.
        git: Whether git is there, so that copies of the project can be repositories.
    """

    host: str
    root: Path
    files: tuple[str, ...]
    only: str = ""
    plugin: bool = False
    hooks: tuple[Hook, ...] = ()
    flaws: tuple[str, ...] = ()
    sources: tuple[tuple[str, str], ...] = ()
    git: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckSession:
    """
    One scenario of a check-up.

    Attributes:
        title: What it tries, in words that follow "with".
        scenario: The scenario.
        ends: Whether it says something how it ends; otherwise it is over after its last act.
        event: The one event that hooks are asked about, outside of any session; empty for a session.
        fields: What their input then holds beside what is made up.
        harmless: Whether nobody would object to anything in it.
        only: Words of the variations that are tried; empty for all.
    """

    title: str
    scenario: Scenario
    ends: bool = True
    event: str = ""
    fields: Mapping[str, str] = field(default_factory=dict)
    harmless: bool = False
    only: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Symptom:
    """
    Something that one session showed to be wrong.

    Attributes:
        kind: Name of a finding, or of a verdict.
        code: Code of the finding; empty for a verdict.
        hook: The command concerned; several are joined by commas.
        text: What was seen, in one sentence.
        advice: What to do about it.
        turn: The turn in which it was seen.
        shared: Whether it is known only that one of several hooks did it.
    """

    kind: str
    code: str = ""
    hook: str = ""
    text: str
    advice: str = ""
    turn: int = 0
    shared: bool = False

    @property
    def cause(self) -> tuple[str, str]:
        """
        What makes two complaints one problem.
        """
        return self.kind, self.hook


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """
    One cause of complaints, with the smallest session that shows it.

    Attributes:
        id: A name by which it can be asked for.
        complaint: What was seen in that session.
        scenario: That session.
        shown_by: The titles of all sessions that showed it.
        move: The move that the agent had just made, where the session is one that could not be made small.
        file: The scenario file that was written of it; ``None`` for none.
        unwritten: Why none can be, if one was asked for; empty otherwise.
    """

    id: str
    complaint: Symptom
    scenario: Scenario
    shown_by: tuple[str, ...] = ()
    move: Act | None = None
    file: Path | None = None
    unwritten: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckReport:
    """
    What the check-up of one place came to.

    Attributes:
        place: The place.
        problems: What is wrong, each cause once.
        only: The one problem that was looked for, until it was shown; empty for all.
        woken: The commands of the hooks that were fired.
        tried: What was tried, in sentences.
        open: What could not be told, and so speaks neither for nor against a hook, in sentences.
        undecided: Why the check-up is no proof that all is well, in sentences; empty if it is one.
        interrupted: Whether Ctrl-C ended it.
        seconds: How long it took.
    """

    place: HookSet
    problems: tuple[Problem, ...] = ()
    only: str = ""
    woken: tuple[str, ...] = ()
    tried: tuple[str, ...] = ()
    open: tuple[str, ...] = ()
    undecided: tuple[str, ...] = ()
    interrupted: bool = False
    seconds: float = 0.0
