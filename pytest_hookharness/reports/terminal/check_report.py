"""
Check-ups as text and as JSON: what is wrong with hooks, and what was tried.

Pure.
"""

from __future__ import annotations

import shlex
import textwrap
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from pytest_hookharness.model.checkup import CheckReport, HookSet, Problem
from pytest_hookharness.model.expectations import counted
from pytest_hookharness.model.moves import (
    FIRST_PROMPT,
    Act,
    Compact,
    Corrupt,
    End,
    Prompt,
    Resume,
    Wait,
)
from pytest_hookharness.model.scenario import Scenario
from pytest_hookharness.reports.safe_text import plain
from pytest_hookharness.reports.terminal.phrases import event_words, move_words

_WIDTH = 110
_HOOK = 100
_MOST_MOVES = 6
_LINE = 300
_PAGES = "docs/findings"
_VERDICTS = "docs/endless-hooks.md"
_ONLY = "Only {name} was looked for{until}."
Again = Callable[[Problem], str]


def announcement(place: HookSet, apart: str) -> str:
    """
    What will be run, and what keeps it apart from the machine.

    Args:
        place: Where hooks were found.
        apart: What is and what is not kept apart, in sentences.
    """
    commands = dict.fromkeys(_command(hook.command, hook.type) for hook in place.hooks)
    lines = [f"{place.host}: {counted(len(place.hooks), 'hook')} in {', '.join(map(plain, place.files))}"]
    lines += [f"  runs  {plain(command, _LINE)}" for command in commands]
    return "\n".join([*lines, *_wrapped(apart, "  ")])


def _command(command: str, kind: str) -> str:
    return command if kind == "command" else f"(nothing: a handler of type {kind})"


def told(checkup: CheckReport, again: Again) -> str:
    """
    The report: what is wrong, each cause once, then what was tried and what could not be told.

    Args:
        checkup: What it came to.
        again: The command that shows a problem again.
    """
    lines = [headline(checkup)]
    for problem in checkup.problems:
        lines += ["", *_problem(problem, again)]
    if files := [str(problem.file) for problem in checkup.problems if problem.file is not None]:
        lines += [
            "",
            f"play all scenarios that were written: {shlex.join(['pytest', '--hook-scenarios', *files])}",
        ]
    if well := _well(checkup):
        lines += ["", "no problem was seen with:", *(f"  - {plain(command, _HOOK)}" for command in well)]
    tried = checkup.tried
    if checkup.only:
        until = ", and nothing else was tried once it was shown" if checkup.problems else ""
        tried = (_ONLY.format(name=checkup.only, until=until), *tried)
    lines += ["", "tried:", *(line for text in tried for line in _item(text))]
    for title, texts in (("not shown:", checkup.open), ("could not be told:", checkup.undecided)):
        if texts:
            lines += [title, *(line for text in texts for line in _item(text))]
    return "\n".join(lines)


def headline(checkup: CheckReport) -> str:
    """
    The first line, which says all that matters.
    """
    host, hooks = checkup.place.host, counted(len(checkup.place.hooks), "hook")
    took = f"{checkup.seconds:.0f} s"
    if checkup.problems:
        names = ", ".join(dict.fromkeys(problem.complaint.kind for problem in checkup.problems))
        concerned = len(_concerned(checkup))
        who = f"{concerned} of {hooks}" if 0 < concerned < len(_commands(checkup)) else hooks
        return f"{host}: {counted(len(checkup.problems), 'problem')} with {who} in {took}: {names}"
    if checkup.only:
        known = "was not seen, but not all could be told" if checkup.undecided else "is not seen any more"
        return f"{host}: the problem {checkup.only} {known}, with {hooks} in {took}"
    if checkup.undecided:
        return f"{host}: no problem was seen with {hooks} in {took}, but not all could be told"
    return f"{host}: no problem with {hooks} in {took}"


def _commands(checkup: CheckReport) -> list[str]:
    return [*dict.fromkeys(hook.command for hook in checkup.place.hooks if hook.command)]


def _concerned(checkup: CheckReport) -> set[str]:
    """
    The commands of the hooks that have a problem, or may have: of some it is only known that one has it.
    """
    named = [problem.complaint.hook for problem in checkup.problems]
    return {command for command in _commands(checkup) if any(_names(words, command) for words in named)}


def _names(words: str, command: str) -> bool:
    return f", {command}, " in f", {words}, "


