"""Ordinary hooks that never allow the stop are proved loops; those that tell the times of files are not."""

import shutil
import sys

import pytest

from pytest_hookharness.model.verdicts import Livelock

OFF = {"CLAUDE_CODE_STOP_HOOK_BLOCK_CAP": "0"}
REFUSE = "echo run the tests >&2; exit 2"
TIMES = "the times or the number of a file that it made"

SHELL = {
    "a file that exists": "echo x > m; [ -f m ] || exit 0",
    "a file that is not empty": "echo x > m; [ -s m ] || exit 0",
    "the size by stat": "echo x > m; [ $(stat -c %s m) = 2 ] || exit 0",
    "the size by wc": "echo x > m; [ $(wc -c < m) = 2 ] || exit 0",
    "grep": "echo failed > m; grep -q failed m || exit 0",
    "a plain list": "echo x > m; ls m > /dev/null || exit 0",
    "a temporary file that is moved": "t=$(mktemp -p .); echo x > $t; mv $t m; [ -s m ] || exit 0",
    "a copy": "echo x > a; cp a b; cmp -s a b || exit 0",
    "a log with the time": "date >> log",
    "a log with a prefix": 'say() { echo "[$(date +%T)] $*" >> log; }; say blocked',
    "diff": "echo x > a; echo y > b; diff a b > /dev/null && exit 0",
    "find by name": "echo x > a.py; [ -n \"$(find . -name '*.py')\" ] || exit 0",
    "sed and awk": "echo 3 > m; sed -i s/3/4/ m; [ $(awk '{print $1}' m) = 4 ] || exit 0",
    "sort and head": "printf 'b\\na\\n' > m; [ $(sort m | head -1) = a ] || exit 0",
    "a checksum": "echo x > m; sha256sum m > sum; sha256sum -c sum > /dev/null 2>&1 || exit 0",
    "a lock": "exec 9> lock; flock -n 9 || exit 0",
    "git": 'git init -q . 2> /dev/null; echo x > m; [ -n "$(git status --porcelain)" ] || exit 0',
    "a here-document": "cat > m <<E\nfailed\nE\ngrep -q failed m || exit 0",
    "bash": "bash -c 'echo x > m; [[ -s m && $(< m) == x ]]' || exit 0",
    "gzip without a name": "echo x > a; [ $(gzip -nc a | wc -c) -gt 9 ] || exit 0; rm a",
    "perl": "echo x > m; perl -e 'exit(-s \"m\" != 2)' || exit 0",
}
NEEDED = {
    "jq": "echo '{\"n\": 1}' > m; [ $(jq .n m) = 1 ] || exit 0",
    "sqlite3": "[ $(sqlite3 a.db 'create table if not exists t(a); select count(*) from t') = 0 ] || exit 0",
}
PYTHON = {
    "a file that exists": "open('m', 'w').write('x')\nif not os.path.exists('m'): sys.exit(0)",
    "a size": "p = Path('m')\np.write_text('x')\nif p.stat().st_size > 5: sys.exit(0)",
    "JSON": "json.dump({'n': 1}, open('m', 'w'))\nif json.load(open('m'))['n'] > 1: sys.exit(0)",
    "a log": "logging.basicConfig(filename='log', level=20, format='%(message)s')\nlogging.info('blocked')",
    "git diff --stat": "open('m', 'w').write('x')\nos.path.isfile('m')\n"
    "subprocess.run(['git', 'diff', '--stat'], capture_output=True)",
    "a line": "Path('m').write_text('failed')\nif 'failed' not in open('m').read(): sys.exit(0)",
}
NODE = {
    "a file that exists": "fs.writeFileSync('m', 'x'); if (!fs.existsSync('m')) process.exit(0)",
    "a size": "fs.writeFileSync('m', 'x'); if (fs.statSync('m').size > 5) process.exit(0)",
    "JSON": "fs.writeFileSync('m', '[1]'); if (JSON.parse(fs.readFileSync('m'))[0] > 1) process.exit(0)",
}
IMPORTS = "import json, logging, os, shutil, subprocess, sys\nfrom pathlib import Path\n"


