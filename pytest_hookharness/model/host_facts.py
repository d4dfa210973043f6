"""Known facts about hosts, in the form in which reports print them."""

from __future__ import annotations

from pytest_hookharness.model.fast_dataclass import dataclass
from pytest_hookharness.model.protocol import Rule


@dataclass(frozen=True, slots=True, kw_only=True)
class HostSummary:
    """
    A host in one line.

    Attributes:
        id: Its name and version.
        events: Number of events that a simulated session can reach.
        unreached: Number of other events.
        cap: What it does about endless refusals of a stop.
        observed: Number of facts that were measured.
        documented: Number of facts from documents.
        assumed: Number of facts that are assumed.
        asked: What the real program answered to questions about them; empty if it was not asked.
    """

    id: str
    events: int
    unreached: int
    cap: str
    observed: int
    documented: int
    assumed: int
    asked: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Meaning:
    """
    How a host interprets one combination of exit code and output of a hook.

    Attributes:
        case: The combination, in a few words.
        printed: Standard output of the hook; empty for none.
        fault: Why the host cannot use the output; empty if it can.
    """

    case: str
    printed: str = ""
    refuses: bool
    action: str
    to_agent: tuple[str, ...] = ()
    fault: str = ""
    rule: Rule


@dataclass(frozen=True, slots=True, kw_only=True)
class EventMeanings:
    """
    How a host interprets the hooks of one event.

    Attributes:
        limit: Default time limit of a hook, in seconds.
        unreachable: Why a simulated session never reaches the event; empty if it does.
        rests_on: Facts that are assumed.
    """

    host: str
    event: str
    role: str
    limit: float
    unreachable: str
    rule: Rule
    rests_on: tuple[Rule, ...]
    meanings: tuple[Meaning, ...]
