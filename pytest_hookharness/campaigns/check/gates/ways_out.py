"""
Ways out of a loop: sessions in which the agent does what a refusal asks for, and may then stop.

Such a loop is a gate. The agent makes the file that the hooks look for and do not find, ticks the items of
the list that the refusal names, or runs the command that it quotes. A test or linter is not run, but the
hooks are told that it succeeded. An agent that cannot do this is refused until the host's own limit. A
command that the refusal warns against, or names as a way to switch the hook off, does not count as asked for.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeAlias

from pytest_hookharness.campaigns.arming.project_texts import is_small, read_known_text
from pytest_hookharness.campaigns.arming.state_contents import TICKABLE
from pytest_hookharness.campaigns.explore.candidate_moves import Reach, named
from pytest_hookharness.campaigns.short_texts import in_one_line
from pytest_hookharness.judging.checkup.written_paths import without_run_folder
from pytest_hookharness.model.checkup import CheckSession, Symptom
from pytest_hookharness.model.fast_dataclass import dataclass
from pytest_hookharness.model.moves import Behaviour, Edit, RunCommand, Stop, ToolResult
from pytest_hookharness.model.outcome import OF_CHANCE, Outcome, files_not_made, last_refusal
from pytest_hookharness.model.trace import Trace

# Plays a session; returns ``None`` if it could not be played.
Play: TypeAlias = Callable[[CheckSession], Outcome | None]
_Asked: TypeAlias = Edit | RunCommand
_TEXT = "text\n"
# A gate may ask for one thing after the other.
_MOST_ROUNDS, _MOST_MOVES, _QUOTED = 3, 4, 80
# How a refusal asks for a file, before its name.
_MAKES = r"\b(?i:write|create|add|make|update|save|record|touch|put)\b[^.\n]{0,60}?"
# Files that a command makes by itself.
_MADE_BY = re.compile(r"(?:^touch|>)\s*(\S+)")
# Commands that work on files alone. Others may have a service of the machine do something, whose socket is in
# reach of the sandbox; to remove a file, or undo a change, may give up the work that the loop is about.
_ON_FILES = re.compile(
    r"\s*(?:\w+=\S*\s+)*(?:(?:touch|mkdir|echo|printf|date|cp|mv|ln|tee|cat|sort|test|true|cd)\b"
    r"|git\s+(?:-C\s+\S+\s+)?(?:add|commit|tag|mv|branch|switch|merge|init|notes|config)\b)"
)
# A command that a refusal names in brackets: "run the tests (make test)".
_IN_BRACKETS = re.compile(r"\((?:e\.g\.,? |such as )?([a-z][\w.-]*(?: [\w./:=@-]+){1,5})\)")
# Commands that by their names only check the project.
_CHECK = re.compile(
    r"(?:pytest|ruff|mypy|pyright|eslint|tsc|vitest|jest|tox|nox|prettier)\b[^;&|<>$`]*"
    r"|(?:make|npm|pnpm|yarn|npx|bun|uv|poetry|cargo|go|gradle|\./gradlew|mvn|dotnet|mix)\b(?: [\w:./=@-]+)*?"
    r" (?:test|lint|check|vet|typecheck|type-check|verify|validate)[\w:.-]*(?: [\w:./=@-]+)*"
)
_REMOVES = re.compile(r"\brm\b")
_SUCCEEDED = ToolResult(text="done")
_JOINED = re.compile(r"&&|\|\|?|;|\n")
# A warning right before a name, and words around one that switches the hook off.
_WARNED = re.compile(
    r"\b(?i:never|do not|don't|must not|mustn't|should not|avoid|instead of|rather than)\s+"
    r"(?!(?:forget|stop|finish|end|exit)\b)(?:[\w']+\s+){0,2}[`\"']?[\w./-]*$"
)
_GIVES_UP = r"(?:cancel|abort|give up|bypass|skip|override|disable|turn off|switch off|opt out|ignore)"
_TO_GIVE_UP = re.compile(rf"(?<!not )(?<!n't )\b(?i:{_GIVES_UP})\b[^.;\n]{{0,60}}[\w./-]*$")
_GIVEN_UP = re.compile(rf"[^.;\n]{{0,40}}\bto\s+(?i:{_GIVES_UP})\b")
# How a refusal asks for the items of a list.
_TICKS = re.compile(r"\b(?i:item|task|todo|open|unchecked|unfinished|incomplete|tick|finish|complete|check)")
_TICKED = re.compile(r"^\s*[-*+] \[x\]", re.MULTILINE)
_LONGEST = 1 << 16


@dataclass(frozen=True, slots=True, kw_only=True)
class WayOut:
    """
    The moves until the agent's stop was allowed, in order, and the files that hooks did not find.

    If not ``tried``, these are moves that a refusal asks for and that no session made.
    """

    event: str
    reason: str
    moves: tuple[_Asked, ...]
    unmade: tuple[str, ...]
    tried: bool = True

    def described(self, symptom: Symptom) -> Symptom:
        """Return the symptom of a gate, which such an agent passes, or may pass."""
        if not self.tried:
            asked = " and ".join(
                f"runs `{move.command}`" if isinstance(move, RunCommand) else f"writes {move.file}"
                for move in self.moves
            )
            untried = f"Not tried: an agent that {asked}, as it is asked to, may be allowed to stop."
            return replace(symptom, assumes=(*symptom.assumes, untried), avoidable=True)
        edits = [move for move in self.moves if isinstance(move, Edit)]
        ticked = [move.file for move in edits if _TICKED.search(move.text)]
        made = [move.file for move in edits if move.file not in ticked]
        ran = [f"`{move.command}`" for move in self.moves if isinstance(move, RunCommand)]
        said = f'"{in_one_line(without_run_folder(self.reason), _QUOTED)}"'
        seen = f"{self.event} is refused with {said}"
        parts = (("makes", made), ("ticks all items of", ticked), ("runs", ran))
        does = [f"{verb} {' and '.join(named)}" for verb, named in parts if named]
        if made and not (ran or ticked) and {*made} <= {*self.unmade}:
            are, them = ("does", "it") if len(made) == 1 else ("do", "them")
            seen = f"{self.event} is refused as long as {' and '.join(made)} {are} not exist ({said})"
            does = [f"makes {them}"]
        claimed = [move.command for move in self.moves if isinstance(move, RunCommand) and move.given]
        told = [f"`{command}` succeeds: it was not run, and the hooks were told so." for command in claimed]
        goes = f"an agent that {' and '.join(does)} may stop, and one that cannot is refused again and again"
        return replace(
            symptom,
            text=f"{seen}: {goes}.",
            advice=f"For agents that cannot: {symptom.advice[:1].lower()}{symptom.advice[1:]}",
            assumes=(*(one for one in symptom.assumes if not files_not_made([one])), *told),
            avoidable=True,
        )


def find_way_out(
    session: CheckSession, trace: Trace, symptom: Symptom, root: Path, play: Play, *, runs: bool
) -> WayOut | None:
    """
    Return the agent's way out after the refusals at the end of a session; ``None`` if nothing helped.

    Commands that only hooks name are run if ``runs``. What a refusal asks for beyond those that may be run,
    or what there was no time for, is a way that was not tried.
    """
    if any(one.startswith(OF_CHANCE) for one in symptom.assumes):
        # Chance, and not the agent's act, may be why its stop was allowed.
        return None
    unmade = files_not_made(symptom.assumes)
    event, said = _last_refusal(trace)
    reason = said
    moves: list[_Asked] = []
    for _ in range(_MOST_ROUNDS):
        new = [one for one in _asked_for(reason, unmade, root, runs=runs) if one not in moves]
        if not new:
            break
        moves += new[: _MOST_MOVES - len(moves)]
        outcome = play(_with_moves(session, moves))
        if outcome is None:
            return WayOut(event=event, reason=said, moves=tuple(new), unmade=tuple(unmade), tried=False)
        if outcome.verdict_name == "terminated":
            return WayOut(event=event, reason=said, moves=tuple(moves), unmade=tuple(unmade))
        reason = _last_refusal(outcome.trace)[1]
    left = tuple(_not_run(reason, runs=runs))[:_MOST_MOVES]
    return WayOut(event=event, reason=said, moves=left, unmade=tuple(unmade), tried=False) if left else None


def _not_run(reason: str, *, runs: bool) -> Iterator[RunCommand]:
    """Yield the commands that a refusal asks for and that no session runs, but none that removes a file."""
    asked = (move for move in named(reason) if isinstance(move, RunCommand))
    for move in asked:
        command = move.command
        withheld = not runs or (_is_withheld(command) and not _CHECK.fullmatch(command))
        if withheld and not _REMOVES.search(command) and _asks_for(command, reason):
            yield move


def _asked_for(reason: str, unmade: Sequence[str], root: Path, *, runs: bool) -> list[_Asked]:
    """Return what a refusal asks for; a file that one of its commands makes is not made by an edit too."""
    moves = [*_all_asked_for(reason, unmade, root, runs=runs)]
    commands = (move.command for move in moves if isinstance(move, RunCommand))
    made = "\n".join(" ".join(_MADE_BY.findall(command)) for command in commands)
    return [
        move for move in moves if isinstance(move, RunCommand) or posixpath.basename(move.file) not in made
    ]


def _all_asked_for(reason: str, unmade: Sequence[str], root: Path, *, runs: bool) -> Iterator[_Asked]:
    """Yield what a refusal asks for: files that it names and that do not exist, and commands."""
    asked = [path for path in unmade if _asks_for(posixpath.basename(path), reason)]
    yield from (Edit(file=path, text=_TEXT) for path in asked)
    known = {posixpath.basename(path) for path in asked}
    for move in named(reason):
        match move:
            case Edit(file=file) if (root / file).is_file():
                if (done := _ticked(root / file, reason)) and _asks_for(file, reason):
                    yield Edit(file=file, text=done)
            case Edit(file=file) if not (root / file).exists() and re.search(
                _MAKES + re.escape(file), reason
            ):
                if posixpath.basename(file) not in known and _asks_for(file, reason):
                    yield move
            case RunCommand(command=command) if runs and _asks_for(command, reason):
                if not _is_withheld(command):
                    yield move
                elif _CHECK.fullmatch(command):
                    yield replace(move, given=_SUCCEEDED)
            case _:
                continue
    for found in _IN_BRACKETS.findall(reason) if runs else ():
        if _CHECK.fullmatch(found) and _asks_for(found, reason):
            yield RunCommand(command=found, given=_SUCCEEDED)


def _asks_for(name: str, reason: str) -> bool:
    """Return whether a refusal names something, but not as what must not be done, or ends the work."""
    for found in re.finditer(rf"(?<![\w-]){re.escape(name)}(?![\w-])", reason):
        before, after = reason[: found.start()], reason[found.end() :]
        if not (_WARNED.search(before) or _TO_GIVE_UP.search(before) or _GIVEN_UP.match(after)):
            return True
    return False


def _is_withheld(command: str) -> bool:
    """Return whether to run a command might end the work, or reach what is not in the sandbox."""
    parts = [part for part in _JOINED.split(command) if part.strip()]
    on_files = all(map(_ON_FILES.match, parts)) and not re.search(r"`|\$\(|<\(", command)
    return not on_files or Reach.WORKSPACE.withholds(command)


def _ticked(file: Path, reason: str) -> str:
    """Return the text of a list with all its items done; empty if it has none that a refusal may mean."""
    text = read_known_text(file) if is_small(file, _LONGEST) and _TICKS.search(reason) else ""
    done = TICKABLE.sub(r"\1[x]", text)
    return done if done != text else ""


def _with_moves(session: CheckSession, moves: Sequence[_Asked]) -> CheckSession:
    """Return the session in which the agent stops, does what it is asked for, and only stops from then on."""
    acts = session.scenario.script.acts
    before = acts if acts and isinstance(acts[-1], Stop) else (*acts, Stop())
    script = replace(session.scenario.script, acts=(*before, *moves, Stop()), then=Behaviour())
    scenario = replace(session.scenario, script=script, turns=len(script.acts) + 1)
    return replace(session, title="an agent that does what it is asked for", scenario=scenario, ends=True)


def _last_refusal(trace: Trace) -> tuple[str, str]:
    """Return the event that was refused last, and the reason."""
    hooked = last_refusal(trace)
    return (hooked.event, "\n".join(one.demand for one in hooked.deciding)) if hooked else ("", "")
