"""What a test double does, and what it records."""

from __future__ import annotations

import os
import pty
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from itertools import pairwise
from pathlib import Path

import pytest

from pytest_hookharness.execution.state.scan import Scanner
from pytest_hookharness.execution.workspace import test_doubles
from pytest_hookharness.execution.workspace.test_doubles import DoubleCall
from pytest_hookharness.execution.workspace.workspace import Workspace, WorkspaceError
from pytest_hookharness.model.scenario import Double, Scenario

HOSTILE = 'it\'s "$HOME" `id` $(id) \\n %s \\ \t é\n\n-n ; exit 0 #'

Make = Callable[..., Workspace]


@pytest.fixture
def make(tmp_path: Path) -> Iterator[Make]:
    with ExitStack() as stack:

        def made(**commands: Double) -> Workspace:
            scenario = Scenario(name='it\'s a "double"', commands=commands)
            # A base with a quote and a space in its name, because names of folders are untrusted too.
            return stack.enter_context(Workspace.create(scenario, tmp_path / "o'dd base"))

        yield made


def call(workspace: Workspace, *argv: str, **options: object) -> subprocess.CompletedProcess[bytes]:
    options.setdefault("stdin", subprocess.DEVNULL)
    return subprocess.run(
        argv, cwd=workspace.root, env=workspace.environment, capture_output=True, check=False, **options
    )


def shell(workspace: Workspace, command: str, **options: object) -> subprocess.CompletedProcess[bytes]:
    return call(workspace, "bash", "-c", command, **options)


def test_a_double_exits_and_prints_as_configured(make: Make) -> None:
    """Exit code, output and error output are those of the scenario, byte for byte."""
    workspace = make(npm=Double(exit=3, stdout=HOSTILE, stderr=HOSTILE + "!"), quiet=Double())
    done = call(workspace, "npm", "run")
    assert (done.returncode, done.stdout, done.stderr) == (3, HOSTILE.encode(), (HOSTILE + "!").encode())
    assert call(workspace, "quiet").returncode == 0


def test_a_module_of_our_python(make: Make) -> None:
    """A double that is a module gets the arguments and the standard input, and its call is recorded."""
    workspace = make(tool=Double(module="json.tool"))
    done = shell(workspace, "printf '[1]' | tool --compact")
    assert done.stdout == b"[1]\n"
    assert [recorded.argv for recorded in workspace.doubles.calls("tool")] == [("tool", "--compact")]


def test_a_module_that_is_not_there(make: Make) -> None:
    """A module that the harness's Python does not have is an error that says so."""
    with pytest.raises(WorkspaceError, match="has no package 'no_such_package'"):
        make(tool=Double(module="no_such_package.hook"))


def test_arguments_are_recorded_exactly(make: Make) -> None:
    """All arguments are recorded in order, with the folder and the kind of input."""
    workspace = make(npm=Double())
    (workspace.root / "sub").mkdir()
    argv = ("npm", HOSTILE, "", "a\nb", "-e", "--", "*")
    subprocess.run(
        argv, cwd=workspace.root / "sub", env=workspace.environment, stdin=subprocess.DEVNULL, check=True
    )
    assert workspace.doubles.calls("npm") == (DoubleCall(argv, str(workspace.root / "sub"), None, "null"),)


def test_calls_are_kept_in_order(make: Make) -> None:
    """More than ten calls are returned in the order in which they were made."""
    workspace = make(npm=Double())
    shell(workspace, "for n in 1 2 3 4 5 6 7 8 9 10 11 12; do npm $n; done")
    assert [call.argv[1] for call in workspace.doubles.calls("npm")] == [str(n) for n in range(1, 13)]


def test_parallel_calls_are_all_recorded(make: Make) -> None:
    """No call is lost when twenty are made at the same moment."""
    workspace = make(npm=Double())
    started = [
        subprocess.Popen(
            ["npm", str(n)], cwd=workspace.root, env=workspace.environment, stdin=subprocess.DEVNULL
        )
        for n in range(20)
    ]
    assert {process.wait() for process in started} == {0}
    assert {call.argv for call in workspace.doubles.calls("npm")} == {("npm", str(n)) for n in range(20)}


def test_nothing_called_and_nothing_known(make: Make) -> None:
    """A double that was not called has no calls, and an unknown one is an error."""
    workspace = make(npm=Double())
    assert workspace.doubles.calls("npm") == ()
    with pytest.raises(WorkspaceError, match="there is no test double 'yarn'; add it under `commands`"):
        workspace.doubles.calls("yarn")


@pytest.mark.parametrize("name", ["", ".", "..", "a/b", "../x", "a\0b"])
def test_a_name_that_is_no_command_is_refused(make: Make, name: str) -> None:
    """Only a bare name can be the name of a double."""
    with pytest.raises(WorkspaceError, match="use a bare command name"):
        make(**{name: Double()})


