"""Which code in another language gives a shell script the time, and how long the search takes."""

import pytest

from pytest_hookharness.judging.recurrence.shell_clock_use import in_shell

HEREDOC = "n=$(python3 - <<'E'\nimport time\nprint(int(time.time())%977)\nE\n)\n"


@pytest.mark.parametrize(
    "text",
    [
        HEREDOC + '[ "$n" = 5 ] && exit 0',
        HEREDOC.replace("'E'", "E") + '[ "$n" = 5 ] && exit 0',
        HEREDOC.replace("<<'E'", '<<-"E"') + '[ "$n" = 5 ] && exit 0',
        "python3 - <<E | grep -q 7 && exit 0\nimport time\nprint(time.time())\nE\n",
        "n=$(python3 -c 'import datetime as d; print(d.datetime.utcnow().second)'); [ $n = 5 ] && exit 0",
        "n=$(python3 -c 'import time; print(time.monotonic() % 7)'); [ $n = 5 ] && exit 0",
        "n=$(python3 -c 'import time; print(time.perf_counter_ns())'); [ $n = 5 ] && exit 0",
        "n=$(python3 -c 'import os; print(os.times()[4])'); [ $n = 5 ] && exit 0",
        'n=$(python3 -c "import time; print(time.time() % $M)"); [ $n = 5 ] && exit 0',
        'n=$("$VENV/bin/python" -c "import time; print(time.time())"); [ $n = 5 ] && exit 0',
        "n=$(python3 -c $'import time\\nprint(time.time())'); [ $n = 5 ] && exit 0",
        "n=$(python3 <<< 'import time; print(time.time())'); [ $n = 5 ] && exit 0",
        "n=$(echo 'import time; print(time.time())' | python3 -); [ $n = 5 ] && exit 0",
        "n=$(echo 'import time; print(time.time())' | python3); [ $n = 5 ] && exit 0",
        "echo 'import time; exit(time.time() % 9 > 1)' | python3 - && exit 0",
        "c='import time; print(time.time())'\nn=$(python3 -c \"$c\")\n[ $n = 5 ] && exit 0",
        'n=$(python3 -c "$(cat code)"); [ $n = 5 ] && exit 0',
        "n=$(awk 'BEGIN{print systime()}'); [ $((n % 9)) = 5 ] && exit 0",
        "awk -v a=1 'BEGIN{print strftime(\"%S\")}' | grep -q 7 && exit 0",
        "n=$(perl -MPOSIX -le 'print time'); [ $n = 5 ] && exit 0",
        "n=$(node --print 'performance.now()'); [ $n = 5 ] && exit 0",
    ],
)
def test_code_in_a_shell_script_that_prints_the_time(text):
    """A time that a shell script gets from code in another language is found, however the code is given."""
    assert in_shell(text.encode())


@pytest.mark.parametrize(
    "text",
    [
        HEREDOC + 'echo "$n" >> log; [ -f x ] && exit 0',
        "python3 - <<'E' >> log\nimport time\nprint(time.time())\nE\n[ -f x ] && exit 0",
        "python3 -c 'import time; print(time.time())' >> \"$LOG\"; [ -f x ] && exit 0",
        "awk 'BEGIN{print strftime(\"%T\")}' >> log; [ -f x ] && exit 0",
        "cat <<E\nWe tell python that the time is now\nE\n[ -f x ] && exit 0",
        "n=$(python3 - <<'E'\nimport json\nprint(json.load(open('a'))['n'])\nE\n)\n[ $n = 5 ] && exit 0",
        "n=$(python3 -c 'print(len(open(0).read()))' < a); [ $n = 5 ] && exit 0; date >> log",
        "cat a.json | python3 -m json.tool; date >> log",
        "echo 'print(1)' | python3 -; date >> log",
        "date >> log; awk '{print $1}' a | grep -q x && exit 0",
    ],
)
def test_code_in_a_shell_script_whose_time_decides_nothing(text):
    """Code that asks for no time, or whose time is only written, decides nothing."""
    assert in_shell(text.encode()) == ""


REPEATED = {
    "a list of folders": "/usr/bin:",
    "minified JSON": '{"p":"/usr/lib/python/a.py","q":"-e \'/bin/node\' x"},',
    "the name of a program": "python ",
    "programs with options": "python -c ",
    "programs with code": "python -c 'time' ",
    "here-documents without an end": "python <<a ",
    "base64": "QmFzZTY0Lw+/",
    "assignments": "{a=b",
    "paths after signs": "(/usr/bin",
    "comments": "x # ",
}


@pytest.mark.nightly
@pytest.mark.parametrize("part", REPEATED.values(), ids=REPEATED)
def test_a_long_line_takes_a_time_that_grows_with_its_length(takes_linear_time, part):
    """A line four times as long takes about four times as long."""

    def text_of(length):
        line = part * (length // len(part))
        return f"#!/bin/sh\n{line}'\nnow=$(date +%s); echo $now >> log\nexit 2\n".encode()

    takes_linear_time(text_of, in_shell)
