"""Claims about how a check says what it tried."""

from pathlib import Path

import pytest

from pytest_hookharness.campaigns.check.grouping import summarise
from pytest_hookharness.campaigns.check.played_sessions import PlayedSession
from pytest_hookharness.campaigns.check.tried_sessions import describe_varied
from pytest_hookharness.model.checkup import CheckSession, HookSet
from pytest_hookharness.model.outcome import Outcome
from pytest_hookharness.model.processes import Exited, ProcessResult
from pytest_hookharness.model.protocol import Basis, Decision, Hook, Reply, Rule
from pytest_hookharness.model.scenario import Scenario
from pytest_hookharness.model.trace import HookEvent, HookRun, Step, Trace
from pytest_hookharness.model.verdicts import Terminated

RULE = Rule("nothing said", Basis.DOCUMENTED, "a page")


def summary(hooks):
    """What a check says of so many hooks, each of which ran once and took as many seconds as its number."""
    found = [Hook(event="PreToolUse", command=f"./hook{number}.sh") for number in range(1, hooks + 1)]
    runs = tuple(
        HookRun(hook=hook, payload={}, run=ProcessResult(ending=Exited(0), wall=wall), reply=Reply(rule=RULE))
        for wall, hook in enumerate(found, 1)
    )
    asked = HookEvent(event="PreToolUse", hook_runs=runs, decision=Decision(event="PreToolUse", rule=RULE))
    outcome = Outcome(
        scenario=Scenario(name="check"),
        host="claude-code@1",
        trace=Trace(steps=(Step(number=1, turn=1, exchange=asked),)),
        verdict=Terminated(turn=1),
    )
    hook_set = HookSet(host="claude-code", root=Path("/p"), files=(), hooks=tuple(found))
    return summarise(
        hook_set, [PlayedSession(CheckSession(title="once", scenario=outcome.scenario), outcome)]
    )


def test_the_times_of_a_few_hooks():
    """Of a few hooks each is named with its time, in the order of the settings."""
    times = [text for text in summary(3).tried if "95%" in text]
    assert times == [
        f"PreToolUse {number} (hook{number}.sh): 1 run, 95% within {number}000 ms." for number in (1, 2, 3)
    ]


def test_the_times_of_many_hooks():
    """Of many hooks the slowest are named with their times, and the time of all others is one sentence."""
    times = [text for text in summary(40).tried if "95%" in text]
    assert [text.split(":")[0] for text in times[:-1]] == [
        f"PreToolUse {number} (hook{number}.sh)" for number in range(35, 41)
    ]
    assert times[-1] == "The other 34 hooks: 95% of the runs of each within 34000 ms."


@pytest.mark.parametrize(
    ("hooks", "said"),
    [
        (1, "PreToolUse 1 (hook1.sh) refused nothing that was tried, so it is unknown whether it works."),
        (
            5,
            (
                "PreToolUse 1 (hook1.sh), PreToolUse 2 (hook2.sh), PreToolUse 3 (hook3.sh) and 2 more "
                "refused nothing that was tried, so it is unknown whether they work."
            ),
        ),
    ],
)
def test_hooks_that_refused_nothing(hooks, said):
    """Of all hooks that refused nothing a check says so in one sentence."""
    assert [text for text in summary(hooks).open if "refused nothing" in text] == [said]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            "Tried: key-order; sessions (another agent, another session); processes.",
            (
                "Also tried: the input with its keys in another order; another agent and another session "
                "between its turns; a restarted host."
            ),
        ),
        ("Tried: tools git (missing).", "Also tried: no git on the PATH."),
        ("Tried: tools jq (missing), git (missing).", "Also tried: no jq or no git on the PATH."),
        (
            "Tried: tools git, jq (missing).",
            "Also tried: programs of the hooks that are missing or fail: git, jq (missing).",
        ),
        (
            "Tried: quoting `rm -rf /` (a heredoc); names nested/app.py.",
            (
                "Also tried: the words of a command as data: `rm -rf /` (a heredoc); another file of "
                "the same name: nested/app.py."
            ),
        ),
        ("Tried: 8 hook runs side by side.", "Tried: 8 hook runs side by side."),
        ("Tried: quoting `cd; rm build`.", "Tried: quoting `cd; rm build`."),
    ],
)
def test_what_was_varied(text, words):
    """Mutations are named by what they change; a text that cannot be split stays as it is."""
    assert describe_varied(text) == words
