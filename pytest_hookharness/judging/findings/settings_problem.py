"""
Problems of a hook configuration: the form in which they are told to the judge.

A protocol only, for the hosts have the class.
"""

from __future__ import annotations

from typing import Protocol

from pytest_hookharness.model.protocol import Rule


class ConfigurationProblem(Protocol):
    """
    Something wrong in a hook configuration, as the host reads it.

    The word ``unknown`` together with ``event`` in ``kind`` is an event that the host does not know,
    ``unreachable`` one that a simulated session never comes to, ``option`` an option that does nothing;
    every other kind leaves hooks out.
    """

    @property
    def kind(self) -> str:
        """
        What is wrong, as a word.
        """
        ...

    @property
    def source(self) -> str:
        """
        The file.
        """
        ...

    @property
    def path(self) -> str:
        """
        The place in it.
        """
        ...

    @property
    def text(self) -> str:
        """
        The problem in a sentence.
        """
        ...

    @property
    def rule(self) -> Rule | None:
        """
        The host's rule behind it.
        """
        ...