def scripts(texts, *quick):
    """Return scripts as parameters; all but the quick ones are for the night."""
    marks = {name: () if name in quick else (pytest.mark.nightly,) for name in texts}
    return [pytest.param(text, id=name, marks=marks[name]) for name, text in texts.items()]


@pytest.fixture
def evidence(play):
    """Return the evidence of the loop of a Stop hook, and what it rests on."""

    def run(text):
        keys = {"files": {"check": text}, "modes": {"check": "755"}, "env": OFF, "turns": 6}
        outcome = play(hooks={"Stop": "./check"}, **keys)
        assert isinstance(outcome.verdict, Livelock)
        return outcome.verdict.evidence, outcome.verdict.matters

    return run


@pytest.mark.nightly
@pytest.mark.parametrize("text", scripts(SHELL, "a log with the time", "git", "a here-document", "a lock"))
def test_an_ordinary_shell_script_is_proved(evidence, text):
    """A shell script that reads again what it has written is a proved loop."""
    told, matters = evidence(f"#!/bin/sh\n{text}\n{REFUSE}\n")

    assert matters == ()
    assert told in ("closed", "unread")


@pytest.mark.slow
@pytest.mark.parametrize("program", NEEDED)
def test_an_ordinary_shell_script_with_another_program_is_proved(evidence, program):
    """A shell script that asks a program for what it has written is a proved loop."""
    if shutil.which(program) is None:
        pytest.skip(f"needs {program}")
    told, matters = evidence(f"#!/bin/sh\n{NEEDED[program]}\n{REFUSE}\n")

    assert matters == ()
    assert told in ("closed", "unread")


@pytest.mark.nightly
@pytest.mark.parametrize("text", scripts(PYTHON, "JSON", "a log"))
def test_an_ordinary_script_in_python_is_proved(evidence, text):
    """A script of a virtual environment whose files add modules to it is a proved loop."""
    told, matters = evidence(f"#!{sys.executable}\n{IMPORTS}{text}\nsys.exit('no' and 2)\n")

    assert matters == ()
    assert told in ("closed", "unread")


@pytest.mark.nightly
@pytest.mark.parametrize("text", scripts(NODE, "JSON"))
def test_an_ordinary_script_in_javascript_is_proved(evidence, text):
    """A script of Node that reads again what it has written is a proved loop."""
    if (node := shutil.which("node")) is None:
        pytest.skip("needs node")
    told, matters = evidence(f"#!{node}\nconst fs = require('fs'); {text}; process.exit(2)\n")

    assert matters == ()
    assert told in ("closed", "unread")


@pytest.mark.nightly
@pytest.mark.parametrize(
    "text",
    [
        "h=$(gzip -c a | md5sum)",
        "h=$(gzip < a | md5sum)",
        "h=$(pr a | md5sum)",
        "echo y > b; h=$(diff -u a b | md5sum)",
        "h=$(find . -name a -printf '%T@' | md5sum)",
        "h=$(ls -l a | md5sum)",
        "h=$(stat a | md5sum)",
        "h=$(stat -c %Y a | md5sum)",
        "h=$(tar c a | md5sum)",
        "h=$(perl -e 'print -M \"a\"' | md5sum)",
        f"h=$({sys.executable} -c 'import os; print(os.stat(\"a\")[8])' | md5sum)",
        f"h=$({sys.executable} -c 'import os; print(os.fstat(os.open(\"a\", 0)).st_mtime)' | md5sum)",
    ],
)
def test_the_times_of_a_file_that_was_just_made_are_no_proof(evidence, text):
    """A hook that learns when it made a file is no proved loop, however it asks."""
    told, matters = evidence(f"#!/bin/sh\necho x > a; {text}; rm a; case $h in z*) exit 0;; esac\n{REFUSE}\n")

    assert told == "driven"
    assert TIMES in matters