@pytest.mark.parametrize("name", ["a b", "it's", "$HOME", "-x", "[", "cat", "sh", "é", "a\nb", "last"])
def test_any_bare_name_works(make: Make, name: str) -> None:
    """Odd names, and the names of the tools that doubles use, work like any other name."""
    workspace = make(**{name: Double(exit=4, stdout="out", stderr="err")})
    done = call(workspace, name, executable=str(workspace.bin / name))
    assert (done.returncode, done.stdout, done.stderr) == (4, b"out", b"err")
    assert [call.argv for call in workspace.doubles.calls(name)] == [(name,)]


def test_a_double_needs_no_path(make: Make) -> None:
    """A double works where the search path is useless."""
    workspace = make(npm=Double(exit=5, stdout="out", floods=3))
    done = subprocess.run(
        ["npm"],
        executable=workspace.bin / "npm",
        env={},
        capture_output=True,
        stdin=subprocess.DEVNULL,
        check=False,
    )
    assert (done.returncode, done.stdout) == (5, b"outflo")


def test_input_of_its_own_is_recorded(make: Make) -> None:
    """What is piped or redirected into a double is recorded, also bytes that are not text."""
    workspace = make(npm=Double())
    shell(workspace, r"printf 'a\0\377' | npm; npm <<<here; echo file >f; npm <f; npm </dev/null; npm <&-")
    assert [(call.stdin_kind, call.stdin) for call in workspace.doubles.calls("npm")][:1] == [
        ("pipe", b"a\0\xff")
    ]
    kinds = [(call.stdin_kind, call.stdin) for call in workspace.doubles.calls("npm")]
    assert kinds[1][1] == b"here\n"
    assert kinds[2:] == [("file", b"file\n"), ("null", None), ("closed", None)]


def test_input_that_is_merely_passed_on_is_left_alone(make: Make) -> None:
    """A double that is called before its caller reads does not consume the caller's input."""
    workspace = make(npm=Double())
    done = shell(workspace, "npm; (npm); x=$(npm); cat", stdin=None, input=b"payload")
    assert done.stdout == b"payload"
    assert [(call.stdin_kind, call.stdin) for call in workspace.doubles.calls("npm")] == [("pipe", None)] * 3


def test_input_of_a_loop_is_left_to_the_loop(make: Make) -> None:
    """A double inside a loop that reads lines does not consume the next line."""
    workspace = make(npm=Double())
    done = shell(workspace, "while read -r line; do npm; echo $line; done", stdin=None, input=b"1\n2\n3\n")
    assert done.stdout == b"1\n2\n3\n"


