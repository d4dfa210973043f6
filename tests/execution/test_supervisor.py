"""Nothing survives the end of a sandbox, however it comes, and no descriptor is lost on the way."""

from __future__ import annotations

import ast
import contextlib
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from pytest_hookharness.execution.paths import PACKAGE
from pytest_hookharness.execution.processes import sandbox
from pytest_hookharness.execution.processes.sandbox import ExecutionError, Sandbox, Supervisor
from pytest_hookharness.execution.processes.translation import Confinement
from pytest_hookharness.model.processes import Ending, Exited, NotStarted, Stdin, Tier

from .toys import HOOKS, STAY, eventually, launch, staying

TIERS = pytest.mark.parametrize("tier", [Tier.NAMESPACES, Tier.SUBREAPER], ids=lambda tier: tier.name.lower())

DOOMED = """
import sys
from pytest_hookharness.execution.processes.translation import Confinement
from pytest_hookharness.execution.processes.sandbox import Supervisor
from pytest_hookharness.model.processes import ProcessSpec, Tier

box = Supervisor().open(Confinement(tier=Tier[sys.argv[1]]))
env = {"PATH": "/usr/bin:/bin", "TOY_SECONDS": sys.argv[2]}
long = {"linger": 3600.0, "hook_timeout": 3600.0}
specs = [ProcessSpec(argv=(word,), cwd="/", env=env, **long) for word in sys.argv[3:]]
print("open", flush=True)
box.run(specs)
"""
ESCAPING = (
    "setsid_child.sh",
    "double_fork_daemon.sh",
    "cleared_env_daemon.sh",
    "ignores_term.sh",
    "holds_stdout.sh",
)


def doomed(tier: Tier) -> subprocess.Popen[str]:
    """Start another process that runs everything that wants to survive, and wait until all of it runs."""
    words = [str(HOOKS / name) for name in ESCAPING]
    program = subprocess.Popen(
        [sys.executable, "-c", DOOMED, tier.name, STAY, *words],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
    )
    eventually(lambda: len(staying()) >= len(ESCAPING) + 1, "all toys run")
    return program


# As a Mac, whose queues of events are not inherited by a fork.
CLOSED_BY_FORK = """
import os, sys
sys.path.insert(0, {package!r})
from pytest_hookharness.execution.platform import linux
def open_process(pid):
    found = opened(pid)
    os.register_at_fork(after_in_child=lambda: os.close(found))
    return found
opened, linux.open_process = linux.open_process, open_process
from pytest_hookharness.execution.processes.supervisor import main
main(*sys.argv[1:])
"""


def test_a_descriptor_that_a_fork_does_not_inherit(monkeypatch: pytest.MonkeyPatch) -> None:
    """An item supervisor begins where the system has closed the descriptor that tells when pytest ends."""
    program = CLOSED_BY_FORK.format(package=str(PACKAGE.parent))
    monkeypatch.setattr(sandbox, "python_program", lambda *_: (sys.executable, "-I", "-S", "-c", program))
    with Supervisor() as supervisor, supervisor.open(Confinement(tier=Tier.GROUP)) as box:
        assert box.run([launch("true")])[0].ending == Exited(0)


@pytest.mark.parametrize("toy", ["setsid_child.sh", "double_fork_daemon.sh", "cleared_env_daemon.sh"])
def test_without_a_sandbox_the_toys_do_survive(toy: str) -> None:
    """
    A toy that is started by hand leaves its process behind, so its absence elsewhere is the sandbox's doing.
    """
    env = {"PATH": os.environ["PATH"], "TOY_SECONDS": STAY}
    subprocess.run([HOOKS / toy], env=env, check=True, start_new_session=True)
    eventually(lambda: bool(staying()), "the toy stays")

    def kill() -> bool:
        found = staying()
        for pid in found:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        return not found

    # The first that is seen may be about to start the one that stays.
    eventually(kill, "nothing stays any more")


@pytest.mark.slow
@TIERS
def test_nothing_survives_a_pytest_that_was_killed(isolating: Supervisor, tier: Tier) -> None:
    """After the process that opened the sandbox got SIGKILL, every process inside is dead."""
    with doomed(tier) as program:
        program.kill()
    eventually(lambda: not staying(), "nothing survives")


