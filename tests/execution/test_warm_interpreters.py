"""Hook runs that are forked from a prepared Python: they go as those of a new one."""

from __future__ import annotations

import os
import shutil
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from pytest_hookharness.execution.processes.sandbox import Sandbox, Supervisor
from pytest_hookharness.execution.processes.translation import Confinement
from pytest_hookharness.execution.processes.warm_commands import find_warm
from pytest_hookharness.model.processes import (
    Exited,
    ProcessResult,
    ProcessSpec,
    Stdin,
    Stdio,
    Tier,
    TimedOut,
)

from .toys import STAY, eventually, launch, staying

PYTHON = next(filter(None, map(shutil.which, ("/usr/bin/python3", "/usr/local/bin/python3", "python3"))))
_LINUX = pytest.mark.skipif(sys.platform != "linux", reason="nothing is forked elsewhere")
SURROUNDINGS = """\
import json, os, resource, signal, sys, threading
handlers = [str(signal.getsignal(number)) for number in sorted(signal.valid_signals())]
streams = [
    (str(type(one.buffer.raw)), one.encoding, one.errors, one.line_buffering, one.buffer.raw._blksize)
    for one in (sys.stdin, sys.stdout, sys.stderr)
]
print(json.dumps({
    "argv": [sys.argv, getattr(sys, "orig_argv", 0), __name__, __file__, str(type(__loader__))],
    "globals": sorted(globals()),
    "path": [sys.path, sys.prefix, sys.executable, str(sys.flags), sys.warnoptions],
    "modules": sorted(sys.modules),
    "environment": [*os.environ.items()],
    "folder": [os.getcwd(), os.umask(0o22)],
    "process": [os.getsid(0) in (os.getppid(), os.getpid()), len(os.listdir("/proc/self/task"))],
    "files": [os.readlink(f"/proc/self/fd/{n}").partition(":")[0] for n in range(3)],
    "open": os.listdir("/proc/self/fd"),
    "signals": [handlers, sorted(signal.pthread_sigmask(signal.SIG_BLOCK, ()))],
    "limits": [resource.getrlimit(n) for n in range(10)],
    "streams": streams,
    "command": open("/proc/self/cmdline").read(),
    "thread": threading.main_thread().native_id == os.getpid(),
    "input": sys.stdin.read(),
}, default=str))
"""


@pytest.fixture(params=[Tier.NAMESPACES, pytest.param(Tier.SUBREAPER, marks=pytest.mark.slow)])
def place(supervisor: Supervisor, request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Place]:
    """A sandbox with a folder for hooks; where nothing is isolated, no run is ever forked."""
    if supervisor.tiers()[request.param]:
        pytest.skip(f"no {request.param.value} here")
    with supervisor.open(Confinement(tier=request.param)) as sandbox:
        yield Place(sandbox, tmp_path)


class Place:
    """A sandbox, and the hook that runs in it."""

    def __init__(self, sandbox: Sandbox, folder: Path) -> None:
        self._sandbox = sandbox
        self.hook = folder / "hook.py"

    def run(self, command: str = "", *, warm: bool, **changes: object) -> ProcessResult:
        """Run the hook, forked or as usual."""
        argv = ("/bin/sh", "-c", command or f"{PYTHON} {self.hook}")
        return self.run_argv(argv, warm=warm, **changes)

    def run_argv(self, argv: tuple[str, ...], *, warm: bool, **changes: object) -> ProcessResult:
        """Run the hook by these words."""
        values = {"cwd": str(self.hook.parent), "stdin": Stdin(data=b"given"), "warm": "it" if warm else ""}
        (result,) = self._sandbox.run([launch(*argv, **(values | changes))])
        return result

    def both(self, text: str, command: str = "", **changes: object) -> tuple[ProcessResult, ProcessResult]:
        """Run a text as usual, and until it is forked; return the first and the last run."""
        self.hook.write_text(text)
        self.hook.chmod(0o755)
        usual = self.run(command, warm=False, **changes)
        self.run(command, warm=True, **changes)
        forked = self.run(command, warm=True, **changes)
        assert (usual.warm, forked.warm) == (False, True)
        return usual, forked


