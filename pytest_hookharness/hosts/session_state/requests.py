"""
What a session asks for, and what it is answered.

A session never acts; it asks and goes on with the answer.

Prompts that name a command: a text from a file that the model sees instead.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from pytest_hookharness.hosts.rules.profile import Operation, Profile
from pytest_hookharness.model.moves import Act, Observation, Performance, ToolCall
from pytest_hookharness.model.processes import ProcessResult
from pytest_hookharness.model.protocol import Hook, Payload, Rule

_TYPED = re.compile(r"/([^\s/]+)(?:\s+(.*))?", re.DOTALL)
_FRONT = re.compile(r"---[ \t]*\n(?:.*?\n)??---[ \t]*(?:\n|\Z)", re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptCommand:
    """
    A command that a prompt can name.

    Attributes:
        name: What the prompt calls it.
        source: Whose it is, in the host's words.
        text: What the model sees, without front matter; arguments are not yet in it.
    """

    name: str
    source: str
    text: str


def read_commands(profile: Profile, files: Mapping[str, str]) -> tuple[PromptCommand, ...]:
    """
    The commands of a host, from texts of files by state path; of two with one name the nearer comes first.
    """
    rules = profile.commands
    if rules is None:
        return ()
    return tuple(
        PromptCommand(
            name=posixpath.basename(path).removesuffix(rules.suffix),
            source=source,
            text=_without_front(text.replace("\r\n", "\n")),
        )
        for folder, source in rules.folders.items()
        for path, text in files.items()
        if posixpath.dirname(path) == folder and path.endswith(rules.suffix)
    )


def _without_front(text: str) -> str:
    front = _FRONT.match(text)
    return text[front.end() :] if front is not None else text


def find_command(commands: tuple[PromptCommand, ...], prompt: str) -> tuple[PromptCommand, str] | None:
    """
    The command that a prompt names, with its arguments; ``None`` for any other prompt.
    """
    typed = _TYPED.fullmatch(prompt.strip())
    if typed is None:
        return None
    found = next((command for command in commands if command.name == typed[1]), None)
    return (found, (typed[2] or "").strip()) if found is not None else None


def expand(profile: Profile, command: PromptCommand, arguments: str) -> str:
    """
    What the model sees instead of a prompt that names a command.
    """
    rules, text = profile.commands, command.text.strip()
    if rules is None:
        return text
    if rules.arguments in text or not arguments:
        return text.replace(rules.arguments, arguments)
    return f"{text}\n\n{rules.appended.format(arguments=arguments)}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Lines:
    """
    Lines that must be appended to a transcript before the request is met.

    Attributes:
        path: The transcript.
        records: The lines, as JSON.
    """

    path: str
    records: tuple[Payload, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunHooks:
    """
    Fire hooks of an event, all at once.

    A host that runs them one by one asks several times; until the last of them the step has no decision.

    Attributes:
        event: The host's name of the event.
        target: What matchers were compared with.
        hooks: The hooks, in the order of configuration.
        payload: Their standard input, keys in the host's order.
        records: Lines to append to the transcript first.
        transcript_path: Where that is.
        side_records: Lines for the transcripts of subagents.
    """

    event: str
    target: str
    hooks: tuple[Hook, ...]
    payload: Payload
    records: tuple[Payload, ...] = ()
    transcript_path: str = ""
    side_records: tuple[Lines, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class PerformCall:
    """
    Make a tool call in the workspace.

    Attributes:
        call: The call, as the hooks left it.
        operation: What it does; ``None`` if the harness cannot perform this tool.
        records: Lines to append to the transcript first.
        transcript_path: Where that is.
    """

    call: ToolCall
    operation: Operation | None
    records: tuple[Payload, ...] = ()
    transcript_path: str = ""


EndedHow: TypeAlias = Literal["stopped", "capped", "halted", "waiting", "idle"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """
    A turn, or the session, is over.

    Attributes:
        how: ``stopped`` (the agent wanted to and was let), ``capped`` (a guard of the host ended it),
            ``halted`` (a hook ended it), ``waiting`` (for an answer that never comes), or ``idle``
            (no turn was begun).
        why: One sentence.
        rule: The host's rule behind it.
        status: The host's own word for it, if it has one.
        records: Lines to append to the transcript.
        transcript_path: Where that is.
    """

    how: EndedHow
    why: str
    rule: Rule
    status: str = ""
    records: tuple[Payload, ...] = ()
    transcript_path: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class NextAct:
    """
    Say what happens next.

    Attributes:
        observation: What the agent's model sees since its last move.
        turn_over: Whether no turn is going on: only events of the script can happen.
        records: Lines to append to the transcript first.
        transcript_path: Where that is.
        ending: How the last turn ended, if it is over.
    """

    observation: Observation = Observation()
    turn_over: bool = False
    records: tuple[Payload, ...] = ()
    transcript_path: str = ""
    ending: Ended | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class HooksFinished:
    """
    What became of the hooks.

    Attributes:
        runs: One for each hook, in the order asked: a run, the reply of a handler that is not a
            command, or ``None`` if it gave none.
        finished: Places in ``runs`` in the order in which they ended; empty for the order asked.
    """

    runs: tuple[ProcessResult | Payload | None, ...] = ()
    finished: tuple[int, ...] = ()


Request: TypeAlias = RunHooks | NextAct | PerformCall | Ended
Answer: TypeAlias = HooksFinished | Performance | Act | None


class Mismatch(TypeError):
    """
    An answer that does not fit the request.
    """
