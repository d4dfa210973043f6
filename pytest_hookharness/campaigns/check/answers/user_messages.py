"""
Messages that are meant for the agent, in a key that hosts show to the user alone: ``systemMessage``.

Only the comments of a script show for whom its message is. A script that also answers in a key which the
agent gets is left alone.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from pytest_hookharness import hosts
from pytest_hookharness.campaigns.check.answers.failed_refusals import read_printed
from pytest_hookharness.campaigns.check.answers.unread_answers import named_hosts
from pytest_hookharness.campaigns.check.answers.unseen_advice import where_it_is_read
from pytest_hookharness.model.checkup import HookSet
from pytest_hookharness.model.protocol import Hook, Ruling

_COMMENT = re.compile(r"^[ \t]*(?:#(?!!)|//|/?\*)[ \t]*(?P<words>[^\n]*)", re.MULTILINE)
_KEY = re.compile(r"\bsystemMessage\b")
# Other texts that the agent may get.
_OTHERS = re.compile(
    r"additionalContext|additional_context|hookSpecificOutput|permissionDecision|agent_?[mM]essage"
    r"|followup_message"
    r"|[\"']?\breason\\?[\"']?[ \t]*:|\b(?:block|deny|ask)\\?[\"']"
    r"|\bexit(?:[ \t]+|\()(?![01]?\)|[01]\b)[\"$\w]|\breturn 2\b|SystemExit"
)
# The agent itself, and nothing of it or for its users.
_AGENT = (
    r"(?:claude|(?:the )?(?:agent|model|assistant))(?:'s context)?"
    r"(?=[ \t]*(?:$|[.,;:()\"']|to\b|that\b|so\b|when\b))"
)
_TELLS = rf"(?:remind|tell|nudg|warn|instruct)(?:s|ing|e|es)? {_AGENT}"
# To Claude, in Korean and Chinese.
_TO_AGENT = rf"(?:\bfor|\bto|\binto) {_AGENT}|\b{_TELLS}|Claude\uc5d0\uac8c|(?:\u5230|\u7ed9|\u5411) ?Claude"
_OF_MESSAGE = re.compile(rf"(?=.*\bsystem ?Message\b).*(?:{_TO_AGENT})", re.IGNORECASE)
_OF_OUTPUT = re.compile(
    rf"^(?:\W*(?:output|emit|print|send|inject|tell|notify)\w*\b.*|\u8f93\u51fa.*)(?:{_TO_AGENT})",
    re.IGNORECASE,
)
_OF_SCRIPT = re.compile(rf"^\W*{_TELLS}", re.IGNORECASE)
_DENIED = re.compile(r"\b(?:not|never|no|user|only|instead|without|rather|cannot)\b|n't\b", re.IGNORECASE)
_NEAR, _HEAD, _LONGEST = 6, 12, 80


def message_for_agent(hook_set: HookSet, hook: Hook) -> tuple[str, int, str]:
    """Return a script whose message only the user sees, and the comment that names the agent; or nothing."""
    sources, events = hook_set.sources_of(hook), hosts.find(hook_set.host).events
    if len(sources) != 1 or hook.type != "command" or any(named_hosts(hook_set.host, sources[0][1])):
        return "", 0, ""
    path, text = sources[0]
    hooks = hook_set.hooks_of(path) or [hook]
    if not all(one.event in events and _is_for_user(hook_set, one) for one in hooks):
        return "", 0, ""
    # Where plain text is context, the script may tell the agent more in this way.
    plain = any(read_printed(hosts.find(hook_set.host), one, 0, stdout="Look.").context for one in hooks)
    said = next(
        ((line, words) for line, words, of_all in comments_on_agent(text) if not (of_all and plain)), None
    )
    return (path, *said) if said else ("", 0, "")


def comments_on_agent(text: str) -> Iterator[tuple[int, str, bool]]:
    """
    Yield what comments say about a message for the agent.

    Each is the line, the words, and whether they are about the whole script.
    """
    lines = text.split("\n")
    code = ["" if _COMMENT.match(line) else line for line in lines]
    keys = [number for number, line in enumerate(code) if _KEY.search(line)]
    if not keys or any(map(_OTHERS.search, code)):
        return
    comments = [found["words"] if (found := _COMMENT.match(line)) else "" for line in lines]
    for number, comment in enumerate(comments):
        # A sentence may begin in the line above, or go on in the one below.
        before, after = comments[number - 1] if number else "", "".join(comments[number + 1 : number + 2])
        words, near = comment.strip()[:_LONGEST], any(0 < key - number <= _NEAR for key in keys)
        of_message = _OF_MESSAGE.search(words) or (near and _OF_OUTPUT.search(words))
        if of_message and not _DENIED.search(f"{before} {comment} {after}"):
            yield number + 1, words, False
        elif number < _HEAD and _OF_SCRIPT.search(words) and not _DENIED.search(f"{before} {comment}"):
            yield number + 1, words, True


def _is_for_user(hook_set: HookSet, hook: Hook) -> bool:
    """Return whether a host shows a message to the user alone, and could give the agent a text."""
    reply = read_printed(hosts.find(hook_set.host), hook, 0, stdout=json.dumps({"systemMessage": "Look."}))
    shown = bool(reply.user_text) and not reply.context and reply.ruling is Ruling.NONE
    return shown and bool(where_it_is_read(hook_set, hook))