@pytest.mark.nightly
@pytest.mark.parametrize("stdio", [Stdio.PIPE, Stdio.SOCKET])
@pytest.mark.parametrize("own_session", [True, pytest.param(False, marks=pytest.mark.slow)])
def test_a_forked_run_finds_the_surroundings_of_a_new_process(place, stdio: Stdio, own_session: bool) -> None:
    """A forked run has the words, path, modules, environment, files, signals and limits of a usual one."""
    usual, forked = place.both(SURROUNDINGS, stdio=stdio, own_session=own_session)
    assert usual.ending == Exited(0), usual.stderr.text
    assert forked.stdout.text == usual.stdout.text


@pytest.mark.parametrize("words", [(), ("--all", "two words")])
def test_a_script_without_a_shell_is_forked(place, words: tuple[str, ...]) -> None:
    """A script that the host executes itself is forked by its first line, with its arguments."""
    place.hook.write_text(f"#!{PYTHON}\n{SURROUNDINGS}")
    place.hook.chmod(0o755)
    usual, _, forked = (place.run_argv((str(place.hook), *words), warm=warm) for warm in (False, True, True))
    assert (forked.warm, forked.stdout) == (True, usual.stdout)


@pytest.mark.nightly
@pytest.mark.parametrize(
    "text",
    [
        "import sys; sys.exit(300)",
        "import sys; print('last'); sys.exit('words')",
        "import json\ndef deep(): return deep()\ndeep()",
        "import json\ntry:\n    1 / 0\nexcept ZeroDivisionError:\n    json.loads('{')",
        "import atexit, threading as t\natexit.register(print, 'end')\nt.Timer(0.01, print, [1]).start()",
        "import os\nprint('lost', end='')\nos._exit(4)",
        "raise KeyboardInterrupt",
        "class A:\n    def __del__(self): print('deleted')\na = A()",
        "import os, signal\nos.kill(os.getpid(), signal.SIGTERM)",
        "import os, signal\nos.kill(os.getpid(), signal.SIGKILL)",
        "import nothing_such",
        "import sys\nsys.stdout.close()\nprint(1)",
        "import random, uuid\nrandom.seed(1)\nprint(random.random(), random.getstate()[0])",
        "import multiprocessing\nif __name__ == '__main__':\n    multiprocessing.get_context('spawn')",
    ],
    ids=range(14),
)
@pytest.mark.parametrize("shell", ["/bin/sh", pytest.param("/bin/bash", marks=pytest.mark.slow)])
def test_a_forked_run_ends_as_a_usual_one(place, text: str, shell: str) -> None:
    """Exit code, signal, traceback, output at the exit and words of the shell are those of a usual run."""
    place.hook.write_text(text)
    argv = (shell, "-c", f"{PYTHON} {place.hook}")
    usual, forked = place.run_argv(argv, warm=True), place.run_argv(argv, warm=True)
    assert (usual.warm, forked.warm) == (False, True)
    assert (forked.ending, forked.stdout, forked.stderr) == (usual.ending, usual.stdout, usual.stderr)


@pytest.mark.slow
def test_forked_runs_do_not_share_chance(place) -> None:
    """The random numbers of two forked runs differ, although the module was imported before."""
    _, forked = place.both("import random\nprint(random.random())")
    assert place.run(warm=True).stdout != forked.stdout


@pytest.mark.slow
def test_a_changed_script_runs_as_it_is_now(place) -> None:
    """A script that was changed, or has a module beside it that hides another, is started as usual."""
    place.both("import json\nprint('old')")
    place.hook.write_text("import json\nprint('new', json.__file__[-12:])")
    assert place.run(warm=True).stdout.text.startswith("new ")
    assert place.run(warm=True).warm
    (place.hook.parent / "json.py").write_text("")
    hidden = place.run(warm=True)
    assert not hidden.warm
    assert str(place.hook.parent)[-4:] + "/json.py" in hidden.stdout.text
    place.hook.unlink()
    assert place.run(warm=True).ending == Exited(2)


