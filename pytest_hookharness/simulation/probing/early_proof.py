"""
Early proofs: an observed repetition that is also the one which confirms the recurrence.

Two turns that are alike propose a cycle; a third one confirms it, and then one more is observed. Where hooks
seem only to log, the third is observed at once. If that proves nothing the run goes on as any other.
"""

from __future__ import annotations

from pytest_hookharness.simulation.session.history import History

# Later ones are compared with more than one turn.
_SECOND = 2


def may_be_proved(history: History, turn: int) -> bool:
    """Return whether the second turn was as the first, and since then files were only appended to."""
    changed = history.differing(turn, 1) if turn == _SECOND else ()
    before, after = history.written(turn - 1), history.written(turn)
    for change in changed:
        old, new = before.get(change.path), after.get(change.path)
        if change.how != "content" or old is None or new is None or not new.startswith(old):
            return False
    signature = history.signature(turn) if changed else None
    return signature is not None and signature == history.signature(turn - 1)
