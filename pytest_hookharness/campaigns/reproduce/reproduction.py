"""
The result of playing a recorded session against the real hooks.

Recorded refusals are compared with those of the replay, one by one. The first difference gets a likely cause.
A hook may hide that it did not find its linter, and refuse for another reason than the recorded one, or not
at all. The source of a hook only suggests names. Test doubles of these names, which fail as a missing program
does, then show which of them are called.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TypeAlias

from pytest_hookharness.campaigns.short_texts import in_one_line
from pytest_hookharness.judging.detectors.signatures import mask_numbers
from pytest_hookharness.judging.findings.finding_catalogue import MANGLED
from pytest_hookharness.model.actions import HookRefusal, StreamItem
from pytest_hookharness.model.fast_dataclass import dataclass
from pytest_hookharness.model.moves import RunCommand, ToolResult
from pytest_hookharness.model.outcome import Outcome
from pytest_hookharness.model.protocol import Ruling
from pytest_hookharness.model.scenario import Double, Scenario
from pytest_hookharness.model.trace import HookRun, Trace
from pytest_hookharness.model.verdicts import Undecided
from pytest_hookharness.simulation.single_run import Resources
from pytest_hookharness.simulation.testbed import hook_source
from pytest_hookharness.simulation.testbed.run_settings import Settings


@dataclass(frozen=True, slots=True, kw_only=True)
class RefusalCounts:
    """
    How many refusals are as recorded.

    Attributes:
        same: How many of them, from the first, the replay has in the same order.
        more: How many further refusals the replay has.
        difference: The first difference, in words; empty if there is none.
        cause: What may have caused it; empty if nothing is known.
    """

    recorded: int = 0
    same: int = 0
    more: int = 0
    difference: str = ""
    cause: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reproduction:
    """
    The result of ``hookharness reproduce``.

    Attributes:
        host: The host that wrote it, with its version.
        played: The host profile that was played.
        loop: The loop in the transcript, in one sentence; empty if there is none.
        others: Further loops in the transcript, each in one sentence; they are not looked at.
        further: The results for the shorter loops that were reproduced too, each by itself.
        without: Why no loop is there, and what the transcript has instead; empty if there is one.
        project: Which files the hooks saw, in words.
        verdict: The verdict on the whole session, followed by its text.
        left_out: What the replay did not do.
        missing: What the transcripts of this host do not contain.
        shrunk: What the small scenario contains, and whether each part is needed; empty if there is none.
        doubt: When these expect the wrong thing, in sentences; empty if they cannot.
    """

    source: str
    host: str
    played: str = ""
    loop: str = ""
    others: tuple[str, ...] = ()
    further: tuple[Reproduction, ...] = ()
    without: str = ""
    project: str = ""
    compared: RefusalCounts = RefusalCounts()
    verdict: str = ""
    reproduced: bool = False
    left_out: tuple[str, ...] = ()
    missing: str = ""
    shrunk: str = ""
    plays: int = 0
    seconds: float = 0.0
    files: tuple[str, ...] = ()
    doubt: str = ""

    @property
    def complete(self) -> bool:
        """Whether each loop was seen again, or there is none."""
        return bool(self.without) or (self.reproduced and all(one.complete for one in self.further))


_MISSING = re.compile(
    r"^.*(?:command not found|: not found|No such file or directory|ModuleNotFoundError|Cannot find module"
    r"|is not recognized|No module named|can't open file).*$",
    re.MULTILINE,
)
UNKNOWN_CAUSE = (
    "files that were not committed, the environment, or another version of the hook; transcripts contain "
    "none of these"
)
_SHOWN = 300


SUBAGENT_STOP = "SubagentStop"
# The refusals of one event: several hooks may have refused it, and not in the same order each time.
_Refused: TypeAlias = tuple[HookRefusal, ...]


def recorded_refusals(items: Iterable[StreamItem]) -> list[_Refused]:
    """Return the refusals of each refused item, by event, in order."""
    return [
        tuple(one for one in item.refusals if one.event == event)
        for item in items
        for event in dict.fromkeys(one.event for one in item.refusals)
    ]


def replayed_refusals(trace: Trace) -> list[_Refused]:
    """Return the refusals of each refused event in a replay, in order; those that the host overrides too."""
    return [
        tuple(
            HookRefusal(event=hooked.event, hook=run.hook.command, reason=run.reason.strip())
            for run in hooked.deciding
        )
        for _, hooked in trace.hooked()
        if hooked.decision.refused or hooked.decision.overridden or hooked.decision.ruling is Ruling.DENY
    ]


def alike(
    recorded: HookRefusal, replayed: HookRefusal, project: str, folders: Iterable[tuple[str, str]]
) -> bool:
    """Return whether two refusals have the same event and text, without numbers and the project's path."""
    if recorded.event != replayed.event:
        return False
    here = next((path for path, name in folders if name.startswith("workspace")), "")
    return not recorded.reason or _bare(recorded.reason, project) == _bare(replayed.reason, here)


def _bare(reason: str, project: str) -> str:
    return mask_numbers(reason.replace(project, "<project>") if project else reason).strip()


