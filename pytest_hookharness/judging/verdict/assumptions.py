"""The assumptions of a verdict: what it rests on besides what was seen."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath

from pytest_hookharness.model.expectations import counted, first_few
from pytest_hookharness.model.outcome import LOOKED_FOR, NOT_MADE, OF_CHANCE, OR
from pytest_hookharness.model.processes import Cut, TimedOut
from pytest_hookharness.model.protocol import THE_SCENARIO, Basis, Rule
from pytest_hookharness.model.reads import ObservedCycle
from pytest_hookharness.model.trace import Change, Trace

_INDEPENDENT = "Decisions do not depend on "
# Dropped where it was observed what the hooks read, as two others are.
UNOBSERVED = f"{_INDEPENDENT}clock, chance, kernel, network, or the times, links and blocks of files."
# Added where hooks decide by the clock, as their source shows, and ended the session at all times played.
ASSUMED_CLOCK = "Assumed that no other time decides: the source may compare the clock"
STANDING: tuple[str, ...] = (
    "The host's ids follow from the seed; its times begin at the real time and go on by 1 s per id.",
    UNOBSERVED,
)
UNREAD_GIT = "Git's object store does not affect any decision."
UNWATCHED_TRANSCRIPT = "No hook opened the transcript, so changes of its size and time were not watched."
UNWATCHED_FILES = (
    "A file whose size, times, inode and mode stay the same has the same content: the system does not report "
    "writes, and one into mapped memory may leave all of these as they were."
)
_OBSERVED_INSTEAD = frozenset((UNOBSERVED, UNREAD_GIT, UNWATCHED_TRANSCRIPT))
# Added if the clock was moved.
CLOCKS: tuple[str, ...] = (
    "Passed time was visible to GNU date (a test double), bash, Python and node (a preload), and in files.",
    "Other programs saw the machine's clock, and hooks saw the machine's times of the files that they wrote.",
)
# Added if the coverage of hooks is recorded.
RECORDED = "Recording the hooks (--hook-cov), and the time that it takes, do not affect decisions."
# Added if hooks opened network sockets while the network was off.
NO_NETWORK = (
    "The hooks opened network sockets, but the network was off; with `world: {network: true}` they may "
    "decide differently."
)
# One of these is added by the caller, who knows how the hooks were confined.
CONTAINED = "No other program changed files outside of the covered folders meanwhile."
UNCONTAINED = "Files outside of the covered folders do not affect decisions; writes there were not watched."

# State paths of files that hooks wrote outside of the covered folders.
_OUTSIDE = "outside/"
_SHOWN = 3


def clock_was_read(tried: Sequence[str]) -> str:
    """Return what is assumed where nothing that changes was read but the clock; other times were tried."""
    return (
        f"The hooks read the clock. They decided the same at full speed, {', '.join(tried)}; "
        "that no other time decides is assumed."
    )


def chance_was_drawn(chance: str, plays: int = 0) -> str:
    """Return the assumption about random numbers of a run that ended, and went the same way in more plays."""
    tried = f" Played {counted(plays, 'more time')}, the session went the same way." if plays else ""
    return (
        f"{OF_CHANCE}the source of the hooks names random numbers ({chance}); if they decide, "
        f"another run may end differently.{tried}"
    )


def without_unobserved(assumptions: Sequence[str], *words: str) -> tuple[str, ...]:
    """Return assumptions that no longer claim that decisions do not depend on what some words name."""
    seen = tuple(assumptions)
    for word in words:
        seen = tuple(
            sentence.replace(f"{word}, ", "", 1) if sentence.startswith(_INDEPENDENT) else sentence
            for sentence in seen
        )
    return seen


def gather_assumptions(
    trace: Trace,
    extra: Sequence[str] = (),
    observed: ObservedCycle | None = None,
    *,
    disagreed: bool = False,
) -> tuple[str, ...]:
    """
    Return the standing assumptions, those of the run (``extra``) and those that the trace shows, once each.

    What was observed of a loop is not assumed: either it is part of the state, or it is named. Nor is that
    what was left running changes nothing, where another play of the session went differently (``disagreed``).
    """
    left_over = () if disagreed else _left_over(trace)
    shown = (*_hook_timeouts(trace), *left_over, *_written_elsewhere(trace), *_echoes(trace))
    shown = (*shown, *_unchecked(trace), *_forked(trace), *_assumed_rules(trace))
    missing = observed.influences.missing if observed is not None else ()
    every = dict.fromkeys([*STANDING, *extra, *shown, *_missing(missing)])
    if observed is None or not observed.influences.observed:
        return tuple(every)
    # If a loop reads a part that changes, one repetition was observed, and many more were played.
    left_out = (UNOBSERVED,) if observed.influences.matters else _OBSERVED_INSTEAD
    return tuple(sentence for sentence in every if sentence not in left_out)


def _missing(paths: Sequence[str]) -> Iterator[str]:
    # If there are more, most of them are places where a tool looks for its settings.
    if 0 < len(paths) <= _SHOWN:
        yield f"{NOT_MADE}{OR.join(paths)}{LOOKED_FOR}"


def _hook_timeouts(trace: Trace) -> Iterator[str]:
    for _, hook_run in trace.hook_runs():
        match hook_run.ending:
            case TimedOut(after=after, by=Cut.HOOK_TIMEOUT) if not hook_run.cut_too_early:
                waits = "waits beyond the host's limit: no alarm wakes it."
                yield f"A hook that was cut after the hook timeout of {after:g} s {waits}"
            case TimedOut(after=after, by=Cut.BACKGROUND):
                yield (
                    f"What a hook in the background, for which its host does not wait, would have done after "
                    f"{after:.3g} s, when it was ended, changes nothing."
                )
            case _ if hook_run.run is not None and hook_run.run.extended:
                longer = f"{hook_run.run.extended:.1f} s longer than the hook timeout"
                yield f"A hook that waited for a CPU may run {longer}."
            case _:
                pass


def _echoes(trace: Trace) -> Iterator[str]:
    for _, hook_run in trace.hook_runs():
        if hook_run.reply.echo:
            hook = f"{hook_run.hook.event}: `{hook_run.hook.command}`"
            yield f"{hook} prints its input, which the host ignores; it decides nothing."


def _unchecked(trace: Trace) -> Iterator[str]:
    for _, hook_run in trace.hook_runs():
        if hook_run.run is not None and (why := hook_run.run.doubt):
            hook = f"{hook_run.hook.event}: `{hook_run.hook.command}`"
            known = "is doubtful" if hook_run.suspicion else "was not checked"
            yield f"{hook} itself ran, and not only its interpreter; that {known}: {why}."


def _forked(trace: Trace) -> Iterator[str]:
    if any(hook_run.run is not None and hook_run.run.warm for _, hook_run in trace.hook_runs()):
        yield (
            "Hook runs that were forked from a prepared Python (--hook-warm) go as those of a new one would. "
            "They have its hash seed and its addresses, and see it among the processes."
        )


def _left_over(trace: Trace) -> Iterator[str]:
    results = [hook_run.run for _, hook_run in trace.hook_runs() if hook_run.run is not None]
    if any(run.leftovers or run.unclaimed for run in results):
        yield "Processes that a hook left running, and that were then ended, would not have changed anything."
    for run in (call.run for _, call in trace.performed()):
        if run is not None and run.leftovers:
            names = ", ".join(f"`{process.command}`" for process in run.leftovers[:_SHOWN])
            yield (
                "Assumed that what the agent's command left running, and what was then ended, changes "
                f"nothing: {names}."
            )


def _written_elsewhere(trace: Trace) -> Iterator[str]:
    changed = [change for _, hooked in trace.hooked() for change in hooked.changes]
    paths: dict[str, Change] = {}
    for change in changed:
        if change.path.startswith(_OUTSIDE):
            paths.setdefault(change.path, change)
    # A new entry changes its folder too, which is no news.
    parents = {str(parent) for path in paths for parent in PurePosixPath(path).parents}
    paths = {path: change for path, change in paths.items() if path not in parents}
    if paths:
        written = [f"{one.path.removeprefix(_OUTSIDE.rstrip('/'))}{_by(one)}" for one in paths.values()]
        yield (
            "Files that hooks wrote outside of the covered folders did not reach the machine; "
            f"with a real host they stay there: {first_few(written, _SHOWN)}."
        )


def _by(change: Change) -> str:
    """Return the hooks that wrote a file, in parentheses."""
    hooks = (" or " if change.in_doubt else " and ").join(f"`{command}`" for command in change.hooks)
    perhaps = "perhaps " if change.in_doubt and len(change.hooks) == 1 else ""
    return f" ({perhaps}by {hooks})" if hooks else ""


def _assumed_rules(trace: Trace) -> Iterator[str]:
    for _, hooked in trace.hooked():
        rules: list[Rule] = [hooked.decision.rule, *hooked.decision.rests_on]
        rules += [hook_run.reply.rule for hook_run in hooked.hook_runs]
        for rule in rules:
            # What the scenario sets is said by itself.
            if rule.basis is Basis.ASSUMED and rule.source != THE_SCENARIO:
                yield f"Assumed about the host, neither documented nor observed: {rule.text}"
