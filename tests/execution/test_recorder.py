"""The recorder beside real shells and Pythons: what they ran, without a trace in their behaviour."""

import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from fnmatch import fnmatch
from pathlib import Path

import pytest
from coverage import CoverageData

from pytest_hookharness.execution.coverage.recorder import Recorder, read_recordings
from pytest_hookharness.execution.coverage.scripts import lines_run, read_script
from pytest_hookharness.model.line_coverage import CoverageStore
from pytest_hookharness.model.processes import ProcessSpec

# Before each line: + it runs, - it could run, and nothing if there is nothing to run.
EVERYTHING = r"""
 #!/usr/bin/env bash
+set -euo pipefail
+here=$(dirname "$0")
+. "$here/sourced.sh"
 check() {
+  local first=1 \
     second=2
+  if [[ $first == 1 &&
     $second == 3 ]]; then
-    echo never
   fi
+  echo "$first" \
     "$second"
 }
+check
+answer=$(
   check
   echo more
 )
+(cd /
+  echo "sub $PWD")
+cat <<END
 text $(echo inside)
END
+case $answer in
-  none) echo none ;;
+  *more*) echo case ;;
 esac
+echo piped |
+  tr a-z A-Z |
+  cat
+for word in one \
   two; do
+  echo "$word"
 done
+((number = 1 +
   2))
+for ((i = 0; i < 1; i++)); do
+  echo "$i$number"
 done
+eval 'echo e1
 echo e2'
+while read -r line; do
+  echo "$line"
 done < <(echo read
   echo twice)
+trap 'echo bye
 echo at last' EXIT
+array=(
   a
   b
 )
+export A=1 \
   B=2
 later() {
+  from_sourced "$@" >&2
 }
+false ||
+  later "${array[@]}"
+if ! [ -n "$here" ]; then
-  exit 1
 fi
+exit 3
"""
SOURCED = """
 from_sourced() {
+  echo "sourced $*"
 }
 unused() {
-  echo never
 }
"""


def split(marked):
    """Return the script in a marked text, with the lines that run and those that do not."""
    lines = marked.strip("\n").split("\n")
    script = "\n".join(line if line == "END" else line[1:] for line in lines) + "\n"
    return script, *({n for n, line in enumerate(lines, 1) if line.startswith(sign)} for sign in "+-")


@pytest.fixture
def place(tmp_path):
    """A folder that hooks run in."""
    folder = tmp_path / "project"
    folder.mkdir()
    return folder


@pytest.fixture
def record(tmp_path, place):
    """Run a command with a recorder; return its result and the recording."""

    def run(command, **env):
        store = CoverageStore(folder=tmp_path / "store")
        store.folder.mkdir(exist_ok=True)
        recorder = Recorder(store, "a scenario", {}, tmp_path / "base")
        given = {"PATH": os.environ["PATH"], **env}
        launch = recorder.apply_to(ProcessSpec(argv=("/bin/sh", "-c", command), cwd=str(place), env=given))
        plain, watched = (
            subprocess.run(launch.argv, cwd=place, env=each, input=b"", capture_output=True, check=False)
            for each in (given, launch.env)
        )
        assert (watched.stdout, watched.stderr, watched.returncode) == (
            plain.stdout,
            plain.stderr,
            plain.returncode,
        )
        recorder.close()
        (recording,) = read_recordings(store.folder)
        for file in store.folder.iterdir():
            file.unlink()
        return watched, recording

    return run


@pytest.fixture
def load(tmp_path):
    """Return the recording if a hook leaves something of its own for the recorder."""

    def leave(damage):
        store = CoverageStore(folder=tmp_path / "store")
        store.folder.mkdir()
        recorder = Recorder(store, "a scenario", {}, tmp_path / "base")
        damage(Path(recorder.written[0]))
        recorder.settle()
        recorder.close()
        return (*read_recordings(store.folder),)

    return leave


def ran(recording, path):
    return lines_run(read_script(path.read_bytes()).statements, recording.shell[str(path)])


def write(path, text):
    path.write_text(text)
    path.chmod(0o755)
    return path


