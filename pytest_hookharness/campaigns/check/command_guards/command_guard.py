"""A shell guard as values: its tests of the command of a call, and what each of them leads to."""

from __future__ import annotations

import re

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
