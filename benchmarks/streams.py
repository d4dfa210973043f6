"""
Labelled streams of actions, made from seeds.

Each label is what the stream was built to be, by the definitions in docs/loop-detection.md; nothing here asks
a detector.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from pytest_hookharness.model.actions import Action, ActionResult, Break, StreamItem
from pytest_hookharness.model.protocol import Json

DONE, FAILED = ActionResult.DONE, ActionResult.FAILED
WORDS = ("anchor", "basin", "cedar", "delta", "ember", "fjord", "grove", "heron", "inlet", "jetty", "kelp")


@dataclass(frozen=True, slots=True)
class Stream:
    """
    One stream, and what it was built to be.

    Attributes:
        kind: How it was built.
        seed: From which seed.
        labels: The titles of the loops in it; empty for none.
        moments: The stream.
    """

    kind: str
    seed: int
    labels: frozenset[str]
    moments: tuple[StreamItem, ...]


class Maker:
    """Makes actions that are like no other, unless they are asked to be."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)  # noqa: S311
        self.way = self.random.randrange(3)
        self.made = 0

    def name(self) -> str:
        """A name that was never made before, without digits."""
        self.made += 1
        number, letters = self.made, ""
        while number:
            number, place = divmod(number, len(WORDS))
            letters += WORDS[place]
        return f"{self.random.choice(WORDS)}-{letters}"

    def run(self, command: str, result: str, outcome: ActionResult = DONE) -> Action:
        """A shell call."""
        text = f"Runs it, {self.name()}"
        return Action(
            tool="Bash", arguments={"command": command, "description": text}, result=result, outcome=outcome
        )

    def edit(self, file: str, old: str, new: str, error: str = "") -> Action:
        """An edit, which fails with an error if there is one."""
        return Action(
            tool="Edit",
            arguments={"file_path": file, "old_string": old, "new_string": new},
            result=error or f"The file has been updated: {file}",
            outcome=FAILED if error else DONE,
        )

    def read(self, file: str, text: str) -> Action:
        """A look at a file."""
        return Action(tool="Read", arguments={"file_path": file}, result=text, outcome=DONE)

    def any(self) -> Action:
        """An action like no other."""
        name = self.name()
        match self.random.randrange(4):
            case 0:
                return self.edit(f"src/{name}.py", name, self.name())
            case 1:
                return self.read(f"src/{name}.py", f"def {name}(): ...")
            case 2:
                return self.run(f"cat {name}", f"No such file: {name}", FAILED)
            case _:
                return self.run(f"grep -r {name} src", f"src/{name}.py: {name}")

    def work(self) -> list[StreamItem]:
        """Some work that is no loop."""
        return [self.any() for _ in range(self.random.randrange(12))]

    def drift(self, attempt: int) -> tuple[str, str]:
        """Text that differs at each attempt: some for the call, some for its result."""
        clock = f"{self.random.randrange(10, 24)}:{self.random.randrange(10, 60)}:{attempt % 60:02}"
        folder = f"/tmp/tmp{self.random.randrange(10**6, 10**7)}"  # noqa: S108
        span = f"{self.random.random() * 9:.2f}s"
        said = (f"# attempt {attempt}", f"# at {clock}", f"--log {folder}/out")[self.way]
        return said, f"1 failed in {span}, log in {folder}"


def around(make: Maker, core: list[StreamItem]) -> tuple[StreamItem, ...]:
    """A core with work before and after it."""
    return (*make.work(), *core, make.any(), *make.work())


def repetition(make: Maker) -> Iterator[StreamItem]:
    """The same call, three to six times."""
    same = make.any()
    yield from [same] * make.random.randrange(3, 7)


def drifting_repetition(make: Maker) -> Iterator[StreamItem]:
    """The same command with text that drifts, done or failed."""
    name, outcome = make.name(), make.random.choice((DONE, FAILED))
    for attempt in range(make.random.randrange(3, 7)):
        said, result = make.drift(attempt)
        yield make.run(f"pytest {name} {said}", result, outcome)


def unanswered_repetition(make: Maker) -> Iterator[StreamItem]:
    """The same call, without its result."""
    yield from [Action(tool="Grep", arguments={"pattern": make.name()})] * make.random.randrange(3, 7)


def cycle(period: int) -> Callable[[Maker], Iterator[StreamItem]]:
    """A cycle of actions of which no two neighbours are alike, repeated three to five times and a bit."""

    def moments(make: Maker) -> Iterator[StreamItem]:
        cycle = [make.any() for _ in range(period)]
        if period > 3 and make.random.random() < 0.5:
            cycle[2] = cycle[0]  # one action may occur twice in a cycle
        cycles, more = make.random.randrange(3, 6), make.random.randrange(period)
        yield from cycle * cycles + cycle[:more]

    return moments


def drifting_cycle(period: int) -> Callable[[Maker], Iterator[StreamItem]]:
    """A cycle in which every text drifts."""

    def moments(make: Maker) -> Iterator[StreamItem]:
        names = [make.name() for _ in range(period)]
        for attempt in range(3 * period):
            said, result = make.drift(attempt)
            yield make.run(f"{names[attempt % period]} {said}", f"{names[attempt % period]}: {result}")

    return moments


def failures(make: Maker) -> Iterator[StreamItem]:
    """Calls of several kinds that fail with one error text; its numbers differ."""
    name, port = make.name(), make.random.randrange(1000, 9999)
    for step in range(make.random.randrange(3, 6)):
        error = f"{name}: connection to port {port + step} refused"
        yield make.run(f"{make.name()} --now", error, FAILED)


