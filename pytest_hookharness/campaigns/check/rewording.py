"""
Refused commands in other words, as data and as other code; and the tool names that hooks expect.

All rewordings go into one session. Only what looks wrong there gets the many sessions that prove it.
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
from pytest_hookharness.model.fast_dataclass import dataclass
from pytest_hookharness.model.moves import FIRST_PROMPT, Act, Edit, RunCommand, ToolCall, Tools
from pytest_hookharness.model.outcome import Outcome
from pytest_hookharness.model.protocol import Hook
from pytest_hookharness.model.trace import Performed


def reword(host: str, commands: Sequence[str], files: Sequence[str] = ()) -> tuple[Act, ...]:
    """
    Return acts with commands in every form, and with harmless words in the same forms.

    Args:
        host: The host that has the tools.
        files: Files whose edits hooks refused; an edit that only mentions them must be allowed.
    """
    forms = [one.text for one in forms_of(HARMLESS)] if commands else []
    asked = [one.text for command in commands for one in forms_of(command)]
    texts = [HARMLESS, *commands] if commands else []
    described = [Tools(calls=(_described(host, words),)) for words in texts]
    return (
        FIRST_PROMPT,
        *(RunCommand(command=text, given=GIVEN) for text in (*forms, *asked)),
        *described,
        *_mention(files),
    )


def _mention(files: Sequence[str]) -> Iterator[Edit]:
    for number, word in enumerate(["nothing", *files] if files else ()):
        yield Edit(file=f"notes-{number}.md", text=f"See {word} for more.\n", expect="allow")


def _described(host: str, words: str) -> ToolCall:
    """Return a harmless call with a command's words as its description, where they have no effect."""
    call = hosts.find(host).tools.call(RunCommand(command=HARMLESS, given=GIVEN), "/")
    return replace(call, input={**call.input, "description": words})


@dataclass(frozen=True, slots=True)
class Suspect:
    """
    A command that was refused where its words were data, and harmless words were allowed.

    Attributes:
        command: The command.
        family: The family of the mutation that shows it.
        wording: The mutation in words.
    """

    command: str
    family: str
    wording: str


def refused_as_data(outcome: Outcome, commands: Sequence[str]) -> Iterator[Suspect]:
    """Yield the commands that were refused as data, each with the first such wording of each kind."""
    refused, passed = {*_texts(outcome, refused=True)}, {*_texts(outcome, refused=False)}
    harmless = {one.form: one.text for one in forms_of(HARMLESS)}
    for command in commands:
        if command in refused and HARMLESS in passed:
            yield Suspect(command, "words", f"`{HARMLESS}` described as `{command}`")
        for one in forms_of(command):
            if not one.code and one.text in refused and harmless[one.form] in passed:
                yield Suspect(command, "quoting", f"the same words in {one.form}")
                break


def allowed_as_code(outcome: Outcome, commands: Sequence[str]) -> Iterator[str]:
    """Yield sentences about the forms of code in which a refused command was allowed."""
    passed = {*_texts(outcome, refused=False)}
    for command in commands:
        forms = [one.form for one in forms_of(command) if one.code and one.text in passed]
        if forms:
            yield f"`{command}` is refused, but allowed in these forms: {', '.join(forms)}."


def _texts(outcome: Outcome, *, refused: bool) -> Iterator[str]:
    """
    Yield the texts that were refused, or that were not: command lines, or descriptions of a harmless one.
    """
    for step in outcome.trace.steps:
        if isinstance(step.exchange, Performed) and step.exchange.refused is refused:
            given = step.exchange.call.input
            command = str(given.get("command", given.get("cmd", "")))
            yield str(given.get("description", "")) if command == HARMLESS else command


_NAME = re.compile(r"[A-Za-z_][\w-]*")
# A line of a script that compares the tool name, and the string literals in it.
_COMPARED = re.compile(r"^.*\btool_?name\b.*$", re.IGNORECASE | re.MULTILINE)
# What stands for any word in a matcher.
_WILDCARD = re.compile(r"\[\^?[^]]*\][*+]?|\\w[*+]|\.[*+]\??|\(\?:")
# A text in quotes, or a word that a shell compares: `[ "$tool_name" = Bash ]`.
_TEXT = re.compile(r"""(["'])([A-Za-z_]\w*)\1|(?:=|!=) ([A-Za-z_]\w*) \]""")
_KEY = re.compile(r"tool_?\w*", re.IGNORECASE)
# The same where nothing else can be meant: an equality, a test of a shell, a list of names.
_EQUAL = re.compile(
    r"""tool_?name\b[^=!<>\n]{0,12}?[=!]==?\s*["']?([A-Za-z_]\w*)\b(?![.(])"""
    r"""|\[\s[^]\n]*tool_?name\b[^=!\]\n]{0,6}\s!?=\s*["']?([A-Za-z_]\w*)["']?\s\]""",
    re.IGNORECASE,
)
_LISTED = re.compile(r"tool_?name\b[^=\n]{0,8}?\s(?:not\s+)?in\s*[(\[{]([^)\]}\n]*)", re.IGNORECASE)
_FOLDS_CASE = re.compile(
    r"\.lower\(|\.upper\(|casefold|toLowerCase|toUpperCase|IGNORECASE|\(\?i|/i\b|nocasematch|downcase|,,\}|\btr\s",
)
_COMMENT = re.compile(r"^\s*(?:#|//|\*).*$", re.MULTILINE)
_USUAL = (
    RunCommand(command="true"),
    Edit(file="f", text="t"),
    Edit(file="f", text="t", old="o"),
    corpora.READ,
)


