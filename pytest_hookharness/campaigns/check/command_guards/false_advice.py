"""
Refusals of shell commands whose own advice does not help: the agent follows it, and is refused again.

Advice is a variable to set in front of the command, or another command. A file that a refusal sends the agent
to, and that the project does not have, is false advice as well.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from typing import TypeAlias

from pytest_hookharness.campaigns.arming.project_texts import project_files
from pytest_hookharness.campaigns.check.grouping import PlayedSession
from pytest_hookharness.campaigns.check.held_loops import problem_of
from pytest_hookharness.campaigns.guards.rewording import refusing_runs
from pytest_hookharness.campaigns.guards.watched_moves import is_asked_before
from pytest_hookharness.campaigns.stress.first_run import GIVEN
from pytest_hookharness.judging.findings.codes import FALSE_ADVICE
from pytest_hookharness.model.checkup import CheckSession, HookSet, Problem, Symptom
from pytest_hookharness.model.fast_dataclass import dataclass
from pytest_hookharness.model.moves import FIRST_PROMPT, Act, RunCommand, Script

_Play: TypeAlias = Callable[[Sequence[CheckSession]], Sequence[PlayedSession]]
_VARIABLE = re.compile(r"\b([A-Z][A-Z0-9_]{3,}=(?:1|0|true|false|yes|no|on|off|skip))\b")
# A command in quotes, after a word that recommends it.
_ADVISED = re.compile(
    r"\b(?i:use|run|try|consider|prefer|instead|with|first|recommended)\b[^.\n`\"';]{0,30}[`\"']"
    r"(?P<quoted>[a-z][\w./-]*(?: [^`\"'\n<>]{1,60})?)[`\"']"
    # One without quotes, up to a bracket or the end of the line.
    r"|\b(?i:use|run|try|consider|prefer)(?: instead)?:[ \t]+"
    r"(?P<plain>(?:git|npm|docker|rm)(?: [\w./=-]+){1,5})"
)
_FILE = re.compile(
    r"\b(?:[Ss]ee|[Rr]ead|[Ff]ollow|[Rr]un|refer to|details in|rules in|described in|bash|sh)\b:?"
    r"[ \t]+[`\"']?"
    r"(?P<path>(?:\./)?[\w.-]+(?:/[\w.-]+)+\.(?:md|sh|py|js|mjs|json|ya?ml|toml|txt))(?![\w/])"
)
# Words that show that the advice is for a person, not for the agent.
_FOR_A_PERSON = re.compile(
    r"\b(?:user|human|person|maintainer|yourself|your (?:shell|terminal))\b", re.IGNORECASE
)
_WARNED = re.compile(
    r"\b(?:not|never|don't|instead of|rather than|blocked|refused|then)\b[^.\n]*$", re.IGNORECASE
)
_NEAR, _MOST, _MOST_HOOKS, _LONGEST = 80, 3, 4, 60
_OWN_ENVIRONMENT = (
    "A variable in front of a command does not reach the hook: look for `{name}` in the command's text, or "
    "tell the user to set it before starting the host."
)
_REFUSED_TOO = "Allow what the refusal recommends, or recommend something else."
_NO_FILE = "Name a file that the project has."


@dataclass(frozen=True, slots=True)
class _Refusal:
    """A refused command, the hook that refused it, the event, the reason, and the session."""

    hook: str
    command: str
    event: str
    reason: str
    played: PlayedSession

    @property
    def ways(self) -> list[str]:
        """The commands of an agent that follows the advice in the reason."""
        named = [name for name in _VARIABLE.findall(self.reason) if name not in self.command]
        free = [name for name in named if not _FOR_A_PERSON.search(self._before(name))]
        other = [one for one in _advised(self.reason) if not {*one.split()} <= {*self.command.split()}]
        return [*dict.fromkeys([*(f"{name} {self.command}" for name in free), *other])][:_MOST]

    @property
    def begin(self) -> str:
        """How a sentence about it begins."""
        words = " ".join(self.command.split())
        shown = words if len(words) <= _LONGEST else f"{words[:_LONGEST]}..."
        return f"{self.event}: the refusal of `{shown}`"

    def _before(self, name: str) -> str:
        place = self.reason.find(name)
        return self.reason[max(0, place - _NEAR) : place]


def prove_false_advice(
    hook_set: HookSet, play: _Play, known: Collection[Problem], played: Sequence[PlayedSession]
) -> Iterator[Problem]:
    """
    Yield the refusals whose advice does not help.

    Args:
        hook_set: The hooks.
        play: Plays sessions.
        known: The problems found so far; new ones get other ids.
        played: The sessions so far, some with refused commands.
    """
    taken, told = [one.id for one in known], set[str]()
    refusals = [*_refusals(hook_set, played)]
    asked = [one for one in refusals if one.ways]
    chosen = [*{one.hook: one for one in reversed(asked)}.values()][:_MOST_HOOKS]
    for one, again in zip(chosen, play([_following(each) for each in chosen]), strict=True):
        runs = refusing_runs(again.outcome) if again.outcome is not None else ()
        moves = [move for run, move in runs if run.hook.command == one.hook]
        refused = [move.command for move in moves if isinstance(move, RunCommand)]
        # A hook that refuses once may allow the same command afterwards.
        way = next((way for way in one.ways if way in refused), "") if one.command in refused else ""
        if way and again.outcome is not None:
            told.add(one.hook)
            found = problem_of(_of_way(one, way), again, again.outcome.trace, taken)
            taken.append(found.id)
            yield found
    for one in refusals:
        path = _missing_file(hook_set, one.reason)
        if path and one.hook not in told and one.played.outcome is not None:
            told.add(one.hook)
            symptom = _symptom(one, f"{one.begin} names {path}, which the project does not have.", _NO_FILE)
            found = problem_of(symptom, one.played, one.played.outcome.trace, taken)
            taken.append(found.id)
            yield found


def _refusals(hook_set: HookSet, played: Sequence[PlayedSession]) -> Iterator[_Refusal]:
    """Yield the refused commands with the reasons, one for each pair of hook and reason."""
    seen = set[tuple[str, str]]()
    for one in played:
        for run, move in refusing_runs(one.outcome) if one.outcome is not None else ():
            key = (run.hook.command, run.reason)
            asked = is_asked_before(hook_set.host, run.hook.event)
            if asked and isinstance(move, RunCommand) and run.reason and key not in seen:
                seen.add(key)
                yield _Refusal(run.hook.command, move.command, run.hook.event, run.reason, one)


def _following(refusal: _Refusal) -> CheckSession:
    """Return the session in which the agent runs the refused command, then follows the advice."""
    commands = (refusal.command, *refusal.ways)
    acts: tuple[Act, ...] = (
        FIRST_PROMPT,
        *(RunCommand(command=command, given=GIVEN) for command in commands),
    )
    scenario = replace(refusal.played.session.scenario, script=Script(acts=acts), turns=len(acts), vary=())
    return CheckSession(title="the advice of the refusal", scenario=scenario, ends=False, proof=True)


def _of_way(refusal: _Refusal, way: str) -> Symptom:
    name = way.removesuffix(f" {refusal.command}")
    if name != way and _VARIABLE.fullmatch(name):
        text = (
            f"{refusal.begin} names {name}, and the same command with {name} in front of it is refused too."
        )
        return _symptom(refusal, text, _OWN_ENVIRONMENT.format(name=name))
    return _symptom(refusal, f"{refusal.begin} recommends `{way}`, which is refused too.", _REFUSED_TOO)


def _symptom(refusal: _Refusal, text: str, advice: str) -> Symptom:
    return Symptom(
        kind=FALSE_ADVICE.name, code=FALSE_ADVICE.code, hook=refusal.hook, text=text, advice=advice, turn=1
    )


def _advised(reason: str) -> Iterator[str]:
    """Yield the commands that a reason recommends."""
    for found in _ADVISED.finditer(reason):
        command = (found["quoted"] or found["plain"]).strip().rstrip(".,;:")
        if " " in command and not _WARNED.search(reason[max(0, found.start() - _NEAR) : found.start()]):
            yield command


def _missing_file(hook_set: HookSet, reason: str) -> str:
    """Return the first file that a reason names and the project lacks; empty for none."""
    for found in _FILE.finditer(reason):
        path = posixpath.normpath(found["path"])
        if _FOR_A_PERSON.search(reason[max(0, found.start() - _NEAR) : found.start()]):
            continue
        files = project_files(hook_set.root)
        if not any(file.as_posix().endswith(f"/{path}") for file in files):
            return path
    return ""
