"""
Names of tools: in matchers, in scripts, and as their host has them.

Pure.

Phrasings: commands that hooks refused, asked about as data and as other code.

Pure. All are asked about in one session; where that looks odd, it is worth the many sessions by
which it is proved.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from pytest_hookharness import hosts
from pytest_hookharness.campaigns.check import corpora
from pytest_hookharness.campaigns.check.corpora import GIVEN
from pytest_hookharness.campaigns.stress.mutations.wording import HARMLESS, forms_of
from pytest_hookharness.model.checkup import HookSet
from pytest_hookharness.model.moves import FIRST_PROMPT, Act, Edit, RunCommand, ToolCall, Tools
from pytest_hookharness.model.outcome import Outcome
from pytest_hookharness.model.protocol import Hook
from pytest_hookharness.model.trace import Performed


def phrase(host: str, commands: Sequence[str], files: Sequence[str] = ()) -> tuple[Act, ...]:
    """
    The acts that ask about commands in every form, and about harmless words in the same forms.

    Args:
        host: Whose tools they are.
        commands: The commands.
        files: Files that hooks refused to have changed; others that only speak of them must be allowed.
    """
    forms = [one.text for one in forms_of(HARMLESS)] if commands else []
    asked = [one.text for command in commands for one in forms_of(command)]
    told = [HARMLESS, *commands] if commands else []
    described = [Tools(calls=(_described(host, words),)) for words in told]
    return (
        FIRST_PROMPT,
        *(RunCommand(command=text, given=GIVEN) for text in (*forms, *asked)),
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
    call = hosts.find(host).tools.call(RunCommand(command=HARMLESS, given=GIVEN), "/")
    return replace(call, input={**call.input, "description": words})


def taken_for_code(outcome: Outcome, commands: Sequence[str]) -> Iterator[str]:
    """
    Commands whose words were refused as mere data, where harmless words were not.
    """
    refused, passed = {*_asked(outcome, refused=True)}, {*_asked(outcome, refused=False)}
    harmless = {one.form: one.text for one in forms_of(HARMLESS)}
    for command in commands:
        data = [one for one in forms_of(command) if not one.code]
        told = command in refused and HARMLESS in passed
        if told or any(one.text in refused and harmless[one.form] in passed for one in data):
            yield command


def told_of_code(outcome: Outcome, commands: Sequence[str]) -> Iterator[str]:
    """
    In sentences, in which forms of code the same command was let through.
    """
    passed = {*_asked(outcome, refused=False)}
    for command in commands:
        forms = [one.form for one in forms_of(command) if one.code and one.text in passed]
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


_NAME = re.compile(r"[A-Za-z_][\w-]*")
# A line of a script in which the name of the tool is compared, and the texts in it.
_COMPARED = re.compile(r"^.*\btool_?name\b.*$", re.IGNORECASE | re.MULTILINE)
_TEXT = re.compile(r"""(["'])([A-Za-z_]\w*)\1""")
_KEY = re.compile(r"tool_?\w*", re.IGNORECASE)
_USUAL = (
    RunCommand(command="true"),
    Edit(file="f", text="t"),
    Edit(file="f", text="t", old="o"),
    corpora.READ,
)


def known_tools(host: str) -> frozenset[str]:
    """
    The names of the tools that are known of a host.
    """
    profile = hosts.find(host)
    tools = profile.tools
    others = (*tools.gated, *tools.edits, *((tools.subagent,) if tools.subagent else ()))
    matched = (name for rule in profile.events.values() for name in rule.tools)
    return frozenset({*_usual_tools(profile), *others, *matched})


def _usual_tools(profile: hosts.Profile) -> Iterator[str]:
    """
    The tools by which commands are run and files are read and written.
    """
    return (profile.tools.call(operation, "/w").name for operation in _USUAL)


def matched_tools(place: HookSet, hook: Hook) -> tuple[str, ...]:
    """
    The names of tools in the matcher of a hook.
    """
    rule = hosts.find(place.host).events.get(hook.event)
    if rule is None or rule.target != "tool_name" or hook.matcher is None:
        return ()
    parts = re.split(r"[|,]", hook.matcher)
    return tuple(part.strip() for part in parts if _NAME.fullmatch(part.strip()))


def misnamed_tools(place: HookSet, hook: Hook) -> tuple[tuple[str, str], ...]:
    """
    Names in a matcher that are known with other capitals only, each with the name that is meant.
    """
    known = {name.casefold(): name for name in known_tools(place.host)}
    named = matched_tools(place, hook)
    return tuple((name, known[name.casefold()]) for name in named if known.get(name.casefold(), name) != name)


def foreign_tools(place: HookSet, hook: Hook) -> tuple[str, ...]:
    """
    The names that the script of a hook compares with the tool's, if none is of this host and one of another.

    Names that no host has may be tools that the person has added, and prove nothing.
    """
    texts = [text for path, text in place.sources if path in hook.command.replace('"', "")]
    named = tuple(dict.fromkeys(name for text in texts for name in _compared(text)))
    if not named or {*map(_plain, named)} & {*map(_plain, known_tools(place.host))}:
        return ()
    others = {_plain(name) for profile in hosts.known() for name in _usual_tools(profile)}
    return named if others & {*map(_plain, named)} else ()


def _compared(text: str) -> Iterator[str]:
    for line in _COMPARED.findall(text):
        yield from (name for _, name in _TEXT.findall(line) if not _KEY.fullmatch(name))


def _plain(name: str) -> str:
    return name.replace("_", "").casefold()
