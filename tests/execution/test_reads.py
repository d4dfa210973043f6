"""What observed hook runs look at, in both tiers that guarantee that nothing survives."""

from __future__ import annotations

import os
import shutil
import socket
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from pytest_hookharness.execution.platform import linux_vdso
from pytest_hookharness.execution.processes.sandbox import Sandbox, Supervisor
from pytest_hookharness.execution.processes.translation import Confinement
from pytest_hookharness.execution.reads.observer import ReadObserver
from pytest_hookharness.model.processes import ProcessResult, Tier
from pytest_hookharness.model.reads import FileWrite, LookKind, PathLook, Reads, SourceKind

from .toys import launch

pytestmark = pytest.mark.slow

SHELLS = ["sh", "bash"]
INTERPRETERS = {
    "sh": ("sh", "-c", ":"),
    "bash": ("bash", "-c", ":"),
    "python": ("python3", "-c", "pass"),
    "node": ("node", "-e", "0"),
}


@pytest.fixture(params=[Tier.NAMESPACES, Tier.SUBREAPER], ids=lambda tier: tier.name.lower())
def place(supervisor: Supervisor, request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Sandbox]:
    """A sandbox that can write to the folder of the test."""
    if reason := supervisor.tiers()[request.param]:
        pytest.skip(f"no {request.param.value} here: {reason}")
    folder = str(tmp_path)
    confinement = Confinement(tier=request.param, visible=(folder,), writable=(folder,))
    with supervisor.open(confinement) as opened:
        yield opened


@pytest.fixture(scope="module")
def observer() -> ReadObserver:
    """An observer that remembers the interpreters of all tests."""
    return ReadObserver()


class Hook:
    """Hook runs in the folder of a test."""

    def __init__(self, sandbox: Sandbox, observer: ReadObserver, folder: Path) -> None:
        self.sandbox = sandbox
        self.observer = observer
        self.folder = folder

    def run(self, *words: str, **changes: object) -> ProcessResult:
        if shutil.which(words[0]) is None and "/" not in words[0]:
            pytest.skip(f"no {words[0]} here")
        spec = launch(*words, **{"cwd": str(self.folder), **changes})
        (result,) = self.observer.run(self.sandbox.run, [spec])
        return result

    def reads(self, *words: str, **changes: object) -> Reads:
        reads = self.run(*words, **changes).reads
        assert reads is not None
        assert (reads.gap, reads.observed) == ("", True)
        return reads

    def look(self, name: str, kind: LookKind, *, existed: bool = True, own: bool = False) -> PathLook:
        return PathLook(str(self.folder / name), kind, existed, own)


@pytest.fixture
def hook(place: Sandbox, observer: ReadObserver, tmp_path: Path) -> Hook:
    """Runs hooks in the folder of the test."""
    return Hook(place, observer, tmp_path)


def asked(reads: Reads) -> set[tuple[SourceKind, str]]:
    return {(source.kind, source.detail) for source in reads.sources}


@pytest.mark.nightly
@pytest.mark.parametrize("name", INTERPRETERS)
def test_an_empty_program_asks_nothing(hook: Hook, name: str) -> None:
    """An empty program reads no random numbers and no clock, and looks at nothing in its folder."""
    reads = hook.reads(*INTERPRETERS[name])
    assert reads.sources == ()
    assert [look for look in reads.looks if look.path.startswith(f"{hook.folder}/")] == []


@pytest.mark.nightly
@pytest.mark.parametrize(
    "words",
    [
        ("sh", "-c", "read line <file"),
        ("bash", "-c", "x=$(<file)"),
        ("sh", "-c", "cat file"),
        ("python3", "-c", "open('file').read()"),
        ("node", "-e", "require('fs').readFileSync('file')"),
    ],
    ids=["sh", "bash", "cat", "python", "node"],
)
def test_a_file_that_is_read_is_recorded(hook: Hook, words: tuple[str, ...]) -> None:
    """A file that a hook opens is recorded by its absolute path, for any of its processes."""
    (hook.folder / "file").write_text("1\n")
    reads = hook.reads(*words)
    assert hook.look("file", LookKind.OPENED) in reads.looks
    assert reads.writes == ()


def test_a_file_in_the_home_folder_is_recorded(hook: Hook, tmp_path: Path) -> None:
    """A file outside of the working folder is recorded like one in it."""
    home = tmp_path / "home"
    home.mkdir()
    (home / ".limit").write_text("3\n")
    env = {"PATH": os.environ["PATH"], "HOME": str(home)}
    reads = hook.reads("sh", "-c", 'read n <"$HOME/.limit"', env=env)
    assert hook.look("home/.limit", LookKind.OPENED) in reads.looks


