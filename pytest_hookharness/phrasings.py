"""
This module is concerned with phrasings: commands that hooks refused, asked about as data and as other code.

Upper floor. Pure. All are asked about in one session; where that looks odd, it is worth the many sessions by
which it is proved.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from pytest_hookharness import hosts
from pytest_hookharness.agents.corpora import GIVEN
from pytest_hookharness.judging.wordings import HARMLESS, wordings
from pytest_hookharness.model.moves import FIRST_PROMPT, Act, Edit, Run, ToolCall, Tools
from pytest_hookharness.model.outcome import Outcome
from pytest_hookharness.model.trace import Performed


def phrase(host: str, commands: Sequence[str], files: Sequence[str] = ()) -> tuple[Act, ...]:
    """
    The acts that ask about commands in every form, and about harmless words in the same forms.

    Args:
        host: Whose tools they are.
        commands: The commands.
        files: Files that hooks refused to have changed; others that only speak of them must be allowed.
    """
    forms = [one.text for one in wordings(HARMLESS)] if commands else []
    asked = [one.text for command in commands for one in wordings(command)]
    told = [HARMLESS, *commands] if commands else []
    described = [Tools(calls=(_described(host, words),)) for words in told]
    return (
        FIRST_PROMPT,
        *(Run(command=text, given=GIVEN) for text in (*forms, *asked)),
        *described,
        *_speak_of(files),
    )


def _speak_of(files: Sequence[str]) -> Iterator[Edit]:
    for number, word in enumerate(["nothing", *files] if files else ()):
        yield Edit(file=f"notes-{number}.md", text=f"See {word} for more.\n", expect="allow")


def _described(host: str, words: str) -> ToolCall:
    """
    A harmless call with a command's words beside it, where they command nothing.
    """
    call = hosts.find(host).tools.call(Run(command=HARMLESS, given=GIVEN), "/")
    return replace(call, input={**call.input, "description": words})


def taken_for_code(outcome: Outcome, commands: Sequence[str]) -> Iterator[str]:
    """
    Commands whose words were refused as mere data, where harmless words were not.
    """
    refused, passed = {*_asked(outcome, refused=True)}, {*_asked(outcome, refused=False)}
    harmless = {one.form: one.text for one in wordings(HARMLESS)}
    for command in commands:
        data = [one for one in wordings(command) if not one.code]
        told = command in refused and HARMLESS in passed
        if told or any(one.text in refused and harmless[one.form] in passed for one in data):
            yield command


def told_of_code(outcome: Outcome, commands: Sequence[str]) -> Iterator[str]:
    """
    In sentences, in which forms of code the same command was let through.
    """
    passed = {*_asked(outcome, refused=False)}
    for command in commands:
        forms = [one.form for one in wordings(command) if one.code and one.text in passed]
        if forms:
            yield f"`{command}` is refused, and the same is let through by: {', '.join(forms)}."


def _asked(outcome: Outcome, *, refused: bool) -> Iterator[str]:
    """
    What was refused, or was not: command lines, or the words beside a harmless one.
    """
    for step in outcome.trace.steps:
        if isinstance(step.exchange, Performed) and step.exchange.refused is refused:
            given = step.exchange.call.input
            command = str(given.get("command", given.get("cmd", "")))
            yield str(given.get("description", "")) if command == HARMLESS else command
