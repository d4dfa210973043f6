"""
Commands that hooks refused, in other words: as data and as other code.

All rewordings go into one session. Only what looks wrong there gets the many sessions that prove it.
"""

from __future__ import annotations

import re
import statistics
from collections.abc import Iterator, Sequence
from dataclasses import replace

from pytest_hookharness import hosts
from pytest_hookharness.campaigns.guards.named_commands import mixed
from pytest_hookharness.campaigns.guards.watched_moves import is_asked_before
from pytest_hookharness.campaigns.stress.first_run import GIVEN
from pytest_hookharness.campaigns.stress.mutations.wording import HARMLESS, forms_of
from pytest_hookharness.judging.checkup.bypasses import READING, WRITING, call_name
from pytest_hookharness.judging.comparison.traces import is_asked
from pytest_hookharness.model.expectations import first_few
from pytest_hookharness.model.fast_dataclass import dataclass
from pytest_hookharness.model.moves import FIRST_PROMPT, Act, Edit, Read, RunCommand, ToolCall, Tools
from pytest_hookharness.model.outcome import Outcome
from pytest_hookharness.model.processes import Exited
from pytest_hookharness.model.trace import HookRun, Moved, Performed

# The number of refused calls that other sessions repeat, and of commands of one guard that are tried.
_MOST_REFUSED, _MOST_TRIED = 4, 3
# How programs that end with 2 report that they failed.
_FAILURE = re.compile(r"(?:(?:/\S*/)?(?:sed|[ef]?grep|sort|ls|diff|[gm]?awk|jq): [^\n]+\n)+")


@dataclass(frozen=True, slots=True)
class Refusals:
    """
    What one hook refused.

    Attributes:
        commands: The shell commands, each once, the first of each program before the second ones.
        reads: The files that it did not let a tool read.
        lines: The edits of one line that it refused, as they are called.
        seconds: How long it usually keeps a processor busy.
    """

    hook: str
    commands: tuple[str, ...]
    files: tuple[str, ...] = ()
    reads: tuple[str, ...] = ()
    lines: tuple[str, ...] = ()
    seconds: float = 0.0

    @property
    def all_calls(self) -> tuple[str, ...]:
        """The commands, and the files that a tool may not read or write in words."""
        read = (f"{READING}{file}" for file in self.reads)
        return (*self.commands, *read, *(f"{WRITING}{file}" for file in self.files), *self.lines)

    @property
    def tried(self) -> tuple[str, ...]:
        """The commands that are tried in other ways."""
        return self.commands[:_MOST_TRIED]


def reword(
    host: str, commands: Sequence[str], files: Sequence[str] = (), further: int = 0
) -> tuple[Act, ...]:
    """
    Return acts with commands as they are and in every form, and with harmless words in their place as data.

    Without commands and files there are no acts. The acts that show most come first, as a session may have to
    be short. Edits that only mention files must be allowed. ``further`` commands, at the end, are only tried
    as data.
    """
    harmless = [one.text for one in forms_of(HARMLESS) if not one.code] if commands else []
    data = [text for command in commands for text in (command, *_forms(command, code=False))]
    whole = commands[: len(commands) - further]
    code = [text for command in whole for text in _forms(command, code=True)]
    described = [Tools(calls=(_described(host, words),)) for words in ((HARMLESS, *whole) if whole else ())]
    acts: tuple[Act, ...] = (
        *(RunCommand(command=text, given=GIVEN) for text in (*harmless, *data)),
        *described,
        *_mention(files),
        *(RunCommand(command=text, given=GIVEN) for text in code),
    )
    return (FIRST_PROMPT, *acts) if acts else ()


def _forms(command: str, *, code: bool) -> list[str]:
    return [one.text for one in forms_of(command) if one.code is code]


def _mention(files: Sequence[str]) -> Iterator[Edit]:
    for number, word in enumerate(["nothing", *files] if files else ()):
        yield Edit(file=f"notes-{number}.md", text=f"See {word} for more.\n", expect="allow")