def test_each_line_that_bash_runs_is_recorded_and_no_other(place, record):
    """Functions, sourced files, subshells, here-documents and traps give exactly the lines that ran."""
    script, run, missed = split(EVERYTHING)
    hook = write(place / "hook.sh", script)
    text, run_there, missed_there = split(SOURCED)
    sourced = write(place / "sourced.sh", text)
    done, recording = record("./hook.sh")
    assert (done.returncode, done.stderr) == (3, b"sourced a b\n")
    assert ran(recording, hook) == run
    assert read_script(script.encode()).lines == run | missed
    assert (ran(recording, sourced), read_script(text.encode()).lines) == (
        run_there,
        run_there | missed_there,
    )
    assert recording.gaps == ()


def test_functions_of_a_sourced_file_are_known_after_another_folder_was_entered(place, record):
    """A file sourced by a relative path is the same file in functions that run in another folder later."""
    (place / "inner").mkdir()
    library = write(place / "lib of mine.sh", "first() {\n  echo first\n}\n")
    write(place / "hook.sh", '#!/usr/bin/env bash\n. "./lib of mine.sh"\ncd inner\nfirst\n')
    _, recording = record("./hook.sh")
    assert ran(recording, library) == {2}
    assert recording.gaps == ()


@pytest.mark.parametrize(
    "text",
    [
        "set -x\necho a\n",
        "set -eo pipefail -x\necho a\n",
        "case $- in *x*) echo traced ;; esac\n",
        "exec 217>&-\necho a\n",
        'for fd in /proc/$$/fd/*; do fd=${fd##*/}; ((fd > 2)) && eval "exec $fd>&-"; done\necho a\n',
    ],
)
def test_a_script_that_traces_itself_keeps_its_trace_and_is_named(place, record, text):
    """What `set -x` writes reaches standard error, and the script is reported as not recorded."""
    hook = write(place / "hook.sh", f"#!/usr/bin/env bash\n{text}")
    _, recording = record("./hook.sh")
    assert recording.shell == {}
    assert [(gap.script, "xtrace" in gap.reason) for gap in recording.gaps] == [(str(hook), True)]


def test_a_shell_that_is_called_to_trace_shows_nothing_of_ours(place, record):
    """With `-x` on the command line or after `#!` the trace is that of the script alone, which is named."""
    hook = write(place / "hook.sh", "#!/bin/bash -x\necho a\n")
    inner = write(place / "inner.sh", "echo b\n")
    done, recording = record("./hook.sh; bash -x ./inner.sh")
    assert done.stderr == b"+ echo a\n+ echo b\n"
    assert [(gap.script, "xtrace" in gap.reason) for gap in recording.gaps] == [
        (str(hook), True),
        (str(inner), True),
    ]


def test_a_script_that_closes_a_descriptor_is_recorded(place, record):
    """A script that closes a descriptor which it named or numbered itself is recorded."""
    text = "#!/bin/bash\nexec {lock}>lock 9>other\nexec {lock}>&- 9>&-\necho a\n"
    hook = write(place / "hook.sh", text)
    assert ran(record("./hook.sh")[1], hook) == {2, 3, 4}


def test_flags_of_other_commands_are_no_trace(place, record):
    """A script with `set -e` and a `-x` after it is recorded."""
    hook = write(place / "hook.sh", "#!/usr/bin/env bash\nset -eu\ngrep -x a <<<a\n")
    assert ran(record("./hook.sh")[1], hook) == {2, 3}


def test_what_bash_would_have_loaded_is_loaded_first(place, record):
    """A BASH_ENV of the user's own is read, with its variables expanded."""
    write(place / "own file.sh", "greet() { echo hello; }\n")
    write(place / "hook.sh", "#!/usr/bin/env bash\ngreet\n")
    done, recording = record("./hook.sh", BASH_ENV="$FOLDER/own file.sh", FOLDER=str(place))
    assert done.stdout == b"hello\n"
    assert len(recording.shell) == 2


def test_a_script_sees_the_shell_that_it_would_see_otherwise(place, record):
    """Variables, functions, descriptors, the last status and the last word are as without a recorder."""
    text = """#!/usr/bin/env bash
    [[ $_ != "$0" ]] && echo sourced; echo "$? $#"
    exec {free}>/dev/null; echo "$free"
    declare -F; compgen -v | grep -v -e '^BASH' -e PS4 -e HOOKHARNESS -e PYTHONPATH -e '^_$' -e PIPESTATUS
    """
    write(place / "hook.sh", text)
    # A shell gives its children the name by which it called them.
    assert record("bash -c './hook.sh; exit'")[0].stdout.startswith(b"1 0\n10\n")


