"""
The rules by which a host runs a hook.

The rules of a host's own command line: how it is called without a person.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from pytest_hookharness.model.processes import KillPolicy, Stdio
from pytest_hookharness.model.protocol import Json, Rule


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """
    What is known of a session when its answer is printed.
    """

    text: str
    session: str
    turns: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CallRules:
    """
    How the host is called to work on one prompt and end.

    Attributes:
        verb: The word that must come first; empty if none must.
        prompts: Options whose value is the prompt.
        flags: Options without a value.
        valued: Options with one value.
        listed: Options that take all words up to the next option.
        folders: Options that name the folder to work in.
        settings: Options that name further settings: a file, or JSON itself.
        sources: Options that name the settings that are read, with commas between them.
        source_paths: Where each of these is, by state path.
        hookless: Flags with which no hook is read.
        formats: Options that name a form of the output.
        json_flags: Flags that ask for JSON.
        versions: Flags with which only the version is printed.
        joined: Prompt and standard input as one prompt; over ``prompt`` and ``stdin``.
        answer: The answer in each form; that of the empty name is the usual one.
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
    answer: Mapping[str, Callable[[Answered], tuple[Json, ...]]]
    rules: Mapping[str, Rule]


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessRules:
    """
    How the host runs a hook.

    Attributes:
        shell: What a command line is given to.
        login_shells: Names of shells of which the one in SHELL is taken instead, as a login shell.
        stdio: What the standard streams are.
        newline: Whether a newline follows the JSON.
        own_session: Whether the host starts it in a session of its own; if not, ``group`` says how far the
            process group of a hook is another here.
        pipe_wait: How long output is waited for once the process has ended; ``None`` for until the limit,
            which cuts it then like a hook that still runs.
        kill: How a hook that takes too long is ended.
        output_limit: How many bytes of each stream are read; ``None`` for all.
        one_by_one: Whether the hooks of an event run one after the other. A group can ask for that too.
        env: Variables that the host adds; ``str.format`` templates over the facts, ``cwd``, and ``event`` in
            lower case, ``event_name`` as it is and ``tool``. One whose template is nothing but a word
            without a value is left out.
        kept_workspace: Variables of those that are left alone if the environment has them.
        removed: Variables that hooks do not get; names with ``*`` for any characters.
        filled: Variables whose value is put for ``${NAME}`` in a command that is started without a shell:
            what their names begin and end with.
        env_file: The file for variables of later commands; a template like those.
        plugin_env: Further variables for the hooks of a plugin; templates like those.
        shared_limit: The variable that sets a shared budget in milliseconds.
        shared_most: Most seconds that a shared budget is raised to.
        rules: Where this is known from. Always: ``output``; others as other fields need them.
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
    filled: tuple[tuple[str, str], ...] = ()
    env_file: tuple[str, str] = ("", "")
    plugin_env: Mapping[str, str] = field(default_factory=dict)
    shared_limit: str = ""
    shared_most: float = 60.0
    rules: Mapping[str, Rule]
