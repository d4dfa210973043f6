"""The response of the hooks to a single event, without a session."""

from __future__ import annotations

from pytest_hookharness.model.fast_dataclass import dataclass
from pytest_hookharness.model.processes import Ending, Exited, NotStarted
from pytest_hookharness.model.protocol import Ruling
from pytest_hookharness.model.trace import HookEvent, HookRun


class HookNotRun(Exception):
    """
    A hook did not run, so it neither refused nor allowed anything.

    Attributes:
        hook_run: The failed attempt to run it.
    """

    def __init__(self, hook_run: HookRun) -> None:
        self.hook_run = hook_run
        why = hook_run.reply.fault or f"not-run: {_ending(hook_run)}"
        said = f"did not run ({why.partition(': ')[2]}), so it"
        if hook_run.suspicion:
            said = f"may not have run ({hook_run.suspicion}); then it"
        super().__init__(
            f"{hook_run.hook.event}: `{hook_run.hook.command}` {said} neither refused nor allowed; "
            "`.ruling` is what the host decided"
        )


def _ending(hook_run: HookRun) -> str:
    ending = hook_run.run.ending if hook_run.run is not None else None
    return ending.reason if isinstance(ending, NotStarted) else str(ending)


@dataclass(frozen=True, slots=True)
class Response:
    """
    The hook runs of one event and the host's decision.

    Attributes:
        folders: Absolute paths of the folders of the run, each with the name that begins its state paths.
    """

    hooked: HookEvent
    folders: tuple[tuple[str, str], ...] = ()

    def __repr__(self) -> str:
        """Return one line, as failed assertions show it; the report of a failed test has the hook runs."""
        runs = ", ".join(run.hook.command for run in self.hook_runs)
        return f"<Response to {self.hooked.event}: {self.ruling.value} by {runs[:100]}>"

    @property
    def ruling(self) -> Ruling:
        """The host's decision."""
        return self.hooked.decision.ruling

    @property
    def refused(self) -> bool:
        """
        Whether a hook refused and the host honours it.

        Raises:
            HookNotRun: A hook did not run or may not have run, and no other one refused.
        """
        __tracebackhide__ = True
        refused = self.hooked.decision.refused
        if refused and not self.hooked.refused_by_chance:
            return True
        for one in self.hook_runs:
            if not one.ran or (refused and one.suspicion):
                raise HookNotRun(one)
        return False

    @property
    def allowed(self) -> bool:
        """
        Whether every hook exited by itself, none refused, and the host could use every reply.

        Raises:
            HookNotRun: A hook did not run, and no other one refused.
        """
        __tracebackhide__ = True
        exited = (isinstance(one.run.ending, Exited) for one in self.hook_runs if one.run is not None)
        return not self.refused and all(exited) and not any(one.reply.fault for one in self.hook_runs)

    @property
    def reason(self) -> str:
        """The reasons of the refusals, separated by line ends."""
        return "\n".join(self.hooked.decision.reasons)

    @property
    def to_agent(self) -> str:
        """All text that the agent's model would see because of this event."""
        return "\n".join(self.hooked.decision.to_agent)

    @property
    def hook_runs(self) -> tuple[HookRun, ...]:
        """All hook runs."""
        return self.hooked.hook_runs

    @property
    def hook_run(self) -> HookRun:
        """The only hook run; raises ``ValueError`` if no hook ran, or several did."""
        if len(self.hook_runs) != 1:
            raise ValueError(f"{self.hooked.event}: {len(self.hook_runs)} hooks ran; use .hook_runs instead")
        return self.hook_runs[0]

    @property
    def ending(self) -> Ending:
        """
        How the only hook run ended.

        Raises:
            ValueError: No hook ran, several did, or the scenario answered instead of a process.
        """
        run = self.hook_run.run
        if run is None:
            raise ValueError(f"{self.hooked.event}: the scenario answered for the hook, no process ran")
        return run.ending

    @property
    def stdout(self) -> str:
        """Standard output of the only hook run."""
        return self.hook_run.run.stdout.text if self.hook_run.run is not None else ""

    @property
    def stderr(self) -> str:
        """Standard error of the only hook run."""
        return self.hook_run.run.stderr.text if self.hook_run.run is not None else ""