def _well(checkup: CheckReport) -> list[str]:
    """
    The hooks that were fired and of which no problem was seen, where others have some and all was tried.
    """
    if checkup.only or checkup.undecided or not checkup.problems:
        return []
    concerned = _concerned(checkup)
    return [
        command for command in _commands(checkup) if command in checkup.woken and command not in concerned
    ]


def line(problem: Problem) -> str:
    """
    A problem in one line that stands alone.
    """
    complaint = problem.complaint
    where = f" {plain(complaint.hook, _HOOK)}:" if complaint.hook else ""
    name = f"{complaint.code} {complaint.kind}" if complaint.code else complaint.kind
    return f"{name}{where} {plain(complaint.text, _LINE)}"


def _varied(problem: Problem) -> list[str]:
    """
    Return the words of what is tried on a scenario.
    """
    scenario = problem.scenario
    race = [] if scenario.parallel is None else ["parallel"]
    return [*(request.family for request in scenario.vary), *race]


def _problem(problem: Problem, again: Again) -> Iterator[str]:
    yield line(problem)
    if problem.scenario.script.acts:
        yield f"  shown by  {_shown_by(problem)}"
    if varied := _varied(problem):
        yield f"  varied    {', '.join(varied)}"
    if problem.complaint.advice:
        yield from _wrapped(problem.complaint.advice, "  mend      ", "            ")
    yield f"  again     {again(problem)}"
    if problem.file is not None:
        yield f"  scenario  {plain(str(problem.file), _LINE)}"
    if problem.unwritten:
        yield from _wrapped(problem.unwritten, "  scenario  ", "            ")
    yield f"  more      {_explained(problem)}"


def _shown_by(problem: Problem) -> str:
    moves = _moves(problem.scenario)
    if len(moves) <= _MOST_MOVES:
        return "; then ".join(moves)
    if problem.move is not None:
        where = f"turn {problem.complaint.turn} of {problem.shown_by[0]}"
        return f"{where}, not made smaller: {plain(_act_words(problem.move), _HOOK)}"
    return "; then ".join([f"{len(moves) - _MOST_MOVES} others before", *moves[-_MOST_MOVES:]])


def _explained(problem: Problem) -> str:
    return f"hookharness findings {problem.complaint.code or problem.complaint.kind}"


def _page(problem: Problem) -> str:
    code = problem.complaint.code
    return f"{_PAGES}/{code}.md" if code else f"{_VERDICTS}#{problem.complaint.kind}"


def _moves(scenario: Scenario) -> list[str]:
    acts = [act for act in scenario.script.acts if act != FIRST_PROMPT]
    then = scenario.script.then.name
    words = [plain(_act_words(act), _HOOK) for act in acts] or ["stops"]
    return words if then == "idle" else [*words, f"goes on as an agent that is {then}"]


def _act_words(act: Act) -> str:
    match act:
        case Prompt() | Wait() | Compact() | Resume() | End() | Corrupt():
            return event_words(act)
        case _:
            return move_words(act)


def _item(text: str) -> list[str]:
    return _wrapped(plain(text, _LINE), "  - ", "    ")


def _wrapped(text: str, first: str, later: str | None = None) -> list[str]:
    return textwrap.wrap(
        text,
        _WIDTH,
        initial_indent=first,
        subsequent_indent=first if later is None else later,
        break_long_words=False,
        break_on_hyphens=False,
    )


def as_json(checkups: Sequence[CheckReport], again: Again) -> dict[str, Any]:
    """
    The same for programs.
    """
    return {"checkups": [_place(checkup, again) for checkup in checkups]}


def _place(checkup: CheckReport, again: Again) -> dict[str, Any]:
    return {
        "host": checkup.place.host,
        "files": [*checkup.place.files],
        "hooks": [hook.command for hook in checkup.place.hooks],
        "problems": [
            {
                "id": problem.id,
                "name": problem.complaint.kind,
                "code": problem.complaint.code or None,
                "hook": problem.complaint.hook,
                "text": problem.complaint.text,
                "advice": problem.complaint.advice,
                "moves": _moves(problem.scenario),
                "varied": _varied(problem),
                "again": again(problem),
                "scenario": None if problem.file is None else str(problem.file),
                "explained": _explained(problem),
                "page": _page(problem),
                "shown_by": [*problem.shown_by],
            }
            for problem in checkup.problems
        ],
        "no_problem_with": _well(checkup),
        "tried": [*checkup.tried],
        "not_shown": [*checkup.open],
        "could_not_be_told": [*checkup.undecided],
        "seconds": round(checkup.seconds, 1),
    }
