"""Company: another agent, another session or another host process that does the same."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from dataclasses import replace

from pytest_hookharness import hosts
from pytest_hookharness.campaigns.stress.first_run import HookTraits, ReplayScript
from pytest_hookharness.campaigns.stress.mutation import Mutation, NotTried
from pytest_hookharness.judging.comparison.traces import find_first, pairs
from pytest_hookharness.judging.findings.codes import WRONG_KEY
from pytest_hookharness.model.fast_dataclass import dataclass
from pytest_hookharness.model.mutations import ANOTHER_AGENT, VaryRequest
from pytest_hookharness.model.outcome import Outcome
from pytest_hookharness.model.scenario import Scenario
from pytest_hookharness.model.trace import HookEvent, Trace, commands_of
from pytest_hookharness.model.verdicts import Finding

# A mark is one file, or a file and its lock. A hook that changes more files reports what it did.
_MOST_MARKS = 2
_WORD = re.compile(r"[a-z]{5,}")


@dataclass(frozen=True, slots=True)
class TwoAgents(Mutation, family="sessions", name=ANOTHER_AGENT, code=WRONG_KEY):
    """The same calls from another agent of the session, sent as the host sends those of a subagent."""

    def __str__(self) -> str:
        return "another agent of the same session that does the same"

    def apply(self, scenario: Scenario, replay: ReplayScript) -> Scenario:
        return replace(scenario, company="agent")


@dataclass(frozen=True, slots=True)
class TwoSessions(Mutation, family="sessions", name="another session", code=WRONG_KEY):
    """The same events from another session in the workspace."""

    def __str__(self) -> str:
        return "another session that does the same"

    def apply(self, scenario: Scenario, replay: ReplayScript) -> Scenario:
        return replace(scenario, company="session")

    def find_difference(self, usual: Trace, seen: Trace) -> Finding | None:
        return find_first(self, usual, seen, self.look) or self._find_silence(usual, seen)

    def _find_silence(self, usual: Trace, seen: Trace) -> Finding | None:
        """
        Return the finding for a hook that informs one session at its beginning, and the other one not.

        A hook may tell only one of them what it did in the project, such as which files it made.
        """
        for pair in pairs(usual, seen):
            heard, silent = pair.before, pair.after
            if pair.turn or pair.differs:
                return None
            marks = [*_marks(heard)]
            if not heard.decision.to_agent or silent.decision.to_agent or len(marks) > _MOST_MARKS:
                continue
            said = "\n".join(heard.decision.to_agent).lower()
            # The message is about the file, as in "version tracking begins" and `.tool-version`.
            if any(word in said for mark in marks for word in (mark.lower(), *_WORD.findall(mark.lower()))):
                continue
            text = f"{heard.event}: the hook informs the agent; with {self}, it does not."
            spoke = [hook_run for hook_run in heard.hook_runs if hook_run.reply.context]
            return WRONG_KEY.found(text, turn=pair.turn, hook=commands_of(spoke or heard.hook_runs))
        return None


def _marks(hooked: HookEvent) -> Iterator[str]:
    """Yield the names of the files that hooks made; those in the home folder are the host's own."""
    for change in hooked.changes:
        if not change.path.startswith("home/"):
            yield posixpath.basename(change.path)


@dataclass(frozen=True, slots=True)
class TwoProcesses(Mutation, family="processes", code=WRONG_KEY):
    """Every hook run from a new process of the host."""

    def __str__(self) -> str:
        return "each hook run from a new process of the host"

    def apply(self, scenario: Scenario, replay: ReplayScript) -> Scenario:
        return replace(scenario, relaunched=True)


def plan(request: VaryRequest, outcome: Outcome, traits: HookTraits) -> Iterator[Mutation | NotTried]:
    """Yield another agent, where the host's input tells agents apart, another session, or other processes."""
    match request.family:
        case "sessions":
            profile = hosts.find(outcome.scenario.host)
            if hosts.identifies_agents(profile, hosts.facts(profile, workspace="/w", home="/h", tmp="/t")):
                yield TwoAgents()
            else:
                why = f"two agents, because {outcome.host} gives hooks nothing by which they differ"
                yield NotTried("sessions", why)
            yield TwoSessions()
        case "processes":
            yield TwoProcesses()
        case _:
            return
