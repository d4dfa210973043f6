"""Traced commands: which program decided how a command ended, with real processes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from pytest_hookharness.execution.paths import PACKAGE
from pytest_hookharness.execution.processes.sandbox import Sandbox, Supervisor
from pytest_hookharness.execution.processes.translation import Confinement
from pytest_hookharness.execution.startup.process_trace import trace
from pytest_hookharness.model.processes import Stdin, Tier

from .toys import launch


@pytest.fixture(params=[Tier.NAMESPACES, pytest.param(Tier.GROUP, marks=pytest.mark.slow)])
def place(supervisor: Supervisor, request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Sandbox]:
    """A sandbox that shows the package and the folder of the test."""
    if reason := supervisor.tiers()[request.param]:
        pytest.skip(f"no {request.param.value} here: {reason}")
    folder = str(tmp_path)
    confinement = Confinement(tier=request.param, visible=(str(PACKAGE), folder), writable=(folder,))
    with supervisor.open(confinement) as opened:
        yield opened


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("command", "decider"),
    [
        ("exit 2", "sh"),
        ("ls ./nothing", "ls"),
        ("cat | ls ./nothing", "ls"),
        ("(cd / && ls ./nothing)", "ls"),
        ("ls ./nothing || exit 2", "ls"),
        ("ls ./nothing || { echo no >&2; exit 2; }", "sh"),
        ("ls ./nothing; exit 3", "sh"),
        ("sh -c 'ls ./nothing; true; ls ./nothing'", "ls"),
        ("for n in 1 2 3; do ls ./nothing; done", "ls"),
    ],
)
def test_the_program_that_decides(place: Sandbox, tmp_path: Path, command: str, decider: str) -> None:
    """The exit code of a command is that of the child it passes on, unless it printed something after it."""
    traced = trace(place.run, launch("sh", "-c", command, cwd=str(tmp_path), stdin=Stdin(data=b"{}")))

    assert traced is not None
    assert traced.code in (2, 3)
    assert traced.find_decider().argv[0].rpartition("/")[2] == decider


def test_what_stands_at_the_words(place: Sandbox, tmp_path: Path) -> None:
    """The words of a program that failed are files, missing, unreadable or other, as it could see them."""
    (tmp_path / "file").touch()
    (tmp_path / "link").symlink_to("nowhere")
    words = ("file", "link", "nothing", ".")
    traced = trace(place.run, launch("ls", *words, cwd=str(tmp_path)))

    assert traced is not None
    assert dict(traced.find_decider().files) == dict(
        zip(words, ("file", "unreadable", "missing", "other"), strict=True)
    )