def test_a_file_that_is_missing_is_recorded_as_missing(hook: Hook) -> None:
    """A file that a hook tries to read in vain is a look at something that did not exist."""
    reads = hook.reads("sh", "-c", "cat missing; cat no/where")
    assert hook.look("missing", LookKind.OPENED, existed=False) in reads.looks
    assert hook.look("no/where", LookKind.OPENED, existed=False) in reads.looks


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("words", "kind"),
    [
        (("sh", "-c", "[ -e thing ]"), LookKind.STATUS),
        (("bash", "-c", "[[ -s thing ]]"), LookKind.STATUS),
        (("stat", "-c", "%Y", "thing"), LookKind.STATUS),
        (("python3", "-c", "import os; os.stat('thing')"), LookKind.STATUS),
        (("python3", "-c", "import os; os.access('thing', 4)"), LookKind.ACCESS),
        (("ls", "thing"), LookKind.LISTED),
        (("python3", "-c", "import os; os.listdir('thing')"), LookKind.LISTED),
        (("python3", "-c", "import os; os.getxattr('thing', 'user.n')"), LookKind.ATTRIBUTE),
        (("python3", "-c", "import os; os.statvfs('thing')"), LookKind.FILE_SYSTEM),
        (("rmdir", "thing"), LookKind.NAMED),
        (("mkdir", "thing"), LookKind.NAMED),
    ],
)
def test_each_way_to_look_is_recorded(hook: Hook, words: tuple[str, ...], kind: LookKind) -> None:
    """A status, an access, a listing, an attribute, free space and a change of a name are distinguished."""
    (hook.folder / "thing").mkdir()
    assert hook.look("thing", kind) in hook.reads(*words).looks


def test_links_are_followed_and_recorded(hook: Hook) -> None:
    """A look through links names the file behind them, and the links as read; readlink names the link."""
    (hook.folder / "real").mkdir()
    (hook.folder / "real" / "file").write_text("")
    (hook.folder / "folder").symlink_to("real")
    (hook.folder / "link").symlink_to("folder/file")
    reads = hook.reads("sh", "-c", "cat link")
    assert {
        hook.look("real/file", LookKind.OPENED),
        hook.look("link", LookKind.LINK),
        hook.look("folder", LookKind.LINK),
    } <= {*reads.looks}
    only = [look for look in hook.reads("readlink", "link").looks if look.path.startswith(str(hook.folder))]
    assert hook.look("link", LookKind.LINK) in only
    assert "real/file" not in str(only)


@pytest.mark.nightly
@pytest.mark.parametrize(
    "words",
    [
        ("sh", "-c", "echo x >>log"),
        ("bash", "-c", "echo x >>log; printf y >>log"),
        ("sh", "-c", "exec >>log; echo x; date; ls /"),
        ("sh", "-c", "echo x | tee -a log"),
        ("sh", "-c", "wc -c /dev/null >>log; stat / >>log; python3 -c 'print(1)' >>log"),
        ("python3", "-c", "open('log', 'a').write('x')"),
        ("python3", "-c", "open('log', 'ab', 0).write(b'x')"),
        ("perl", "-e", "open F, '>>', 'log'; print F 'x'"),
        ("node", "-e", "require('fs').appendFileSync('log', 'x')"),
    ],
)
def test_a_log_is_written_and_not_read(hook: Hook, words: tuple[str, ...]) -> None:
    """A file that is only appended to stands among the writes, and no look at it is recorded."""
    (hook.folder / "log").write_text("before\n")
    reads = hook.reads(*words)
    assert reads.writes == (FileWrite(str(hook.folder / "log"), existed=True, append=True),)
    assert [look for look in reads.looks if look.path.endswith("/log")] == []


@pytest.mark.nightly
@pytest.mark.parametrize(
    "words",
    [
        ("python3", "-c", "f = open('log', 'ab'); f.tell()"),
        ("python3", "-c", "f = open('log', 'a'); f.tell()"),
        ("python3", "-c", "import os; f = open('log', 'a'); os.fstat(3)"),
        ("python3", "-c", "f = open('log', 'ab', buffering=0); f.write(b'x'); f.seek(0, 1)"),
        ("python3", "-c", "import os; f = os.open('log', os.O_WRONLY | os.O_APPEND); os.lseek(f, 0, 1)"),
        ("python3", "-c", "import os; f = os.open('log', os.O_WRONLY | os.O_APPEND); os.stat(f)[6]"),
        ("sh", "-c", "exec 3>>log; stat -c %s - <&3"),
        ("sh", "-c", "exec 3>>log; wc -c <&3"),
        ("sh", "-c", "exec 3>>log; perl -e '(stat STDIN)[7]' <&3"),
    ],
)
def test_a_log_whose_size_is_asked_is_queried(hook: Hook, words: tuple[str, ...]) -> None:
    """A program that asks for the size of a log, or for a position in it, has queried it."""
    (hook.folder / "log").write_text("before\n")
    (write,) = hook.reads(*words).writes
    assert (write.append, write.queried) == (True, True)


