"""Mutations that make files which hooks read larger than what a pipe holds."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Mapping
from dataclasses import replace

from pytest_hookharness.campaigns.stress.first_run import HookTraits, ReplayScript
from pytest_hookharness.campaigns.stress.mutation import Mutation, NotTried
from pytest_hookharness.campaigns.stress.mutations.filesystem import entries_before, written_by_hooks
from pytest_hookharness.model.fast_dataclass import dataclass
from pytest_hookharness.model.moves import Corrupt
from pytest_hookharness.model.mutations import VaryRequest
from pytest_hookharness.model.outcome import Outcome
from pytest_hookharness.model.scenario import Scenario

_MOST = 3
# A pipe holds 64 KB; with the first size a writer may still get rid of all of it.
_SIZES = (64, 200)
_WORKSPACE = "workspace/"


@dataclass(frozen=True, slots=True)
class LargeFile(Mutation, family="state", fault=True):
    """
    A file of the workspace that hooks read, with blank lines up to a size in KB.

    A program that stops reading early, such as `grep -q`, then ends the one that writes to it by SIGPIPE.
    """

    path: str
    size: int

    def __str__(self) -> str:
        return f"{self.path} of {self.size} KB, with blank lines at its end"

    def apply(self, scenario: Scenario, replay: ReplayScript) -> Scenario:
        harm = Corrupt(file=self.path, how="grow", text=str(self.size * 1024))
        return replace(scenario, script=replace(scenario.script, acts=(harm, *scenario.script.acts)))


def plan(request: VaryRequest, outcome: Outcome, traits: HookTraits) -> Iterator[Mutation | NotTried]:
    """Yield larger files, for those that hooks seem to read and do not write."""
    if request.family != "faults":
        return
    files = [*_read_by_hooks(outcome, traits)]
    if not files:
        yield NotTried(
            "state", "the hooks name no other file that is there from the beginning", "a large file"
        )
    for path in files[:_MOST]:
        yield from (LargeFile(path, size) for size in _SIZES)
    for path in files[_MOST:]:
        yield NotTried("state", "one of many", f"a large {path}")


def _read_by_hooks(outcome: Outcome, traits: HookTraits) -> Iterator[str]:
    """Yield the files that commands, scripts or inputs of hooks name; most read what they name."""
    runs = [hook_run for _, hook_run in outcome.trace.hook_runs()]
    named = "\n".join((*(run.hook.command for run in runs), *map(_text, traits.scripts.values())))
    called = {value for run in runs for value in _values(run.payload.get("tool_input"))}
    written = set(written_by_hooks(outcome))
    for path, entry in entries_before(outcome).items():
        inside = path.removeprefix(_WORKSPACE)
        own = inside == path or inside in traits.scripts or path in written or inside.startswith(".git/")
        if own or entry.kind != "file":
            continue
        if posixpath.basename(inside) in named or any(f"/{value}".endswith(f"/{inside}") for value in called):
            yield inside


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")


def _values(tool_input: object) -> Iterator[str]:
    if isinstance(tool_input, Mapping):
        yield from (value for value in tool_input.values() if isinstance(value, str))
