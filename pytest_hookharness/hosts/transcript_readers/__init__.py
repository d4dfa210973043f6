"""
Histories: what an agent did, read from the transcript that its host wrote.

Pure. Transcripts come from anywhere, so nothing in them is taken for granted: what
has not the expected form is counted and left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from pytest_hookharness.hosts.transcript_readers import claude_code, codex, openhands
from pytest_hookharness.hosts.transcript_readers.pairing import Gathering, Record
from pytest_hookharness.model.protocol import Json

__all__ = ["FORMS", "Gathering", "Record", "UnknownForm", "gather"]

FORMS = {"claude-code": claude_code, "codex": codex, "openhands": openhands}
# A transcript begins with its settings, and tells by its first moves whose it is.
_LOOKED_AT = 200


class UnknownForm(ValueError):
    """
    A text that is a transcript of no host that is known.
    """


def gather(records: Iterable[Record]) -> Gathering:
    """
    The stream of actions in a transcript, whosever it is.

    Raises:
        UnknownForm: Nothing in it tells which host wrote it.
    """
    waiting: list[Record] = []
    gathering: Gathering | None = None
    for place, value in records:
        if gathering is None:
            waiting.append((place, value))
            form = _form_of(value)
            if form is not None:
                gathering = Gathering(form)
                for earlier in waiting:
                    _take(gathering, *earlier)
            elif len(waiting) >= _LOOKED_AT:
                break
        else:
            _take(gathering, place, value)
    if gathering is None:
        raise UnknownForm(
            f"none of the first {len(waiting)} records has the form of a known transcript; known are "
            "Claude Code (JSON lines with `type` and `message`), Codex (a rollout: JSON lines with "
            "`type: response_item` and `payload`) and OpenHands (events with `kind`, or with `action`)"
        )
    return gathering


def _form_of(value: Json) -> str | None:
    if not isinstance(value, Mapping):
        return None
    return next((name for name, form in FORMS.items() if form.knows(value)), None)


def _take(gathering: Gathering, place: str, value: Json) -> None:
    if isinstance(value, Mapping):
        FORMS[gathering.form].take(gathering, place, value)
    else:
        gathering.leave_out("no JSON object")
