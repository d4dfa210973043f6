"""
This module is concerned with the rules of a host's own command line: how it is called without a person.

Middle floor: hosts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

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
