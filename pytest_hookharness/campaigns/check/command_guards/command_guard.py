"""
A shell guard as values: its tests of the command of a call, the arms of its ``case``, and what they lead to.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice

from pytest_hookharness.campaigns.check.command_guards.patterns import glob_source
from pytest_hookharness.model.fast_dataclass import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandTest:
    """
    One test of the command.

    Attributes:
        begin: Where it stands in the script.
        end: Where the statements begin to which it leads.
        until: Where the statements end that surely follow each other from there.
        turned: Where its branch ends, and where the branch for other commands may begin.
        closed: Where both branches end.
        exits: Whether the script may end in between.
        source: The pattern as the script writes it; empty if it is not understood.
        pattern: The same pattern in the grammar of Python; ``None`` if it is not understood.
        fits: Whether the statements run if the pattern fits; otherwise they run if it does not.
        leads: What the statements do: ``refuses``, ``allows``, or empty if they are not understood.
    """

    begin: int
    end: int
    until: int = 0
    turned: int = 0
    closed: int = 0
    exits: bool = False
    source: str = ""
    pattern: re.Pattern[str] | None = None
    fits: bool = True
    leads: str = ""

    def is_met(self, command: str) -> bool:
        """Return whether a command makes the script do what the test leads to; it looks at single lines."""
        lines = command.split("\n")
        return (self.pattern is not None and any(map(self.pattern.search, lines))) is self.fits


@dataclass(frozen=True, slots=True)
class CommandGuard:
    """
    A shell script whose refusals depend on the words of a command.

    Attributes:
        tests: The tests of the command, in their order.
        others: Where the script does something else with the command, in order.
        whole: Whether the script refuses only where a test leads to it.
    """

    tests: tuple[CommandTest, ...] = ()
    others: tuple[int, ...] = ()
    whole: bool = False

    @property
    def is_known(self) -> bool:
        """Whether every use of the command is a test that is understood."""
        return not self.others and all(one.pattern is not None for one in self.tests)

    def is_let_off(self, command: str) -> bool:
        """Return whether a test of a command leads to an end without a refusal."""
        return any(one.leads == "allows" and one.is_met(command) for one in self.tests)

    def judges_alike(self, command: str, other: str) -> bool:
        """Return whether no test tells two commands apart."""
        return all(one.is_met(command) is one.is_met(other) for one in self.tests)

    def lets_through(self, command: str, last: CommandTest) -> bool:
        """Return whether a command surely reaches a test, or is refused before."""
        return all(self._goes_on(command, one, last) for one in self.tests if one.begin < last.begin)

    def _goes_on(self, command: str, test: CommandTest, last: CommandTest) -> bool:
        if test.leads == "refuses":
            return True
        if test.pattern is None:
            return False
        if test.leads == "allows":
            return not test.is_met(command)
        if last.begin >= test.closed:
            return not test.exits
        return test.is_met(command) is (last.begin < test.turned)


_HEADER = re.compile(r"(?<![\w-])case[ \t]+\"?\$\{?(?P<name>\w+)\}?\"?[ \t]+in\b")
_NESTING = re.compile(r"(?<![\w-])(?P<word>case|esac)(?![\w-])|;;")
_MOST, _FAR = 60, 20_000


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseArm:
    """
    One arm of a ``case``.

    Attributes:
        name: The variable that is compared.
        begin: Where its patterns begin; of the first arm, where the ``case`` begins.
        opened: Where the ``case`` begins.
        body: Where its statements begin.
        end: Where they end.
        closed: Where the ``case`` ends.
        source: What is searched for; empty if it is not understood.
        fits: Whether the arm is taken if that fits; otherwise it is the last one, for all else.
    """

    name: str
    begin: int
    opened: int
    body: int
    end: int
    closed: int
    source: str
    fits: bool = True


def case_arms(code: str, shown: str, looped: Mapping[str, Sequence[str]]) -> Iterator[CaseArm]:
    """Yield the arms of each ``case`` on one variable; ``looped`` are the texts of loops' variables."""
    for header in islice(_HEADER.finditer(code), _MOST):
        # In quoted text, it is no code.
        if shown.startswith("case", header.start()):
            yield from _arms(header, code, shown, looped)


def _arms(
    header: re.Match[str], code: str, shown: str, looped: Mapping[str, Sequence[str]]
) -> Iterator[CaseArm]:
    ends, closed = _ends(shown, header.end())
    begin, place, known = header.start(), header.end(), list[str]()
    for end in ends:
        bracket = shown.find(")", place, end)
        if bracket < 0:
            return
        first = place + len(shown[place:bracket]) - len(shown[place:bracket].lstrip(" \t\n("))
        patterns = [one.strip() for one in _split(code, shown, first, bracket)]
        sources = [glob_source(one, looped) for one in patterns]
        if patterns == ["*"]:
            source, fits = "|".join(known) if all(known) else "", False
        else:
            source, fits = "|".join(sources) if all(sources) else "", True
        known += sources
        yield CaseArm(
            name=header["name"],
            begin=begin,
            opened=header.start(),
            body=bracket + 1,
            end=end,
            closed=closed,
            source=source,
            fits=fits,
        )
        begin = place = end + 2


def _ends(shown: str, place: int) -> tuple[list[int], int]:
    """Return where the arms end of the ``case`` whose first arm begins at a place, and where it ends."""
    depth, ends = 0, list[int]()
    for found in _NESTING.finditer(shown, place, place + _FAR):
        if found["word"] == "case":
            depth += 1
        elif found["word"] and depth:
            depth -= 1
        elif found["word"]:
            return [*ends, found.start()], found.start()
        elif not depth:
            ends.append(found.start())
    return [], 0


def _split(code: str, shown: str, begin: int, end: int) -> Iterator[str]:
    """Yield the parts of the code between two places that bars outside of quotes separate."""
    for place in range(begin, end):
        if shown[place] == "|":
            yield code[begin:place]
            begin = place + 1
    yield code[begin:end]
