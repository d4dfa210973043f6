"""
The scenario: the whole input of one simulation as one value.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from pytest_hookharness.model.agent_sessions import Nesting
from pytest_hookharness.model.background import BackgroundProcess, ThreadLimits
from pytest_hookharness.model.delivery import Delivery, Terminal
from pytest_hookharness.model.expectations import Expectation
from pytest_hookharness.model.exploration import ExploreOptions
from pytest_hookharness.model.moves import Move, Script
from pytest_hookharness.model.mutations import Direction, Parallel, Shaping, VaryRequest, WorkingFolder
from pytest_hookharness.model.protocol import Json, Payload


@dataclass(frozen=True, slots=True, kw_only=True)
class Double:
    """
    A stand-in command, first on the PATH of the hooks and of the agent's shell.

    Attributes:
        exit: Its exit code.
        stdout: What it prints.
        stderr: What it prints on standard error.
        heals_after: It fails this many times and then succeeds; ``None`` for never.
        hangs: It never returns.
        floods: Bytes it prints before it ends.
        prompts: A question that it asks on the terminal, and waits.
        agent: The host that it stands in for: it plays a session of its own, with the hooks that it finds,
            and prints ``stdout`` as the agent's answer. Empty for none.
        does: What the agent of that session does before it answers.
        module: A module of the Python that runs the harness, which is run in its place.
    """

    exit: int = 0
    stdout: str = ""
    stderr: str = ""
    heals_after: int | None = None
    hangs: bool = False
    floods: int = 0
    prompts: str = ""
    agent: str = ""
    does: tuple[Move, ...] = ()
    module: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mask:
    """
    A piece of the state that the author declares irrelevant.

    Attributes:
        file: A glob over state paths such as ``workspace/.state/*.json``; ``**`` crosses folders.
        keys: JSON keys, at any depth, whose values are left out; empty leaves the whole content out.
        text: A regular expression whose matches are left out instead.
    """

    file: str
    keys: tuple[str, ...] = ()
    text: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """
    Where a scenario was written.

    Attributes:
        file: The scenario file.
        marks: Line and column (both from 1) of each value, by key path (``expect.verdict``,
            ``agent[2].tool``); a variant's own values stand under ``variants.NAME.``.
    """

    file: Path
    marks: Mapping[str, tuple[int, int]] = field(default_factory=dict)

    def line(self, path: str, default: int = 1) -> int:
        """
        The line of a key path, or of the nearest path around it.
        """
        while path:
            if path in self.marks:
                return self.marks[path][0]
            path = path.rpartition("[")[0] if path.endswith("]") else path.rpartition(".")[0]
        return default


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """
    What the scenario lets a handler answer that is not a command.

    Attributes:
        event: The event of the handler.
        type: Its type: ``prompt``, ``http``, ``agent`` or ``mcp_tool``.
        match: A word that its prompt, address or name must hold; empty for any.
        reply: What it answers, as the host reads the JSON output of a command.
        times: Answer only this often, then go to the next; ``None`` for always.
    """

    event: str
    type: str
    match: str = ""
    reply: Payload = field(default_factory=dict)
    times: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """
    One simulation: a host, its hooks, a workspace, an agent and a promise.

    Attributes:
        name: The scenario's name.
        host: Name of a host profile, with or without ``@version``.
        variant: Name of the variant; empty for the base.
        why: What the author wants to show.
        origin: Where it was written, if in a file.
        project: A folder that is copied fresh into the workspace.
        plugin: A plugin folder, loaded by the host beside the project's own hooks.
        files: Files written into the workspace after that, by path relative to it. A text that
            begins with ``#!`` makes the file executable.
        home: Files written into the home folder, by path relative to it.
        modes: Permission bits for files, by path.
        git: Whether the workspace is a committed repository.
        worktree: Name of the worktree that the session is started in; empty for none.
        setup: What the session sets up before it starts, ``init`` or ``maintenance``; empty for nothing.
        options: Options that the host is started with, by its own names.
        flags: What hooks of stops are told as stop_hook_active, one after the other and over again; empty for
            what the host says.
        hooks: Hook configuration: the path of the host's own file relative to the workspace, or its
            content; ``None`` for the host's usual places.
        commands: Doubles by name.
        hidden: Commands that are on no folder of PATH, for hooks and for the agent's shell.
        nesting: How far the sessions of stand-ins may start sessions.
        env: Variables of the host's environment.
        unset: Variables that are not in it.
        shell: The shell that runs the hooks' command lines, and scripts that only ask for ``sh``; empty for
            the host's own.
        order: Orders in which the hooks of an event run, one after the other, as places in the
            configuration from 1.
        company: Who else sends every event to the hooks, just before it does: another ``session`` in the
            same workspace, or (of tool calls) another ``agent`` of the same session; empty for nobody.
        relaunched: Whether every fire comes from a new process of the host, as after a restart.
        on_failure: What hooks must do when they cannot decide, by a word of their command; the empty word
            stands for all others.
        cwd: Where hooks are started; ``None`` for where the host starts them.
        place: The last part of the workspace's path; empty for ``workspace``.
        readonly: State paths that hooks cannot write to; only namespaces can do that.
        full: State paths of folders, empty at first, without room for one byte; only namespaces can do that.
        stdin: How the hooks' standard input is written; ``None`` for as the host does.
        payload: How its JSON differs from what the host writes; ``None`` for not at all.
        terminal: The terminal that hooks can open, and who types on it; ``None`` for none.
        network: Whether the hooks may reach the network.
        script: The agent.
        pace: Seconds that pass for the hooks before each turn of the agent, beside what it really takes.
        answers: Replies of handlers that are not commands.
        masks: Parts of the state that the author declares irrelevant.
        cover: Further absolute folders that belong to the state.
        reach: Folders of the developer that the hooks must find at their own place.
        processes: Processes that may be detached by the command ``detach``, by name, with their hooks.
        threads: What holds the threads of those hooks back.
        until: ``lasso`` ends the run at the proof of a livelock, ``guard`` lets the guard end it.
        turns: Most turns that are played.
        hook_timeout: Seconds after which a fire is cut although its host would wait longer; ``None`` for
            the setting of the run.
        parallel: The hooks that run side by side, and the counters of their runs; ``None`` for none.
        vary: What must not matter: the scenario is played again with one such thing different.
        explore: How far it is explored what a free agent can do; ``None`` for not at all.
        expect: The author's promise.
    """

    name: str
    host: str = "claude-code"
    variant: str = ""
    why: str = ""
    origin: Origin | None = None
    project: Path | None = None
    plugin: Path | None = None
    files: Mapping[str, str] = field(default_factory=dict)
    home: Mapping[str, str] = field(default_factory=dict)
    modes: Mapping[str, int] = field(default_factory=dict)
    git: bool = False
    worktree: str = ""
    setup: Literal["", "init", "maintenance"] = ""
    options: Mapping[str, bool | int | float | str] = field(default_factory=dict)
    flags: tuple[bool, ...] = ()
    hooks: str | Mapping[str, Json] | None = None
    commands: Mapping[str, Double] = field(default_factory=dict)
    hidden: tuple[str, ...] = ()
    nesting: Nesting = Nesting()
    env: Mapping[str, str] = field(default_factory=dict)
    unset: tuple[str, ...] = ()
    shell: str = ""
    order: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    company: Literal["", "session", "agent"] = ""
    relaunched: bool = False
    on_failure: Mapping[str, Direction] = field(default_factory=dict)
    cwd: WorkingFolder | None = None
    place: str = ""
    readonly: tuple[str, ...] = ()
    full: tuple[str, ...] = ()
    stdin: Delivery | None = None
    payload: Shaping | None = None
    terminal: Terminal | None = None
    network: bool = False
    script: Script = Script()
    pace: float = 0.0
    answers: tuple[Answer, ...] = ()
    masks: tuple[Mask, ...] = ()
    cover: tuple[str, ...] = ()
    reach: tuple[str, ...] = ()
    processes: Mapping[str, BackgroundProcess] = field(default_factory=dict)
    threads: ThreadLimits = ThreadLimits()
    until: Literal["lasso", "guard"] = "lasso"
    turns: int = 200
    hook_timeout: float | None = None
    parallel: Parallel | None = None
    vary: tuple[VaryRequest, ...] = ()
    explore: ExploreOptions | None = None
    expect: Expectation = Expectation(verdict="terminated")

    @property
    def stand_ins(self) -> tuple[str, ...]:
        """
        The names of those doubles that stand in for agents.
        """
        return tuple(name for name, double in self.commands.items() if double.agent)

    @property
    def id(self) -> str:
        """
        Name, variant and host, as they stand in a node id.
        """
        inner = f"{self.variant}-{self.host}" if self.variant else self.host
        return f"{self.name}[{inner}]"

    def mark(self, path: str) -> str:
        """
        The key path under which a value of this scenario was really written.
        """
        if self.variant and self.origin is not None:
            own = f"variants.{self.variant}.{path}"
            if any(mark == own or mark.startswith((own + ".", own + "[")) for mark in self.origin.marks):
                return own
        return path