def known_tools(host: str) -> frozenset[str]:
    """Return the known names of a host's tools."""
    profile = hosts.find(host)
    tools = profile.tools
    others = (*tools.gated, *tools.edits, *((tools.subagent,) if tools.subagent else ()))
    matched = (name for rule in profile.events.values() for name in rule.tools)
    return frozenset({*usual_tools(profile), *others, *matched})


def usual_tools(profile: hosts.Profile) -> Iterator[str]:
    """Yield the names of the tools that run commands and read and write files."""
    return (profile.tools.call(operation, "/w").name for operation in _USUAL)


def matched_tools(hook_set: HookSet, hook: Hook) -> tuple[str, ...]:
    """Return the tool names in the matcher of a hook."""
    rule = hosts.find(hook_set.host).events.get(hook.event)
    if rule is None or rule.target != "tool_name" or hook.matcher is None:
        return ()
    parts = re.split(r"[|,]", hook.matcher)
    return tuple(part.strip() for part in parts if _NAME.fullmatch(part.strip()))


def called_tools(hook_set: HookSet) -> tuple[str, ...]:
    """
    Return names of tools for which hooks wait and that a usual session does not call, each once.

    A matcher that is a regular expression stands for one name that it matches.
    """
    profile = hosts.find(hook_set.host)
    usual = {*usual_tools(profile)}
    known = {name.casefold(): name for name in known_tools(hook_set.host)}
    found: list[str] = []
    for hook in hook_set.hooks:
        rule = profile.events.get(hook.event)
        if rule is None or rule.target != "tool_name" or hook.matcher is None:
            continue
        for part in re.split(r"[|,]", hook.matcher.strip("^$()")):
            name = _WILDCARD.sub("sample", part.strip().strip("^$()"))
            # A known name in other letters matches nothing; `misnamed_tools` is about those.
            is_name = bool(_NAME.fullmatch(name)) and known.get(name.casefold(), name) == name
            if is_name and name not in usual and hosts.select(profile, (hook,), hook.event, name):
                found.append(name)
    return tuple(dict.fromkeys(found))


def misnamed_tools(hook_set: HookSet, hook: Hook) -> tuple[tuple[str, str], ...]:
    """
    Return the names in a matcher that differ from a known tool only in case, each with that tool's name.
    """
    known = {name.casefold(): name for name in known_tools(hook_set.host)}
    named = matched_tools(hook_set, hook)
    return tuple((name, known[name.casefold()]) for name in named if known.get(name.casefold(), name) != name)


def foreign_tools(hook_set: HookSet, hook: Hook) -> tuple[str, ...]:
    """
    Return the tool names that a hook's script expects, if this host has none of them and another host one.

    Names that no host has may be tools that the person added, and prove nothing.
    """
    texts = [text for path, text in hook_set.sources if path in hook.command.replace('"', "")]
    named = tuple(dict.fromkeys(name for text in texts for name in _compared(text)))
    if not named or {*map(_plain, named)} & {*map(_plain, known_tools(hook_set.host))}:
        return ()
    others = {_plain(name) for profile in hosts.known() for name in usual_tools(profile)}
    return named if others & {*map(_plain, named)} else ()


def miscased_tool(hook_set: HookSet, hook: Hook) -> tuple[str, str]:
    """
    Return a name that a hook compares with a tool's, and that tool's, which differs in case; or nothing.

    A script that also knows the right name, or that ignores case, compares well.
    """
    rule = hosts.find(hook_set.host).events.get(hook.event)
    if rule is None or rule.target != "tool_name":
        return "", ""
    known = {name.casefold(): name for name in known_tools(hook_set.host)}
    sources = (text for path, text in hook_set.sources if path in hook.command.replace('"', ""))
    for text in map(_without_comments, (hook.command, *sources)):
        named = [*filter(None, (one for found in _EQUAL.findall(text) for one in found))]
        named += [name for line in _LISTED.findall(text) for _, name, _ in _TEXT.findall(line) if name]
        if not named or _FOLDS_CASE.search(text) or {*named} & {*known.values()}:
            continue
        for name in named:
            meant = known.get(name.casefold(), "")
            if meant and not re.search(rf"""["'|(]{meant}["'|)]""", text):
                return name, meant
    return "", ""


def _without_comments(text: str) -> str:
    return _COMMENT.sub("", text)


def _compared(text: str) -> Iterator[str]:
    for line in _COMPARED.findall(text):
        yield from (text or word for _, text, word in _TEXT.findall(line) if not _KEY.fullmatch(text or word))


def _plain(name: str) -> str:
    return name.replace("_", "").casefold()