@pytest.mark.slow
def test_new_folders_for_packages_are_found(place) -> None:
    """A run after packages were installed for the user finds them, as a new Python does."""
    env = {"PATH": "/usr/bin:/bin", "HOME": str(place.hook.parent)}
    site = "import site\nprint(site.getusersitepackages(), 'helper' in str(__import__('helper')))"
    usual, _ = place.both(site.partition(", ")[0] + ")", env=env)
    place.hook.write_text(site)
    for _ in range(2):
        assert place.run(warm=True, env=env).ending == Exited(1)
    folder = Path(usual.stdout.text.strip())
    folder.mkdir(parents=True)
    (folder / "helper.py").touch()
    assert place.run(warm=True, env=env).stdout.text == f"{folder} True\n"


@pytest.mark.slow
def test_a_prepared_interpreter_writes_no_file(place) -> None:
    """Python compiles the module that makes it wait, and stores that nowhere."""
    folder = place.hook.parent / "compiled"
    place.both("print(1)", env={"PATH": "/usr/bin:/bin", "PYTHONPYCACHEPREFIX": str(folder)})
    assert not (folder / "proc").exists()


@pytest.mark.nightly
def test_what_a_forked_run_leaves_is_seen_and_ended(place) -> None:
    """A process that a forked run leaves behind is reported and killed, and the prepared Python is none."""
    text = (
        f"import subprocess as s\ns.Popen(['sleep', '{STAY}'], start_new_session=True, stdout=-3, stderr=-3)"
    )
    _, forked = place.both(text)
    assert [process.command for process in forked.leftovers] == [f"sleep {STAY}"]
    assert not staying()
    _, forked = place.both("print(1)")
    assert forked.leftovers == ()


@pytest.mark.nightly
def test_a_forked_run_is_cut_at_its_limit(place) -> None:
    """A forked run that does not end is cut with its children, and the next one runs."""
    usual, forked = place.both(f"import time\ntime.sleep({STAY})", limit=0.2)
    assert isinstance(forked.ending, TimedOut)
    assert forked.ending.ignored_term == usual.ending.ignored_term
    assert not staying()


def test_a_dead_interpreter_is_replaced(place) -> None:
    """After the prepared Python was killed, the next run is made all the same."""
    mark = f"{STAY}-prepared"
    marked = f"{PYTHON} {place.hook} {mark}"
    place.both("print(1)", marked)
    # The Python, and the shell that it may live below; no other test has this mark.
    for pid in staying(mark):
        os.kill(pid, signal.SIGKILL)
    eventually(lambda: not staying(mark), "the prepared Python is dead")
    result = place.run(marked, warm=True)
    assert (result.ending, result.stdout.text) == (Exited(0), "1\n")


@pytest.mark.slow
def test_nothing_is_left_when_the_sandbox_is_closed(isolating: Supervisor, tmp_path: Path) -> None:
    """Prepared interpreters end with the sandbox of their item."""
    with isolating.open(Confinement()) as sandbox:
        place = Place(sandbox, tmp_path)
        place.both(f"# {STAY}\nprint(1)", f"{PYTHON} {tmp_path}/hook.py {STAY}")
        assert staying()
    assert not staying()
    eventually(lambda: not staying(), "no prepared interpreter")


def test_a_script_that_cannot_be_prepared_runs_as_usual(place) -> None:
    """A script that cannot be prepared, as one with a syntax error, is always started as usual."""
    place.hook.write_text("import json\nprint('once'\n")
    for result in (place.run(warm=True), place.run(warm=True), place.run(warm=True)):
        assert (result.warm, result.ending) == (False, Exited(1))
        assert "SyntaxError" in result.stderr.text


