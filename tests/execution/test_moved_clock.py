"""A clock that the kernel moves, for all programs."""

import os
import shutil
import time
from contextlib import chdir
from pathlib import Path

import pytest

from pytest_hookharness.execution.clock.clock import next_tick
from pytest_hookharness.execution.platform import linux_clock_calls
from pytest_hookharness.execution.platform.current import system
from pytest_hookharness.execution.processes.sandbox import Sandbox
from pytest_hookharness.model.processes import Exited, ProcessSpec

DAY = 86400.0
READERS = {
    "sh": "date +%s",
    "bash": "bash -c 'echo $EPOCHSECONDS'",
    "printf": "bash -c 'printf \"%(%s)T\" -1'",
    "python3": "python3 -c 'import datetime; print(datetime.datetime.now().timestamp())'",
    "perl": "perl -e 'print time'",
    "awk": "awk 'BEGIN { srand(); srand(); print srand() }'",
    "node": "node -p 'Date.now() / 1000'",
}


@pytest.fixture
def ask(sandbox: Sandbox, tmp_path):
    """Run a shell command with a clock that is ahead, and return its output."""

    def run(command, ahead=DAY):
        env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}
        since = system.file_clock()
        spec = ProcessSpec(argv=("sh", "-c", command), cwd=str(tmp_path), env=env, ahead=ahead, since=since)
        (result,) = sandbox.run([spec], budget=20.0)
        assert result.ending == Exited(0)
        assert ahead == 0.0 or (result.reads is not None and not result.reads.gap)
        return result.stdout.text.strip()

    return run


@pytest.mark.parametrize("program", READERS)
def test_every_program_sees_it(ask, program):
    """Whatever reads the time of day reads a later one."""
    if program != "printf" and shutil.which(program) is None:
        pytest.skip(f"{program} is not installed")

    assert float(ask(READERS[program])) - time.time() == pytest.approx(DAY, abs=60)


def test_what_is_observed_sees_it_too(sandbox, tmp_path):
    """A run whose looks are recorded reads the later time, and later times of the files that it writes."""
    env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}
    command = "touch new; cat old >/dev/null; date +%s; stat -c %Y new; mv new other; stat -c %Y other old"
    (tmp_path / "old").write_text("")
    since = next_tick()
    spec = ProcessSpec(
        argv=("sh", "-c", command), cwd=str(tmp_path), env=env, ahead=DAY, since=since, observed=True
    )
    (result,) = sandbox.run([spec], budget=20.0)

    *new, old = (float(word) - time.time() for word in result.stdout.text.split())
    assert new == pytest.approx([DAY] * 3, abs=60)
    assert old == pytest.approx(0, abs=60)
    assert result.reads is not None
    assert result.reads.complete
    assert {look.path for look in result.reads.looks} >= {str(tmp_path / "old")}
    assert {write.path for write in result.reads.writes} == {str(tmp_path / "new"), str(tmp_path / "other")}


@pytest.mark.parametrize("observed", [False, True])
def test_clocks_that_measure_time_stay(sandbox, tmp_path, observed):
    """A monotonic clock is the machine's, also where all that the hook looks at is recorded."""
    code = "import time; print(time.clock_gettime(time.CLOCK_BOOTTIME), time.time())"
    env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}
    spec = ProcessSpec(argv=("python3", "-c", code), cwd=str(tmp_path), env=env, ahead=DAY, observed=observed)
    (result,) = sandbox.run([spec], budget=20.0)

    since_boot, now = map(float, result.stdout.text.split())
    assert since_boot == pytest.approx(time.clock_gettime(time.CLOCK_BOOTTIME), abs=60)
    assert now - time.time() == pytest.approx(DAY, abs=60)


@pytest.mark.nightly
@pytest.mark.skipif(shutil.which("perl") is None, reason="perl is not installed")
def test_whole_seconds_do_not_go_back(ask):
    """The call that gives whole seconds is never behind one that gave a fraction too."""
    later = f"import time; time.sleep(1.0 - (time.time() + {DAY + 0.9}) % 1.0 + 0.05); print(time.time())"
    first, then = ask(f'python3 -c "{later}"; perl -e "print time"', ahead=DAY + 0.9).split()

    assert int(then) >= int(float(first))


@pytest.mark.parametrize(
    ("at", "shown"),
    [
        (50, 50),
        (100, 100 + 7 * 10**9),
        (199, 199 + 7 * 10**9),
        (200, 200 + 9 * 10**9),
        (300, 300 + 9 * 10**9),
        (301, 301),
    ],
)
def test_a_time_of_a_file_is_shown_by_the_clock_of_that_time(at, shown):
    """What the system stamped is moved as the clock was then; older times, and chosen ones, stay."""
    assert linux_clock_calls.shown_time(at, 300, ((100, 7.0), (200, 9.0))) == shown


def test_without_it_the_machines_time_is_read(ask):
    """Without a moved clock the same commands read the machine's time."""
    assert float(ask(READERS["bash"], ahead=0.0)) - time.time() == pytest.approx(0, abs=60)


def test_files_of_the_run_have_times_of_it(ask, tmp_path):
    """A file that was just written is not old, and an older one is older by the shift."""
    (tmp_path / "old").touch()
    os.utime(tmp_path / "old", (time.time() - 60, time.time() - 60))

    fresh, old = ask(
        "touch new; now=$(date +%s); echo $((now - $(stat -c %Y new))) $((now - $(stat -c %Y old)))"
    ).split()

    assert abs(int(fresh)) <= 2
    assert int(old) == pytest.approx(DAY + 60, abs=10)


