"""Workspace, test doubles and scan together with a sandbox that hides the machine's own folders."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from pytest_hookharness.execution.processes.sandbox import Sandbox, Supervisor
from pytest_hookharness.execution.processes.translation import Confinement
from pytest_hookharness.execution.state.scan import Scanner
from pytest_hookharness.execution.workspace.workspace import Workspace
from pytest_hookharness.model.processes import Exited, ProcessResult, ProcessSpec, Stdin
from pytest_hookharness.model.scenario import Double, Scenario


@pytest.fixture
def workspace() -> Iterator[Workspace]:
    # Below /tmp, which the sandbox hides.
    scenario = Scenario(
        name="one", files={"a": "1"}, commands={"npm": Double(exit=3, stderr="no\n", heals_after=1)}
    )
    with tempfile.TemporaryDirectory(dir="/tmp") as base, Workspace.create(scenario, Path(base)) as made:
        yield made


@pytest.fixture
def sandbox(isolating: Supervisor, workspace: Workspace) -> Iterator[Sandbox]:
    with isolating.open(Confinement(private=workspace.private, visible=workspace.visible)) as opened:
        yield opened


@pytest.fixture
def scanner(sandbox: Sandbox, workspace: Workspace) -> Iterator[Scanner]:
    transcript = workspace.home / "transcript"
    workspace.write_transcript(transcript, [{}])
    opened = Scanner(workspace.roots, transcripts=[transcript])
    opened.skip(sandbox.stubs)
    yield opened
    opened.close()


def run_hook(sandbox: Sandbox, workspace: Workspace, command: str) -> ProcessResult:
    launch = ProcessSpec(
        argv=("bash", "-c", command),
        cwd=str(workspace.root),
        env=workspace.environment,
        stdin=Stdin(data=b"payload"),
    )
    return sandbox.run([launch])[0]


def test_mount_points_are_no_part_of_the_state(scanner: Scanner) -> None:
    """The mount points that the sandbox had to make are not listed below the private folders."""
    assert {path for path in scanner.scan() if path.startswith(("private-", "shm"))} == {
        "private-tmp",
        "private-var-tmp",
        "shm",
    }


def test_writes_to_every_covered_folder_are_seen(
    scanner: Scanner, sandbox: Sandbox, workspace: Workspace
) -> None:
    """A hook that writes to workspace, home, TMPDIR, /tmp, /var/tmp and /dev/shm is seen in all of them."""
    before = scanner.scan()
    command = 'for place in . "$HOME" "$TMPDIR" /tmp /var/tmp /dev/shm; do echo 1 >"$place/mark"; done'
    assert run_hook(sandbox, workspace, command).ending == Exited(0)
    after = scanner.scan()
    assert after == scanner.verify()
    assert after.keys() - before.keys() == {
        f"{root}/mark" for root in ("workspace", "home", "tmp", "private-tmp", "private-var-tmp", "shm")
    }
    assert not Path("/tmp/mark").exists()


def test_doubles_work_and_heal_inside(scanner: Scanner, sandbox: Sandbox, workspace: Workspace) -> None:
    """A test double is found first inside of the sandbox, heals, and its calls can be read outside."""
    before = scanner.scan()
    runs = [run_hook(sandbox, workspace, "npm test; exit $?") for _ in range(3)]
    assert [run.ending for run in runs] == [Exited(3), Exited(0), Exited(0)]
    assert runs[0].stderr.data == b"no\n"
    assert scanner.scan().keys() - before.keys() == {"doubles/npm/1"}
    calls = workspace.doubles.calls("npm")
    assert [call.argv for call in calls] == [("npm", "test")] * 3
    assert {call.stdin for call in calls} == {None}


def test_a_double_that_is_the_hook_itself_leaves_the_payload_alone(
    sandbox: Sandbox, workspace: Workspace
) -> None:
    """A double that takes the place of the hook's shell does not wait for the end of the host's input."""
    launch = ProcessSpec(
        argv=("npm",),
        cwd=str(workspace.root),
        env=workspace.environment,
        stdin=Stdin(data=b"payload", close=False),
    )
    run = sandbox.run([launch])[0]
    assert run.ending == Exited(3)
    assert run.wall < 0.9
    assert workspace.doubles.calls("npm")[0].stdin is None


def test_what_is_piped_to_a_double_inside_is_recorded(sandbox: Sandbox, workspace: Workspace) -> None:
    """Inside of the sandbox, too, a double distinguishes a pipe of its own from the hook's payload."""
    run_hook(sandbox, workspace, "echo mine | npm")
    assert workspace.doubles.calls("npm")[0].stdin == b"mine\n"


def test_a_reader_of_the_transcript_inside_is_seen(
    scanner: Scanner, sandbox: Sandbox, workspace: Workspace
) -> None:
    """Whether a hook opened the transcript is known from outside of the sandbox."""
    transcript = workspace.home / "transcript"
    assert scanner.opened(transcript) is False
    run_hook(sandbox, workspace, "true")
    assert scanner.opened(transcript) is False
    run_hook(sandbox, workspace, f"cat '{transcript}' >/dev/null")
    assert scanner.opened(transcript) is True
