"""
Loops of Stop hooks whose state names no session, so that every session of the project is held by them.

A shell script counts as a loop if it allows the stop without its state file, refuses it otherwise, and counts
its rounds. It knows its session if the word stands anywhere in it, or in a file that it loads.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from pytest_hookharness import hosts
from pytest_hookharness.campaigns.check.static.lone_answers import REFUSES_IN_JSON, without_comments
from pytest_hookharness.campaigns.check.static.script_answers import find_unread_answer
from pytest_hookharness.campaigns.check.static.shell_scripts import SHELL_SCRIPT, loaded_texts
from pytest_hookharness.model.checkup import HookSet
from pytest_hookharness.model.protocol import Hook

# What may tell one session from another.
_KNOWS = re.compile(
    r"session[_ -]?(?:id|uuid|key|name|file|token)|\b(?:sid|tty|pid|ppid|owner|tmux_pane|term_session\w*)\b"
    r"|CLAUDE_CODE_\w*SESSION|hash\w*\s+[^\n]*transcript|transcript\w*\s*(?:=|!)=",
    re.IGNORECASE,
)
# The stop is allowed if a file is missing.
_LEAVES = re.compile(
    r"(?:\bif\s+\[\[?\s+!\s+-[fes]\s+[\"']?\$\{?(?P<name>\w+)\}?[\"']?\s+\]\]?\s*(?:;|\n)\s*then\b(?P<way>(?:(?!\bfi\b|\belse\b)[\s\S]){0,400}?)\bexit\s+0\b"
    r"|\[\[?\s+!\s+-[fes]\s+[\"']?\$\{?(?P<short>\w+)\}?[\"']?\s+\]\]?\s*&&\s*(?:\{[^}\n]*)?\bexit\s+0\b"
    r"|\[\[?\s+-[fes]\s+[\"']?\$\{?(?P<other>\w+)\}?[\"']?\s+\]\]?\s*\|\|\s*(?:\{[^}\n]*)?\bexit\s+0\b)"
)
_COUNTS = re.compile(
    r"\b\w*(?:iter|attempt|round|cycle)\w*[\"']?\s*(?:=[^\n=]*\+\s*1\b|\+=\s*1\b|\+\+)|iteration",
    re.IGNORECASE,
)
_ASSIGNED = r"^[ \t]*(?:local\s+|export\s+|readonly\s+)?{0}=[\"']?([^\n\"']*)"


def shared_loop(hook_set: HookSet, hook: Hook) -> str:
    """Return the state file of a loop that holds every session of the project; empty for none."""
    rule = hosts.find(hook_set.host).events.get(hook.event)
    texts = hook_set.scripts_of(hook)
    if rule is None or rule.role is not hosts.Role.STOP or hook.type != "command" or len(texts) != 1:
        return ""
    # A loop whose answer nobody can read holds no session.
    unread = find_unread_answer(hook_set, hook) is not None
    return "" if unread else loop_for_all(texts[0], [*loaded_texts(hook_set, texts[0])])


def loop_for_all(text: str, loaded: list[str]) -> str:
    """Return the state file of the loop in a shell script that knows no session; empty for none."""
    if not SHELL_SCRIPT.match(text):
        return ""
    code = without_comments(text)
    whole = "\n".join([code, *(without_comments(one) for one in loaded)])
    if _KNOWS.search(whole) or not REFUSES_IN_JSON.search(code) or not _COUNTS.search(whole):
        return ""
    return next(_states(code, whole), "")


def _states(code: str, whole: str) -> Iterator[str]:
    for found in _LEAVES.finditer(code):
        name = found["name"] or found["short"] or found["other"]
        value = re.search(_ASSIGNED.format(name), whole, re.MULTILINE)
        if value and value[1].strip():
            yield value[1].strip()
