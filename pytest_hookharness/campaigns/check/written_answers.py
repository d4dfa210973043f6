"""
Answers that scripts write out and that their host cannot read, found without running them.

Without the state of its loop a hook answers nothing in a session, so its answer is not seen there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePath

from pytest_hookharness import hosts
from pytest_hookharness.campaigns.check.answer_rewording import end_of_object
from pytest_hookharness.model.checkup import HookSet
from pytest_hookharness.model.fast_dataclass import dataclass
from pytest_hookharness.model.protocol import Hook

_COMMENT = re.compile(r"^\s*(?:#|//).*$", re.MULTILINE)
_NESTED, _NAME = "hookSpecificOutput", "hookEventName"
_OBJECT = re.compile(rf"{_NESTED}\\?[\"']?\s*:\s*(?=\{{)")
# What a shell script prints: a here-document whose variables are filled in, or an `echo` of one text.
_PRINTED = re.compile(
    r"^\s*cat\s*<<-?\s*(?P<end>\w+)\s*\n(?P<lines>\s*\{.*?)\n\s*(?P=end)\s*$"
    r"|^\s*(?:echo|printf\s+'%s(?:\\n)?')\s+\"(?P<text>\s*\{(?:[^\"\\]|\\.)*\})\"\s*$",
    re.MULTILINE | re.DOTALL,
)
_PASTED = re.compile(r"\"(?P<key>\w+)\"\s*:\s*\"[^\"\n]*\$(?:\{(?P<braced>\w+)\}|(?P<bare>\w+))[^\"\n]*\"")
_ASSIGNED = r"^\s*(?:local\s+|export\s+)?{0}=(?:\"(?P<text>(?:[^\"\\`$]|\\.|\$(?!\())*)\")?"


@dataclass(frozen=True, slots=True, kw_only=True)
class UnreadAnswer:
    """
    An answer that the host cannot read.

    Attributes:
        text: Why not, to be written after the event.
        fix: How to fix it.
    """

    text: str
    fix: str


def find_unread_answer(hook_set: HookSet, hook: Hook) -> UnreadAnswer | None:
    """Return an answer in a hook's script that its host cannot read; ``None`` if there is none."""
    texts = [text for path, text in hook_set.sources if PurePath(path).name in hook.command]
    found = (
        one for text in (hook.command, *texts) for one in _unread(_COMMENT.sub("", text), hook_set, hook)
    )
    return next(found, None)


def _unread(text: str, hook_set: HookSet, hook: Hook) -> Iterator[UnreadAnswer]:
    host = hook_set.host
    if _names_events(host, hook.event) and _NAME not in text and _is_written_out(text):
        yield UnreadAnswer(
            text=f"its answer has `{_NESTED}` without `{_NAME}`, so {host} does not read it",
            fix=f'Write `"{_NAME}": "{hook.event}"` into `{_NESTED}`.',
        )
    for name in _pasted(host, hook.event, text):
        yield UnreadAnswer(
            text=(
                f"its answer puts ${name}, which has line ends, between the quotes of a JSON string, so "
                f"{host} cannot read it"
            ),
            fix=f"Let jq write the answer: `jq -n --arg text \"${name}\" '{{...: $text}}'`.",
        )


def _names_events(host: str, event: str) -> bool:
    """Return whether a host reads a nested answer only if it names the event."""
    check = hosts.find(host).answers(event).check
    return (
        check is not None
        and bool(check(event, {_NESTED: {}}))
        and not check(event, {_NESTED: {_NAME: event}})
    )


def _is_written_out(text: str) -> bool:
    """Return whether a script contains a whole nested answer, to which nothing is added elsewhere."""
    objects = [text[one.end() : end_of_object(text, one.end())] for one in _OBJECT.finditer(text)]
    return bool(objects) and all(one and "..." not in one and "**" not in one for one in objects)


def _pasted(host: str, event: str, text: str) -> Iterator[str]:
    """Yield the variables with line ends that a shell script pastes into the strings of an answer."""
    known = hosts.find(host).answers(event).known
    for printed in _PRINTED.finditer(text):
        body = (printed["lines"] or printed["text"]).replace('\\"', '"')
        pasted = [*_PASTED.finditer(body)]
        if known.isdisjoint(re.findall(r'"(\w+)"\s*:', body)):
            continue
        for name in dict.fromkeys(one["braced"] or one["bare"] for one in pasted):
            assigned = [*re.finditer(_ASSIGNED.format(name), text, re.MULTILINE)]
            if assigned and all("\n" in (one["text"] or "") for one in assigned):
                yield name