def test_writes_are_distinguished(hook: Hook) -> None:
    """A file that is emptied, one that is open for reading too, and a new one are distinguished."""
    for name in ("emptied", "both"):
        (hook.folder / name).write_text("before\n")
    reads = hook.reads("sh", "-c", "echo >emptied; exec 3<>both; echo >>new")
    assert {Path(write.path).name: write for write in reads.writes} == {
        "emptied": FileWrite(str(hook.folder / "emptied"), existed=True, emptied=True),
        "both": FileWrite(str(hook.folder / "both"), existed=True, read=True),
        "new": FileWrite(str(hook.folder / "new"), existed=False, append=True, emptied=True),
    }
    assert hook.look("both", LookKind.OPENED) in reads.looks


def test_what_a_hook_has_made_itself_is_its_own(hook: Hook) -> None:
    """A look at a file that the same hook run has made, emptied, moved or removed is marked as such."""
    (hook.folder / "old").write_text("1")
    script = "echo 1 >a; cat a; mv a b; cat b; cat old; rm old; [ -e old ]; mkdir d; cat d/x"
    looks = hook.reads("sh", "-c", script).looks
    assert hook.look("a", LookKind.OPENED, own=True) in looks
    assert hook.look("b", LookKind.OPENED, own=True) in looks
    assert hook.look("old", LookKind.OPENED) in looks
    assert hook.look("old", LookKind.STATUS, existed=False, own=True) in looks
    assert hook.look("d", LookKind.NAMED, existed=False) in looks
    assert hook.look("d/x", LookKind.OPENED, existed=False, own=True) in looks


def test_a_file_that_could_not_be_made_is_not_the_hooks_own(hook: Hook) -> None:
    """A folder that another one made stays foreign when the attempt to make it fails."""
    (hook.folder / "lock").mkdir()
    looks = hook.reads("sh", "-c", "mkdir lock; cat lock/x").looks
    assert hook.look("lock/x", LookKind.OPENED, existed=False) in looks


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("words", "source"),
    [
        (("date",), (SourceKind.CLOCK, "realtime")),
        (("bash", "-c", "echo $EPOCHSECONDS"), (SourceKind.CLOCK, "realtime")),
        (("bash", "-c", "printf '%(%s)T' -1"), (SourceKind.CLOCK, "realtime")),
        (("bash", "-c", "(echo $EPOCHREALTIME)"), (SourceKind.CLOCK, "realtime")),
        (("python3", "-c", "import time; time.time()"), (SourceKind.CLOCK, "realtime")),
        (("python3", "-c", "import time; time.monotonic()"), (SourceKind.CLOCK, "monotonic")),
        (
            ("python3", "-c", "import time; time.clock_gettime(time.CLOCK_MONOTONIC)"),
            (SourceKind.CLOCK, "monotonic"),
        ),
        (("python3", "-c", "import timeit; timeit.default_timer()"), (SourceKind.CLOCK, "monotonic")),
        (("python3", "-c", "import os; os.times().elapsed"), (SourceKind.CLOCK, "monotonic")),
        (("node", "-e", "process.uptime()"), (SourceKind.CLOCK, "monotonic")),
        (("node", "-e", "Date.now()"), (SourceKind.CLOCK, "realtime")),
        (("python3", "-c", "import random"), (SourceKind.RANDOM, "getrandom")),
        (("python3", "-c", "import os; os.urandom(24)"), (SourceKind.RANDOM, "getrandom")),
        (("sh", "-c", "head -c 4 /dev/urandom"), (SourceKind.RANDOM, "/dev/urandom")),
        (
            ("cat", "/proc/sys/kernel/random/uuid"),
            (SourceKind.RANDOM, "/proc/sys/kernel/random/uuid"),
        ),
        (("sh", "-c", "cat /proc/1/stat"), (SourceKind.PROCESS, "1")),
        (("sh", "-c", "kill -0 1"), (SourceKind.PROCESS, "1")),
        (("ls", "/proc"), (SourceKind.PROCESS, "all")),
        (("sh", "-c", ": >/dev/shm/hookharness-x; rm /dev/shm/hookharness-x"), (
            SourceKind.SHARED_MEMORY,
            "/dev/shm/hookharness-x",
        )),
        (
            ("python3", "-c", "import ctypes; ctypes.CDLL(None).shmget(4711, 8, 0)"),
            (SourceKind.SHARED_MEMORY, "shmget"),
        ),
        (
            ("python3", "-c", "import socket as s; s.socket().connect_ex(('127.0.0.1', 9))"),
            (SourceKind.SOCKET, "inet 127.0.0.1 port 9"),
        ),
        (("python3", "-c", "import socket; socket.socket()"), (SourceKind.SOCKET, "inet")),
    ],
)  # fmt: skip
def test_other_sources_are_recorded(
    hook: Hook, words: tuple[str, ...], source: tuple[SourceKind, str]
) -> None:
    """Clocks, random numbers, processes, shared memory and sockets are recorded by kind and name."""
    assert source in asked(hook.reads(*words))