@pytest.mark.parametrize(
    ("command", "text", "reason"),
    [
        ("./hook", "#!/bin/sh\necho a\n", "another shell than bash"),
        ("env -i ./hook", "#!/bin/bash\necho a\n", "cleared environment"),
        (f"{sys.executable} -I ./hook.py", "print('a')\n", "-I"),
        ("./hook", "#!/usr/bin/awk -f\nBEGIN { print 1 }\n", "neither for bash nor for Python"),
    ],
)
def test_a_script_without_a_recording_is_named_with_the_reason(place, record, command, text, reason):
    """A shell without a trace of its own and a cleared environment are reported with the script's name."""
    name = command.rpartition("/")[2]
    write(place / name, text)
    _, recording = record(command)
    assert [gap.script for gap in recording.gaps] == [str(place / name)]
    assert reason in recording.gaps[0].reason


def test_a_line_that_clears_the_environment_is_named(place, record):
    """What a recorded script starts with `env -i` is reported as not recorded, with the line."""
    hook = write(place / "hook.sh", "#!/usr/bin/env bash\necho a\nenv -i /bin/bash -c 'echo b'\n")
    _, recording = record("./hook.sh")
    assert ran(recording, hook) == {2, 3}
    assert [gap.reason.split(" starts")[0] for gap in recording.gaps] == ["line 3"]


@pytest.mark.slow
def test_a_python_leaves_nothing_but_what_it_recorded(tmp_path, place, record):
    """The recorder writes no bytecode, which would count as a file that the hook wrote elsewhere."""
    write(place / "hook.py", "print('a')\n")
    _, recording = record(f"{sys.executable} ./hook.py")
    assert recording.python
    folder = tmp_path / "base" / "recorder"
    found = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}
    kept = {path for path in found if not path.startswith("written/")}
    assert kept == {"preload.bash", "loads", "coveragerc", "python/sitecustomize.py", "python/__pycache__"}


@pytest.mark.slow
def test_python_is_recorded_also_where_it_ends_abruptly(place, record):
    """The lines of a Python hook that ends by `os._exit` are recorded."""
    hook = write(place / "hook.py", "import os\nif os.environ.get('NOT'):\n    print('never')\nos._exit(5)\n")
    done, recording = record(f"{sys.executable} hook.py; ./hook.py 2>/dev/null; exit 5")
    assert done.returncode == 5
    assert sorted(recording.python[str(hook)]) == [(1,), (2,), (4,)]


@pytest.mark.slow
@pytest.mark.parametrize("limit", ["FSIZE", "NOFILE"])
def test_a_python_that_can_write_nothing_prints_nothing_of_it(place, record, limit):
    """A hook that leaves itself no room or no descriptors prints what it prints otherwise, and is named."""
    text = f"import resource\nresource.setrlimit(resource.RLIMIT_{limit}, (0, 0))\nprint('a')\n"
    hook = write(place / "hook.py", text)
    done, recording = record(f"{sys.executable} ./hook.py")
    assert (done.stdout, done.stderr, recording.python) == (b"a\n", b"", {})
    assert str(hook) in [gap.script for gap in recording.gaps]


@pytest.mark.slow
def test_a_hook_that_removes_the_recorder_runs_as_without(place, record):
    """Where the trace cannot be written, nothing is printed and nothing fails."""
    write(place / "inner.sh", "#!/usr/bin/env bash\necho inner\n")
    take = 'if [ "$HOOKHARNESS_RECORDED" ]; then rm -rf "${HOOKHARNESS_RECORDED%/*}/written"; fi\n'
    write(place / "hook.sh", f"#!/usr/bin/env bash\n{take}./inner.sh\n{sys.executable} -c 'print(1)'\n")
    done, _ = record("./hook.sh")
    assert done.stdout == b"inner\n1\n"


@pytest.mark.parametrize(
    "sources",
    [
        '. "${0%/*}/traced.sh"',
        ". ./outer.sh",
        'for f in ./*.sh; do [[ $f == "$0" ]] || . "$f"; done',
        "f=traced.sh; source $f",
    ],
)
def test_a_script_that_loads_one_which_traces_itself_is_left_alone(place, record, sources):
    """The trace of a loaded file reaches standard error, however the script loads it."""
    write(place / "traced.sh", "PS4='> '; set -x\n")
    write(place / "outer.sh", '. "$(dirname "$0")/traced.sh"\n')
    hook = write(place / "hook", f"#!/bin/bash -e\n{sources}\necho traced\n")
    done, recording = record("./hook")
    assert b"> echo traced\n" in done.stderr
    assert recording.shell == {}
    assert [gap.script for gap in recording.gaps] == [str(hook)]


