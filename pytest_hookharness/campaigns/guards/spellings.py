"""The moves that show whether a guard sees other spellings of what it refuses."""

from __future__ import annotations

from collections.abc import Sequence

from pytest_hookharness.judging.checkup.bypasses import passed_turns, spellings
from pytest_hookharness.model.moves import FIRST_PROMPT, Act, RunCommand, ToolResult
from pytest_hookharness.model.outcome import Outcome

_GIVEN = ToolResult(text="done")


def try_spellings(commands: Sequence[str]) -> tuple[Act, ...]:
    """Return the acts of an agent that runs the other spellings of commands; none if there are none."""
    tried = [_run(text) for command in commands for text in spellings(command)]
    return (FIRST_PROMPT, *tried) if tried else ()


def prove_spellings(command: str, allowed: Sequence[str]) -> tuple[Act, ...]:
    """
    Return the acts that show that a command is refused, and other spellings of it are not.

    Each spelling is run before and after the command, because a guard may refuse only the first call, or all
    calls after some time.
    """
    others = [_run(text) for text in allowed]
    return (FIRST_PROMPT, *others, _run(command), _run(command), *others)


def _run(command: str) -> RunCommand:
    return RunCommand(command=command, given=_GIVEN)


def allowed_spellings(outcomes: Sequence[Outcome], commands: Sequence[str]) -> dict[str, list[str]]:
    """Return which other spellings of refused commands were allowed without a question, by command."""
    passed = {text for outcome in outcomes for text in passed_turns(outcome)}
    found = {command: [text for text in spellings(command) if text in passed] for command in commands}
    return {command: texts for command, texts in found.items() if texts}