@_LINUX
@pytest.mark.parametrize(
    "command,qualifies",
    [
        ("python3 hook.py", True),
        ('python3 "$PLACE"/hook.py --all "two words"', True),
        ("python3 ${PLACE}/hook.py", True),
        ("./hook.py", True),
        ("~/hook.py", True),
        ("python3 -u hook.py", False),
        ("python3 -m hook", False),
        ("python3 hook.py | cat", False),
        ("python3 hook.py; true", False),
        ("python3 hook.py *.txt", False),
        ("python3 hook.py $(date)", False),
        ("python3 hook.py `date`", False),
        ("python3 hook.py > log", False),
        ("PYTHONPATH=. python3 hook.py", False),
        ("cat hook.py", False),
        ("./hook.sh", False),
        ("python3 /etc/hook.py", False),
        ("python3 missing.py", False),
        ("", False),
    ],
)
def test_only_plain_commands_qualify(tmp_path: Path, command: str, qualifies: bool) -> None:
    """A command qualifies if it can only start a Python with a script of the workspace, each time alike."""
    (tmp_path / "hook.py").write_text("#!/usr/bin/env python3\n")
    (tmp_path / "hook.sh").write_text("#!/bin/sh\n")
    for path in tmp_path.iterdir():
        path.chmod(0o755)
    env = {"PATH": str(Path(PYTHON).parent), "PLACE": str(tmp_path), "HOME": str(tmp_path)}
    spec = ProcessSpec(argv=("/bin/sh", "-c", command), cwd=str(tmp_path), env=env)
    assert (find_warm(spec, [str(tmp_path)], [str(tmp_path)]) is not None) == qualifies


@_LINUX
def test_an_interpreter_beside_visible_files_qualifies(tmp_path: Path) -> None:
    """An interpreter is usual where hooks only see its folder, and none where they may change it."""
    (tmp_path / "hook.py").write_text("")
    spec = ProcessSpec(argv=(PYTHON, "hook.py"), cwd=str(tmp_path), env={"PATH": "/usr/bin"})
    folder = str(Path(PYTHON).parent)
    assert find_warm(spec, [str(tmp_path), folder], [str(tmp_path)]) is not None
    assert find_warm(spec, [str(tmp_path), folder], [str(tmp_path), folder]) is None


@_LINUX
@pytest.mark.parametrize("text", ["run(['pgrep', '-f', 'hook'])", "open('/proc/1/cmdline')", "import psutil"])
def test_a_script_that_looks_at_processes_does_not_qualify(tmp_path: Path, text: str) -> None:
    """A script that may count processes would find the interpreter that waits, with its own command line."""
    spec = ProcessSpec(argv=(PYTHON, "hook.py"), cwd=str(tmp_path), env={"PATH": "/usr/bin"})
    (tmp_path / "hook.py").write_text("print('maps, groups')\n")
    assert find_warm(spec, [str(tmp_path)], [str(tmp_path)]) is not None
    (tmp_path / "hook.py").write_text(text)
    assert find_warm(spec, [str(tmp_path)], [str(tmp_path)]) is None


@_LINUX
@pytest.mark.parametrize("name", ["PYTHONPATH", "PYTHONHOME", "LD_PRELOAD", "BASH_FUNC_python3%%"])
def test_an_environment_that_changes_the_interpreter_does_not_qualify(tmp_path: Path, name: str) -> None:
    """A variable that makes the command another program, or finds it other modules, is started as usual."""
    (tmp_path / "hook.py").write_text("")
    spec = ProcessSpec(argv=(PYTHON, "hook.py"), cwd=str(tmp_path), env={"PATH": "/usr/bin"})
    assert find_warm(spec, [str(tmp_path)], [str(tmp_path)]) is not None
    assert (
        find_warm(
            ProcessSpec(argv=spec.argv, cwd=spec.cwd, env={name: "x"}), [str(tmp_path)], [str(tmp_path)]
        )
        is None
    )
