"""What a hook can read of pytest's memory and environment, and of the harness's own processes."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from pytest_hookharness.execution.paths import PACKAGE
from pytest_hookharness.execution.processes.sandbox import Supervisor
from pytest_hookharness.execution.processes.translation import Confinement
from pytest_hookharness.model.processes import Tier

from .toys import launch

NOBODY = 65534
SYSTEM_PYTHON = "/usr/bin/python3"
LOWER = (Tier.SUBREAPER, Tier.GROUP)

# Run by a user without rights over the machine: prints what a hook prints, and the notes of the sandbox.
SCRIPT = """\
import sys
sys.path.append({package!r})
from pytest_hookharness.execution.processes.sandbox import Supervisor
from pytest_hookharness.execution.processes.translation import Confinement
from pytest_hookharness.model.processes import ProcessSpec, Tier

with Supervisor() as supervisor:
    if reason := supervisor.tiers()[Tier[{tier!r}]]:
        sys.exit("unavailable: " + reason)
    with supervisor.open(Confinement(tier=Tier[{tier!r}])) as sandbox:
        argv, env = ("bash", "-c", {script!r}), {{"PATH": "/usr/bin:/bin"}}
        spec = ProcessSpec(argv=argv, cwd="/", env=env, observed={observed})
        (run,) = sandbox.run([spec])
        print(run.stdout.text + run.stderr.text, run.reads.gap if run.reads else "")
"""


@pytest.fixture(scope="module")
def unprivileged() -> Iterator[Callable[..., str]]:
    """A function that runs a hook, with its supervisor, as a user without rights over the machine."""
    with TemporaryDirectory() as folder:
        # The package itself may lie where only its owner may look.
        Path(folder).chmod(0o755)
        shutil.copytree(PACKAGE, Path(folder, PACKAGE.name), ignore=shutil.ignore_patterns("__pycache__"))
        yield partial(run_unprivileged, folder)


def run_unprivileged(folder: str, tier: Tier, script: str, *, observed: bool = False) -> str:
    """Return what a hook prints whose supervisor runs as a user without rights over the machine."""
    code = SCRIPT.format(package=folder, tier=tier.name, script=script, observed=observed)
    # As root, ours may lie where only root may look.
    python, user = (SYSTEM_PYTHON, {"user": NOBODY, "group": NOBODY, "extra_groups": []})
    if os.geteuid() != 0:
        python, user = sys.executable, {}
    elif not Path(python).exists():
        pytest.skip("the system has no Python that another user may run")
    done = subprocess.run(
        [python, "-I", "-S", "-B", "-c", code],
        env={"TOKEN": "hookharness-secret", "PATH": os.environ["PATH"]},
        cwd="/",
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        **user,  # type: ignore[arg-type]
    )
    if done.returncode and ("unavailable" in done.stderr or "Permission denied" in done.stderr):
        pytest.skip(done.stderr.strip().splitlines()[-1])
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.nightly
@pytest.mark.parametrize("tier", Tier)
def test_a_hook_cannot_look_into_the_supervisor(unprivileged: Callable[..., str], tier: Tier) -> None:
    """A hook of an ordinary user can read its own memory, but not write that of the harness's processes."""
    script = (
        "for pid in $$ $PPID; do (: 3<>/proc/$pid/mem) 2>/dev/null && echo mine || echo closed; "
        "head -c1 /proc/$pid/environ >/dev/null 2>&1 && echo read || echo hidden; done"
    )
    assert unprivileged(tier, script).split() == ["mine", "read", "closed", "hidden"]


@pytest.mark.nightly
@pytest.mark.parametrize("tier", Tier)
def test_privileges_are_given_up_where_no_program_could_gain_any(
    unprivileged: Callable[..., str], tier: Tier
) -> None:
    """`no_new_privs` is set in a user namespace, and nowhere else."""
    flag = unprivileged(tier, "grep -o 'NoNewPrivs.*' /proc/self/status").split()
    assert flag == ["NoNewPrivs:", "1" if tier is Tier.NAMESPACES else "0"]


def test_root_keeps_the_privileges_of_programs(isolating: Supervisor) -> None:
    """Without a user namespace set-uid programs work, so `no_new_privs` is not set."""
    with isolating.open(Confinement(tier=Tier.NAMESPACES)) as sandbox:
        (run,) = sandbox.run([launch("cat", "/proc/self/status", "/proc/self/uid_map")])
    _, whole = run.stdout.text.rsplit("\n", 2)[0], run.stdout.text.split()[-1] == "4294967295"
    assert ("NoNewPrivs:\t0" in run.stdout.text) == whole


@pytest.mark.nightly
@pytest.mark.parametrize("tier", [Tier.NAMESPACES, Tier.SUBREAPER])
def test_an_ordinary_user_can_still_observe_a_hook(unprivileged: Callable[..., str], tier: Tier) -> None:
    """A hook is observed although nobody may look into the process that starts it."""
    assert unprivileged(tier, "echo seen", observed=True) == "seen\n \n"


@pytest.mark.nightly
@pytest.mark.parametrize("tier", Tier)
def test_the_environment_of_pytest_is_out_of_reach_only_in_namespaces(
    unprivileged: Callable[..., str], tier: Tier
) -> None:
    """A hook finds the token of pytest's environment unless it is in namespaces."""
    script = "cat /proc/[0-9]*/environ 2>/dev/null | tr '\\0' '\\n' | grep -c ^TOKEN=hookharness-secret"
    count = int(unprivileged(tier, script).split()[0])
    assert (count > 0) == (tier in LOWER)


@pytest.mark.parametrize("tier", LOWER)
def test_lesser_tiers_say_that_the_environment_of_pytest_is_in_reach(
    supervisor: Supervisor, tier: Tier
) -> None:
    """Where a hook can read pytest's environment, the notes of its sandbox say so."""
    with supervisor.open(Confinement(tier=tier)) as sandbox:
        assert any("environment of pytest" in note for note in sandbox.notes)


@pytest.mark.slow
@pytest.mark.skipif(os.geteuid() != 0, reason="only root may mount a second process table")
def test_a_second_process_table_shows_only_the_hook(tmp_path: Path) -> None:
    """A process table that is also mounted elsewhere, as in a changed root, shows no other process."""
    other = tmp_path / "proc"
    other.mkdir()
    code = SCRIPT.format(package=str(PACKAGE.parent), tier="NAMESPACES", script=f"ls {other}", observed=False)
    words = "sh", str(other), sys.executable, code
    done = subprocess.run(
        ["unshare", "--mount", "sh", "-c", 'mount -t proc proc "$1" && exec "$2" -I -S -B -c "$3"', *words],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert len([name for name in done.stdout.split() if name.isdecimal()]) == 2
