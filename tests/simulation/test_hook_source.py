"""Which words of the hooks' source are taken for commands."""

import pytest

from pytest_hookharness.simulation.testbed.hook_source import (
    loaded,
    looked_at,
    made,
    split_code,
    started,
    words_of,
)

PYTHON = b"""#!/usr/bin/env python3
import subprocess as file  # yes
print("yes", file=sys.stderr)
answer = input("more or less")
if answer == "yes":
    subprocess.run(["ruff", "check"], check=True)
    subprocess.check_output(
        "git status | sort", shell=True)
    shutil.which('black')
CMD = ["mypy", "x"]
"""
JAVASCRIPT = b"""import * as fs from "node:fs";
const file = "yes";
const data = JSON.parse(x) as Foo;
execSync(`eslint ${file}`);
child.spawn('prettier', ['--check']);
await $`npm test`;
/x/.exec("file");
"""
SHELL = b"""# make
python3 -c 'import json as file; print(1, file=yes)' | jq .x
node -e "const file = 1"
python3 - "$1" <<'EOF'
import os as file
os.system("shellcheck x")
EOF
git diff
"""


@pytest.mark.parametrize(
    ("code", "texts"),
    [
        (PYTHON, [b"ruff", b"git status | sort", b"black", b"mypy"]),
        (JAVASCRIPT, [b"eslint ${file}", b"prettier", b"npm test"]),
        (b"yes = file\nas = file\n", []),
    ],
)
def test_words_of_code_are_no_commands(code, texts):
    """In Python and JavaScript only texts that start a program count: not `as`, `file=` or `yes`."""
    assert [*started(code)] == texts


def test_code_in_a_shell_script_is_code():
    """Code after `python3 -c` and in here-documents is read as code; `python3` itself is a command."""
    shell, *programs = split_code(SHELL)

    assert [word for word in (b"file", b"yes", b"json", b"make") if word in shell] == []
    assert [word for word in (b"jq .x", b"git diff", b"python3", b"node") if word not in shell] == []
    assert programs == [b"shellcheck x"]


@pytest.mark.parametrize(
    "text",
    [
        b'file=$(jq -r .file)\ncase "$file" in *.py) ruff check "$file" ;; esac\n',
        b"for file in *.py; do ruff check $file; jq .; done\n",
        b"ruff . | while IFS= read -r line file; do jq <<<${file}; done\n",
        b"local file; file=x; jq . | ruff\n",
    ],
)
def test_variables_of_a_shell_script_are_no_commands(text):
    """A variable called `file` is not the program of that name; the programs that are called are known."""
    found = words_of(text)

    assert "file" not in found
    assert {"jq", "ruff"} <= found


def test_a_variable_with_the_name_of_a_command():
    """Where a script has a variable and a command of one name, the command counts."""
    assert "file" in words_of(b'file=$1\nfile --brief "$file"\n')


@pytest.mark.slow
@pytest.mark.parametrize("text", [b"python3 -c ", b"python3 <<E\n", b"run(", b"cmd = "])
def test_a_long_source_takes_no_time(text):
    """A source of many openings without an end is searched in linear time, and starts nothing."""
    assert [*started(text * 5000)] == []
    assert len([*split_code(text * 5000)]) == 1


def test_a_word_on_the_next_line_is_no_file():
    """A command at the end of a line makes, removes or tests nothing that stands on the next line."""
    source = "case $word in rm)\nexit 2;; touch)\nfoo;; esac\n[ -f\tmarker ] && rm -f lock\n"
    assert [*looked_at(source)] == ["marker", "lock"]
    assert [*made("echo rm\nexit 2\ntouch\nexit\ntouch done\n")] == ["done"]


@pytest.mark.parametrize(
    ("text", "is_command"),
    [
        (b'test -e DONE || { echo "make DONE" >&2; exit 2; }\n', False),
        (b"printf '%s\\n' 'now make'\n", False),
        (b"printf -v x 'make all'\n", True),
        (b'echo "run: $(make -s list)"\n', True),
        (b'echo "make all" | sh\n', True),
        (b'echo "now"; make all\n', True),
    ],
)
def test_words_of_a_message_are_no_commands(text, is_command):
    """What a script only prints names no command; a substitution in it, or a shell that reads it, does."""
    assert ("make" in words_of(text)) is is_command


@pytest.mark.parametrize(
    "line",
    [
        '. "$(dirname "$0")/lib/common.sh"',
        'source "$HOOKS/lib/common.sh"',
        '. "$ROOT/hooks/lib/common.sh" 2>/dev/null || exit 0',
        "source ${0%/*}/../hooks/lib/common.sh # as all",
    ],
)
def test_the_files_that_a_script_loads_are_found(tmp_path, line):
    """A library is found by the end of its path, beside the script or a folder above."""
    library = tmp_path / "hooks/lib/common.sh"
    library.parent.mkdir(parents=True)
    library.touch()

    found = [*loaded(tmp_path / "hooks/guard.sh", f"cat\n{line}\n".encode())]

    assert [one.resolve() for one in found] == [library]
