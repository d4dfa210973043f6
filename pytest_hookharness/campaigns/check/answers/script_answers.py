"""
Answers in the texts of scripts: those that no host can read, and the same ones in the words of other hosts.

Without the state of its loop a hook answers nothing in a session, so its answer is not seen there. Changes of
words after which another host may understand an answer often lead to nothing; playing them tells which help.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from pytest_hookharness import hosts
from pytest_hookharness.campaigns.check.static.session_variables import loaded_by
from pytest_hookharness.model.checkup import HookSet
from pytest_hookharness.model.protocol import Hook

_COMMENT = re.compile(r"^[ \t]*(?:#|//).*$", re.MULTILINE)
_NESTED, _NAME = "hookSpecificOutput", "hookEventName"
_OBJECT = re.compile(rf"{_NESTED}\\?[\"']?\s*:\s*(?=\{{)")
# The output of a shell script: a here-document whose variables are filled in, or an `echo` of one text.
_PRINTED = re.compile(
    r"^[ \t]*cat\s*<<-?\s*(?P<end>\w+)\s*\n(?P<lines>\s*\{.*?)\n\s*(?P=end)\s*$"
    r"|^[ \t]*(?:echo|printf\s+'%s(?:\\n)?')\s+\"(?P<text>\s*\{(?:[^\"\\]|\\.)*\})\"\s*$",
    re.MULTILINE | re.DOTALL,
)
_PASTED = re.compile(r"\"(?P<key>\w+)\"\s*:\s*\"[^\"\n]*\$(?:\{(?P<braced>\w+)\}|(?P<bare>\w+))[^\"\n]*\"")
_ASSIGNED = r"^[ \t]*(?:local\s+|export\s+)?{0}=(?:\"(?P<text>(?:[^\"\\`$]|\\.|\$(?!\())*)\")?"
# Quotation marks as scripts write them: plain, or escaped inside a text.
_QUOTE = r"""(\\?["'])"""


def _renamed(old: str, new: str) -> tuple[str, Callable[[str], str]]:
    return f"write `{new}` for the key `{old}`", lambda text: re.sub(
        rf"{_QUOTE}{old}\1(?=\s*:)", rf"\g<1>{new}\g<1>", text
    )


def _reworded(key: str, old: str, new: str) -> tuple[str, Callable[[str], str]]:
    return f"write `{key}: {new}` for `{key}: {old}`", lambda text: re.sub(
        rf"{_QUOTE}{key}\1(\s*:\s*){_QUOTE}{old}\3", rf"\g<1>{key}\g<1>\g<2>\g<3>{new}\g<3>", text
    )


def _unwrapped(text: str) -> str:
    """Return a script in which what is below ``hookSpecificOutput`` stands at the top."""
    found = re.search(rf"\{{\s*{_QUOTE}hookSpecificOutput\1\s*:\s*", text)
    if found is None:
        return text
    if name := re.compile(r"(\w+)\s*\}").match(text, found.end()):
        return text[: found.start()] + name[1] + text[name.end() :]
    end = _end_of_object(text, found.end())
    closing = re.compile(r"\s*\}").match(text, end)
    if end == found.end() or closing is None:
        return text
    return text[: found.start()] + text[found.end() : end] + text[closing.end() :]


def _end_of_object(text: str, begin: int) -> int:
    """Return the place after the object that begins at a place; the same place if there is none."""
    depth = 0
    for place in range(begin, len(text)):
        depth += {"{": 1, "}": -1}.get(text[place], 0)
        if depth == 0:
            return place + 1 if text[place] == "}" else begin
    return begin


_UNWRAP = ("put the keys of `hookSpecificOutput` at the top", _unwrapped)
_TO_DENY, _TO_BLOCK = _reworded("decision", "block", "deny"), _reworded("decision", "deny", "block")
_NOT_NESTED = (
    _renamed("permissionDecision", "decision"),
    _renamed("permissionDecisionReason", "reason"),
    _UNWRAP,
)
_PLAIN = (_renamed("permission", "decision"), _renamed("agent_message", "reason"))
_ATTEMPTS: tuple[Sequence[tuple[str, Callable[[str], str]]], ...] = (
    *((_TO_DENY,), (_TO_BLOCK,), _NOT_NESTED, (*_NOT_NESTED, _TO_BLOCK), _PLAIN, (*_PLAIN, _TO_BLOCK)),
    (_TO_DENY, _renamed("decision", "permission"), _renamed("reason", "agent_message")),
    (_reworded("decision", "block", "continue"),),
    (_renamed("reason", "followup_message"),),
)


def reworded_answers(script: str) -> Iterator[tuple[str, str]]:
    """Yield what can be replaced in a script, in words, and the script with it."""
    seen = {script}
    for steps in _ATTEMPTS:
        after, done = script, list[str]()
        for words, step in steps:
            changed = step(after)
            if changed != after:
                done.append(words)
            after = changed
        if after not in seen:
            seen.add(after)
            yield ", ".join(done), after


def find_unread_answer(hook_set: HookSet, hook: Hook) -> tuple[str, str] | None:
    """Return why the host cannot read an answer in a hook's script, and how to fix it; ``None`` if it can."""
    texts = (hook.command, *hook_set.scripts_of(hook))
    return next((one for text in texts for one in _unread(text, hook_set, hook)), None)


def _unread(whole: str, hook_set: HookSet, hook: Hook) -> Iterator[tuple[str, str]]:
    host, text = hook_set.host, _COMMENT.sub("", whole)
    named = _NAME in text or not _is_written_out(text)
    if _names_events(host, hook.event) and not named and _NAME not in loaded_by(hook_set, whole):
        why = f"its answer has `{_NESTED}` without `{_NAME}`, so {host} does not read it"
        yield why, f'Write `"{_NAME}": "{hook.event}"` into `{_NESTED}`.'
    for name in _pasted(host, hook.event, text):
        why = (
            f"its answer puts ${name}, which has line ends, between the quotes of a JSON string, so {host} "
            "cannot read it"
        )
        yield why, f"Let jq write the answer: `jq -n --arg text \"${name}\" '{{..., reason: $text}}'`."


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
    objects = [text[one.end() : _end_of_object(text, one.end())] for one in _OBJECT.finditer(text)]
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
