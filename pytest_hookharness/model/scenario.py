"""
The scenario: all input of one simulation as one value.

The first sentence of each attribute that scenario files can set is also the description of its key in the
JSON Schema and in the reference; the sentences after it are for readers of Python.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import field
from pathlib import Path
from typing import Literal

from pytest_hookharness.model.agent_sessions import Nesting
from pytest_hookharness.model.background import BackgroundProcess, ThreadLimits
from pytest_hookharness.model.delivery import Delivery, Terminal
from pytest_hookharness.model.expectations import Expectation
from pytest_hookharness.model.exploration import ExploreOptions
from pytest_hookharness.model.fast_dataclass import dataclass
from pytest_hookharness.model.moves import Move, Script
from pytest_hookharness.model.mutations import Direction, Parallel, Shaping, VaryRequest, WorkingFolder
from pytest_hookharness.model.protocol import Json, Payload


@dataclass(frozen=True, slots=True, kw_only=True)
class Double:
    """
    A test double of a command: it comes first on the PATH of the hooks and of the agent's shell.

    Attributes:
        exit: Exit code of the command.
        stdout: Text that it prints.
        stderr: Text that it prints on standard error.
        heals_after: Number of failures before it succeeds. ``None``: it never does.
        hangs: Whether it never returns.
        floods: Number of bytes that it prints before it ends.
        prompts: A question that it asks on the terminal; it waits for the answer.
        agent: The host whose agent it replaces: it runs a session with that host's hooks and prints `stdout`
            as the answer. Empty: it is no fake agent.
        does: Moves of the fake agent before it answers.
        module: A Python module that the harness's own Python runs instead.
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
        file: A glob over state paths, such as `workspace/.state/*.json`; a folder stands for everything below
            it. ``**`` crosses folders.
        keys: JSON keys, at any depth, whose values are ignored. Empty: all of it is ignored, and also whether
            it exists.
        text: A regular expression; its matches are ignored.
    """

    file: str
    keys: tuple[str, ...] = ()
    text: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class AssumedCap:
    """
    A cap on refusals of a stop that the scenario assumes instead of the host's own.

    Attributes:
        refusals: Number of refusals in a row that the host honours. ``None``: any number.
        resets: What starts the count anew: the next `prompt` only, a tool call that is carried out
            (`calls_done`), or any tool call (`calls_tried`). Empty: as on the host.
    """

    refusals: int | None = None
    resets: Literal["", "prompt", "calls_done", "calls_tried"] = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """
    The place where a scenario was written.

    Attributes:
        marks: Line and column (both from 1) of each value, by key path (``expect.verdict``,
            ``agent[2].tool``); a variant's own values are under ``variants.NAME.``.
    """

    file: Path
    marks: Mapping[str, tuple[int, int]] = field(default_factory=dict)

    def has(self, path: str) -> bool:
        """Return whether a value was written at a key path, or below it."""
        return any(mark == path or mark.startswith((f"{path}.", f"{path}[")) for mark in self.marks)

    def line(self, path: str, default: int = 1) -> int:
        """Return the line of a key path, or of the nearest path around it."""
        while path:
            if path in self.marks:
                return self.marks[path][0]
            path = path.rpartition("[")[0] if path.endswith("]") else path.rpartition(".")[0]
        return default


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """
    The answer of a hook that is not a command, such as a prompt hook or an HTTP hook.

    Attributes:
        event: Event of the hook.
        type: Type of the hook.
        match: Text that the hook's prompt, address or name must contain. Empty: any.
        reply: The answer, in the host's format for the JSON output of a command.
        times: Number of times that this answer is used. ``None``: always.
    """

    event: str
    type: str
    match: str = ""
    reply: Payload = field(default_factory=dict)
    times: int | None = None


# Fields of ``Scenario`` that scenario files write under the key ``world``.
WORLD_FIELDS = frozenset(
    {
        "answers",
        "company",
        "cover",
        "cwd",
        "full",
        "home",
        "home_folder",
        "nesting",
        "network",
        "payload",
        "place",
        "readonly",
        "relaunched",
        "setup",
        "shell",
        "subfolder",
        "worktree",
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """
    One simulation: a host, its hooks, a workspace, an agent and an expectation.

    Attributes:
        name: Name of the scenario, used in node ids.
        variant: Name of the variant. Empty: the base scenario.
        origin: Place where the scenario was written. ``None``: not in a file.
        why: What the scenario demonstrates.
        host: Name of the host, with or without `@version`; in a file also a list of names.
        project: A folder that is copied into each new workspace, or `repository`.
        plugin: A plugin folder, or `repository`, that the host loads in addition to the project's hooks.
        files: Files that are written into the workspace, by relative path; ``{{session_id}}`` stands for the
            identifier of the session. A text that begins with ``#!`` makes the file executable.
        modes: Permission bits of files, by path.
        git: Whether the workspace is a Git repository with a commit (without the key: if the project is one).
        options: Options of the host, by the host's own names.
        flags: Values of `stop_hook_active` for successive stop events, instead of the host's own; `absent`
            leaves the key out. They repeat. Empty: the host's own.
        cap: The host's cap on refusals of a stop, and what resets its count. ``None``: the host's own.
        hooks: The host's own hook configuration: a path in the workspace, or its content. ``None``: the
            host's usual places.
        commands: Test doubles of commands, by name.
        env: Environment variables of the host; ``{{workspace}}`` in a value is the path of the project.
        hidden: Commands that hooks and the agent's shell cannot find on the PATH.
        unset: Environment variables that are not set.
        order: Hooks of an event that run in sequence, by their positions in the configuration from 1.
        on_failure: Whether hooks must allow or refuse when they cannot decide; by a word of the command. The
            empty word stands for all other hooks.
        stdin: How the hooks' standard input is written. ``None``: as the host does it.
        terminal: A terminal for the hooks, and the answers typed on it. ``None``: no terminal.
        script: What the agent does, and what happens to it.
        reach: Folders of the user's that hooks must find at their real paths.
        processes: Background processes that the command `detach NAME` starts, with their hooks.
        threads: Limits on the threads that process hooks start.
        masks: Parts of the state that are irrelevant.
        until: Whether the run ends when a livelock is proved, or when the host's cap ends the loop.
        pace: Time that passes for the hooks between two turns, in addition to real time. In seconds.
        turns: Maximum number of turns.
        hook_timeout: Maximum time of one hook run, even if the host would wait longer. In seconds.
            ``None``: the setting of the test run.
        parallel: Hook runs in parallel, and the counters that must include each of them. ``None``: none.
        vary: Mutations: differences in the world that must not change the result.
        explore: Limits of the search for lock-outs in everything that a free agent can do. ``None``: no
            search.
        expect: What must hold.
        answers: Answers of hooks that are not commands.
        company: Who else sends every event just before: another session in the same workspace, or another
            agent of the same session (tool calls only). Empty: nobody.
        cover: Additional folders that belong to the state.
        cwd: The folder in which hooks are started. ``None``: the host's own choice.
        full: State paths of folders, initially empty, that have no space left. Needs namespaces.
        home: Files that are written into the home folder, by relative path; ``{{session_id}}`` stands for
            the identifier of the session.
        home_folder: A folder that is copied into each new home folder, before `home` is written.
        nesting: Limits on sessions that fake agents start within sessions.
        network: Whether hooks can use the network.
        payload: How the JSON on standard input differs from the host's. ``None``: not at all.
        place: Last component of the workspace's path. Empty: ``workspace``.
        readonly: State paths that hooks cannot write to. Needs namespaces.
        relaunched: Whether every hook run comes from a new process of the host, as after a restart.
        setup: The kind of setup that the session does before it starts. Empty: none.
        shell: The shell for the hooks' command lines, and for scripts that ask for `sh`. Empty: the
            host's own.
        subfolder: The folder of the workspace in which the session starts. Empty: the workspace itself. Paths
            in the agent's moves are relative to it, and the host looks for its settings in it.
        worktree: Name of the Git worktree in which the session starts; a hook or Git creates it. Empty:
            no worktree.
    """

    name: str
    variant: str = ""
    origin: Origin | None = None
    why: str = ""
    host: str = "claude-code"
    project: Path | None = None
    plugin: Path | None = None
    files: Mapping[str, str] = field(default_factory=dict)
    modes: Mapping[str, int] = field(default_factory=dict)
    git: bool = False
    options: Mapping[str, bool | int | float | str] = field(default_factory=dict)
    flags: tuple[bool | Literal["absent"] | None, ...] = ()
    cap: AssumedCap | None = None
    hooks: str | Mapping[str, Json] | None = None
    commands: Mapping[str, Double] = field(default_factory=dict)
    env: Mapping[str, str] = field(default_factory=dict)
    hidden: tuple[str, ...] = ()
    unset: tuple[str, ...] = ()
    order: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    on_failure: Mapping[str, Direction] = field(default_factory=dict)
    stdin: Delivery | None = None
    terminal: Terminal | None = None
    script: Script = Script()
    reach: tuple[str, ...] = ()
    processes: Mapping[str, BackgroundProcess] = field(default_factory=dict)
    threads: ThreadLimits = ThreadLimits()
    masks: tuple[Mask, ...] = ()
    until: Literal["lasso", "guard"] = "lasso"
    pace: float = 0.0
    turns: int = 200
    hook_timeout: float | None = None
    parallel: Parallel | None = None
    vary: tuple[VaryRequest, ...] = ()
    explore: ExploreOptions | None = None
    expect: Expectation = Expectation(verdict="terminated")
    # The world: see WORLD_FIELDS.
    answers: tuple[Answer, ...] = ()
    company: Literal["", "session", "agent"] = ""
    cover: tuple[str, ...] = ()
    cwd: WorkingFolder | None = None
    full: tuple[str, ...] = ()
    home: Mapping[str, str] = field(default_factory=dict)
    home_folder: Path | None = None
    nesting: Nesting = Nesting()
    network: bool = False
    payload: Shaping | None = None
    place: str = ""
    readonly: tuple[str, ...] = ()
    relaunched: bool = False
    setup: Literal["", "init", "maintenance"] = ""
    shell: str = ""
    subfolder: str = ""
    worktree: str = ""

    @property
    def fake_agents(self) -> tuple[str, ...]:
        """The names of the test doubles that replace agents."""
        return tuple(name for name, double in self.commands.items() if double.agent)

    @property
    def id(self) -> str:
        """Name, variant and host in the format of node ids, ``name[variant-host]``."""
        inner = f"{self.variant}-{self.host}" if self.variant else self.host
        return f"{self.name}[{inner}]"

    @property
    def named_reach(self) -> tuple[tuple[str, str], ...]:
        """The folders of ``reach``, each as `.`, which is how their files were named; never the root."""
        return tuple((folder, ".") for folder in self.reach if folder != "/")

    def mark(self, path: str) -> str:
        """
        Return the key path under which a value was written: the variant's own, or the base's.

        If neither wrote the value, it is the variant's where the variant wrote the same top-level key.
        """
        if self.variant and self.origin is not None:
            own = f"variants.{self.variant}.{path}"
            around = f"variants.{self.variant}.{re.split(r'[.[]', path, maxsplit=1)[0]}"
            if self.origin.has(own) or (self.origin.has(around) and not self.origin.has(path)):
                return own
        return path


def without_final_zeros(host: str) -> str:
    """Return a host's name with its version without zeros at the end: 1.58.0 and 1.58 are one release."""
    name, at, version = host.partition("@")
    while at and version.endswith(".0"):
        version = version.removesuffix(".0")
    return f"{name}{at}{version}"
