"""Mutations of standard input: its keys, its content, and how it arrives."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from pytest_hookharness import hosts
from pytest_hookharness.campaigns.stress.first_run import HookTraits, ReplayScript
from pytest_hookharness.campaigns.stress.mutation import Mutation, NotTried
from pytest_hookharness.judging.comparison.traces import Defect, Pair, by_leak
from pytest_hookharness.judging.findings.codes import RAW_JSON
from pytest_hookharness.model.delivery import Delivery, Inlet
from pytest_hookharness.model.fast_dataclass import dataclass
from pytest_hookharness.model.mutations import Shaping, VaryRequest
from pytest_hookharness.model.outcome import Outcome
from pytest_hookharness.model.processes import Stdio, TimedOut
from pytest_hookharness.model.scenario import Scenario
from pytest_hookharness.model.trace import HookRun

_SHAPING = Shaping(reversed=True, extra={"a_key_that_nobody_knows": {"of": ["any", "kind"]}})
# A terminal takes this many bytes in one line; the kernel drops the rest.
_LINE = 4095


@dataclass(frozen=True, slots=True)
class KeyOrder(Mutation, family="key-order", code=RAW_JSON):
    """
    The keys of every input in reverse order, with an unknown key after them.

    No host promises an order of keys, and any host may add a key in its next version.
    """

    def __str__(self) -> str:
        return "the keys of its input in reverse order, with an unknown one after them"

    def apply(self, scenario: Scenario, replay: ReplayScript) -> Scenario:
        return replace(scenario, payload=_SHAPING)


@dataclass(frozen=True, slots=True)
class EmptyInput(Mutation, family="input"):
    """Nothing on the standard input of every hook."""

    def __str__(self) -> str:
        return "nothing on standard input"

    def apply(self, scenario: Scenario, replay: ReplayScript) -> Scenario:
        return replace(scenario, stdin=replace(scenario.stdin or Delivery(), shape="empty"))

    def look(self, pair: Pair) -> Defect | None:
        return by_leak(pair)


@dataclass(frozen=True, slots=True)
class Fed(Mutation, family="stdin", fault=True):
    """Standard input that arrives in another way."""

    words: str
    way: Delivery

    def __str__(self) -> str:
        return self.words

    @property
    def waits(self) -> bool:
        return bool(self.way.delay) or not self.way.close

    def apply(self, scenario: Scenario, replay: ReplayScript) -> Scenario:
        return replace(scenario, stdin=self.way)

    def describe_input(self, hook_run: HookRun) -> str:
        if hook_run.run is None:
            return ""
        taken, size = hook_run.run.stdin_taken, len(hook_run.stdin)
        fails = taken < size and not isinstance(hook_run.run.ending, TimedOut)
        return f"; {taken} of {size} bytes taken" + ("; the host's write fails" if fails else "")


_WAYS = (
    Fed("standard input that is /dev/null", Delivery(kind="null")),
    Fed("standard input that is closed", Delivery(kind="closed")),
    Fed("nothing on standard input", Delivery(shape="empty")),
    Fed("standard input that is never closed", Delivery(close=False)),
    Fed("half of the JSON on standard input", Delivery(shape="partial-json")),
    Fed("a byte order mark before the JSON", Delivery(shape="bom")),
    Fed("standard input that arrives after 200 ms", Delivery(delay=0.2)),
    Fed("standard input that arrives after 500 ms", Delivery(delay=0.5)),
    Fed("standard input in pieces of 64 bytes", Delivery(chunk=64, delay=0.002)),
    Fed("65,537 bytes on standard input", Delivery(size=(1 << 16) + 1)),
    Fed("2 MB on standard input", Delivery(size=1 << 21)),
    Fed("a line without its end, and nothing after it", Delivery(shape="partial-line", close=False)),
)


def plan(request: VaryRequest, outcome: Outcome, traits: HookTraits) -> Iterator[Mutation | NotTried]:
    """Yield the mutations of standard input."""
    match request.family:
        case "key-order":
            yield KeyOrder()
        case "input":
            yield EmptyInput()
        case "stdin":
            yield from _deliveries(outcome)
        case _:
            return


def _deliveries(outcome: Outcome) -> Iterator[Mutation | NotTried]:
    process = hosts.find(outcome.scenario.host).process
    kind: Inlet = "pipe" if process.stdio is Stdio.SOCKET else "socket"
    yield Fed(f"standard input that is a {kind}", Delivery(kind=kind))
    longest = max((len(hook_run.stdin) for _, hook_run in outcome.trace.hook_runs()), default=0)
    terminal = Fed("standard input that is a terminal", Delivery(kind="pty"))
    if longest > _LINE:
        why = f"one line has {longest} bytes, and a terminal takes {_LINE}"
        yield NotTried("stdin", why, str(terminal))
    else:
        yield terminal
    yield from _WAYS
