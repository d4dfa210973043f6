"""Which scripts and which command lines tell the times of files."""

import pytest

from pytest_hookharness.execution.reads.file_times import (
    BY_ARGUMENTS,
    is_environment,
    names_times,
    tells_times,
)
from pytest_hookharness.judging.recurrence import influences


@pytest.mark.parametrize(
    "text",
    [
        "t = os.stat('m').st_mtime",
        "t = os.stat('m').st_mtime_ns",
        "t = os.path.getmtime('m')",
        "t = os.stat('m')[8]",
        "t = os.stat('m')[stat.ST_MTIME]",
        "t = os.stat('m')[7]; n = os.stat('m').st_size",
        "print(os.stat('m'))",
        "found = [*map(os.stat, names)]",
        "from os import stat\nprint(stat('m'))",
        "number = p.stat().st_ino",
        "t = fs.statSync('m').mtimeMs",
        "const {mtime} = fs.statSync('m'); if (size) x()",
        "console.log(JSON.stringify(fs.statSync('m')))",
        "my $t = (stat $f)[9];",
        "my @all = stat($f);",
        "exec(open('x').read())",
        "import tarfile",
        "t = File.mtime('m')",
    ],
)
def test_scripts_that_name_the_times_of_files(text):
    """A name of a time counts, and so does a status of which it is not known what is taken."""
    assert names_times(text.encode(), moved=False, compiled=False)
    assert names_times(f"{text} stat".encode(), moved=True, compiled=False)


@pytest.mark.parametrize(
    "text",
    [
        "n = os.stat('m').st_size",
        "n = p.stat().st_size",
        "n = fs.statSync('m').size",
        "if (fs.statSync('m').isFile()) x()",
        "n = os.path.getsize('m')",
        "my $n = (stat $f)[7];",
        "my $n = -s $f;",
        "subprocess.run(['git', 'diff', '--stat'])",
        "stat -c %s out.txt",
        "find . -mtime +1",
        "print(time.ctime())",
        "const { exec } = require('child_process'); exec('npm test')",
        "const m = /x/.exec(text)",
        "exec 3>>log",
        "open('m', 'w').write('x'); os.path.exists('m')",
    ],
)
def test_scripts_that_ask_for_no_time_of_a_file(text):
    """A size, an existence, an option of a program or a function of another name is no time."""
    assert not names_times(text.encode(), moved=False, compiled=False)


def test_all_that_may_be_a_time_counts_with_a_moved_clock():
    """Where the kernel moves the clock, a status and what is compiled count whatever is taken of them."""
    assert names_times(b"os.stat('m').st_size", moved=True, compiled=False)
    assert names_times(b"anything", moved=True, compiled=True)
    assert not names_times(b"anything", moved=False, compiled=True)
    assert names_times(b"\0st_mtime\0", moved=False, compiled=True)


@pytest.mark.parametrize(
    ("command", "tells"),
    [
        ("stat m", True),
        ("stat -t m", True),
        ("stat -c %Y m", True),
        ("stat -c%y m", True),
        ("stat --format=%i m", True),
        ("stat --printf %s:%.3X m", True),
        ("stat -Lc %Z m", True),
        ("stat -c %s m", False),
        ("stat --format=%a:%n m", False),
        ("stat --printf=%s m", False),
        ("ls -l", True),
        ("ls -1t", True),
        ("ls -i m", True),
        ("ls --sort=time", True),
        ("ls --full-time", True),
        ("ls", False),
        ("ls -1A m", False),
        ("ls --color=auto m", False),
        ("diff -u a b", True),
        ("diff -ru a b", True),
        ("diff -U3 a b", True),
        ("diff --unified a b", True),
        ("diff -u --label a --label b a b", False),
        ("diff -q a b", False),
        ("diff a b", False),
        ("find . -printf %T@", True),
        ("find . -name x -printf %p:%t", True),
        ("find . -ls", True),
        ("find . -newer m", True),
        ("find . -newermt now", True),
        ("find . -mmin -1", True),
        ("find . -ctime 1", True),
        ("find . -name *.py -size +1k", False),
        ("find . -printf %p:%s", False),
        ("gzip -c m", True),
        ("gzip m", True),
        ("gzip -nc m", False),
        ("gzip -dc m.gz", False),
        ("gzip --no-name m", False),
        ("pr m", True),
        ("cp -u a b", True),
        ("mv --update a b", True),
        ("cp -a a b", False),
        ("mv a b", False),
        ("pr -t m", False),
    ],
)
def test_command_lines_that_tell_the_times_of_files(command, tells):
    """Programs that can tell times do so by their options, or unless an option says otherwise."""
    words = command.split()
    arguments = b"".join(f"{word}\0".encode() for word in words)

    assert tells_times(f"/usr/bin/{words[0]}", arguments) == tells


@pytest.mark.parametrize(
    ("path", "installed"),
    [
        ("/w/.venv/lib/python3.11/site-packages/a1_coverage.pth", True),
        ("/w/.venv/lib/python3.11/site-packages/tool/files.py", True),
        ("/usr/lib/python3/dist-packages/apt/cache.py", True),
        ("/opt/python/lib/python3.12/shutil.py", True),
        ("/w/node_modules/chokidar/index.js", True),
        ("/w/lib/check.py", False),
        ("/w/hooks/site.py", False),
    ],
)
def test_what_is_installed_is_no_script_of_a_hook(path, installed):
    """Modules that were installed, and files that add folders for them, belong to the environment."""
    assert is_environment(path) == installed


def test_the_judge_knows_the_same_programs():
    """The judge asks for the arguments of the programs whose arguments are searched."""
    assert influences._BY_ARGUMENTS == BY_ARGUMENTS
