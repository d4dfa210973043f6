"""
This module is concerned with guarding: the detectors in front of an agent, call by call.

Middle floor: judging. Pure. A refusal is an answer: after it counting begins anew, so that the guard never
keeps itself alive, and an agent that makes the same call once more is let through.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from pytest_hookharness.judging.detectors.files import Files
from pytest_hookharness.judging.detectors.kinds import Kind, file_of, kind_of
from pytest_hookharness.judging.detectors.limits import Limits
from pytest_hookharness.judging.detectors.memory import Memory
from pytest_hookharness.judging.detectors.wording import Refusal, foreseen, preview
from pytest_hookharness.model.actions import Action


@dataclass(frozen=True, slots=True)
class Watch:
    """
    All that a guard keeps of one agent.

    Attributes:
        memory: The calls.
        files: The files.
    """

    memory: Memory = Memory()
    files: Files = Files()

    def part(self) -> Watch:
        """
        What is kept when somebody else spoke.
        """
        return replace(self, memory=Memory())

    def before(self, action: Action, content: str | None, limits: Limits) -> tuple[Watch, Refusal | None]:
        """
        Whether a call is to be refused, and what is kept after that.

        Args:
            action: The call, whose result nobody knows yet.
            content: What the file that it is about holds; ``None`` if there is none, or that is not known.
            limits: When to speak.
        """
        path, edits = file_of(action.arguments), kind_of(action.tool, action.arguments) is Kind.EDIT
        if path and edits:
            files, refusal = self.files.refuse(path, action.arguments, content)
            if refusal is not None:
                return Watch(Memory(), files), refusal
        loop = self.memory.foresee(action, limits)
        if loop is None:
            return self, None
        refusal = foreseen(loop)
        if path and edits:
            refusal = replace(refusal, file=path, preview=preview(content or ""))
        return self.part(), refusal

    def after(self, action: Action, content: str | None, limits: Limits) -> tuple[Watch, Refusal | None]:
        """
        What is kept after a call, and what is to be said about it.
        """
        memory = self.memory.follow(action, limits).bounded(limits)
        path, kind = file_of(action.arguments), kind_of(action.tool, action.arguments)
        if not path:
            return replace(self, memory=memory), None
        files = self.files.follow(kind, path, action.outcome, content)
        warning = files.warn(path, content) if files is not self.files and kind is Kind.EDIT else None
        return Watch(memory, files), warning
