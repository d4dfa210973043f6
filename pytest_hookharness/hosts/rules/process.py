"""The rules of processes: how a host runs a hook, and how the host itself is called from a shell."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field

from pytest_hookharness.model.fast_dataclass import dataclass
from pytest_hookharness.model.processes import KillPolicy, Stdio
from pytest_hookharness.model.protocol import Json, Rule


@dataclass(frozen=True, slots=True, kw_only=True)
class FinalAnswer:
    """
    What the host prints at the end of a session that a shell command started.

    Attributes:
        text: The agent's last message.
        session: The session's identifier.
        turns: The number of turns.
    """

    text: str
    session: str
    turns: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CallRules:
    """
    The command line with which the host works on one prompt and ends.

    Attributes:
        verb: The word that must come first; empty for none.
        prompts: Options whose value is the prompt.
        flags: Options without a value.
        valued: Options with one value.
        listed: Options that take all words up to the next option.
        folders: Options that set the working folder.
        settings: Options that name additional settings: a file, or JSON.
        sources: Options that list the settings files to read, separated by commas.
        source_paths: The state path of each name in such a list.
        hookless: Flags that turn off all hooks.
        formats: Options that set the output format.
        json_flags: Flags that set the output format ``json``.
        versions: Flags that only print the version.
        joined: The prompt if standard input has text too; a template over ``prompt`` and ``stdin``.
        answer: What is printed in each output format; the empty name is the default format.
        rules: Facts by topic.
    """

    verb: str = ""
    prompts: frozenset[str] = frozenset()
    flags: frozenset[str]
    valued: frozenset[str]
    listed: frozenset[str] = frozenset()
    folders: frozenset[str] = frozenset()
    settings: frozenset[str] = frozenset()
    sources: frozenset[str] = frozenset()
    source_paths: Mapping[str, str] = field(default_factory=dict)
    hookless: frozenset[str] = frozenset()
    formats: frozenset[str] = frozenset()
    json_flags: frozenset[str] = frozenset()
    versions: frozenset[str] = frozenset({"--version"})
    joined: str = "{prompt}\n{stdin}"
    answer: Mapping[str, Callable[[FinalAnswer], tuple[Json, ...]]]
    rules: Mapping[str, Rule]


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessRules:
    """
    How the host runs a hook.

    Attributes:
        shell: The command that runs a command line.
        login_shells: Names of shells. If ``SHELL`` names one of them, it is used instead, as a login shell.
        stdio: The type of the standard streams.
        newline: Whether a newline follows the JSON on standard input.
        own_session: Whether a hook leads a session of its own. If not, the fact ``group`` says how the
            simulation differs.
        pipe_wait: How many seconds the host waits for more output after the process has ended. ``None``:
            until the timeout, which then ends the hook like one that is still running.
        kill: How a hook is ended at its timeout.
        output_limit: How many bytes of each stream are read; ``None`` for all.
        one_by_one: Whether the hooks of an event run one after the other. A group can ask for that too.
        env: Variables that the host adds; ``str.format`` templates over the facts, ``cwd``, ``event`` in
            lower case, ``event_name`` as it is, and ``tool``. A variable is left out if its template is a
            single name without a value.
        kept_workspace: Variables among these that keep the value of the environment if they have one.
        removed: Variables that hooks do not get; ``*`` in a name stands for any characters.
        substituted: Prefix and suffix of variables whose value replaces ``${NAME}`` in a command that is
            started without a shell.
        env_file: The variable with the path of the file for later commands' variables, and this path; a
            template over the same values.
        plugin_env: Additional variables for the hooks of a plugin; templates over the same values.
        shared_limit: The variable that sets a shared time budget in milliseconds.
        shared_most: The largest shared time budget in seconds.
        rules: The facts about processes. Always: ``output``; others where another field needs them.
    """

    shell: tuple[str, ...] = ("/bin/sh", "-c")
    login_shells: tuple[str, ...] = ()
    stdio: Stdio = Stdio.PIPE
    newline: bool = False
    own_session: bool = False
    pipe_wait: float | None = 0.5
    kill: KillPolicy = KillPolicy()
    output_limit: int | None = None
    one_by_one: bool = False
    env: Mapping[str, str] = field(default_factory=dict)
    kept_workspace: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    substituted: tuple[tuple[str, str], ...] = ()
    env_file: tuple[str, str] = ("", "")
    plugin_env: Mapping[str, str] = field(default_factory=dict)
    shared_limit: str = ""
    shared_most: float = 60.0
    rules: Mapping[str, Rule]