EACH_WAY = """
import os, time
open("new", "w").close(); os.symlink("new", "link")
here, old = os.open(".", os.O_RDONLY), os.stat("old")
found = [os.stat("new"), os.stat(os.path.abspath("new")), os.fstat(os.open("new", os.O_RDONLY))]
found += [os.stat("link"), os.lstat("link"), os.stat("new", dir_fd=here), os.stat("other/new")]
print(time.time() - old.st_mtime, *(time.time() - each.st_mtime for each in found))
"""


def test_each_way_to_name_a_file_shows_the_same_time(ask, tmp_path):
    """A file of the run is new by whatever path, link, folder or descriptor a program asks for it."""
    (tmp_path / "old").touch()
    os.utime(tmp_path / "old", (time.time() - 60, time.time() - 60))
    (tmp_path / "other").symlink_to(tmp_path)

    old, *found = map(float, ask(f"python3 -c '{EACH_WAY}'").split())

    assert old == pytest.approx(DAY + 60, abs=10)
    assert found == pytest.approx([0.0] * 7, abs=2)


def test_below_another_root_folder_nothing_is_known(sandbox, tmp_path):
    """A process with another root folder finds other files by its paths: the run counts as not seen."""
    script = "import os; os.mkdir('r'); os.chroot('r'); print(os.path.exists('/proc'))"
    env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}
    argv = ("python3", "-c", script)

    (result,) = sandbox.run([ProcessSpec(argv=argv, cwd=str(tmp_path), env=env, ahead=DAY)])

    if result.ending != Exited(0):
        pytest.skip("no right to change the root folder")
    assert result.reads is not None
    assert result.reads.gap == "a process changes its root folder, mounts or namespaces"
    assert result.stdout.text == "False\n"


def test_waiting_takes_no_longer(ask):
    """A process that waits by the clock waits as long as without the shift."""
    began = time.monotonic()

    ask("python3 -c 'import threading; threading.Event().wait(0.05)'; timeout 5 sleep 0.05")

    assert time.monotonic() - began < 5


@pytest.mark.parametrize(
    ("command", "shown"),
    [
        ("[ -f old ] && cat old", set()),
        ("date", {"realtime"}),
        ("echo x > new; [ new -nt old ]", {"times of a file"}),
        ("echo x > new; cat new", {"times of an open file"}),
    ],
)
def test_what_shows_a_time_is_recorded(sandbox, tmp_path, command, shown):
    """It is recorded which processes are shown the time, or a file that was changed since a moment."""
    if not Path("/bin/dash").exists():
        pytest.skip("there is no dash, which is a shell that does not ask for the time by itself")
    (tmp_path / "old").touch()
    env = {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path)}
    folder, since = str(tmp_path), (tmp_path / "old").stat().st_ctime_ns + 1
    spec = ProcessSpec(argv=("/bin/dash", "-c", command), cwd=folder, env=env, ahead=DAY, since=since)
    # The clock of files has a resolution of some milliseconds: a file of the same tick is not newer.
    while system.file_clock() < since:
        pass

    (run,) = sandbox.run([spec], budget=20.0)

    seen = {source.detail for program in run.reads.programs for source in program.sources}
    assert seen - {"times of its own folder"} == shown


READS = "import re; re.compile('x'); open('new', 'w').close(); open('new').read()"


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("command", "named"),
    [
        (f'python3 -c "{READS}"', False),
        ("python3 reads.py", False),
        ("exec ./reads.py", False),
        ("mkdir it; mv reads.py it/__main__.py; python3 it", False),
        ("python3 -c 'import reads'", False),
        (f"python3 -c \"{READS}; import os; os.stat('new')\"", True),
        ("python3 dates.py", True),
        ("python3 -c 'import dates'", True),
        ("python3 - < reads.py", True),
        ("python3 -X utf8 < reads.py", True),
        ("python3 /dev/stdin < reads.py", False),
        ("python3 /dev/stdin < dates.py", True),
        ("cat reads.py", False),
        ('echo \'{"hook_event_name": "Stop"}\' | python3 -m pytest_hookharness.guard', False),
    ],
)
def test_scripts_that_may_learn_the_times_of_files_are_known(sandbox, tmp_path, command, named):
    """Python asks for the status of each file, so it counts whether its scripts name what tells the times."""
    (tmp_path / "reads.py").write_text(f"#!{shutil.which('python3')}\n{READS}\n")
    (tmp_path / "reads.py").chmod(0o755)
    (tmp_path / "dates.py").write_text("from os.path import getmtime\n")
    env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}
    spec = ProcessSpec(argv=("/bin/sh", "-c", command), cwd=str(tmp_path), env=env, ahead=DAY, since=1)

    (run,) = sandbox.run([spec], budget=20.0)

    assert run.ending == Exited(0)
    assert any(mention.word == "st_mtime" for mention in run.reads.mentions) == named


def test_the_place_of_an_open_file_is_its_path(tmp_path):
    """A file that a process has open has a path without links, and so has one below its working folder."""
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder/file").write_text("")
    (tmp_path / "link").symlink_to("folder/file")
    path_of, here = linux_clock_calls.path_of, os.getpid()

    with (tmp_path / "link").open() as file, chdir(tmp_path):
        places = f"/proc/{here}/fd/{file.fileno()}", f"/proc/{here}/cwd/link", str(tmp_path / "link")
        found = [*map(path_of, places)]

    assert found == [str(tmp_path / "folder/file")] * 2 + [str(tmp_path / "link")]
