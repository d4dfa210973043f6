"""What came of playing a recorded session against the real hooks."""

from __future__ import annotations

from pytest_hookharness.model.fast_dataclass import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Reproduction:
    """
    The result of ``hookharness reproduce``.

    Attributes:
        source: Path of the transcript.
        host: The host that wrote it, with its version.
        played: The host profile that was played.
        loop: The loop in the transcript, in one sentence; empty if there is none.
        others: Further loops in the transcript, each in one sentence; they are not looked at.
        further: The results for the shorter loops that were reproduced too, each by itself.
        without: Why no loop is there, and what the transcript has instead; empty if there is one.
        project: Which files the hooks saw, in words.
        recorded: Number of refusals in the transcript.
        same: Number of refusals that are as recorded, from the first.
        more: Number of further refusals here, after the last recorded one.
        difference: The first difference; empty if there is none.
        cause: What may have caused it.
        verdict: The verdict on the whole session, followed by its text.
        reproduced: Whether the loop was seen again.
        left_out: What the replay did not do.
        missing: What the transcripts of this host do not contain.
        shrunk: What the small scenario contains, and whether it is 1-minimal; empty if there is none.
        plays: How many sessions were played.
        seconds: How long it took.
        files: Paths of the scenarios that were written.
    """

    source: str
    host: str
    played: str = ""
    loop: str = ""
    others: tuple[str, ...] = ()
    further: tuple[Reproduction, ...] = ()
    without: str = ""
    project: str = ""
    recorded: int = 0
    same: int = 0
    more: int = 0
    difference: str = ""
    cause: str = ""
    verdict: str = ""
    reproduced: bool = False
    left_out: tuple[str, ...] = ()
    missing: str = ""
    shrunk: str = ""
    plays: int = 0
    seconds: float = 0.0
    files: tuple[str, ...] = ()

    @property
    def complete(self) -> bool:
        """Whether each loop was seen again, or there is none."""
        return bool(self.without) or (self.reproduced and all(one.complete for one in self.further))