def compare(
    recorded: Sequence[_Refused], outcome: Outcome, project: str, *, of_subagent: bool
) -> RefusalCounts:
    """Return how far the refusals of a replay, or of its subagents, are those of the transcript."""
    every = (one for one in replayed_refusals(outcome.trace) if one)
    replayed = [one for one in every if (one[0].event == SUBAGENT_STOP) == of_subagent]
    whole, same = sum(map(len, recorded)), 0
    for number, group in enumerate(recorded):
        here = replayed[number] if number < len(replayed) else ()
        for one in group:
            if not any(alike(one, other, project, outcome.folders) for other in here):
                told = " and ".join(map(_describe, here)) or "no further refusal"
                difference = f"refusal {same + 1}: recorded {_describe(one)}; here {told}"
                cause = next(_causes(outcome, one, here), "")
                return RefusalCounts(recorded=whole, same=same, difference=difference, cause=cause)
            same += 1
    return RefusalCounts(recorded=whole, same=same, more=len(replayed) - len(recorded))


def _describe(refusal: HookRefusal) -> str:
    by = f" by {refusal.hook}" if refusal.hook else ""
    said = f": {in_one_line(refusal.reason, _SHOWN)!r}" if refusal.reason else ""
    return f"{refusal.event}{by}{said}"


def _causes(outcome: Outcome, wanted: HookRefusal, here: _Refused) -> Iterator[str]:
    """Yield likely causes: our own limits first, then a missing tool or file."""
    if isinstance(outcome.verdict, Undecided) and outcome.verdict.turn < outcome.scenario.turns:
        yield f"the replay ended in turn {outcome.verdict.turn}: {outcome.verdict.why}"
    runs = [run for _, run in outcome.trace.hook_runs()]
    for run in runs:
        if not run.ran:
            yield f"`{run.hook.command}` did not run: {_last_line(run) or 'it was not found'}"
    for run in runs:
        if line := _MISSING.search(_stderr(run)):
            said = in_one_line(line[0], _SHOWN)
            yield f"`{run.hook.command}` says {said!r}: a tool or file is missing here"
    for finding in outcome.findings:
        if finding.name == MANGLED.name:
            yield finding.text
    if not any(run.hook.event == wanted.event for run in runs):
        yield (
            f"no hook ran on {wanted.event}: these files configure none for it; settings that git ignores, "
            "that are not committed, or that lie in the home folder are not played"
        )
    if any(one.event == wanted.event for one in here):
        yield (
            f"{wanted.event} is refused here too, but with another text: another hook, another version of "
            "it, or other results of its checks"
        )
    yield UNKNOWN_CAUSE


def _stderr(run: HookRun) -> str:
    return run.run.stderr.text if run.run is not None else ""


def _last_line(run: HookRun) -> str:
    lines = _stderr(run).strip().splitlines()
    return in_one_line(lines[-1], _SHOWN) if lines else ""


# Words of shells; a test double for another such word costs a play, but is never called.
_SHELL_WORDS = frozenset({
    "break", "case", "cd", "continue", "declare", "do", "done", "elif", "else", "esac", "eval", "exec",
    "exit", "export", "fi", "for", "function", "getopts", "if", "in", "let", "local", "mapfile", "popd",
    "pushd", "read", "readonly", "return", "select", "set", "shift", "shopt", "source", "then", "time",
    "trap", "type", "typeset", "ulimit", "umask", "unset", "until", "wait", "while",
})  # fmt: skip
_FUNCTION = re.compile(rb"(?m)^[ \t]*(?:function\s+([\w.-]+)|([\w.-]+)\s*\(\s*\))")
_NOT_FOUND = 127
_MOST_NAMES = 20


def find_missing_tools(
    outcome: Outcome, settings: Settings, resources: Resources, play: Callable[[Scenario], Outcome]
) -> tuple[str, ...]:
    """
    Return the programs that the hooks of a play call and that are not installed here.

    ``play`` is called only if there may be such a program.
    """
    scenario = outcome.scenario
    names = _candidates(outcome, settings, resources)
    if not names:
        return ()
    doubles = {name: Double(exit=_NOT_FOUND, stderr=f"{name}: command not found\n") for name in names}
    acts = tuple(
        # The agent must not call a test double.
        replace(act, given=ToolResult())
        if isinstance(act, RunCommand) and any(name in act.command for name in names)
        else act
        for act in scenario.script.acts
    )
    tried = replace(
        scenario, commands={**scenario.commands, **doubles}, script=replace(scenario.script, acts=acts)
    )
    seen = play(tried)
    return tuple(name for name in names if seen.calls.get(name))


def _candidates(outcome: Outcome, settings: Settings, resources: Resources) -> tuple[str, ...]:
    """Return the words of the hooks that stand where a command is called and that are no command here."""
    runs = [run for _, run in outcome.trace.hook_runs()]
    with resources.open(outcome.scenario, settings) as (testbed, _):
        path = testbed.workspace.environment.get("PATH")
        called = hook_source.called(testbed, runs) - _SHELL_WORDS - {*outcome.scenario.commands}
        own = b"\n".join(hook_source.texts(testbed, runs))
    functions = {(found[1] or found[2]).decode() for found in _FUNCTION.finditer(own)}
    missing = (name for name in sorted(called - functions) if shutil.which(name, path=path) is None)
    return tuple(missing)[:_MOST_NAMES]
