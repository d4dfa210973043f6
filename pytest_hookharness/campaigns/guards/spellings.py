"""
The moves that show whether a guard sees other spellings of what it refuses, and allows harmless ones.

One of them is a commit in a line that leaves the guarded branch first.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from pytest_hookharness.campaigns.stress.first_run import GIVEN
from pytest_hookharness.judging.checkup.bypasses import (
    PRINTS_OTHER,
    READING,
    WRITING,
    command_calls,
    spellings,
)
from pytest_hookharness.judging.checkup.lookalikes import NEW_BRANCH, Lookalike, lookalikes
from pytest_hookharness.model.moves import FIRST_PROMPT, Act, Edit, Read, RunCommand
from pytest_hookharness.model.outcome import Outcome

# The most spellings that one session proves: those that only add words around the command, and all.
_MOST_AROUND, _MOST_SHOWN = 3, 6


def try_spellings(commands: Sequence[str]) -> tuple[Act, ...]:
    """Return the acts of an agent that runs commands and their other spellings; none if there are none."""
    tried = [_run(text) for command in commands for text in (command, *spellings(command))]
    return (FIRST_PROMPT, *tried) if tried else ()


def prove_spellings(command: str, allowed: Sequence[str]) -> tuple[Act, ...]:
    """
    Return the acts that show that a command is refused, and other spellings of it are not.

    Some spellings are enough: words around the command, and other options or programs.

    Each spelling is run before and after the command, because a guard may refuse only the first call, or all
    calls after some time.
    """
    around = [text for text in allowed if command in text][:_MOST_AROUND]
    shown = {*around, *[text for text in allowed if command not in text][: _MOST_SHOWN - len(around)]}
    # A guard of the file allows it, and a guard of the program refuses it.
    beside = [PRINTS_OTHER] if command.startswith("cat ") else []
    others = [_run(text) for text in (*beside, *(text for text in allowed if text in shown))]
    return (FIRST_PROMPT, *others, _run(command), _run(command), *others)


def _run(command: str) -> RunCommand | Read | Edit:
    if command.startswith(READING):
        return Read(file=command.removeprefix(READING))
    if command.startswith(WRITING):
        file, _, line = command.removeprefix(WRITING).partition(": ")
        return Edit(file=file, text=f"{line or 'text'}\n")
    return RunCommand(command=command, given=GIVEN)


def allowed_spellings(outcomes: Sequence[Outcome], commands: Sequence[str]) -> dict[str, list[str]]:
    """
    Return which other spellings of commands were allowed without a question, by command.

    Only a session counts that refused the command itself: others may lack the hook that refuses it.
    """
    found: dict[str, list[str]] = {}
    for outcome in outcomes:
        calls = command_calls(outcome)
        passed, refused = calls.passed, calls.refused
        for command in commands:
            if command in refused and command not in passed:
                texts = (text for text in spellings(command) if text in passed and text not in refused)
                found.setdefault(command, []).extend(texts)
    return {command: [*dict.fromkeys(texts)] for command, texts in found.items() if texts}


def try_lookalikes(commands: Sequence[str], source: str = "") -> tuple[Act, ...]:
    """
    Return the acts of an agent that runs harmless commands that resemble rightly refused ones.

    ``source`` is the text of the guards, which may name what they are meant to refuse. Without commands,
    there are no acts.
    """
    if not commands:
        return ()
    tried = (text for one in lookalikes(commands, source) for text in (*one.controls, one.text))
    acts = [_run(text) for text in dict.fromkeys(tried)]
    return (FIRST_PROMPT, *acts) if acts else ()


def prove_lookalikes(commands: Sequence[str], refused: Sequence[Lookalike]) -> tuple[Act, ...]:
    """Return acts that show that harmless commands are refused, and similar commands are not."""
    controls = [_run(text) for text in dict.fromkeys(text for one in refused for text in one.controls)]
    beside = [
        next((text for text in commands if one.belongs_to([text])), "")
        for one in refused
        if one.needs_refusal
    ]
    known = [_run(text) for text in dict.fromkeys(filter(None, beside))]
    harmless = [_run(one.text) for one in refused]
    return (FIRST_PROMPT, *controls, *known, *harmless, *harmless, *controls)


def refused_lookalikes(
    outcomes: Sequence[Outcome], commands: Sequence[str], source: str = ""
) -> list[Lookalike]:
    """Return the harmless commands that hooks refused in a session in which they allowed similar ones."""
    seen = [command_calls(outcome) for outcome in outcomes]
    return [
        one
        for one in lookalikes(commands, source)
        if any(
            one.text in calls.refused
            and one.text not in calls.passed
            and {*one.controls} <= calls.passed.keys()
            for calls in seen
        )
    ]


# Code that reads the current branch.
_BRANCH = re.compile(
    r"branch --show-current|show-current|rev-parse\W+--abbrev-ref|symbolic-ref|abbrev-ref|\.git/HEAD"
)


def try_new_branch(refused: Collection[str], source: str) -> tuple[Act, ...]:
    """
    Return the acts of an agent that commits on another branch, and on a new branch in one line.

    There are none if no guard that asks for the branch refused a commit.
    """
    known = next((text for text in refused if NEW_BRANCH.belongs_to([text])), "")
    if not known or not _BRANCH.search(source):
        return ()
    (control,), line = NEW_BRANCH.controls, NEW_BRANCH.text
    # These commands are carried out, to change the branch.
    names = ("-b topic", "-", "topic")
    begin, back, again = (RunCommand(command=f"git checkout -q {name}") for name in names)
    asked = [RunCommand(command=text, given=GIVEN) for text in (known, line, line)]
    commit = RunCommand(command=control, given=GIVEN)
    return (FIRST_PROMPT, begin, commit, back, *asked, again, commit)
