"""
Shell guards of files with secrets that refuse their examples too, such as `.env.example`, which has none.

The path of a file is tested like the command of a call, so its tests are read in the same way. A script that
speaks of examples anywhere may make an exception for them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from pytest_hookharness.campaigns.check.answers.failed_refusals import failed_refusal
from pytest_hookharness.campaigns.check.answers.script_answers import find_unread_answer
from pytest_hookharness.campaigns.check.command_guards.command_tests import read_guard
from pytest_hookharness.campaigns.check.lone_programs.inline_scripts import shell_program
from pytest_hookharness.campaigns.check.shell_code.shell_scripts import without_comment_lines
from pytest_hookharness.campaigns.guards.watched_moves import is_asked_before
from pytest_hookharness.model.checkup import HookSet
from pytest_hookharness.model.protocol import Hook

# Files with secrets, each with one of its kind that has none.
_PAIRS = (
    (".env", ".env.example"),
    (".env.local", ".env.example"),
    (".env.production", ".env.sample"),
    ("id_rsa", "id_rsa.pub"),
    ("id_ed25519", "id_ed25519.pub"),
)
_EXCEPTS = re.compile(r"example|sample|template|\.pub\b|\bdist\b", re.IGNORECASE)
_MOST, _FOLDER = 3, "/work/app/"
_COMMAND = "'.tool_input.command // empty'"
# What gives the path of a file, and its last part.
_PATH = re.compile(
    r"(?P<start>\bjq[ \t]+(?:-\w+[ \t]+)*)(?P<mark>['\"])[^'\"\n]*\bfile_?[pP]ath\b[^'\"\n]*(?P=mark)"
)
_NAME = re.compile(
    r"(?<![\w$])(?P<name>[A-Za-z_]\w*)=\"?\$(?:\([ \t]*basename[ \t]+(?:--[ \t]+)?\"?\$\{?\w+\}?\"?[ \t]*"
    r"(?:2>/dev/null[ \t]*)?\)|\{\w+##\*/\})\"?[ \t]*$",
    re.MULTILINE,
)


def example_guard(hook_set: HookSet, hook: Hook) -> tuple[str, str]:
    """Return a file with secrets that a script refuses, and one without that it refuses too; or nothing."""
    text = shell_program(hook_set, hook)
    if not is_asked_before(hook_set.host, hook.event) or hook.type != "command" or not text:
        return ("", "")
    # A guard whose answer is lost refuses nothing.
    if find_unread_answer(hook_set, hook) or failed_refusal(hook_set, hook):
        return ("", "")
    return next(refused_examples(text), ("", ""))


def refused_examples(text: str) -> Iterator[tuple[str, str]]:
    """Yield the files with secrets that a script refuses, each with one without that it refuses too."""
    code = without_comment_lines(text)
    if _EXCEPTS.search(code):
        return
    yield from _refused(code, "cat {}")
    if _PATH.search(code):
        # The script reads a command where it read a path.
        yield from _refused(_PATH.sub(rf"\g<start>{_COMMAND}", code), _FOLDER + "{}")
    named = [found["name"] for found in _NAME.finditer(code)] if _PATH.search(code) else []
    for name in [*dict.fromkeys(named)][:_MOST]:
        given = f'{name}=$(echo "$INPUT" | jq -r {_COMMAND})'
        yield from _refused(re.sub(rf"(?<![\w$]){name}=[^\n]*", given, code), "{}")


def _refused(text: str, form: str) -> Iterator[tuple[str, str]]:
    """Yield the pairs of files that a script surely refuses by the same test, in a form of its value."""
    guard = read_guard(text)
    for test in guard.tests:
        known = not guard.others or guard.others[0] > test.begin
        if not (known and test.leads == "refuses" and test.fits and test.pattern):
            continue
        for secret, example in _PAIRS:
            both = [form.format(secret), form.format(example)]
            other = not test.is_met(form.format("notes.txt"))
            if other and all(test.is_met(one) and guard.lets_through(one, test) for one in both):
                yield (both[0], both[1]) if form.startswith("cat") else (secret, example)
