"""
The sessions that try guards: what they refuse, in other words and spellings, and what resembles it.

What hooks refuse in one session, the next ones ask about in other ways.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from pytest_hookharness.campaigns.check import corpora
from pytest_hookharness.campaigns.check.session_scenario import cut_short, scenario_of, varied
from pytest_hookharness.campaigns.guards.named_commands import named_commands
from pytest_hookharness.campaigns.guards.rewording import (
    Suspect,
    all_refused,
    refused_by_hook,
    refused_commands,
    reword,
)
from pytest_hookharness.campaigns.guards.spellings import (
    allowed_spellings,
    prove_neighbours,
    prove_spellings,
    refused_neighbours,
    try_neighbours,
    try_spellings,
)
from pytest_hookharness.campaigns.guards.watched_moves import watched
from pytest_hookharness.model.checkup import CheckSession, HookSet
from pytest_hookharness.model.moves import FIRST_PROMPT, RunCommand
from pytest_hookharness.model.outcome import Outcome

# The number of hooks that are proved to allow another spelling of a command.
_MOST_PROVED = 4


def plan_refusals(hook_set: HookSet) -> Iterator[CheckSession]:
    """Yield sessions with what guards commonly refuse, and with commits, as far as hooks see it."""
    sources = [*(text for _, text in hook_set.sources), *(hook.command for hook in hook_set.hooks)]
    named = named_commands(hook_set)
    for title, moves in (
        ("what guards commonly refuse", corpora.commonly_refused(sources, hook_set.root, named)),
        ("commits in usual forms", corpora.usual_commits()),
    ):
        if acts := [one for move in moves if (one := watched(hook_set, move))]:
            yield cut_short(title, scenario_of(hook_set, (FIRST_PROMPT, *acts)))


def plan_rewordings(
    hook_set: HookSet, outcomes: Sequence[Outcome], commands: Sequence[str], files: Sequence[str]
) -> Iterator[CheckSession]:
    """Yield the sessions that reword refused commands, mention refused files, and try other spellings."""
    if commands or files:
        acts = reword(hook_set.host, commands, files)
        yield cut_short("other forms of what was refused", scenario_of(hook_set, acts))
    yield from plan_spellings(hook_set, outcomes)


def plan_spellings(hook_set: HookSet, outcomes: Sequence[Outcome]) -> Iterator[CheckSession]:
    """Yield the sessions with other spellings of refused commands, and with similar harmless ones."""
    for title, acts in (
        ("other spellings of what was refused", try_spellings(refused_commands(outcomes))),
        ("harmless commands that resemble what was refused", try_neighbours(all_refused(outcomes))),
    ):
        if acts:
            yield cut_short(title, scenario_of(hook_set, acts))


def plan_bypasses(hook_set: HookSet, outcomes: Sequence[Outcome]) -> Iterator[CheckSession]:
    """Yield the sessions that prove that other spellings are allowed, or harmless commands refused."""
    refused = all_refused(outcomes)
    if harmless := refused_neighbours(outcomes, refused):
        proof = scenario_of(hook_set, prove_neighbours(refused, harmless))
        yield replace(cut_short("harmless commands that are refused", proof), proof=True)
    found = (allowed_spellings(outcomes, commands) for commands in refused_by_hook(outcomes).values())
    # Of each hook the command with the most spellings says most.
    most = [max(allowed.items(), key=lambda one: len(one[1])) for allowed in found if allowed]
    for command, texts in dict(most[:_MOST_PROVED]).items():
        proof = scenario_of(hook_set, prove_spellings(command, texts))
        yield replace(cut_short(f"other spellings of `{command}`", proof), proof=True)


def plan_proofs(
    hook_set: HookSet, outcomes: Sequence[Outcome], suspects: Sequence[Suspect]
) -> Iterator[CheckSession]:
    """Yield the sessions that prove what looked wrong, also that commands are refused as data."""
    yield from plan_bypasses(hook_set, outcomes)
    for one in suspects:
        asked = scenario_of(hook_set, (FIRST_PROMPT, RunCommand(command=one.command, given=corpora.GIVEN)))
        session = cut_short(f"the wording of `{one.command}` varied", varied(asked, one.family))
        # One more turn, for the harmless call that each wording is compared with.
        scenario = replace(session.scenario, turns=session.scenario.turns + 1)
        yield replace(session, scenario=scenario, only=one.wording, proof=True)
