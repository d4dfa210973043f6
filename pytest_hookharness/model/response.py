"""
The response: what the hooks of one event said when asked once.
"""

from __future__ import annotations

from dataclasses import dataclass

from pytest_hookharness.model.processes import Ending, Exited
from pytest_hookharness.model.protocol import Ruling
from pytest_hookharness.model.trace import HookEvent, HookRun


@dataclass(frozen=True, slots=True)
class Response:
    """
    One event, one answer.

    Attributes:
        hooked: The fires and what the host made of them.
    """

    hooked: HookEvent

    @property
    def ruling(self) -> Ruling:
        """
        The host's decision.
        """
        return self.hooked.decision.ruling

    @property
    def refused(self) -> bool:
        """
        Whether the host honours a refusal.
        """
        return self.hooked.decision.refused

    @property
    def allowed(self) -> bool:
        """
        Whether every hook ran to its end, none refused, and the host could use what each said.
        """
        ran = (isinstance(fire.run.ending, Exited) for fire in self.hook_runs if fire.run is not None)
        return not self.refused and all(ran) and not any(fire.reply.fault for fire in self.hook_runs)

    @property
    def reason(self) -> str:
        """
        The reasons of the refusals, one below the other.
        """
        return "\n".join(self.hooked.decision.reasons)

    @property
    def to_agent(self) -> str:
        """
        All that the agent's model would see because of this event.
        """
        return "\n".join(self.hooked.decision.to_agent)

    @property
    def hook_runs(self) -> tuple[HookRun, ...]:
        """
        The hooks that ran.
        """
        return self.hooked.hook_runs

    @property
    def fire(self) -> HookRun:
        """
        The only hook that ran.

        Raises:
            ValueError: None ran, or several did.
        """
        if len(self.hook_runs) != 1:
            raise ValueError(f"{self.hooked.event}: {len(self.hook_runs)} hooks ran; look at .fires instead")
        return self.hook_runs[0]

    @property
    def ending(self) -> Ending:
        """
        How the only hook ended.
        """
        run = self.fire.run
        if run is None:
            raise ValueError(f"{self.hooked.event}: the hook was answered by the scenario, no process ran")
        return run.ending

    @property
    def stdout(self) -> str:
        """
        What the only hook printed.
        """
        return self.fire.run.stdout.text if self.fire.run is not None else ""

    @property
    def stderr(self) -> str:
        """
        What the only hook printed on standard error.
        """
        return self.fire.run.stderr.text if self.fire.run is not None else ""