def test_an_installed_script_of_an_interpreter_that_is_always_timing_is_timed(hook: Hook) -> None:
    """A script that belongs to the system is not searched for words, so it counts as reading the clock."""
    assert (SourceKind.CLOCK, "monotonic") in asked(hook.reads("python3", "/bin/sh"))


def test_a_temporary_name_is_made_from_a_source(hook: Hook) -> None:
    """The name of mktemp comes from random numbers or from a clock, and the file did not exist."""
    reads = hook.reads("sh", "-c", "mktemp ./tmp.XXXXXXXX")
    assert reads.asked(SourceKind.RANDOM) or reads.asked(SourceKind.CLOCK)
    (write,) = reads.writes
    assert not write.existed


def test_a_connection_to_a_socket_is_recorded(hook: Hook) -> None:
    """A connection to a socket of the machine is recorded by its path, also where there is none."""
    connect = "import socket, sys; socket.socket(socket.AF_UNIX).connect(sys.argv[1])"
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(hook.folder / "s"))
        server.listen()
        reads = hook.reads("python3", "-c", connect, "s")
    assert (SourceKind.SOCKET, f"unix {hook.folder / 's'}") in asked(reads)
    missing = hook.reads("python3", "-c", connect, "missing")
    assert not missing.asked(SourceKind.SOCKET)
    assert hook.look("missing", LookKind.ACCESS, existed=False) in missing.looks


def test_children_and_threads_are_followed(hook: Hook) -> None:
    """What children, members of a pipeline, threads and background processes look at is recorded."""
    for name in "abcde":
        (hook.folder / name).write_text("")
    thread = "import threading as t; x = t.Thread(target=lambda: open('d')); x.start(); x.join()"
    script = f'(cat a); cat b | grep -c x c; python3 -c "{thread}"; (setsid cat e &)'
    looks = hook.reads("sh", "-c", script, linger=5.0).looks
    assert {hook.look(name, LookKind.OPENED) for name in "abcde"} <= {*looks}


@pytest.mark.nightly
def test_a_process_that_stays_is_observed_until_its_end(hook: Hook) -> None:
    """What a background process looks at after the end of the hook is recorded, and it is a leftover."""
    (hook.folder / "late").write_text("")
    script = "(until [ -e gone ]; do :; done; cat late; exec sleep 1000) >/dev/null 2>&1 & (: >gone) &"
    result = hook.run("sh", "-c", script, linger=3.0)
    assert result.reads is not None
    assert hook.look("late", LookKind.OPENED) in result.reads.looks
    assert [process.command for process in result.leftovers] == ["sleep 1000"]


def test_programs_and_scripts_are_named(hook: Hook) -> None:
    """The programs that ran are recorded, a script with its interpreter."""
    script = hook.folder / "hook.sh"
    script.write_text("#!/bin/sh\nexec cat /dev/null\n")
    script.chmod(0o755)
    reads = hook.reads(str(script))
    programs = [(Path(program.script).name, Path(program.path).name) for program in reads.programs]
    assert [script for script, _ in programs if script] == ["hook.sh"]
    assert ("", "cat") in programs
    assert (hook.look("hook.sh", LookKind.OPENED)) in reads.looks