def test_a_script_that_loads_something_else_is_recorded_beside_one_that_traces_itself(place, record):
    """A file beside it that says `set -x` and is not loaded does not prevent the recording."""
    write(place / "traced.sh", "set -x\n")
    write(place / "lib.sh", "greet() { echo hello; }\n")
    hook = write(place / "hook.sh", '#!/bin/bash -e\n. "$(dirname "$0")/lib.sh"\ngreet\n')
    _, recording = record("./hook.sh")
    assert ran(recording, hook) == {2, 3}
    assert recording.gaps == ()


def test_recording_prolongs_the_hook_timeout_and_no_limit_of_a_host(place, tmp_path):
    """A recorded hook has one second more until the hook timeout, and its host's limit stays."""
    launch = ProcessSpec(argv=("true",), cwd=str(place), env={}, limit=0.2, hook_timeout=0.5)
    store = CoverageStore(folder=tmp_path)
    shown = Recorder(store, "a scenario", {}, tmp_path / "base").apply_to(launch)
    assert (shown.limit, shown.hook_timeout) == (0.2, 1.5)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("options=-eux\nset -- -x\nset -f $options\n", "line 4 of */project/hook.sh"),
        (". ../elsewhere.sh\n", "line 2 of */elsewhere.sh"),
    ],
)
def test_a_trace_that_could_not_be_predicted_is_reported_as_taken(place, record, text, line):
    """Where a variable or a file from elsewhere turns on tracing, scenario and line are named."""
    # Nothing runs after it, so that nothing is missing on standard error here.
    write(place / "../elsewhere.sh", "\nPS4='> ' && set -x\n")
    write(place / "hook.sh", f"#!/bin/bash\n{text}")
    (gap,) = record("./hook.sh")[1].gaps
    assert gap.script == "a scenario"
    assert fnmatch(gap.reason, f"{line} began a trace*")


@pytest.mark.parametrize(
    "traced",
    [
        b"\x1d" + b"9" * 5000 + b"\x1f1\x1f/\x1fa\x1eecho\n",
        b"\x1d1\x1f1\x1f/\x1fa\0b\x1eecho\n",
        b"\x1d1\x1f1\x1f/\0\x1fa\x1eecho\n",
    ],
)
def test_a_forged_trace_proves_nothing_and_breaks_nothing(load, traced):
    """Endless numbers and invalid paths in a trace are ignored."""
    (recording,) = load(lambda written: (written / "trace").write_bytes(traced))
    assert (recording.shell, recording.gaps) == ({}, ())


@pytest.mark.parametrize("make", [Path.mkdir, os.mkfifo])
def test_what_replaces_the_trace_is_removed(load, make):
    """A folder or a pipe instead of the trace loses the trace, and nothing waits for it later."""
    places = []

    def damage(written):
        places.append(written / "trace")
        places[0].unlink()
        make(places[0])

    (recording,) = load(damage)
    assert [gap.reason.partition(":")[0] for gap in recording.gaps] == ["the trace of a hook run was lost"]
    assert not places[0].exists()


@pytest.mark.parametrize(
    "statements",
    [
        "update file set path = 'a' || char(0)",
        "drop table file; create table file (id, path); insert into file values (1, 5)",
        "update line_bits set numbits = 'abc'",
        "insert into arc values (1, 1, 'a', 'b')",
    ],
)
def test_forged_data_of_a_python_are_named_and_left(load, statements):
    """A database with something else than paths and lines is no recording, and that is reported."""

    def damage(written):
        data = CoverageData(str(written / "data.x"))
        data.add_lines({"/a.py": [1]})
        data.close(force=True)
        with closing(sqlite3.connect(written / "data.x")) as connection:
            connection.executescript(statements)

    (recording,) = load(damage)
    assert recording.python == {}
    assert [gap.reason.partition(":")[0] for gap in recording.gaps] == [
        "what a Python recorded cannot be read"
    ]