def test_a_double_that_is_the_hook_does_not_wait_for_its_input(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Started by the host itself, with an input that stays open, a double does not wait for its end."""
    monkeypatch.setattr(test_doubles, "_STDIN_WAIT", "60")
    workspace = make(npm=Double())
    reading, writing = os.pipe()
    try:
        begun = time.monotonic()
        call(workspace, "npm", stdin=reading, start_new_session=True)
        assert time.monotonic() - begun < 30
    finally:
        os.close(reading)
        os.close(writing)
    assert workspace.doubles.calls("npm")[0].stdin is None


@pytest.mark.nightly
def test_an_input_that_is_never_closed_does_not_hold_a_double(make: Make) -> None:
    """A caller that leaves its pipe to the double open still gets the answer, and what it wrote is kept."""
    workspace = make(npm=Double(exit=6))
    program = (
        "import subprocess,sys\np=subprocess.Popen(['npm'],stdin=subprocess.PIPE)\n"
        "p.stdin.write(b'some');p.stdin.flush();sys.exit(p.wait())"
    )
    assert call(workspace, sys.executable, "-c", program, timeout=30).returncode == 6
    assert workspace.doubles.calls("npm")[0].stdin == b"some"


def test_endless_input_is_recorded_up_to_a_bound(make: Make) -> None:
    """A caller that writes without end fills only a bounded record."""
    workspace = make(npm=Double())
    shell(workspace, "yes | npm", timeout=30)
    recorded = workspace.doubles.calls("npm")[0].stdin
    assert recorded is not None
    assert 0 < len(recorded) <= 1 << 20


def test_a_double_heals_and_its_marks_end_with_that(make: Make) -> None:
    """
    A double fails as often as configured and then succeeds silently; its marks are in the state, and bounded.
    """
    workspace = make(npm=Double(exit=7, stderr="no\n", heals_after=3))
    scanner = Scanner(workspace.roots)
    seen, states = [], [scanner.scan()]
    for _ in range(6):
        done = call(workspace, "npm")
        seen.append((done.returncode, done.stderr, done.stdout))
        states.append(scanner.scan())
    scanner.close()
    assert seen == [(7, b"no\n", b"")] * 3 + [(0, b"", b"")] * 3
    assert [after != before for before, after in pairwise(states)] == [True] * 3 + [False] * 3


def test_a_double_heals_exactly_even_if_called_in_parallel(make: Make) -> None:
    """Exactly five of twelve parallel calls fail; a double without an exit code fails with 1."""
    workspace = make(npm=Double(heals_after=5))
    started = [
        subprocess.Popen(["npm"], cwd=workspace.root, env=workspace.environment, stdin=subprocess.DEVNULL)
        for _ in range(12)
    ]
    assert sorted(process.wait() for process in started) == [0] * 7 + [1] * 5


def test_calls_alone_are_no_part_of_the_state(make: Make) -> None:
    """Calling a double that does not heal leaves the state unchanged."""
    workspace = make(npm=Double(exit=1))
    scanner = Scanner(workspace.roots)
    before = scanner.scan()
    call(workspace, "npm")
    assert scanner.scan() == before == scanner.verify()
    scanner.close()


@pytest.mark.parametrize("damage", ["fifo", "link", "folder", "large"])
@pytest.mark.parametrize("record", ["1", "7", "1.stdin"])
def test_a_record_that_is_no_record_is_an_error(make: Make, tmp_path: Path, damage: str, record: str) -> None:
    """What a hook put in the place of a record is neither followed nor waited for, and the error names it."""
    workspace = make(npm=Double())
    shell(workspace, "npm one")
    place = workspace.base / "doubles" / "calls" / "npm" / record
    place.unlink(missing_ok=True)
    (tmp_path / "elsewhere").write_text("secret")
    damages = {
        "fifo": lambda: os.mkfifo(place),
        "link": lambda: place.symlink_to(tmp_path / "elsewhere"),
        "folder": place.mkdir,
        "large": lambda: [place.touch(), os.truncate(place, 1 << 33)],
    }
    damages[damage]()
    with pytest.raises(WorkspaceError, match=f"calls/npm/{record}: (is |cannot be read)"):
        workspace.doubles.calls("npm")


def test_records_elsewhere_are_not_read(make: Make, tmp_path: Path) -> None:
    """A folder of records that leads out of the workspace is an error, and odd names in it are ignored."""
    workspace = make(npm=Double())
    folder = workspace.base / "doubles" / "calls" / "npm"
    shell(workspace, "npm one")
    for name in ("007", "\u0663", "last"):
        (folder / name).write_text("x")
    assert [call.argv for call in workspace.doubles.calls("npm")] == [("npm", "one")]
    folder.rename(tmp_path / "away")
    folder.symlink_to(tmp_path / "away")
    with pytest.raises(WorkspaceError, match="which is outside of"):
        workspace.doubles.calls("npm")


def test_a_flood_has_the_configured_size(make: Make) -> None:
    """A flood has exactly the configured number of bytes, and ends when its reader is gone."""
    workspace = make(npm=Double(exit=1, floods=300_000))
    done = call(workspace, "npm")
    assert (done.returncode, len(done.stdout)) == (1, 300_000)
    assert shell(workspace, "npm | head -c 5", timeout=30).stdout == b"flood"


def test_a_hanging_double_uses_no_cpu_and_ends_by_a_signal(make: Make) -> None:
    """A hanging double prints, waits without using the CPU, and is one process that a signal ends."""
    workspace = make(npm=Double(stdout="begin\n", hangs=True))
    with subprocess.Popen(
        ["npm"], env=workspace.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"begin\n"
        process.send_signal(signal.SIGTERM)
        assert process.wait(10) == -signal.SIGTERM
        assert process.stdout.read() == b""


def test_a_question_without_a_terminal_fails(make: Make) -> None:
    """Without a terminal a double that asks fails as git does, and reads no input."""
    workspace = make(git=Double(prompts="Username for 'x': "))
    done = call(workspace, "git", stdin=None, input=b"payload", start_new_session=True)
    assert done.returncode == 128
    assert (
        b"fatal: could not read an answer to \"Username for 'x': \": No such device or address" in done.stderr
    )


def test_a_question_on_a_terminal_waits_for_its_answer(make: Make) -> None:
    """On a terminal the question is asked there, and the double continues when it is answered."""
    workspace = make(git=Double(prompts="Password: ", stdout="thanks\n", exit=9))
    process, terminal = pty.fork()
    if process == 0:  # pragma: no cover
        os.execve(workspace.bin / "git", ["git"], dict(workspace.environment))  # noqa: S606 - it is a child
    said = b""
    while not said.endswith(b"Password: "):
        assert select.select([terminal], [], [], 30)[0]
        said += os.read(terminal, 1000)
    os.write(terminal, b"secret\n")
    _, status = os.waitpid(process, 0)
    assert os.waitstatus_to_exitcode(status) == 9
    os.close(terminal)


def test_a_call_that_cannot_be_recorded_is_loud(make: Make) -> None:
    """When a record cannot be written, the double fails with its own exit code and says why."""
    workspace = make(npm=Double())
    folder = workspace.base / "doubles" / "calls" / "npm"
    folder.rmdir()
    done = call(workspace, "npm", timeout=30)
    assert done.returncode == 125
    assert b"npm: this double cannot record its call" in done.stderr
