"""Check reports as text and as JSON: what is wrong with the hooks, and what was tried."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from pytest_hookharness.model.checkup import (
    CheckReport,
    HookSet,
    Problem,
    hook_name,
    hook_names,
    is_named,
    list_hook_names,
)
from pytest_hookharness.model.expectations import counted, first_few
from pytest_hookharness.model.moves import FIRST_PROMPT, Act, Compact, Corrupt, End, Prompt, Resume, Wait
from pytest_hookharness.model.scenario import Scenario
from pytest_hookharness.reports.safe_text import plain, wrapped
from pytest_hookharness.reports.terminal.phrases import describe_event, describe_move

_WIDTH = 110
_HOOK = 100
_MOST_MOVES = 6
_MOST_COMMANDS = 3
_MOST_NAMES = 3
_LINE = 300
_LONG_TEXT = 1000
_CUT = re.compile(r" \(.*\.\.\.\)$", re.DOTALL)
_PAGES = "docs/findings"
_VERDICTS = "docs/endless-hooks.md"
# What was different in the sessions that show a problem, by the family of the mutations.
_VARIED = {
    "key-order": "the keys of the input stand in another order",
    "words": "the words of the command stand in its description",
    "quoting": "the words of the command stand in quotes, in a heredoc, or in code for another shell",
    "names": "the same is done with another file of the same name",
    "state": "a file of the hook's own is emptied",
    "tools": "a program that a hook calls is missing",
    "sessions": "another session or subagent is active in between",
    "processes": "the host goes on in another process",
}
# Returns the shell command that shows a problem of a hook set again.
ReplayCommand = Callable[[Problem, HookSet], str]


def announcement(places: Sequence[HookSet], isolation: str) -> str:
    """Return which commands will run; ``isolation`` is what isolates them from the machine, in sentences."""
    return "\n".join(
        [*(line for place in places for line in _announced(place)), *wrapped(isolation, _WIDTH, "  ")]
    )


def _announced(place: HookSet) -> list[str]:
    commands = dict.fromkeys(_command(hook.command, hook.type) for hook in place.hooks)
    files = first_few([*map(plain, place.files)])
    where = f", where {place.host} does not look; tried as if it were there" if place.elsewhere else ""
    if place.documented:
        where = ", an example for users; tried as if it were in their settings"
    elif place.unnamed:
        where = ", which no settings name; tried on the events that they name or seem to read"
    lines = [f"{plain(place.title)}: {counted(len(place.hooks), 'hook')} in {files}{where}"]
    lines += [f"  runs  {plain(command, _LINE)}" for command in commands]
    for hook in place.shared:
        command = plain(_command(hook.command, hook.type), _LINE)
        lines.append(f"  runs  {command} (from {plain(hook.source)}, which is checked with another host)")
    if place.elsewhere and place.env:
        lines.append(f"  sets  {', '.join(place.env)} to the project, as if a build made a plugin of it")
    if place.lent:
        lines.append(f"  lends {', '.join(plain(f'~/{path}') for path in place.lent)} (read-only)")
    for path, named in place.installed:
        what = "the plugin" if named == "." else plain(named)
        lines.append(f"  copies {what} to ~/{plain(path)}, as its installer would")
    return lines


def _command(command: str, kind: str) -> str:
    return command if kind == "command" else f"(not run: a handler of type {kind})"


def render_check(checkup: CheckReport, replay_command: ReplayCommand) -> str:
    """Return the report: each problem once, then what was tried, not tried and undecided."""
    lines = [headline(checkup)]
    for title, serious in (("must fix", True), ("worth knowing", False)):
        problems = [problem for problem in checkup.problems if problem.symptom.must_fix is serious]
        lines += ["", f"{title}:"] if problems else []
        for place, problem in enumerate(problems):
            lines += [*([""] if place else []), *_problem(problem, checkup.place, replay_command)]
    if checkup.untried:
        lines += ["", "could not be tried:", *(line for text in checkup.untried for line in _item(text))]
    if files := [str(problem.file) for problem in checkup.problems if problem.file is not None]:
        command = shlex.join(["pytest", "--hook-scenarios", *files])
        lines += ["", f"run all written scenarios: {command}"]
    if well := _well(checkup):
        names = (plain(hook_name(checkup.place.hooks, command), _HOOK) for command in well)
        lines += ["", "no problem found:", *(f"  - {name}" for name in names)]
    if checkup.accepted:
        lines += ["", "accepted:"]
        lines += [row for one in checkup.accepted for row in _item(f"{one.problem.id}: {one.reason}")]
    tried = checkup.tried
    if checkup.only:
        shown = any(problem.id == checkup.only for problem in checkup.problems)
        until = "; stopped when it was shown" if shown else ""
        tried = (f"only {checkup.only}{until}", *tried)
    lines += ["", "tried:", *(line for text in tried for line in _item(text))] if tried else []
    for title, texts in (("not shown:", checkup.open), ("undecided:", checkup.undecided)):
        if texts:
            lines += [title, *(line for text in texts for line in _item(text))]
    return "\n".join(lines)


def headline(checkup: CheckReport) -> str:
    """Return the first line: the result of the check."""
    host, hooks = plain(checkup.place.title), counted(len(checkup.place.hooks), "hook")
    took = f"{checkup.seconds:.0f} s"
    if checkup.problems:
        names = ", ".join(dict.fromkeys(problem.symptom.kind for problem in checkup.problems))
        concerned = len(_concerned(checkup))
        who = f"{concerned} of {hooks}" if 0 < concerned < len(_commands(checkup)) else hooks
        written = sum(problem.is_fixed for problem in checkup.problems)
        fixed = f", {written} fixed now" if written else ""
        return f"{host}: {counted(len(checkup.problems), 'problem')} with {who} in {took}: {names}{fixed}"
    if checkup.only:
        known = "not seen, but the check is incomplete" if checkup.undecided else "was not seen"
        return f"{host}: problem {checkup.only} {known}, with {hooks} in {took}"
    if checkup.untried and not (checkup.tried or checkup.problems):
        tried = f"{hooks} could not" if checkup.place.hooks else "all hooks are off, so none could"
        return f"{host}: {tried} be tried"
    if checkup.undecided or checkup.untried:
        return f"{host}: incomplete check of {hooks} in {took}, with no problem so far"
    return f"{host}: no problem with {hooks} in {took}"


def _commands(checkup: CheckReport) -> list[str]:
    return [*dict.fromkeys(hook.command for hook in checkup.place.hooks if hook.command)]


def _concerned(checkup: CheckReport) -> set[str]:
    """Return the commands of hooks that have a problem, or may have it: a problem may name several hooks."""
    named = [problem.symptom.hook for problem in checkup.problems]
    return {command for command in _commands(checkup) if any(is_named(command, words) for words in named)}


def _well(checkup: CheckReport) -> list[str]:
    """Return the hooks that ran without a problem, if others have problems and the check is complete."""
    if checkup.only or checkup.undecided or not checkup.problems:
        return []
    concerned = _concerned(checkup) | {*checkup.hindered}
    return [each for each in _commands(checkup) if each in checkup.triggered and each not in concerned]


def _what_is_wrong(problem: Problem, place: HookSet) -> list[str]:
    """Return the lines that say what is wrong, and with which hooks."""
    symptom = problem.symptom
    names = list_hook_names(place.hooks, symptom.hook, symptom.entries) or [symptom.hook]
    more = f" and {counted(len(names) - _MOST_NAMES, 'more hook')}" if len(names) > _MOST_NAMES else ""
    # A cut command says little; the lines below have the whole one.
    shown = ", ".join(plain(_CUT.sub("", one), _HOOK) for one in names[:_MOST_NAMES])
    where = f" {shown}{more}:" if symptom.hook else ""
    name = f"{symptom.code} {symptom.kind}" if symptom.code else symptom.kind
    # The names of hooks begin with their event already.
    text = re.sub(r"^\w+(?:, \w+)*: ", "", symptom.text) if names != [symptom.hook] else symptom.text
    return wrapped(f"{name}{where} {plain(text, _LONG_TEXT)}", _WIDTH, "", "    ")


def _problem(problem: Problem, place: HookSet, replay_command: ReplayCommand) -> Iterator[str]:
    symptom = problem.symptom
    yield from _what_is_wrong(problem, place)
    commands = [hook.command for hook in place.hooks if is_named(hook.command, symptom.hook)]
    for command in [*dict.fromkeys(commands)][:_MOST_COMMANDS]:
        yield f"  runs      {plain(command, _LINE)}"
    for words in symptom.printed.splitlines():
        yield f"  printed   {plain(words, _LINE)}"
    if symptom.effect:
        yield from wrapped(symptom.effect, _WIDTH, "  host      ", "            ")
    for assumed in symptom.assumes:
        yield from wrapped(plain(assumed, _LINE), _WIDTH, "  assumes   ", "            ")
    if problem.active:
        yield from wrapped(plain(problem.active, _LINE), _WIDTH, "  with      ", "            ")
    if problem.scenario.script.acts:
        yield from wrapped(_shown_by(problem), _WIDTH, "  shown by  ", "            ")
    if problem.scenario.vary:
        varied = "; ".join(_VARIED.get(one.family, one.family) for one in problem.scenario.vary)
        yield from wrapped(varied, _WIDTH, "  changed   ", "            ")
    if problem.symptom.advice:
        yield from wrapped(problem.symptom.advice, _WIDTH, "  fix       ", "            ")
    yield f"  replay    {replay_command(problem, place)}"
    if problem.fix is not None:
        text = plain(f"{problem.fix.text} {problem.fix.evidence}", _LONG_TEXT)
        yield from wrapped(text, _WIDTH, "  fixed by  ", "            ")
        if problem.fix.written:
            yield f"  written   {plain(', '.join(problem.fix.written), _LINE)}"
        else:
            # A scenario file replays the problem, but writes no fix.
            yield f"  write it  {replay_command(replace(problem, file=None), place)} --fix"
    if problem.file is not None:
        yield f"  scenario  {plain(str(problem.file), _LINE)}"
    if problem.unwritten:
        yield from wrapped(problem.unwritten, _WIDTH, "  scenario  ", "            ")
    yield f"  more      {_explained(problem)}"


def _shown_by(problem: Problem) -> str:
    moves = _moves(problem.scenario)
    if len(moves) <= _MOST_MOVES:
        return "; then ".join(moves)
    if problem.move is not None:
        where = f"in turn {problem.symptom.turn} ({problem.shown_by[0]})"
        return f"{plain(_describe_act(problem.move), _HOOK)}, {where}"
    return "; then ".join([f"{len(moves) - _MOST_MOVES} earlier moves", *moves[-_MOST_MOVES:]])


def _explained(problem: Problem) -> str:
    return f"hookharness findings {problem.symptom.code or problem.symptom.kind}"


def _page(problem: Problem) -> str:
    code = problem.symptom.code
    return f"{_PAGES}/{code}.md" if code else f"{_VERDICTS}#{problem.symptom.kind}"


def _moves(scenario: Scenario) -> list[str]:
    if not scenario.script.acts:
        # It is known without a session.
        return []
    acts = [act for act in scenario.script.acts if act != FIRST_PROMPT]
    then = scenario.script.then.name
    words = [plain(_describe_act(act), _HOOK) for act in acts] or ["stops"]
    return words if then == "idle" else [*words, f"behaves as {then}"]


def _describe_act(act: Act) -> str:
    match act:
        case Prompt() | Wait() | Compact() | Resume() | End() | Corrupt():
            return describe_event(act)
        case _:
            return describe_move(act)


def _item(text: str) -> list[str]:
    return wrapped(plain(text, _LINE), _WIDTH, "  - ", "    ")


def as_json(checkups: Sequence[CheckReport], replay_command: ReplayCommand) -> dict[str, Any]:
    """Return check reports as plain data for other programs."""
    return {"checkups": [_place(checkup, replay_command) for checkup in checkups]}


def _place(checkup: CheckReport, replay_command: ReplayCommand) -> dict[str, Any]:
    return {
        "host": checkup.place.host,
        "part": checkup.place.part or None,
        "files": [*checkup.place.files],
        "hooks": [hook.command for hook in checkup.place.hooks],
        "problems": [
            {
                "id": problem.id,
                "name": problem.symptom.kind,
                "code": problem.symptom.code or None,
                "hook": problem.symptom.hook,
                "level": "must fix" if problem.symptom.must_fix else "worth knowing",
                "hook_name": hook_names(checkup.place.hooks, problem.symptom.hook, problem.symptom.entries),
                "text": problem.symptom.text,
                "printed": problem.symptom.printed or None,
                "effect": problem.symptom.effect or None,
                "assumes": [*problem.symptom.assumes],
                "advice": problem.symptom.advice,
                "moves": _moves(problem.scenario),
                "varied": [mutation.family for mutation in problem.scenario.vary],
                "replay": replay_command(problem, checkup.place),
                "scenario": None if problem.file is None else str(problem.file),
                "fix": None if problem.fix is None else problem.fix.text,
                "fix_evidence": None if problem.fix is None else problem.fix.evidence,
                "fix_written": [] if problem.fix is None else [*problem.fix.written],
                "explained": _explained(problem),
                "page": _page(problem),
                "active": problem.active or None,
                "shown_by": [*problem.shown_by],
            }
            for problem in checkup.problems
        ],
        "accepted": [{"id": one.problem.id, "reason": one.reason} for one in checkup.accepted],
        "no_problem_with": _well(checkup),
        "tried": [*checkup.tried],
        "untried": [*checkup.untried],
        "not_shown": [*checkup.open],
        "undecided": [*checkup.undecided],
        "seconds": round(checkup.seconds, 1),
    }