@pytest.mark.slow
@TIERS
def test_nothing_survives_though_a_copy_of_the_sockets_lives(isolating: Supervisor, tier: Tier) -> None:
    """A process that was forked from the killed one and keeps its sockets open keeps no process alive."""
    forking = DOOMED.replace(
        "box.run(", "import os, signal\nif os.fork() == 0:\n    signal.pause()\nbox.run("
    )
    words = [str(HOOKS / name) for name in ESCAPING]
    program = subprocess.Popen(
        [sys.executable, "-c", forking, tier.name, STAY, *words],
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
    )

    def toys() -> list[int]:
        return [pid for pid in staying() if b"Confinement" not in _command(pid)]

    eventually(lambda: len(toys()) >= len(ESCAPING), "all toys run")
    with program:
        program.kill()
        eventually(lambda: not toys(), "nothing survives")
        for pid in staying():
            os.kill(pid, signal.SIGKILL)


def _command(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


@TIERS
def test_an_interrupt_leaves_all_to_the_close(supervisor: Supervisor, tier: Tier) -> None:
    """After Ctrl-C in a batch the sandbox refuses further hook runs, and closing it ends every process."""
    sandbox = supervisor.open(Confinement(tier=tier))
    launches = [launch(name, linger=60.0, hook_timeout=60.0) for name in ESCAPING]

    def interrupt() -> None:
        eventually(lambda: len(staying()) >= len(ESCAPING), "all toys run")
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        sandbox.run(launches)
    thread.join()
    assert staying()
    with pytest.raises(ExecutionError, match="interrupted"):
        sandbox.run([launch("true")])
    sandbox.close()
    assert staying() == []


def test_a_killed_item_supervisor_is_an_error_and_leaves_no_process(own_supervisor: Supervisor) -> None:
    """
    A hook that kills the process which started it is a harness error, never an ending, and nothing survives.
    """
    sandbox = own_supervisor.open(Confinement(tier=Tier.SUBREAPER))
    with pytest.raises(ExecutionError, match="lost"):
        sandbox.run([launch("kills_its_parent.sh"), launch("double_fork_daemon.sh")])
    sandbox.close()
    assert staying() == []


def test_in_namespaces_a_hook_cannot_kill_its_item_supervisor(isolating: Supervisor) -> None:
    """The first process of a namespace does not die by a signal from inside it."""
    with isolating.open(Confinement(tier=Tier.NAMESPACES)) as sandbox:
        sandbox.run([launch("kills_its_parent.sh", hook_timeout=0.2)])
        assert sandbox.run([launch("true")])[0].ending == Exited(0)


@pytest.mark.parametrize("own_session", [True, False])
def test_a_hook_that_signals_its_group_signals_only_itself(sandbox: Sandbox, own_session: bool) -> None:
    """
    A careless signal to the whole process group does not reach the harness, in any session of a host.
    """
    assert sandbox.run([launch("kills_its_group.sh", own_session=own_session)])[0].ending.signal == 9  # type: ignore[union-attr]
    assert sandbox.run([launch("true", own_session=own_session)])[0].ending == Exited(0)


@pytest.mark.parametrize("own_session,expected", [(True, "own"), (False, "shared")])
def test_a_session_is_given_only_where_the_host_gives_one(
    sandbox: Sandbox, own_session: bool, expected: str
) -> None:
    """A hook leads a session exactly where its host starts it in one."""
    script = 'set -- $(cat /proc/$$/stat); test "$6" = $$ && echo own || echo shared'
    (run,) = sandbox.run([launch("sh", "-c", script, own_session=own_session)])
    assert run.stdout.text.strip() == expected


def test_a_lost_supervisor_is_an_error(own_supervisor: Supervisor) -> None:
    """When the supervisor is gone, a sandbox cannot be opened, and the error says so."""
    own_supervisor.open(Confinement()).close()
    os.kill(own_supervisor.pid or 0, signal.SIGKILL)
    os.waitid(os.P_PID, own_supervisor.pid or 0, os.WEXITED | os.WNOWAIT)
    with pytest.raises(ExecutionError, match="lost"):
        own_supervisor.open(Confinement())


@pytest.mark.nightly
def test_a_refused_start_is_reported_in_its_own_sandbox_only(supervisor: Supervisor) -> None:
    """A start that fails in one sandbox is not reported in another one."""
    # With a shared pipe, one start in ten of this test was reported in the wrong sandbox.
    wrong: list[Ending] = []

    def run(box: Sandbox, cwd: str, expected: type[Ending]) -> None:
        for _ in range(150):
            runs = box.run([launch("true", cwd=cwd)] * 4)
            wrong.extend(run.ending for run in runs if not isinstance(run.ending, expected))

    with supervisor.open(Confinement()) as one, supervisor.open(Confinement()) as other:
        refused = threading.Thread(target=run, args=(one, "/no/such", NotStarted))
        refused.start()
        run(other, "/", Exited)
        refused.join()
    assert wrong == []


def test_a_closed_sandbox_runs_nothing(supervisor: Supervisor) -> None:
    """A sandbox can be closed twice, and runs nothing once it is closed."""
    sandbox = supervisor.open(Confinement())
    sandbox.close()
    sandbox.close()
    with pytest.raises(ExecutionError, match="closed"):
        sandbox.run([launch("true")])


def test_closing_the_supervisor_ends_open_sandboxes(own_supervisor: Supervisor) -> None:
    """Closing a supervisor closes every open sandbox with it."""
    sandbox = own_supervisor.open(Confinement())
    own_supervisor.close()
    with pytest.raises(ExecutionError, match="lost"):
        sandbox.run([launch("true")])
    sandbox.close()


def _descriptors(pid: int) -> int:
    return len(list(Path(f"/proc/{pid}/fd").iterdir()))


@pytest.mark.slow
def test_no_descriptor_is_lost(sandbox: Sandbox) -> None:
    """After many hook runs the item supervisor and this process have as many open descriptors as before."""
    kinds = [
        launch("true"),
        launch("no-such-command"),
        launch("sh", "-c", "cat >/dev/null; echo x; exit 2"),
        launch("holds_stdout.sh", pipe_wait=0.0, linger=0.0),
    ]
    # Counted once the item supervisor has written its input: by then it has closed the hook's output ends.
    counting = launch(
        "sh", "-c", "read x; ls /proc/$PPID/fd | wc -l", stdin=Stdin(data=b"\n", delay=0.05, close=False)
    )
    (first,) = sandbox.run([counting])
    ours = _descriptors(os.getpid())
    for _ in range(13):
        sandbox.run(kinds)
    (last,) = sandbox.run([counting])
    assert last.stdout.data == first.stdout.data
    assert _descriptors(os.getpid()) == ours


def test_the_pytest_process_is_not_changed(supervisor: Supervisor) -> None:
    """Using a sandbox changes no signal handler, and the supervisor is the only new child of this process."""
    handlers = [signal.getsignal(number) for number in signal.valid_signals()]
    before = Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()
    with supervisor.open(Confinement()) as sandbox:
        sandbox.run([launch("plain_children.sh")])
        after = Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()
        assert set(after) - set(before) <= {str(supervisor.pid)}
    assert [signal.getsignal(number) for number in signal.valid_signals()] == handlers


@pytest.mark.parametrize("path", ["background/watcher.py", "processes/supervisor.py", "races/scheduler.py"])
def test_our_programs_load_neither_what_lies_beside_the_package_nor_the_model(
    path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each program of ours loads the standard library though a file beside the package has its name."""
    (tmp_path / PACKAGE.name).symlink_to(PACKAGE)
    for name in ("json", "select", "socket"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit(f'{__file__} was loaded')\n")
    monkeypatch.setattr(sandbox, "PACKAGE", tmp_path / PACKAGE.name)
    module = f"{PACKAGE.name}.execution.{path.removesuffix('.py').replace('/', '.')}"
    *words, code = sandbox.python_program(module, "-B")
    loaded = f"{code.replace('main(*sys.argv[1:])', 'print(main.__code__.co_filename, *sys.modules)')}"
    done = subprocess.run([*words, loaded], capture_output=True, text=True, check=False, cwd=tmp_path)
    file, *modules = done.stdout.split()
    assert Path(file) == tmp_path / PACKAGE.name / "execution" / path
    assert not [name for name in modules if name.startswith(f"{PACKAGE.name}.model")]


def test_our_programs_start_from_any_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    """The code of our programs is ASCII, so Python accepts it in every locale, also for odd folders."""
    monkeypatch.setattr(sandbox, "PACKAGE", Path("/caf\u00e9/\udcff/it's") / PACKAGE.name)
    code = sandbox.python_program("json")[-1]
    assert code.isascii()
    assert "/caf\u00e9/\udcff/it's" == os.fsdecode(
        ast.literal_eval(code[code.index("(b") + 1 : code.index(")); ")])
    )


def test_a_supervisor_that_cannot_start_says_so_each_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a known interpreter each call reports that, and a later one works once it is known."""
    with Supervisor() as supervisor:
        with monkeypatch.context() as patched:
            patched.setattr(sys, "executable", "")
            for _ in range(2):
                with pytest.raises(ExecutionError, match="interpreter is not known"):
                    supervisor.tiers()
        assert supervisor.tiers()


@pytest.mark.nightly
def test_nothing_survives_under_four_workers() -> None:
    """The tests of endings pass under four workers, each of which asserts that nothing survives."""
    here = Path(__file__).parent
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-n", "4", str(here / "test_endings.py")],
        capture_output=True,
        text=True,
        cwd=here.parents[1],
        check=False,
    )
    assert done.returncode == 0, done.stdout


FAILING = """
import os
fork, left = os.fork, {forks}
def limited_fork():
    global left
    left -= 1
    if left < 0:
        raise BlockingIOError(11, "Resource temporarily unavailable")
    return fork()
os.fork = limited_fork
"""


@pytest.mark.parametrize("forks", range(5))
def test_a_machine_without_free_processes_is_named(monkeypatch: pytest.MonkeyPatch, forks: int) -> None:
    """Wherever the system refuses a process, the error says so, and the supervisor lives on."""
    program = sandbox.python_program

    def failing_program(*words: str) -> tuple[str, ...]:
        *start, code = program(*words)
        return (*start, FAILING.format(forks=forks) + code)

    monkeypatch.setattr(sandbox, "python_program", failing_program)
    with Supervisor() as supervisor:
        said = []
        for _ in range(3):
            try:
                with supervisor.open(Confinement()) as opened:
                    opened.run([])
            except ExecutionError as error:
                said.append(str(error))

    assert said
    wrong = [
        text
        for text in said
        if "no process can be started" not in text and "Resource temporarily" not in text
    ]
    assert not wrong


def _children(pid: int | None) -> set[int]:
    return {int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()}


@pytest.fixture
def prepared(own_supervisor: Supervisor, isolating: Supervisor) -> int:
    """The item supervisor that waits in namespaces for the next item."""
    if os.geteuid() != 0:
        pytest.skip("for other users none is prepared")
    for _ in range(2):
        own_supervisor.open(Confinement()).close()
    eventually(lambda: len(_children(own_supervisor.pid)) == 1, "only the next item supervisor is left")
    return _children(own_supervisor.pid).pop()


def test_a_prepared_item_supervisor_serves_the_next_item(own_supervisor: Supervisor, prepared: int) -> None:
    """The third sandbox belongs to the process that had entered its namespaces before."""
    with own_supervisor.open(Confinement()) as box:
        assert box.run([launch("sh", "-c", "echo $$")])[0].stdout.text == "2\n"
        others = _children(own_supervisor.pid) - {prepared}
        for pid in others:
            os.kill(pid, signal.SIGKILL)
        assert box.run([launch("true")])[0].ending == Exited(0)
    assert prepared not in _children(own_supervisor.pid)


def test_what_was_mounted_since_is_seen_by_the_next_item(
    own_supervisor: Supervisor, prepared: int, tmp_path: Path
) -> None:
    """A sandbox shows what was mounted after an item supervisor was prepared for it."""
    if subprocess.run(["mount", "-t", "tmpfs", "none", tmp_path], check=False).returncode:
        pytest.skip("nothing can be mounted here")
    try:
        (tmp_path / "file").write_text("mounted")
        with own_supervisor.open(Confinement()) as box:
            assert box.run([launch("cat", str(tmp_path / "file"))])[0].stdout.text == "mounted"
    finally:
        subprocess.run(["umount", tmp_path], check=True)


@pytest.mark.nightly
def test_a_prepared_item_supervisor_that_was_killed_is_not_asked(
    own_supervisor: Supervisor, prepared: int
) -> None:
    """The next sandbox is opened by another one if the prepared one has ended."""
    os.kill(prepared, signal.SIGKILL)
    eventually(lambda: not _children(own_supervisor.pid), "it is gone")
    with own_supervisor.open(Confinement()) as box:
        assert box.run([launch("true")])[0].ending == Exited(0)


@TIERS
def test_a_reserved_sandbox_opens_as_any_other_one(own_supervisor: Supervisor, tier: Tier) -> None:
    """The process that was reserved for a sandbox runs its hooks, and no other one is started for it."""
    reserved = own_supervisor.reserve(tier, network=True)
    with own_supervisor.begin(Confinement(tier=tier, network=True), reserved=reserved) as opened:
        opened.wait_until_open()
        (result,) = opened.run([launch("/bin/sh", "-c", "exit 3")])
        assert len(_children(own_supervisor.pid)) == 1
    assert result.ending == Exited(3)


@TIERS
def test_a_reserved_sandbox_that_is_never_opened_leaves_no_process(
    own_supervisor: Supervisor, tier: Tier
) -> None:
    """The process that was reserved for a sandbox ends if the sandbox is not opened."""
    own_supervisor.reserve(tier, network=True).close()
    eventually(lambda: not _children(own_supervisor.pid), "it has ended")
