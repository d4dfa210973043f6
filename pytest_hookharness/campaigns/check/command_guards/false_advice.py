"""
Refusals of shell commands whose own advice does not help: the agent follows it, and is refused again.

Advice is a variable to set in front of the command, or another command. A file that a refusal sends the agent
to, and that the project does not have, is false advice as well.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from pytest_hookharness.campaigns.arming.project_texts import project_files
from pytest_hookharness.campaigns.check.grouping import ProvedSymptom
from pytest_hookharness.campaigns.check.played_sessions import PlayedSession, TryOut
from pytest_hookharness.campaigns.check.reads.shared_symptoms import symptom_of
from pytest_hookharness.campaigns.guards.rewording import refusing_runs
from pytest_hookharness.campaigns.guards.watched_moves import is_asked_before
from pytest_hookharness.campaigns.short_texts import in_one_line
from pytest_hookharness.campaigns.stress.first_run import GIVEN
from pytest_hookharness.judging.findings.codes import FALSE_ADVICE
from pytest_hookharness.model.checkup import CheckSession, HookSet, Problem, Symptom
from pytest_hookharness.model.fast_dataclass import dataclass
from pytest_hookharness.model.moves import FIRST_PROMPT, Act, RunCommand, Script

_NAME = r"[A-Z][A-Z0-9_]{3,}=(?:1|0|true|false|yes|no|on|off|skip)"
# A variable that a reason tells the agent to set, but not one to set in a file or before the host starts.
_VARIABLE = re.compile(
    r"\b(?i:set|use|with|export|prefix|pass|override|bypass|retry|rerun)\b[^.\n;]{0,20}?"
    rf"(?<![\w=])(?P<name>{_NAME})\b(?![`\"']?[ \t]+(?i:in|into|claude|codex|gemini|cursor)\b)"
)
# A command in quotes, right after a word that recommends it.
_ADVISED = re.compile(
    r"\b(?i:use|run|try|consider|prefer|instead|with|recommended)\b:?[ \t]+(?:e\.g\.[ \t]+)?[`\"']"
    r"(?P<quoted>[a-z][\w./-]*(?: [^`\"'\n<>]{1,60})?)[`\"']"
    # One without quotes, up to a bracket or the end of the line.
    r"|\b(?i:use|run|try|consider|prefer)(?: instead)?:[ \t]+"
    r"(?P<plain>(?:git|npm|docker|rm)(?: [\w./=-]+){1,4})(?=[ \t]*(?:[(\n]|\.?$))"
)
_FILE = re.compile(
    r"\b(?:[Ss]ee|[Rr]ead|[Ff]ollow|[Rr]un|refer to|details in|rules in|described in|bash|sh)\b:?"
    r"[ \t]+[`\"']?"
    r"(?P<path>(?:\./)?[\w.-]+(?:/[\w.-]+)+\.(?:md|sh|py|js|mjs|json|ya?ml|toml|txt))(?![\w/])"
)
# Paths on the network, above the project, or made by tools.
_ELSEWHERE = re.compile(
    r"\.\.(?:/|$)|[\w-]+\.(?:com|org|io|net|dev)/|\.git/|(?:\S*/)?(?:node_modules|\.?venv)/"
)
# Words that show that the advice is for a person, not for the agent.
_FOR_A_PERSON = re.compile(
    r"\b(?:user|human|person|maintainer|yourself|your (?:shell|terminal))\b", re.IGNORECASE
)
_WARNED = re.compile(
    r"\b(?:not|never|don't|cannot|can't|won't|instead of|rather than|blocked|refused|forbidden|avoid|without"
    r"|attempt\w*|then)\b[^.\n]*$",
    re.IGNORECASE,
)
_WARNED_AFTER = re.compile(
    r"[`\"']?[ \t]+(?:(?:or|and)[ \t]+\S+[ \t]+)?(?:is|are|was)[ \t]+"
    r"(?:not|never|blocked|refused|forbidden)\b"
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
        """The commands that the reason advises."""
        found = (one for one in _VARIABLE.finditer(self.reason) if one["name"] not in self.command)
        named = [one["name"] for one in found if self._is_advice(one.start(), one.end())]
        advised = (one for one in _ADVISED.finditer(self.reason) if self._is_advice(one.start(), one.end()))
        other = [(one["quoted"] or one["plain"]).strip().rstrip(".,;:") for one in advised]
        # A command with no new word is the refused command once more.
        new = [one for one in other if " " in one and not {*one.split()} <= {*self.command.split()}]
        return [*dict.fromkeys([*(f"{name} {self.command}" for name in named), *new])][:_MOST]

    @property
    def begin(self) -> str:
        """The beginning of a sentence about the refusal."""
        return f"{self.event}: the refusal of `{in_one_line(self.command, _LONGEST)}`"

    def _is_advice(self, start: int, end: int) -> bool:
        """Return whether a part of the reason is for the agent, and no warning."""
        before, after = self.reason[max(0, start - _NEAR) : start], self.reason[end : end + _NEAR]
        warned = _WARNED.search(before) or _WARNED_AFTER.match(after)
        return not (warned or _FOR_A_PERSON.search(before) or _FOR_A_PERSON.search(after))


def prove_false_advice(
    hook_set: HookSet, play: TryOut, _known: Collection[Problem], played: Sequence[PlayedSession]
) -> Iterator[ProvedSymptom]:
    """Yield the refusals, in the sessions so far, whose advice does not help."""
    reported = set[str]()
    refusals = [*_refusals(hook_set, played)]
    missing = (
        (_symptom(one, f"{one.begin} names {path}, which the project does not have.", _NO_FILE), one.played)
        for one in refusals
        if (path := _missing_file(hook_set, one))
    )
    for symptom, shown in (*_refused_again(refusals, play), *missing):
        if symptom.hook not in reported and shown.outcome is not None:
            reported.add(symptom.hook)
            yield ProvedSymptom(symptom, shown.session, shown.outcome.trace)


def _refused_again(refusals: Sequence[_Refusal], play: TryOut) -> Iterator[tuple[Symptom, PlayedSession]]:
    """Yield the advice that is refused too, with the session that shows it, one for each hook."""
    asked = {one.hook: one for one in reversed(refusals) if one.ways}
    chosen = [*asked.values()][:_MOST_HOOKS]
    for one, again in zip(chosen, play([_following(each) for each in chosen]), strict=True):
        runs = refusing_runs(again.outcome) if again.outcome is not None else ()
        moves = [move for run, move in runs if run.hook.command == one.hook]
        refused = [move.command for move in moves if isinstance(move, RunCommand)]
        # A hook that refuses once may allow the same command afterwards.
        way = next((way for way in one.ways if way in refused), "") if one.command in refused else ""
        if way:
            yield _of_way(one, way), again


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
    if name != way and re.fullmatch(_NAME, name):
        text = (
            f"{refusal.begin} names {name}, and the same command with {name} in front of it is refused too."
        )
        return _symptom(refusal, text, _OWN_ENVIRONMENT.format(name=name))
    return _symptom(refusal, f"{refusal.begin} recommends `{way}`, which is refused too.", _REFUSED_TOO)


def _symptom(refusal: _Refusal, text: str, advice: str) -> Symptom:
    return symptom_of(FALSE_ADVICE, refusal.hook, text, advice, turn=1)


def _missing_file(hook_set: HookSet, refusal: _Refusal) -> str:
    """Return the first file that a reason names and that is not there for the agent; empty for none."""
    # A plugin's reason may mean a file of the project that uses it.
    outcome = refusal.played.outcome
    if hook_set.plugin or outcome is None:
        return ""
    changed = [change.path for _, hooked in outcome.trace.hooked() for change in hooked.changes]
    for found in _FILE.finditer(refusal.reason):
        path = posixpath.normpath(found["path"])
        before = refusal.reason[max(0, found.start() - _NEAR) : found.start()]
        elsewhere = path in refusal.command or _ELSEWHERE.match(path)
        if elsewhere or _FOR_A_PERSON.search(before) or (hook_set.root / path).exists():
            continue
        files = (file.as_posix() for file in project_files(hook_set.root))
        if not any(file.endswith(f"/{path}") for file in (*files, *changed)):
            return path
    return ""
