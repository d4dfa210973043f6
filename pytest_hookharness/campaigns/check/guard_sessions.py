"""
The sessions that try guards: what they refuse, in other words and spellings, and what resembles it.

The next sessions ask in other ways about the calls that hooks refused in one.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace

from pytest_hookharness import hosts
from pytest_hookharness.campaigns.arming.hook_roles import role_of
from pytest_hookharness.campaigns.check import corpora
from pytest_hookharness.campaigns.check.session_scenario import (
    alone,
    cut_short,
    may_be_alone,
    scenario_of,
    varied,
)
from pytest_hookharness.campaigns.guards import rewording
from pytest_hookharness.campaigns.guards.denials import is_denied_command
from pytest_hookharness.campaigns.guards.file_lookalikes import (
    folder_to_play_in,
    prove_lookalikes_of,
    prove_readers,
    try_lookalikes_of,
)
from pytest_hookharness.campaigns.guards.file_ways import (
    guarded_files,
    hooks_of_commands,
    prove_files,
    try_files,
    unguarded_commands,
)
from pytest_hookharness.campaigns.guards.named_commands import named_commands, named_files, read_guards
from pytest_hookharness.campaigns.guards.named_edits import named_edits
from pytest_hookharness.campaigns.guards.rewording import (
    Refusals,
    Suspect,
    refused_by_hook,
    refused_moves,
    reword,
)
from pytest_hookharness.campaigns.guards.spellings import (
    allowed_spellings,
    prove_lookalikes,
    prove_spellings,
    refused_lookalikes,
    try_lookalikes,
    try_new_branch,
    try_spellings,
)
from pytest_hookharness.campaigns.guards.unasked import allowed_commands, try_lines
from pytest_hookharness.campaigns.guards.watched_moves import is_asked_before, may_refuse, watched
from pytest_hookharness.campaigns.stress.first_run import GIVEN
from pytest_hookharness.judging.checkup.bypasses import is_rare
from pytest_hookharness.judging.checkup.file_calls import file_calls
from pytest_hookharness.judging.checkup.file_overblocks import HARMLESS
from pytest_hookharness.model.checkup import CheckSession, HookSet
from pytest_hookharness.model.expectations import first_few
from pytest_hookharness.model.moves import FIRST_PROMPT, Act, RunCommand
from pytest_hookharness.model.outcome import Outcome
from pytest_hookharness.model.protocol import Hook

# The number of hooks whose refusals are tried in other ways, and that are proved to allow another spelling.
_MOST_GUARDS, _MOST_PROVED = 8, 6
# For each hook: how many commands are tried in all forms, and how many files that texts mention.
_MOST_WHOLE, _MOST_FILES = 1, 2
# The seconds that a session of one slow hook may take, and the acts that it has nevertheless: those for one
# command, or for one file.
_MOST_SECONDS, _FEWEST_ACTS = 6.0, 16
_SHORT_SECONDS, _FEWEST_TRIED = 2.5, 12
_DESTROYS = re.compile(
    r"\brm -|--force\b|--hard\b|\bclean -|\bpush -f\b|\b(?:mkfs|shred|dd|truncate)\b"
    r"|(?i:\bdrop (?:table|database)\b)"
)
# Events that occur once in a session, whose hooks may prepare the files that guards read.
_ONCE = frozenset({hosts.Role.SETUP, hosts.Role.SESSION_START, hosts.Role.PROMPT})


def plan_refusals(hook_set: HookSet) -> Iterator[CheckSession]:
    """Yield sessions with what guards commonly refuse, and with commits, as far as hooks see it."""
    guards = read_guards(hook_set)
    sources = [
        *(text for _, text in hook_set.sources),
        *(hook.command for hook in hook_set.hooks),
        *guards.sources,
    ]
    named, files = named_commands(hook_set, guards), named_files(hook_set, guards)
    for title, moves in (
        ("what guards commonly refuse", corpora.commonly_refused(sources, hook_set.root, named, files)),
        ("edits that guards look for", named_edits(hook_set, guards)),
        ("commits in usual forms", corpora.usual_commits()),
    ):
        if acts := [one for move in moves if (one := watched(hook_set, move))]:
            session = cut_short(title, scenario_of(hook_set, (FIRST_PROMPT, *acts)))
            yield _with(
                hook_set, session, [hook.command for hook in hook_set.hooks if _may_refuse(hook_set, hook)]
            )


def plan_rewordings(hook_set: HookSet, outcomes: Sequence[Outcome]) -> Iterator[CheckSession]:
    """
    Yield the sessions that reword what hooks refused, mention refused files, and try other spellings.

    Each hook that refused something has sessions of its own: in one for all hooks each would run for the many
    forms of what the others refused.
    """
    guards = [one for one in refused_by_hook(outcomes) if one.all_calls or one.files][:_MOST_GUARDS]
    if not all(_can_be_alone(hook_set, one.hook) for one in guards):
        guards = [_together(guards)]
    for one in guards:
        tried, further = one.tried, max(len(one.tried) - _MOST_WHOLE, 0)
        if acts := reword(hook_set.host, tried, one.files[:_MOST_FILES], further):
            yield _of_guard(hook_set, "other forms of what was refused", acts, one)
    refused = [move for outcome in outcomes for _, move in refused_moves(outcome)]
    if acts := prove_readers(hook_set, refused):
        yield _proof(hook_set, "files with secrets read by another tool", acts, guards)
    if acts := try_lines(hook_set, allowed_commands(hook_set, outcomes)):
        yield _proof(hook_set, "risky commands beside allowed ones", acts, guards)
    source = "\n".join(read_guards(hook_set).sources)
    if acts := try_new_branch([text for one in guards for text in one.commands], source):
        yield _proof(hook_set, "a commit to a new branch", acts, guards)
    seconds = {one.hook: one.seconds for one in guards}
    for hook, files in [*guarded_files(hook_set, outcomes).items()][:_MOST_PROVED]:
        own = files[0].source
        acts = (*try_files(hook_set, files, own), *try_lookalikes_of(hook_set, files, own))
        if acts:
            most = max(_FEWEST_TRIED, int(_SHORT_SECONDS / (seconds.get(hook) or 0.01)))
            scenario = scenario_of(hook_set, (FIRST_PROMPT, *acts[:most]))
            # Commands that another hook refuses are no way round this one.
            kept = [hook, *hooks_of_commands(hook_set)]
            yield _with(hook_set, cut_short("guarded files, and others", scenario), kept)
    for one in guards:
        if acts := try_spellings(one.tried):
            yield _of_guard(hook_set, "other spellings of what was refused", acts, one)
        if acts := try_lookalikes(one.all_calls, source):
            yield _of_guard(hook_set, "harmless commands that resemble what was refused", acts, one)


def _together(guards: Sequence[Refusals]) -> Refusals:
    """Return what several hooks refused as if one had: of each the first command, then the second ones."""
    longest = max((len(one.commands) for one in guards), default=0)
    commands = dict.fromkeys(
        one.commands[place] for place in range(longest) for one in guards if place < len(one.commands)
    )
    files = dict.fromkeys(file for one in guards for file in one.files)
    reads = dict.fromkeys(file for one in guards for file in one.reads)
    return Refusals("", (*commands,), (*files,), (*reads,))


def _of_guard(hook_set: HookSet, title: str, acts: Sequence[Act], guard: Refusals) -> CheckSession:
    """Return a session without the hooks that refused nothing; what it shows, other hooks prove again."""
    most = max(_FEWEST_ACTS, int(_MOST_SECONDS / guard.seconds)) if guard.seconds else len(acts)
    # The prompt comes before what hooks are asked about.
    session = cut_short(title, scenario_of(hook_set, tuple(acts[: most + 1])))
    return _with(hook_set, session, [guard.hook]) if guard.hook else session


def _with(hook_set: HookSet, session: CheckSession, commands: Collection[str]) -> CheckSession:
    """Return a session with fewer hooks: it has many calls, and each run of a hook takes time."""
    kept = [hook for hook in hook_set.hooks if hook.command in commands or _is_once(hook_set, hook)]
    if len(kept) == len(hook_set.hooks) or not may_be_alone(hook_set, kept):
        return session
    return replace(session, scenario=alone(session.scenario, *kept))


def _can_be_alone(hook_set: HookSet, command: str) -> bool:
    """Return whether a session can have a hook without others of its kind."""
    return may_be_alone(
        hook_set, [hook for hook in hook_set.hooks if hook.command == command or _is_once(hook_set, hook)]
    )


def _is_once(hook_set: HookSet, hook: Hook) -> bool:
    return role_of(hook_set.host, hook.event) in _ONCE


def _may_refuse(hook_set: HookSet, hook: Hook) -> bool:
    """Return whether a hook may refuse a call: before it, or after it if its script has words for that."""
    after = role_of(hook_set.host, hook.event) is hosts.Role.AFTER_TOOL
    return not after or may_refuse(hook_set, hook)


def plan_bypasses(hook_set: HookSet, outcomes: Sequence[Outcome]) -> Iterator[CheckSession]:
    """Yield the sessions that prove that other spellings are allowed, or harmless commands refused."""
    guards = refused_by_hook(outcomes)
    found = (_not_denied(hook_set, allowed_spellings(outcomes, one.commands)) for one in guards)
    # Prove one command of each hook: a destructive one before others, then that with the most spellings.
    most = [max(allowed.items(), key=_weight) for allowed in found if allowed]
    for command, texts in dict(most[:_MOST_PROVED]).items():
        yield _proof(hook_set, f"other spellings of `{command}`", prove_spellings(command, texts), guards)
    yield from _prove_files(hook_set, outcomes, guards)
    refused = [*dict.fromkeys(call for one in guards for call in one.all_calls)]
    source = "\n".join(read_guards(hook_set).sources) if refused else ""
    harmless = [
        one
        for one in refused_lookalikes(outcomes, refused, source)
        if not any(is_denied_command(hook_set, text) for text in (one.text, *one.controls))
    ]
    if harmless:
        acts = prove_lookalikes(refused, harmless)
        yield _proof(hook_set, "harmless commands that are refused", acts, guards)


def _weight(allowed: tuple[str, Sequence[str]]) -> tuple[bool, int]:
    command, texts = allowed
    return _DESTROYS.search(command) is not None, len(texts)


def _not_denied(hook_set: HookSet, allowed: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
    """Return, for each command, the spellings that the settings neither deny nor ask about."""
    found = {
        command: [text for text in texts if not is_denied_command(hook_set, text)]
        for command, texts in allowed.items()
    }
    return {command: texts for command, texts in found.items() if texts}


def _prove_files(
    hook_set: HookSet, outcomes: Sequence[Outcome], guards: Sequence[Refusals]
) -> Iterator[CheckSession]:
    """Yield the sessions that prove what guards of files allow and refuse by mistake."""
    seen = [file_calls(outcome) for outcome in outcomes]
    done: list[Sequence[Act]] = []
    for files in [*guarded_files(hook_set, outcomes).values()][:_MOST_PROVED]:
        source = files[0].source
        ways = prove_files(hook_set, seen, files, source)
        acts = ways.acts(prove_lookalikes_of(hook_set, seen, files, source))
        # Two hooks may refuse the same.
        if acts and acts not in done:
            done.append(acts)
            yield _proof(hook_set, "guarded files, and others", acts, guards)
        if folder := folder_to_play_in(hook_set, seen, files, source):
            edit = replace(files[0].edit, file=HARMLESS)
            inside = _proof(hook_set, f"a project in a folder {folder}", (FIRST_PROMPT, edit, edit), guards)
            yield replace(inside, scenario=replace(inside.scenario, place=folder))


def _proof(hook_set: HookSet, title: str, acts: Sequence[Act], guards: Sequence[Refusals]) -> CheckSession:
    """Return a session with all hooks that may refuse its calls: one may refuse what another allows."""
    session = cut_short(title, scenario_of(hook_set, acts))
    before = (hook.command for hook in hook_set.hooks if is_asked_before(hook_set.host, hook.event))
    kept = {*before, *(one.hook for one in guards)}
    return replace(_with(hook_set, session, kept), proof=True)


def misjudged(
    hook_set: HookSet, outcomes: Sequence[Outcome], refusals: Sequence[Refusals]
) -> tuple[list[Suspect], list[str]]:
    """Return the commands that sessions show as refused where they are data, and what guards leave open."""
    suspects, passed = rewording.misjudged(outcomes, refusals)
    return suspects, [
        *passed,
        *_further_bypasses(hook_set, outcomes),
        *unguarded_commands(hook_set, outcomes),
    ]


def _further_bypasses(hook_set: HookSet, outcomes: Sequence[Outcome]) -> Iterator[str]:
    """Yield what a session showed of other programs than that of the spelling which is proved for a hook."""
    for one in refused_by_hook(outcomes):
        allowed = _not_denied(hook_set, allowed_spellings(outcomes, one.commands))
        proved = max(allowed.items(), key=_weight)[0] if allowed else ""
        programs = {proved.partition(" ")[0]}
        for command, texts in allowed.items():
            program = command.partition(" ")[0]
            if program not in programs and not all(map(is_rare, texts)):
                programs.add(program)
                named = first_few([f"`{text}`" for text in texts if "\n" not in text])
                yield f"`{command}` is refused too, and in one session was allowed as {named}."


def plan_proofs(
    hook_set: HookSet, outcomes: Sequence[Outcome], suspects: Sequence[Suspect]
) -> Iterator[CheckSession]:
    """Yield the sessions that prove what looked wrong, also that commands are refused as data."""
    yield from plan_bypasses(hook_set, outcomes)
    for one in suspects:
        asked = scenario_of(hook_set, (FIRST_PROMPT, RunCommand(command=one.command, given=GIVEN)))
        session = cut_short(f"the wording of `{one.command}` varied", varied(asked, one.family))
        # One more turn, for the harmless call that each wording is compared with.
        scenario = replace(session.scenario, turns=session.scenario.turns + 1)
        session = replace(session, scenario=scenario, only=one.wording, proof=True)
        yield _with(hook_set, session, [one.hook]) if one.hook else session
