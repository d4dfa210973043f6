"""
What is known of hosts, to be told to a person.
"""

from __future__ import annotations

from dataclasses import dataclass

from pytest_hookharness.model.protocol import Rule


@dataclass(frozen=True, slots=True, kw_only=True)
class HostSummary:
    """
    A host in one line.

    Attributes:
        id: Its name and version.
        events: How many events a session can come to.
        unreached: How many others it has.
        cap: What it does about endless refusals of a stop.
        observed: How many facts about it were measured.
        documented: How many stand in documents.
        assumed: How many are not known.
    """

    id: str
    events: int
    unreached: int
    cap: str
    observed: int
    documented: int
    assumed: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Meaning:
    """
    What one way in which a hook can end means to its host.

    Attributes:
        case: The way, in a few words.
        printed: What the hook says on standard output; empty for nothing.
        refuses: Whether the host honours a refusal.
        deed: What the host does.
        to_agent: What the agent's model is told.
        fault: Why the host could not use what the hook said; empty if it could.
        rule: The fact behind it.
    """

    case: str
    printed: str = ""
    refuses: bool
    deed: str
    to_agent: tuple[str, ...] = ()
    fault: str = ""
    rule: Rule


@dataclass(frozen=True, slots=True, kw_only=True)
class EventMeanings:
    """
    All that hooks of one event can mean.

    Attributes:
        host: The host.
        event: Its name of the event.
        role: What the event is for.
        limit: Seconds that a hook has which sets no limit.
        unreachable: Why a simulated session never comes to it; empty if it does.
        rule: What is known of the event.
        rests_on: What is assumed of it.
        meanings: One for each way to end.
    """

    host: str
    event: str
    role: str
    limit: float
    unreachable: str
    rule: Rule
    rests_on: tuple[Rule, ...]
    meanings: tuple[Meaning, ...]
