"""
This module is concerned with prompts that name a command: a text from a file that the model sees instead.

Middle floor: hosts.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping
from dataclasses import dataclass

from pytest_hookharness.hosts.profile import Profile

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