def _described(host: str, words: str) -> ToolCall:
    """Return a harmless call with a command's words as its description, where they have no effect."""
    call = hosts.find(host).tools.call(RunCommand(command=HARMLESS, given=GIVEN), "/")
    return replace(call, input={**call.input, "description": words})


@dataclass(frozen=True, slots=True)
class Suspect:
    """A command refused where its words were data, though harmless words in that mutation were allowed."""

    command: str
    family: str
    wording: str
    hook: str = ""


def refused_as_data(outcome: Outcome, commands: Sequence[str]) -> Iterator[Suspect]:
    """Yield the commands that were refused as data, each with the first such wording of each kind."""
    refused, passed = {*_texts(outcome, refused=True)}, {*_texts(outcome, refused=False)}
    words = {refused: {*_texts(outcome, refused=refused, described=True)} for refused in (True, False)}
    harmless = {one.form: one.text for one in forms_of(HARMLESS)}
    for command in commands:
        if command in words[True] and HARMLESS in words[False]:
            yield Suspect(command, "words", f"`{HARMLESS}` described as `{command}`")
        for one in forms_of(command):
            if not one.code and one.text in refused and harmless[one.form] in passed:
                yield Suspect(command, "quoting", f"the same words in {one.form}")
                break


def allowed_as_code(outcome: Outcome, commands: Sequence[str]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield the refused commands that were allowed in forms of code, each with these forms."""
    refused, passed = {*_texts(outcome, refused=True)}, {*_texts(outcome, refused=False)}
    for command in commands:
        forms = tuple(one.form for one in forms_of(command) if one.code and one.text in passed)
        # The hook that refused it elsewhere may have been left out of this session.
        if forms and command in refused:
            yield command, forms


def misjudged(outcomes: Sequence[Outcome], refusals: Sequence[Refusals]) -> tuple[list[Suspect], list[str]]:
    """Return what the sessions of rewordings show: commands refused as data, and those allowed as code."""
    suspects: dict[tuple[str, str], Suspect] = {}
    passed: dict[tuple[tuple[str, ...], bool], dict[str, None]] = {}
    for one in refusals:
        for outcome in outcomes:
            for suspect in refused_as_data(outcome, one.tried):
                # One command shows it, and the proof takes time.
                suspects.setdefault((one.hook, suspect.family), replace(suspect, hook=one.hook))
            for command, forms in allowed_as_code(outcome, one.tried):
                asked = command in _texts(outcome, refused=True, asked=True)
                passed.setdefault((forms, asked), {})[f"`{command}`"] = None
    said = (
        f"{first_few([*commands])} {'is' if len(commands) == 1 else 'are'} "
        f"{'asked about' if asked else 'refused'}, but allowed in these forms: {', '.join(forms)}."
        for (forms, asked), commands in passed.items()
    )
    return [*suspects.values()], [*said]


def _texts(outcome: Outcome, *, refused: bool, described: bool = False, asked: bool = False) -> Iterator[str]:
    """
    Yield the command lines that were refused, or that were not; or the descriptions of harmless ones.

    If ``asked``, only those of turns in which a hook asked the user.
    """
    for step in outcome.trace.steps:
        if asked and not is_asked(outcome.trace, step.turn):
            continue
        if isinstance(step.exchange, Performed) and step.exchange.refused is refused:
            given = step.exchange.call.input
            command = str(given.get("command", given.get("cmd", "")))
            if described is (command == HARMLESS):
                yield str(given.get("description", "")) if described else command


def refused_moves(outcome: Outcome) -> Iterator[tuple[str, Act]]:
    """Yield the moves that hooks refused, each with the command of the refusing hook."""
    yield from ((run.hook.command, move) for run, move in refusing_runs(outcome))


def refusing_runs(outcome: Outcome) -> Iterator[tuple[HookRun, Act]]:
    """Yield the hook runs that refused a move, each with the move."""
    moves = {
        step.turn: step.exchange.move for step in outcome.trace.steps if isinstance(step.exchange, Moved)
    }
    for step, hooked in outcome.trace.hooked():
        move = moves.get(step.turn)
        if hooked.decision.refused and isinstance(move, RunCommand | Edit | Read | Tools):
            for hook_run in hooked.hook_runs:
                if hook_run.reply.ruling is hooked.decision.ruling and not _is_failure(hook_run):
                    yield hook_run, move


def _is_failure(hook_run: HookRun) -> bool:
    """Return whether a hook ended with the status of a program that failed, so it meant to refuse nothing."""
    run = hook_run.run
    if run is None or run.ending != Exited(2) or run.stdout.text.strip():
        return False
    return _FAILURE.fullmatch(run.stderr.text) is not None


def refused_calls(outcomes: Sequence[Outcome]) -> list[Act]:
    """Return a refused call of each hook that refused any, preferably a shell command; each call once."""
    found: dict[str, Act] = {}
    for outcome in outcomes:
        for hook, move in refused_moves(outcome):
            if hook not in found or (
                isinstance(move, RunCommand) and not isinstance(found[hook], RunCommand)
            ):
                found[hook] = move
    # Calls have inputs, so they cannot be keys of a dictionary.
    moves: list[Act] = []
    for move in found.values():
        moves += [] if move in moves else [move]
    return moves[:_MOST_REFUSED]


def edited_files(outcome: Outcome) -> tuple[set[str], set[str]]:
    """Return the files whose edits were refused beforehand, and those edited without a refusal at all."""
    files: tuple[set[str], set[str]] = set(), set()
    blamed = {step.turn for step, hooked in outcome.trace.hooked() if hooked.decision.refused}
    done = {step.turn: step.exchange for step in outcome.trace.steps if isinstance(step.exchange, Performed)}
    for step in outcome.trace.steps:
        exchange, move = done.get(step.turn), getattr(step.exchange, "move", None)
        judged = exchange is not None and (exchange.refused or step.turn not in blamed)
        if exchange is not None and judged and isinstance(move, Edit):
            files[not exchange.refused].add(move.file)
    return files


def refused_by_hook(outcomes: Sequence[Outcome]) -> list[Refusals]:
    """Return what each hook refused; a file is left out if another edit of it was allowed."""
    found: dict[str, list[Act]] = {}
    made = {file for outcome in outcomes for file in edited_files(outcome)[1]}
    for outcome in outcomes:
        for hook, move in refused_moves(outcome):
            found.setdefault(hook, []).append(move)
    return [
        Refusals(
            hook=hook,
            commands=tuple(mixed([one.command for one in moves if isinstance(one, RunCommand)])),
            files=tuple(
                dict.fromkeys(one.file for one in moves if isinstance(one, Edit) and one.file not in made)
            ),
            reads=tuple(dict.fromkeys(one.file for one in moves if isinstance(one, Read))),
            lines=tuple(
                dict.fromkeys(
                    name for one in moves if isinstance(one, Edit) and ": " in (name := call_name(one))
                )
            ),
            seconds=_seconds(hook, outcomes),
        )
        for hook, moves in found.items()
    ]


def _seconds(hook: str, outcomes: Sequence[Outcome]) -> float:
    """Return how long a hook usually keeps a processor busy, whatever else runs; 0 if that is unknown."""
    runs = (one for outcome in outcomes for _, one in outcome.trace.hook_runs() if one.hook.command == hook)
    times = [one.run.cpu for one in runs if one.run is not None]
    return statistics.median(times) if times else 0.0


def writes_before_calls(host: str, outcomes: Sequence[Outcome]) -> bool:
    """Return whether hooks that run before tool calls write files of the project."""
    return any(
        is_asked_before(host, hooked.event)
        and any(change.path.startswith("workspace/") for change in hooked.changes)
        for outcome in outcomes
        for _, hooked in outcome.trace.hooked()
    )
