"""
Shell guards that look for words anywhere in a command: they refuse a commit message with these words.

Each earlier use of the command must be a test that can be answered for the message as well. Words that are no
command of a shell, such as SQL, always stand in quotes, so nothing is said of them. Another spelling of a
command is only named if the script refuses in no other way, and no other guard mentions the command.
The path of a file is tested like the command of a call, so guards of secrets are read in the same way.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from pytest_hookharness import hosts
from pytest_hookharness.campaigns.check.answers.failed_refusals import failed_refusal, read_printed
from pytest_hookharness.campaigns.check.answers.script_answers import find_unread_answer
from pytest_hookharness.campaigns.check.command_guards.command_guard import CommandGuard, CommandTest
from pytest_hookharness.campaigns.check.command_guards.command_tests import read_guard
from pytest_hookharness.campaigns.check.shell_code.shell_scripts import shell_program, without_comment_lines
from pytest_hookharness.campaigns.check.static.absent_inputs import expected_variable
from pytest_hookharness.campaigns.guards.pattern_texts import texts_of
from pytest_hookharness.campaigns.guards.watched_moves import is_asked_before, watched
from pytest_hookharness.campaigns.stress.first_run import GIVEN
from pytest_hookharness.campaigns.stress.mutations.wording import HARMLESS, forms_of
from pytest_hookharness.judging.checkup.bypasses import is_rare, spellings
from pytest_hookharness.judging.checkup.lookalikes import ABSOLUTE
from pytest_hookharness.model.checkup import HookSet
from pytest_hookharness.model.moves import RunCommand
from pytest_hookharness.model.protocol import Hook, Ruling

# Programs that agents start, and that do something.
_PROGRAMS = frozenset({
    "bun", "cargo", "chmod", "chown", "curl", "dd", "docker", "gh", "git", "kubectl", "npm", "npx", "pip",
    "pip3", "pnpm", "rm", "sudo", "terraform", "wget", "yarn",
})  # fmt: skip
_OF_ROOT = ("rm -rf /", "rm -r /", "chmod -R 777 /")
_FOLDERS = ("tmp/build", "work/app/dist")
_ABSOLUTE = re.compile(ABSOLUTE)
# A test with these words beside it may be for all paths that are not relative.
_OUTSIDE = re.compile(r"\b(?:outside|inside|within|relative)\b", re.IGNORECASE)
_NEAR = 200
_LONE_DASH = re.compile(r"(?<= )-(?= |$)")
_REFUSES = re.compile(r"\bexit[ \t]+2\b|\b(?:block|deny)\b")
# The text after a program, or after its option. Forms that are only judged where they are played.
_PLAYED = frozenset({"a search", "a comment"})
_ARGUMENTS = {
    "rm": "build", "curl": "example.com", "wget": "example.com", "npx": "eslint",
    **dict.fromkeys(("npm", "pnpm", "yarn", "bun", "pip", "pip3"), "install"),
}  # fmt: skip


def word_guard(hook_set: HookSet, hook: Hook) -> tuple[str, str]:
    """Return a command that a hook's script refuses, and data with its words that it refuses; or nothing."""
    text = _script(hook_set, hook)
    return next(refused_data(text), ("", "")) if text else ("", "")


def bypassed_guard(hook_set: HookSet, hook: Hook) -> tuple[str, str]:
    """Return a command that a hook's script refuses, and another spelling that it allows; or nothing."""
    text = _script(hook_set, hook)
    others = [*_other_guards(hook_set, text)] if text else []
    for command, spelling in allowed_spellings(text) if text else ():
        words = command.split()[:2]
        if not any(all(word in one for word in words) for one in others):
            return command, spelling
    return ("", "")


def root_guard(hook_set: HookSet, hook: Hook) -> tuple[str, str]:
    """Return a command on the root folder that a script refuses, and a harmless one that it refuses."""
    text = _script(hook_set, hook)
    # A script that speaks of absolute paths means all of them.
    return next(refused_folders(text), ("", "")) if text and not _ABSOLUTE.search(text) else ("", "")


def refused_folders(text: str) -> Iterator[tuple[str, str]]:
    """Yield commands on the root folder, each with one on a folder below it that a script refuses too."""
    guard = read_guard(text)
    for test in guard.tests:
        known = not guard.others or guard.others[0] > test.begin
        meant = _OUTSIDE.search(text, max(0, test.begin - _NEAR), test.until)
        if meant or not (known and test.leads == "refuses" and test.fits and test.pattern):
            continue
        for command in _OF_ROOT:
            below = [f"{command}{folder}" for folder in _FOLDERS]
            relative = f"{command.removesuffix('/')}build"
            for_root = test.is_met(command) and all(map(test.is_met, below)) and not test.is_met(relative)
            if for_root and all(guard.lets_through(one, test) for one in (command, below[0])):
                yield command, below[0]


