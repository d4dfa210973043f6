"""The devices and terminals of an item in namespaces, and what a hook does to /dev."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from pytest_hookharness.execution.processes.sandbox import Supervisor
from pytest_hookharness.model.delivery import Terminal, TypedAnswer
from pytest_hookharness.model.processes import Exited
from pytest_hookharness.model.scenario import Scenario

from .test_overlay import Item
from .toys import launch


@pytest.fixture
def item(isolating: Supervisor, tmp_path: Path) -> Iterator[Item]:
    """An item with a workspace, in namespaces."""
    with ExitStack() as stack:
        yield Item(stack, isolating, tmp_path / "base", Scenario(name="one"))


def test_a_file_in_dev_is_the_items_own(item: Item) -> None:
    """A file that a hook makes in /dev is there for its later runs and in the state, not on the machine."""
    name = f"hookharness-{uuid.uuid4().hex}"
    item.say(f"echo 1 > /dev/{name}; mkdir /dev/net-{name}")
    assert item.say(f"cat /dev/{name}") == "1"
    assert item.outside() == {f"/dev/{name}": "file"}
    assert not Path("/dev", name).exists()


def test_the_usual_devices_work(item: Item) -> None:
    """The devices that containers have work, and no other one is there."""
    assert item.say(
        "echo lost > /dev/null; head -c2 /dev/zero | od -An -tx1; head -c4 /dev/urandom | wc -c; "
        "head -c4 /dev/random | wc -c; (echo 1 > /dev/full) 2>/dev/null || echo full; "
        "echo out > /dev/stdout; echo in | cat /dev/stdin; echo err > /dev/stderr; "
        "cat /dev/fd/3 3<<E\nthree\nE\necho shared > /dev/shm/file; cat /dev/shm/file"
    ).split() == ["00", "00", "4", "4", "full", "out", "in", "three", "shared", "err"]
    assert item.say("LC_ALL=C ls /dev | tr '\\n' ' '") == (
        "fd full null ptmx pts random shm stderr stdin stdout tty urandom zero"
    )


def test_a_program_can_open_a_terminal_of_its_own(item: Item) -> None:
    """A hook that starts a program on a new terminal gets one, and sees none of the machine's."""
    assert item.say("ls /dev/pts") == "ptmx"
    program = "import os, pty; ours, theirs = pty.openpty(); print(os.ttyname(theirs))"
    assert item.say(f'python3 -c "{program}"') == "/dev/pts/0"


@pytest.mark.slow
def test_the_terminal_of_a_hook_has_a_name_inside(item: Item) -> None:
    """A hook with a terminal is answered on it, which has the same name in each run."""
    terminal = Terminal(answers=(TypedAnswer(expect="Name", send="Ann"),))
    script = "ls /dev/pts; printf 'Name? ' >/dev/tty; read name </dev/tty; echo $name"
    for _ in range(2):
        (run,) = item.sandbox.run([launch("sh", "-c", script, terminal=terminal, cwd="/")])
        assert run.ending == Exited(0)
        assert run.stdout.text.split() == ["0", "ptmx", "Ann"]
        assert run.dialogue is not None
        assert [asked.answer for asked in run.dialogue.asked] == ["Ann"]
