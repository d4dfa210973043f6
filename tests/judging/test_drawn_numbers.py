"""Where the source of a script draws random numbers by which it may decide."""

import pytest

from pytest_hookharness.judging.recurrence.drawn_numbers import find_draws

SHELL = {
    "[ $((RANDOM % 3)) -eq 0 ] && exit 0": "$RANDOM",
    "if (( RANDOM % 3 == 0 )); then exit 0; fi": "$RANDOM",
    "[[ RANDOM -lt 9000 ]] && exit 0": "$RANDOM",
    "let n=RANDOM%3": "$RANDOM",
    'case "$RANDOM" in *1) exit 0 ;; esac': "$RANDOM",
    "[ ${SRANDOM} -lt 9 ] && exit 0": "$SRANDOM",
    "n=$(shuf -i 1-3 -n 1)": "shuf",
    "ls | sort -R | head -1": "sort",
    "openssl rand -hex 1": "openssl",
    "n=$(od -An -N1 -tu1 /dev/urandom)": "/dev/urandom",
    "[ $(( $(od -An -N1 -tu1 /dev/urandom) % 3)) = 1 ] && exit 0": "/dev/urandom",
    '[ "$(shuf -i 1-3 -n 1)" = 1 ] && exit 0': "shuf",
    "if (( $(shuf -i 1-3 -n 1) == 1 )); then exit 0; fi": "shuf",
    "[ $(($$ % 3)) = 0 ] && exit 0": "$$ %",
    "awk 'BEGIN { srand(); exit rand() < .3 }'": "srand()",
}
NO_SHELL = {
    "a comment": "# $RANDOM, shuf\nexit 2",
    "temporary files": 't=/tmp/x.$RANDOM; u="$TMPDIR/a-${RANDOM}"; f=log$RANDOM.txt; g=$(mktemp)',
    "a UUID": "id=$(uuidgen)",
    "a pause": "sleep $((RANDOM % 3))",
    "a fixed seed": "RANDOM=42; [ $RANDOM -gt 3 ]",
    "words": "echo 'a RANDOM shuf'; echo \"cards: shuf them\"",
    "a plain sort": "ls | sort -r",
    "a process number": "echo $$ > lock; printf '%s' $$",
}
PYTHON = {
    "import random\nif random.random() < .3: exit(0)": "random.random",
    "from random import choice as c\nc([1])": "random.choice",
    "import secrets\nsecrets.token_hex(); secrets.randbelow(3)": "secrets.randbelow",
    "import os\nif os.urandom(1)[0] < 80: exit(0)": "os.urandom",
    "import random\nr = random.Random(); r.random()": "random.Random",
    "import numpy as np\nnp.random.rand()": "numpy.random.rand",
    "hash('a') % 3": "hash() %",
    "import uuid\nif uuid.uuid4().int % 5: exit(2)": "uuid.uuid4().int",
    "import random\nprint 'a'; random.random()": "random.random",
}
NO_PYTHON = {
    "an import": "import random\nfrom random import choice\nexit(2)",
    "a fixed seed": "import random\nrandom.seed(3)\nrandom.random()",
    "a seeded generator": "import random\nr = random.Random(4); r.random()",
    "ids and names": "import secrets, tempfile, uuid\nuuid.uuid4(); tempfile.mkstemp(); secrets.token_hex()",
    "a pause": "import random, time\ntime.sleep(random.random())",
    "a comment": "# random.random()\nprint 'a'",
}


@pytest.mark.parametrize(("text", "used"), SHELL.items())
def test_a_shell_script_that_draws(text, used):
    """A shell script that may decide by a random number is named, with what draws the number."""
    assert find_draws(text.encode(), "") == [used]


@pytest.mark.parametrize("text", NO_SHELL.values(), ids=NO_SHELL)
def test_a_shell_script_that_draws_nothing(text):
    """Numbers in names and pauses, fixed seeds, comments and words are no draws of a shell script."""
    assert find_draws(text.encode(), "bash") == []


@pytest.mark.parametrize(("text", "used"), PYTHON.items())
def test_python_that_draws(text, used):
    """Python code that draws numbers is found, by any name and also if it cannot be parsed."""
    assert find_draws(text.encode(), "python3") == [used]


@pytest.mark.parametrize("text", NO_PYTHON.values(), ids=NO_PYTHON)
def test_python_that_draws_nothing(text):
    """Imports, fixed seeds, ids and pauses are no draws of Python."""
    assert find_draws(text.encode(), "python") == []


@pytest.mark.parametrize(
    ("interpreter", "text", "used"),
    [
        ("node", b"if (Math.random() < .3) process.exit(0)", ["Math.random"]),
        ("node", b"const id = crypto.randomUUID()", []),
        ("perl", b"exit 0 if rand() < .3", ["rand"]),
        ("perl", b"# rand\nprint 'a sample'; print keys %x", []),
        ("ruby", b"exit 0 if rand < 0.3", ["rand"]),
        ("php", b"<?php # rand\nexit(2);", []),
        ("gawk", b"BEGIN { exit rand() < .3 }", ["rand()"]),
    ],
)
def test_other_languages(interpreter, text, used):
    """Draws are found in other languages, but not in their comments, ids and orders."""
    assert find_draws(text, interpreter) == used


@pytest.mark.nightly
@pytest.mark.parametrize(
    "part", ["$RANDOM ", "shuf|", "sort -a ", "A=b ", "/tmp/x", "sleep ", "$$ ", "(((", "[[ "]
)
@pytest.mark.parametrize("interpreter", ["bash", "perl", "node"])
def test_a_long_line_takes_a_time_that_grows_with_its_length(takes_linear_time, interpreter, part):
    """A script four times as long takes about four times as long to search."""
    takes_linear_time(
        lambda length: (part * (length // len(part))).encode() + b"\n# rand\n",
        lambda text: find_draws(text, interpreter),
        added=0.01,
    )