def _other_guards(hook_set: HookSet, text: str) -> Iterator[str]:
    """Yield the commands and scripts of other hooks that may refuse calls."""
    for hook in hook_set.hooks:
        scripts = hook_set.scripts_of(hook)
        if is_asked_before(hook_set.host, hook.event) and text not in scripts:
            yield from (without_comment_lines(one) for one in (hook.command, *scripts))


def _script(hook_set: HookSet, hook: Hook) -> str:
    """Return the shell program that decides about the calls of a shell; empty for none."""
    text = shell_program(hook_set, hook)
    if not is_asked_before(hook_set.host, hook.event) or hook.type != "command" or not text:
        return ""
    asked = watched(replace(hook_set, hooks=(hook,)), RunCommand(command=HARMLESS, given=GIVEN))
    refuses = read_printed(hosts.find(hook_set.host), hook, 2, stderr="No.").ruling is Ruling.DENY
    plain = "if" not in hook.options
    # A guard that has no input, or whose answer is lost, refuses nothing.
    broken = expected_variable(hook_set, hook) or find_unread_answer(hook_set, hook)
    return text if asked and refuses and plain and not (broken or failed_refusal(hook_set, hook)) else ""


def refused_data(text: str) -> Iterator[tuple[str, str]]:
    """Yield commands that a shell script judges by their words, each with data that it judges equally."""
    guard = read_guard(text)
    for test in guard.tests:
        known = not guard.others or guard.others[0] > test.begin
        refuses = known and test.leads == "refuses" and test.fits
        # Without other uses of the command, nothing tells the data from the command later.
        if refuses or _admits(guard, test, text):
            yield from _of_test(guard, test, whole=not refuses)


def allowed_spellings(text: str) -> Iterator[tuple[str, str]]:
    """Yield commands that a shell script refuses, each with another spelling that it surely allows."""
    guard = read_guard(text)
    for test in guard.tests:
        refuses = test.leads == "refuses" and test.fits and guard.is_known and guard.whole
        # A command that does not fit is let through at once.
        admits = _admits(guard, test, text)
        for command in _commands(test) if refuses or admits else ():
            if guard.lets_through(command, test) and not (admits and guard.is_let_off(command)):
                usual = (one for one in spellings(command) if not is_rare(one))
                yield from ((command, one) for one in usual if _is_allowed(guard, test, one))


def _admits(guard: CommandGuard, test: CommandTest, text: str) -> bool:
    """Return whether a script refuses after a test what passes it, without another look at the command."""
    leads = test.leads == "allows" and not test.fits and guard.is_known
    return leads and guard.tests[-1].begin < test.closed and _REFUSES.search(text, test.closed) is not None


def _is_allowed(guard: CommandGuard, test: CommandTest, spelling: str) -> bool:
    """Return whether a script surely allows a spelling of a command for which a test looks."""
    if test.leads == "refuses":
        return not any(one.is_met(spelling) for one in guard.tests if one.leads == "refuses")
    before = [one for one in guard.tests if one.begin < test.begin]
    return test.is_met(spelling) and all(one.leads == "allows" or not one.is_met(spelling) for one in before)


def _of_test(guard: CommandGuard, test: CommandTest, *, whole: bool) -> Iterator[tuple[str, str]]:
    for words in _commands(test):
        for data, harmless in _data(words):
            same = guard.judges_alike(words, data) if whole else guard.lets_through(data, test)
            if (
                same
                and test.fits is test.is_met(data) is not test.is_met(harmless)
                and guard.lets_through(words, test)
            ):
                yield words, data


def _commands(test: CommandTest) -> Iterator[str]:
    """Yield commands of usual programs for which a test looks."""
    for text in texts_of(test.source):
        words = " ".join(text.split())
        program = words.partition(" ")[0]
        whole = f"{words} {_ARGUMENTS.get(program, '')}".strip()
        # What somebody would write comes first: an option after a dash, and a file after an option.
        usual = [_LONE_DASH.sub("-rf", one) for one in (words, whole)]
        tried = [*usual, words, whole] if program in _PROGRAMS else []
        tried.sort(key=lambda one: one.split()[-1].startswith("-"))
        met = (one for one in tried if " " in one and test.is_met(one) is test.fits)
        yield from (one for _, one in zip(range(1), met, strict=False))


def _data(words: str) -> Iterator[tuple[str, str]]:
    """Yield command lines in which words are only data, each with the same line for harmless words."""
    harmless = {one.form: one.text for one in forms_of(HARMLESS)}
    for one in forms_of(words):
        # A script may leave messages out, and look for words in the rest on purpose.
        if not one.code and "\n" not in one.text and one.form not in _PLAYED:
            yield one.text, harmless[one.form]
    for line in ("git commit -m 'Explain {} here'", "echo 'Explain {} here'"):
        if "'" not in words:
            yield line.format(words), line.format(HARMLESS)


# Files with secrets, each with a similar file without secrets.
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
# Code that gives the path of a file, and code that gives the last part of a path.
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
    """
    Yield the files with secrets that a script refuses, each with one without, such as `.env.example`.

    A script that speaks of examples anywhere may make an exception for them.
    """
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
