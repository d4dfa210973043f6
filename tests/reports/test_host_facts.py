"""Tables and explanations of hosts."""

from pytest_hookharness.model.host_facts import EventMeanings, HostSummary, Meaning
from pytest_hookharness.model.protocol import Basis, Rule
from pytest_hookharness.reports.terminal.host_facts import explanation, hosts_table

RULE = Rule("exit code 2 refuses", Basis.OBSERVED, "Host 1, measured")
OPEN = Rule("the order is not known", Basis.ASSUMED, "chosen")


def summary(**values):
    """A host in one line."""
    given = {"id": "a@1", "events": 3, "unreached": 0, "cap": "none", "observed": 1, "documented": 2}
    return HostSummary(**{**given, "assumed": 30, **values})


def test_a_line_for_each_host():
    """Each host has one line, in columns that are aligned."""
    lines = hosts_table([summary(), summary(id="longer@2026", unreached=2)]).splitlines()

    head, first, second = lines[:3]
    assert first.split() == ["a@1", "3", "none", "1", "2", "30"]
    assert "3 + 2" in second
    assert head.index("cap on") == first.index("none") == second.index("none")


def test_an_explanation():
    """An event has its limit and facts, and each exit code its effect and the reason."""
    refusal = Meaning(
        case="exit 2",
        printed='{"a": 1}',
        refuses=True,
        action="the call is not made",
        to_agent=("no",),
        rule=RULE,
    )
    crash = Meaning(case="exit 1", refuses=False, action="it goes on", fault="crashed:\x1b[1m red", rule=RULE)
    event = EventMeanings(
        host="a@1",
        event="Before",
        role="before a tool",
        limit=1.5,
        unreachable="",
        rule=RULE,
        rests_on=(OPEN,),
        meanings=(refusal, crash),
    )

    text = explanation([event])

    assert "Before of a@1: before a tool; timeout 1.5 s" in text
    assert "the order is not known [assumed: chosen]" in text
    assert "REFUSES: the call is not made" in text
    assert 'prints: {"a": 1}' in text
    assert 'agent sees: "no"' in text
    assert text.count("exit code 2 refuses [observed: Host 1, measured]") == 3
    assert "\x1b" not in text
