"""The agent's shell: it records where it ended, and otherwise behaves like a plain shell."""

import subprocess

import pytest

from pytest_hookharness.execution.paths import WorkspaceError
from pytest_hookharness.execution.workspace.agent_tools import AgentShell

BASE = {"PATH": "/usr/bin:/bin", "LC_ALL": "C"}


@pytest.fixture
def folder(tmp_path):
    """A folder with another in it, and a name that careless quoting would split."""
    (tmp_path / "it's a" / "sub").mkdir(parents=True)
    return tmp_path / "it's a"


@pytest.fixture
def run(folder):
    """Run a command line in the agent's shell; return its result and the folder where it ended."""
    shell = AgentShell(folder / 'own $x `y` \\ "')

    def run_one(command, env=None, sourced=()):
        argv, given = shell.prepare(command, {**BASE, **(env or {})}, sourced)
        done = subprocess.run(argv, cwd=folder, env=given, capture_output=True, text=True, check=False)
        return (done.returncode, done.stdout, done.stderr), shell.pop_folder().replace(str(folder), ".", 1)

    return run_one


COMMANDS = {
    "cd sub": "./sub",
    "cd sub; exit 3": "./sub",
    "set -e; cd sub; false; cd ..": "./sub",
    "set -u; cd sub; echo $nope": "./sub",
    "set -eux; cd sub; echo hi": "./sub",
    "set -C; cd sub": "./sub",
    "trap 'echo bye $?; exit 7' EXIT; cd sub; exit 4": "./sub",
    "set -e; trap 'echo bye $?' EXIT; cd sub; false": "./sub",
    "trap 'echo \"it'\\''s\"' EXIT; cd sub": "./sub",
    "trap 'echo a' EXIT; trap - EXIT; cd sub": "./sub",
    "trap '' EXIT; cd sub": "./sub",
    "trap 'cd /' EXIT; cd sub": "./sub",
    "f() { trap 'echo f' EXIT; }; f; cd sub; exit 5": "./sub",
    "trap 'echo int' INT; cd sub; kill -INT $$; echo after": "./sub",
    "trap 'echo err' ERR; cd sub; false": "./sub",
    "(cd sub; trap 'echo in' EXIT; exit 2)": ".",
    "x=$(cd sub; trap 'echo q' EXIT); echo $x": ".",
    "sleep 0 & cd sub; wait": "./sub",
    "cat <<X\nhello $HOME\nX\ncd sub # there": "./sub",
    "echo $LINENO $0 $# $@\necho $LINENO; nope": ".",
    "if then": ".",
    "echo 'a": ".",
    "": ".",
    "kill -TERM $$": ".",
    "pushd sub >/dev/null": "./sub",
    "env | grep BASH_ENV; bash -c 'cd sub'": ".",
}


@pytest.mark.parametrize("command", COMMANDS)
def test_a_shell_records_its_folder_and_is_not_changed_by_it(run, folder, command):
    """The folder is known however a shell ends, and output and exit code are those of a plain shell."""
    argv = ["bash", "-c", command]
    plain = subprocess.run(argv, cwd=folder, env=BASE, capture_output=True, text=True, check=False)

    done, word = run(command)

    assert word == COMMANDS[command]
    assert done == (plain.returncode, plain.stdout, plain.stderr)


@pytest.mark.parametrize("command", ["cd sub; kill -9 $$", "cd sub; exec true", "cd sub; rmdir ../sub"])
def test_a_shell_that_records_nothing(run, command):
    """A shell that is killed, becomes another program or is in a deleted folder records nothing."""
    assert run(command)[1] == ""


def test_a_record_is_that_of_the_last_shell(run):
    """A shell that records nothing does not leave the record of the one before it."""
    assert run("cd sub")[1] == "./sub"
    assert run("kill -9 $$")[1] == ""


@pytest.mark.parametrize("command", ["cd sub", "trap 'echo bye' EXIT; cd sub", "(cd sub; trap : EXIT)"])
def test_a_shell_that_does_not_tell_its_process(run, command):
    """Without BASHPID, as in a Mac's bash 3.2, the folder is recorded too, and not that of a subshell."""
    assert run(f"unset BASHPID; {command}")[1] == ("." if command.startswith("(") else "./sub")


def test_a_shell_in_posix_mode_works(run):
    """In POSIX mode from the start no folder is recorded, and the command runs as usual."""
    assert run("cd sub; trap 'echo p' EXIT; exit 3", {"POSIXLY_CORRECT": "1"}) == ((3, "p\n", ""), "")


def test_files_are_read_before_the_command(run, folder):
    """The named files are read in order before the command, the host's own first."""
    for name in ("own", "one", "two"):
        (folder / name).write_text(f"X=${{X}}{name}\n")
    files = [str(folder / name) for name in ("one", "two")]

    done, word = run("echo $X ${BASH_ENV##*/}; cd sub", {"BASH_ENV": str(folder / "own")}, files)

    assert done == (0, "ownonetwo own\n", "")
    assert word == "./sub"


def test_something_in_the_way_is_an_error(run, folder):
    """A folder in the place of the record is an error that names it."""
    (folder / 'own $x `y` \\ "' / "left").mkdir(parents=True)

    with pytest.raises(WorkspaceError, match="left"):
        run("true")