def stale_edit(make: Maker) -> Iterator[StreamItem]:
    """An edit that finds nothing, a test, a look at the file, and the same again with a step between."""
    file, old, new = f"{make.name()}.py", make.name(), make.name()
    cycle = [
        make.edit(file, old, new, "search string not found"),
        make.run("pytest", "1 failed", FAILED),
        make.read(file, f"something else than {new}"),
        make.run("git diff", "nothing"),
    ]
    yield from cycle * 3


def polling(make: Maker) -> Iterator[StreamItem]:
    """Looking at something that runs by itself: by waiting in the call, beside it, or by a tool for it."""
    name, way = make.name(), make.random.randrange(4)
    for _ in range(make.random.randrange(4, 12)):
        match way:
            case 0:
                yield make.run(f"sleep 5; status {name}", "in progress")
            case 1:
                yield make.run(f"status {name}", "in progress")
                yield make.run("sleep 30", "")
            case 2:
                yield Action(tool="BashOutput", arguments={"bash_id": name}, result="", outcome=DONE)
            case _:
                yield make.run(f"gh run view {name} --watch", "queued")


def progress(make: Maker) -> Iterator[StreamItem]:
    """The same call, whose result changes each time."""
    name = make.name()
    for step in range(make.random.randrange(4, 12)):
        yield make.run(f"status {name}", f"{step * 7 + 1} of 100 done")


def batch(make: Maker) -> Iterator[StreamItem]:
    """The same kind of call for one thing after the other."""
    way, name = make.random.randrange(5), make.name()
    for number in range(make.random.randrange(4, 12)):
        match way:
            case 0:
                yield make.run(f"gh issue close {number}", "closed")
            case 1:
                yield make.read(f"src/page{number}.md", "# Page")
            case 2:
                yield make.run(f"touch {name}{number}", "")
            case 3:
                offset: dict[str, Json] = {"file_path": name, "offset": number * 100}
                yield Action(tool="Read", arguments=offset, result=f"lines of part {number}", outcome=DONE)
            case _:
                yield make.edit(f"{name}.py", f"x = {number}", f"x = {number + 1}")


def batch_of_laps(make: Maker) -> Iterator[StreamItem]:
    """Read, edit and test, for one file after the other."""
    for _ in range(make.random.randrange(3, 8)):
        file = f"{make.name()}.py"
        yield make.read(file, f"import {make.name()}")
        yield make.edit(file, "import", "from")
        yield make.run("pytest", f"7 passed in {make.random.random():.2f}s")


def own_refusals(make: Maker) -> Iterator[StreamItem]:
    """Two like calls, the guard's refusal of the third, and the same again."""
    name = make.name()
    same = make.run(f"build {name}", "link error", FAILED)
    refused = make.run(f"build {name}", "Loop guard: this call would close a loop.", ActionResult.REFUSED)
    for _ in range(make.random.randrange(2, 6)):
        yield from (same, same, refused)


def trying_twice(make: Maker) -> Iterator[StreamItem]:
    """A cycle of one to eight actions, repeated once: trying again."""
    cycle = [make.any() for _ in range(make.random.randrange(1, 9))]
    yield from [*cycle, *cycle]


def sent_back(make: Maker) -> Iterator[StreamItem]:
    """The same call, each time because somebody asked for it."""
    same = make.any()
    for _ in range(make.random.randrange(3, 8)):
        yield same
        yield Break(why=make.random.choice(("prompt", "stop")))


def other_errors(make: Maker) -> Iterator[StreamItem]:
    """Failures whose errors differ, or say nothing, or have a success between them."""
    way = make.random.randrange(3)
    for number in range(make.random.randrange(4, 9)):
        match way:
            case 0:
                yield make.run(f"{make.name()}", f"{make.name()} not found", FAILED)
            case 1:
                yield make.run(f"grep -q {make.name()} src", "Exit code 1", FAILED)
            case _ if number % 2:
                yield make.any()
            case _:
                yield make.run(f"{make.name()}", "timed out", FAILED)
                yield make.edit(f"{make.name()}.py", make.name(), make.name())


NO_LOOP: Mapping[str, Callable[[Maker], Iterable[StreamItem]]] = {
    "polling": polling,
    "progress": progress,
    "batch": batch,
    "batch of cycles": batch_of_laps,
    "own refusals": own_refusals,
    "trying twice": trying_twice,
    "sent back": sent_back,
    "other errors": other_errors,
    "work": Maker.work,
}
LOOPS: Mapping[str, tuple[str, Callable[[Maker], Iterator[StreamItem]]]] = {
    "repetition": ("repetition", repetition),
    "drifting repetition": ("repetition", drifting_repetition),
    "unanswered repetition": ("repetition", unanswered_repetition),
    "failures": ("failures", failures),
    "stale edit": ("cycle of 4", stale_edit),
    **{f"cycle of {period}": (f"cycle of {period}", cycle(period)) for period in range(2, 9)},
    **{
        f"drifting cycle of {period}": (f"cycle of {period}", drifting_cycle(period))
        for period in range(2, 9)
    },
}


def streams(seeds: int) -> Iterator[Stream]:
    """One stream of each kind from each seed."""
    for seed in range(seeds):
        for place, (kind, moments) in enumerate(NO_LOOP.items()):
            make = Maker(seed * 1000 + place)
            yield Stream(kind, seed, frozenset(), around(make, list(moments(make))))
        for place, (kind, (label, moments)) in enumerate(LOOPS.items(), len(NO_LOOP)):
            make = Maker(seed * 1000 + place)
            yield Stream(kind, seed, frozenset({label}), around(make, list(moments(make))))
