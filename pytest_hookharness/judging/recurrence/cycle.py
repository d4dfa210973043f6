"""
Lassos: states that come again, and the lap that proves it.

Pure.

What this cannot see: something outside the state that changes what happens only after the confirming
lap, such as a counter in a database or a clock that has to reach midnight. A lasso is a proof about
the state as it was taken, which is why every livelock is printed with its assumptions.

The fingerprint: when two states are the same.

Pure. A digest has two halves of 128 bits: the sum of the digests of all files,
which is brought up to date by what changed alone, and the digest of everything else.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b

from pytest_hookharness.model.protocol import Json
from pytest_hookharness.model.trace import Change, State, StateEntry

_SIZE = 16
_HALF = 2 * _SIZE
_WHOLE = 1 << (8 * _SIZE)


def state(
    visible: Mapping[str, Json],
    agent: str,
    environment: str,
    files: Mapping[str, StateEntry],
    opaque: str = "",
    previous: State | None = None,
) -> State:
    """
    A state with its digest.

    Args:
        visible: Counters of session and host that hook or agent can see.
        agent: The agent's position.
        environment: Digest of the environment.
        files: Entries by state path.
        opaque: Why the state is not known completely; empty if it is.
        previous: Any earlier state of :func:`state`; the more its files are alike, the less there is to do.
    """
    digest = _files_digest(files, previous) + _rest_digest(visible, agent, environment, opaque)
    return State(
        visible=visible, agent=agent, environment=environment, files=files, opaque=opaque, digest=digest
    )


def same(one: State, other: State) -> bool:
    """
    Whether two states are known to be the same; one that is not known completely never is.
    """
    return not one.opaque and not other.opaque and one.digest == other.digest


def changes(
    before: State | Mapping[str, StateEntry], after: State | Mapping[str, StateEntry]
) -> tuple[Change, ...]:
    """
    The files that differ, by path; a new kind of entry outweighs new content, and that a new mode.
    """
    old = before.files if isinstance(before, State) else before
    new = after.files if isinstance(after, State) else after
    if old is new:
        return ()
    find = old.get
    # By identity first: most entries are the very same objects, and there may be thousands.
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
    """
    The digest of an environment; the order of its variables does not count.
    """
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
    # By identity: an entry that did not change is the same object, and comparing all of them is dear.
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
    # A sum, and not an exclusive or, for that would be undone by the same thing twice. Every part is
    # led by its length, so that no two entries are written alike.
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
    # Names of files may be anything; what is no character is kept as it is.
    return text.encode("utf-8", "surrogatepass")


@dataclass(frozen=True, slots=True)
class Lasso:
    """
    A stem, and a cycle of states after it.

    Attributes:
        stem: The turn after which the cycle begins.
        period: Length of the cycle in turns: the state after turn ``stem + period`` is the state
            after turn ``stem``.
    """

    stem: int
    period: int

    @property
    def last(self) -> int:
        """
        The turn that ends the confirming lap.
        """
        return self.stem + 2 * self.period


def _alike(one: State | None, other: State | None) -> bool:
    # A state without a digest was never taken, and nothing is known of it.
    return one is not None and other is not None and bool(one.digest) and same(one, other)


def propose(states: Mapping[int, State]) -> Lasso | None:
    """
    The lasso that the newest turn closes, the one with the smallest period if there are several.
    """
    if not states:
        return None
    newest = max(states)
    again = [turn for turn in states if turn < newest and _alike(states[turn], states[newest])]
    return Lasso(max(again), newest - max(again)) if again else None


def confirmed(lasso: Lasso, states: Mapping[int, State]) -> bool | None:
    """
    Whether one more lap repeated the cycle digest for digest.

    ``False`` means that one state was followed by two different ones: something that is not part of
    the state decides. ``None`` means that it is not known (yet): turns are missing, or a state on the
    way is not known completely.
    """
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


def follow(lasso: Lasso | None, states: Mapping[int, State]) -> tuple[Lasso | None, bool | None]:
    """
    Take the newest turn into account: the lasso that is now pursued, and whether it is confirmed.

    A lasso stays until its lap is over. If the lap then says nothing, the search begins anew.
    """
    if lasso is not None:
        sure = confirmed(lasso, states)
        if sure is not None or max(states, default=0) < lasso.last:
            return lasso, sure
    return propose(states), None


def completed(states: Mapping[int, State]) -> Lasso | None:
    """
    The lasso whose confirming lap ended with the newest turn, if there is one.
    """
    closing = propose(states)
    if closing is None or closing.stem < closing.period:
        return None
    lasso = Lasso(closing.stem - closing.period, closing.period)
    return lasso if confirmed(lasso, states) else None


@dataclass(frozen=True, slots=True)
class Contradiction:
    """
    One state that was followed by two different ones.

    Attributes:
        first: The turn after which the state was there.
        again: The later turn after which it was there again, and went another way.
    """

    first: int
    again: int


def contradiction(states: Mapping[int, State]) -> Contradiction | None:
    """
    The first place where the same state gave two answers, if there is one.
    """
    seen: dict[str, int] = {}
    for turn in sorted(states):
        state, after = states[turn], states.get(turn + 1)
        if state.opaque or not state.digest or after is None or after.opaque or not after.digest:
            continue
        earlier = seen.setdefault(state.digest, turn)
        if earlier != turn and states[earlier + 1].digest != after.digest:
            return Contradiction(earlier, turn)
    return None
