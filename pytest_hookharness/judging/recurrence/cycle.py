"""
Exact recurrence: when two states are equal, and when a repeated state proves a cycle.

The digest of a state has two halves of 128 bits: the sum of the digests of all files, which is updated from
the changed files alone, and the digest of everything else.

A *lasso* is the shape of an endless run: a *stem* of turns, then a cycle whose length is the *period*. It is
proposed when a state comes again, and confirmed when one more repetition gives the same states. This proves
something only about the state as it was taken. A counter in a database, or a clock that reaches midnight,
can end the loop later; therefore every livelock lists its assumptions.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from hashlib import blake2b

from pytest_hookharness.model.fast_dataclass import dataclass
from pytest_hookharness.model.protocol import Json
from pytest_hookharness.model.trace import HOST_WARNED, Change, State, StateEntry

_SIZE = 16
_HALF = 2 * _SIZE
_WHOLE = 1 << (8 * _SIZE)


def build_state(
    visible: Mapping[str, Json],
    agent: str,
    environment: str,
    files: Mapping[str, StateEntry],
    opaque: str = "",
    previous: State | None = None,
) -> State:
    """
    Return a state with its digest.

    Args:
        visible: Counters of session and host that hook or agent can see.
        agent: The agent's position.
        environment: Digest of the environment.
        opaque: Why the state is not known completely; empty if it is.
        previous: Any earlier state of :func:`build_state`. The more files they share, the faster this is.
    """
    digest = _files_digest(files, previous) + _rest_digest(visible, agent, environment, opaque)
    return State(
        visible=visible, agent=agent, environment=environment, files=files, opaque=opaque, digest=digest
    )


def same_state(one: State, other: State) -> bool:
    """Return whether two states are known to be equal; a state that is not known completely never is."""
    return not one.opaque and not other.opaque and one.digest == other.digest


def changes(
    before: State | Mapping[str, StateEntry], after: State | Mapping[str, StateEntry]
) -> tuple[Change, ...]:
    """
    Return the files that differ, by path.

    If there are several differences, the first of these counts: the kind of entry, the content, the mode.
    """
    old = before.files if isinstance(before, State) else before
    new = after.files if isinstance(after, State) else after
    if old is new:
        return ()
    find = old.get
    # Identity first: most entries are the same objects, and there may be thousands.
    others = [(path, entry, find(path)) for path, entry in new.items() if find(path) is not entry]
    found: list[Change] = []
    if len(old) + sum(known is None for _, _, known in others) != len(new):
        gone = old.keys() - new.keys()
        found = [Change(path=path, how="removed", before=old[path].content) for path in gone]
    for path, entry, known in others:
        if known != entry:
            how, was = ("added", "") if known is None else (_difference(known, entry), known.content)
            found.append(Change(path=path, how=how, before=was, after=entry.content))
    return tuple(sorted(found, key=lambda change: change.path))


def environment_digest(environment: Mapping[str, str]) -> str:
    """Return the digest of an environment, whatever the order of its variables."""
    words = [_bytes(f"{name}={value}") for name, value in environment.items()]
    return blake2b(b"\0".join(sorted(words)), digest_size=_SIZE).hexdigest()


def _difference(before: StateEntry, after: StateEntry) -> str:
    if before.kind != after.kind:
        return "kind"
    return "content" if before.content != after.content else "mode"


def _files_digest(files: Mapping[str, StateEntry], previous: State | None) -> str:
    if previous is None or len(previous.digest) != 2 * _HALF:
        total = sum(_entry_number(path, entry) for path, entry in files.items())
        return f"{total % _WHOLE:0{_HALF}x}"
    total = int(previous.digest[:_HALF], 16)
    known = previous.files
    find = known.get
    fresh = 0
    # Identity: an unchanged entry is the same object, and comparing the contents of all of them is slow.
    for path, entry in [(path, entry) for path, entry in files.items() if find(path) is not entry]:
        total += _entry_number(path, entry)
        old = find(path)
        if old is None:
            fresh += 1
        else:
            total -= _entry_number(path, old)
    if len(known) + fresh != len(files):
        total -= sum(_entry_number(path, known[path]) for path in known.keys() - files.keys())
    return f"{total % _WHOLE:0{_HALF}x}"


def _entry_number(path: str, entry: StateEntry) -> int:
    # The entries are added, because with an exclusive or two equal ones would cancel each other. Each part
    # starts with its length, so that two different entries never give the same bytes.
    parts = (_bytes(part) for part in (path, entry.kind, f"{entry.mode:o}", entry.content))
    data = b"".join(b"%d:%b" % (len(part), part) for part in parts)
    return int.from_bytes(blake2b(data, digest_size=_SIZE).digest(), "big")


def _rest_digest(visible: Mapping[str, Json], agent: str, environment: str, opaque: str) -> str:
    rest = json.dumps([_plain(visible), agent, environment, opaque], sort_keys=True, separators=(",", ":"))
    return blake2b(rest.encode("ascii"), digest_size=_SIZE).hexdigest()


def _plain(value: Json) -> object:
    if isinstance(value, Mapping):
        return {key: _plain(inner) for key, inner in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_plain(inner) for inner in value]
    return value


def _bytes(text: str) -> bytes:
    # File names can contain bytes that are no character; they are kept.
    return text.encode("utf-8", "surrogatepass")


@dataclass(frozen=True, slots=True)
class Lasso:
    """
    A stem, and the cycle of states after it.

    The state after turn ``stem + period`` equals the state after turn ``stem``.
    """

    stem: int
    period: int

    @property
    def last(self) -> int:
        """The turn that ends the confirming repetition."""
        return self.stem + 2 * self.period


def _alike(one: State | None, other: State | None) -> bool:
    # A state without a digest was never taken, so nothing is known about it.
    return one is not None and other is not None and bool(one.digest) and same_state(one, other)


def propose_lasso(states: Mapping[int, State]) -> Lasso | None:
    """Return the lasso that the newest turn closes, with the smallest period; ``None`` if there is none."""
    if not states:
        return None
    newest = max(states)
    digest = states[newest].digest
    # All earlier states are compared after every turn, so their digests come first.
    equal = [turn for turn, state in states.items() if state.digest == digest and turn < newest]
    earlier = [turn for turn in equal if _alike(states[turn], states[newest])]
    return Lasso(max(earlier), newest - max(earlier)) if earlier else None


def is_confirmed(lasso: Lasso, states: Mapping[int, State]) -> bool | None:
    """
    Return whether one more repetition gave the same digests.

    ``False``: one state was followed by two different ones, so something outside of the state decides.
    ``None``: not known (yet), because turns are missing or a state is not known completely.
    """
    # Both ends of the cycle are compared, because its last state must equal its first.
    unknown = False
    for turn in range(lasso.stem, lasso.stem + lasso.period + 1):
        first, second = states.get(turn), states.get(turn + lasso.period)
        if _alike(first, second):
            continue
        if first is None or second is None or first.opaque or second.opaque:
            unknown = True
            continue
        return None if unknown else False
    return None if unknown else True


def follow_lasso(lasso: Lasso | None, states: Mapping[int, State]) -> tuple[Lasso | None, bool | None]:
    """
    Return the lasso that is pursued after the newest turn, and whether it is confirmed.

    A lasso is pursued until its confirming repetition is over. If it proves nothing, the search starts anew.
    """
    if lasso is not None:
        sure = is_confirmed(lasso, states)
        if sure is not None or max(states, default=0) < lasso.last:
            return lasso, sure
    return propose_lasso(states), None


def completed_lasso(states: Mapping[int, State]) -> Lasso | None:
    """Return the lasso whose confirming repetition ended with the newest turn; ``None`` if there is none."""
    closing = propose_lasso(states)
    if closing is None or closing.stem < closing.period:
        return None
    # The newest turn closes a cycle; one period earlier it may have been closed for the first time.
    lasso = Lasso(closing.stem - closing.period, closing.period)
    return lasso if is_confirmed(lasso, states) else None


@dataclass(frozen=True, slots=True)
class Contradiction:
    """Two turns, the earlier first, whose equal states were followed by different ones."""

    first: int
    second: int


def find_contradiction(states: Mapping[int, State]) -> Contradiction | None:
    """
    Return the first state that was followed by two different ones; ``None`` if there is none.

    A host's warning of a repetition is no contradiction: the moves that the host counts are not in the state.
    """
    seen: dict[str, int] = {}
    for turn in sorted(states):
        build_state, after = states[turn], states.get(turn + 1)
        if build_state.opaque or not build_state.digest or after is None or after.opaque or not after.digest:
            continue
        earlier = seen.setdefault(build_state.digest, turn)
        once = states[earlier + 1]
        warned = HOST_WARNED in after.visible and HOST_WARNED not in once.visible
        if earlier != turn and once.digest != after.digest and not warned:
            return Contradiction(earlier, turn)
    return None
