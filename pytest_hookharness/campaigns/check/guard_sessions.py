"""
The sessions that try guards: what they refuse, in other words and spellings, and what resembles it.

What hooks refuse in one session, the next ones ask about in other ways.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from pytest_hookharness import hosts
from pytest_hookharness.campaigns.check import corpora
from pytest_hookharness.campaigns.check.session_scenario import (
    alone,
    cut_short,
    in_its_folder,
    is_plain,
    scenario_of,
    varied,
)
from pytest_hookharness.campaigns.guards.named_commands import named_commands
from pytest_hookharness.campaigns.guards.rewording import (
    Suspect,
    all_refused,
    refused_by_hook,
    refused_commands,
    refused_moves,
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
from pytest_hookharness.model.protocol import Hook

# The number of hooks that are proved to allow another spelling of a command.
_MOST_PROVED = 4
# How a script refuses what was done.
_REFUSES = re.compile(r"\bexit\(?\s*2\b|\b(?:block|deny)\b|\bdecision\b|[\"']continue[\"']|\bcontinue:")
# What runs once in a session, and may prepare what guards read.
_ONCE = frozenset({hosts.Role.SETUP, hosts.Role.SESSION_START, hosts.Role.PROMPT})


def plan_refusals(hook_set: HookSet) -> Iterator[CheckSession]:
    """Yield sessions with what guards commonly refuse, and with commits, as far as hooks see it."""
    sources = [*(text for _, text in hook_set.sources), *(hook.command for hook in hook_set.hooks)]
    named = named_commands(hook_set)
    for title, moves in (
        ("what guards commonly refuse", corpora.commonly_refused(sources, hook_set.root, named)),
        ("commits in usual forms", corpora.usual_commits()),
    ):
        if acts := [one for move in moves if (one := watched(hook_set, move))]:
            session = cut_short(title, scenario_of(hook_set, (FIRST_PROMPT, *acts)))
            yield _with(
                hook_set, session, [hook.command for hook in hook_set.hooks if _may_refuse(hook_set, hook)]
            )


def plan_rewordings(
    hook_set: HookSet, outcomes: Sequence[Outcome], commands: Sequence[str], files: Sequence[str]
) -> Iterator[CheckSession]:
    """Yield the sessions that reword refused commands, mention refused files, and try other spellings."""
    if commands or files:
        acts = reword(hook_set.host, commands, files)
        session = cut_short("other forms of what was refused", scenario_of(hook_set, acts))
        yield _with_guards(hook_set, outcomes, session)
    yield from plan_spellings(hook_set, outcomes)


def plan_spellings(hook_set: HookSet, outcomes: Sequence[Outcome]) -> Iterator[CheckSession]:
    """Yield the sessions with other spellings of refused commands, and with similar harmless ones."""
    for title, acts in (
        ("other spellings of what was refused", try_spellings(refused_commands(outcomes))),
        ("harmless commands that resemble what was refused", try_neighbours(all_refused(outcomes))),
    ):
        if acts:
            yield _with_guards(hook_set, outcomes, cut_short(title, scenario_of(hook_set, acts)))


def _with_guards(hook_set: HookSet, outcomes: Sequence[Outcome], session: CheckSession) -> CheckSession:
    """Return a session without the hooks that refused nothing; what it shows, all hooks prove again."""
    return _with(hook_set, session, [hook for outcome in outcomes for hook, _ in refused_moves(outcome)])


def _with(hook_set: HookSet, session: CheckSession, commands: Collection[str]) -> CheckSession:
    """Return a session with fewer hooks: it has many calls, and each run of a hook takes time."""
    events = hosts.find(hook_set.host).events
    kept = [
        hook
        for hook in hook_set.hooks
        if hook.command in commands or (hook.event in events and events[hook.event].role in _ONCE)
    ]
    whole = hook_set.inline is not None or not all(is_plain(hook_set, hook) for hook in kept)
    if whole or len(kept) == len(hook_set.hooks):
        return session
    return replace(session, scenario=in_its_folder(hook_set, alone(session.scenario, *kept)))


def _may_refuse(hook_set: HookSet, hook: Hook) -> bool:
    """Return whether a hook may refuse a call: before it, or after it if its script has words for that."""
    rule = hosts.find(hook_set.host).events.get(hook.event)
    texts = hook_set.scripts_of(hook)
    after = rule is not None and rule.role is hosts.Role.AFTER_TOOL
    return not after or len(texts) != 1 or _REFUSES.search(texts[0]) is not None


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