def test_an_unknown_interpreter_has_a_baseline_too(hook: Hook) -> None:
    """What a program asks when it is started with an empty script is not the script's."""
    program = hook.folder / "odd"
    shutil.copy(os.path.realpath(shutil.which("bash") or "/bin/bash"), program)
    script = hook.folder / "hook"
    script.write_text(f"#!{program}\necho $EPOCHSECONDS\n")
    script.chmod(0o755)
    (odd,) = (each for each in hook.reads(str(script)).programs if each.path == str(program))
    assert [(source.kind, source.times) for source in odd.sources] == [(SourceKind.CLOCK, 1)]
    assert odd.startup


@pytest.mark.nightly
@pytest.mark.parametrize("how", ["by its shebang", "by a shell", "through env"])
def test_the_start_in_a_virtual_environment_is_not_the_hooks_look(hook: Hook, how: str) -> None:
    """The folders that Python searches because of its virtual environment are no look of the hook."""
    programs = hook.folder / "venv" / "bin"
    packages = hook.folder / "venv" / "lib" / f"python3.{sys.version_info.minor}" / "site-packages"
    programs.mkdir(parents=True)
    packages.mkdir(parents=True)
    real = Path(os.path.realpath(sys.executable))
    (programs / "python3").symlink_to(real)
    (programs.parent / "pyvenv.cfg").write_text(f"home = {real.parent}\n")
    (packages / "more.pth").write_text(f"{hook.folder / 'more'}\n")
    (hook.folder / "more").mkdir()
    script = hook.folder / "hook.py"
    first = f"#!{programs}/python3" if how == "by its shebang" else "#!/usr/bin/env python3"
    script.write_text(f"{first}\nopen('asked', 'w')\n")
    script.chmod(0o755)
    words = ("sh", "-c", "python3 ./hook.py; :") if how == "by a shell" else (str(script),)

    reads = hook.reads(*words, env={"PATH": f"{programs}:/usr/bin:/bin"})

    own = [program for program in reads.programs if program.path == str(real)]
    startup = {look.path for program in own for look in program.startup}
    assert {str(packages), str(hook.folder / "more")} <= startup
    assert not [look for look in reads.looks if look.path.startswith((str(packages), f"{hook.folder}/more"))]


@pytest.mark.parametrize(
    ("words", "word"),
    [
        (("bash", "-c", "((RANDOM % 20 == 0))"), "RANDOM"),
        (("bash", "./hook.sh"), "RANDOM"),
        (("sh", "-c", "echo $$"), "$$"),
        (("perl", "-e", "exit -M 'hook.sh' > 1"), "-M "),
    ],
)
def test_words_for_what_no_call_shows_are_reported(hook: Hook, words: tuple[str, ...], word: str) -> None:
    """A script or command line that names a source which stays invisible is reported with that word."""
    (hook.folder / "hook.sh").write_text("echo $SRANDOM\n")
    assert word in [mention.word for mention in hook.reads(*words).mentions]


@pytest.mark.parametrize(("content", "mentioned"), [(b"DIRC\0\0\0\2 $$", False), (b"DIRC $$", True)])
def test_two_bytes_of_a_binary_file_are_no_word_of_a_script(
    hook: Hook, content: bytes, mentioned: bool
) -> None:
    """A file that begins like no script names no process number, whatever bytes follow."""
    (hook.folder / "index").write_bytes(content)
    mentions = hook.reads("sh", "-c", "cat index > copy").mentions
    assert any(mention.path == str(hook.folder / "index") for mention in mentions) is mentioned


@pytest.mark.parametrize("shell", SHELLS)
def test_looks_are_recorded_once(hook: Hook, shell: str) -> None:
    """The same look a thousand times is one entry."""
    loop = "i=0; while [ $i -lt 1000 ]; do [ -e x ]; i=$((i + 1)); done"
    looks = hook.reads(shell, "-c", loop).looks
    assert looks.count(hook.look("x", LookKind.STATUS, existed=False)) == 1


@pytest.mark.parametrize(
    ("name", "replaced"), [("__vdso_sgx_enter_enclave", True), ("__vdso_clock_other", False)]
)
def test_an_unknown_function_of_the_vdso_counts_if_it_may_tell_a_time(
    monkeypatch: pytest.MonkeyPatch, name: str, replaced: bool
) -> None:
    """A vDSO is replaced beside a function that is not known, unless its name says that it tells a time."""
    words, functions = linux_vdso._words.__wrapped__, linux_vdso._functions
    usual = words()
    if not usual:
        pytest.skip("the functions of this vDSO are not replaced")
    monkeypatch.setattr(linux_vdso, "_functions", lambda base: [*functions(base), (name, 8, 99)])
    assert words() == (usual if replaced else ())
