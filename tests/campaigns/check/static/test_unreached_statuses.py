"""Claims about statuses that strict shell scripts read too late, and about pipes that end them."""

import subprocess

import pytest

from pytest_hookharness.campaigns.check.static.exit_statuses import broken_pipes, unreached_statuses

STRICT = "#!/bin/bash\nset -e\n"
PIPED = "#!/bin/bash\nset -euo pipefail\n"
ASKS = "./scan.sh x\nstatus=$?\nif [ $status -ne 0 ]; then echo failed; fi\n"


@pytest.mark.parametrize(
    "text",
    [
        STRICT + ASKS,
        STRICT + ASKS.replace("\nstatus", "; status"),
        STRICT + 'out=$(npm test 2>&1)\nif [[ "$?" -ne 0 ]]; then echo failed; fi\n',
        STRICT + ASKS.replace("$status -ne", '"$status" -ne'),
    ],
)
def test_a_status_that_is_asked_for_too_late(text):
    """A program on its own line, with its status read on the next, is reported in a `set -e` script."""
    ((words, line),) = unreached_statuses(text)
    assert "`set -e` ends the script when this program fails" in words
    assert line == text[: text.index("./scan" if "./scan" in text else "out=")].count("\n") + 1


@pytest.mark.parametrize(
    "text",
    [
        "#!/bin/bash\n" + ASKS,
        STRICT + ASKS.replace("scan.sh x", "scan.sh x || true"),
        STRICT + "set +e\n" + ASKS,
        STRICT + "trap 'exit 0' ERR\n" + ASKS,
        STRICT + "if ./scan.sh x; then :\nelse\n  status=$?\n  [ $status = 1 ]\nfi\n",
        STRICT
        + "scan() {\n  ./scan.sh x\n  status=$?\n  [ $status -ne 0 ] && return 2\n}\nif scan; then :; fi\n",
        "#!/bin/bash -e\n" + ASKS,
        STRICT
        + "if ./scan.sh; then :\nelse\n  # 1 means nothing found\n  status=$?\n  [ $status = 1 ]\nfi\n",
        STRICT + "function scan {\n  " + ASKS.replace("\n", "\n  ") + "\n}\nif scan; then :; fi\n",
        STRICT + "out=$(\n" + ASKS + ")\n",
        STRICT + "{\n" + ASKS + "} || true\n",
        STRICT + "true &&\n" + ASKS,
        # The script only passes the status on.
        STRICT + "./scan.sh x\nstatus=$?\nexit $status\n",
        STRICT + "local out=$(npm test)\nif [ $? -ne 0 ]; then echo failed; fi\n",
    ],
)
def test_a_status_that_is_reached(text):
    """Scripts that continue after a failure, or only pass the status on, are left alone."""
    assert not [*unreached_statuses(text)]


def test_what_the_shell_makes_of_it(tmp_path):
    """The shell ends such a script before the status is looked at."""
    (tmp_path / "scan.sh").write_text("exit 3\n")
    script = (STRICT + ASKS).replace("./scan.sh", "sh scan.sh")
    run = subprocess.run(
        ["bash", "-c", script], cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False
    )
    assert (run.returncode, run.stdout) == (3, "")


@pytest.mark.parametrize(
    "line",
    [
        'changed="$(git status --porcelain | head -10)"',
        "find . -type f | head -5",
        "git diff | head -50 | cat",
    ],
)
def test_a_pipe_that_ends_the_script(line):
    """A pipe to `head` from a program that may print much is reported."""
    ((words, number),) = broken_pipes(PIPED + line + "\n")
    assert "| head` ends the script with exit status 141" in words
    assert number == 3


@pytest.mark.parametrize(
    "text",
    [
        STRICT + "git status --porcelain | head -10\n",
        PIPED + "git status --porcelain | head -10 || true\n",
        PIPED + "x=$(git status --porcelain | head -10 || echo none)\n",
        PIPED + "git log --oneline -5 | head -2\n",
        PIPED + "if git status --porcelain | head -1 | grep -q .; then :; fi\n",
        PIPED + "local x=$(git diff | head -50)\n",
        PIPED + "# git diff | head -50\n",
        PIPED + "cat VERSION | head -1\n",
        PIPED + "git ls-files | wc -l | head -1\n",
        PIPED + "git diff | head -50 \\\n  || true\n",
        PIPED + "git diff --shortstat | head -1\n",
    ],
)
def test_pipes_that_end_nothing(text):
    """A pipe is left alone if its status does not count or its program prints little."""
    assert not [*broken_pipes(text)]


def test_what_the_shell_makes_of_such_a_pipe(tmp_path):
    """If the output is larger than a pipe holds, the script ends with status 141."""
    for number in range(900):
        (tmp_path / f"{number:03}{'x' * 120}").touch()
    script = PIPED + "find . -type f | head -5 >/dev/null\necho done\n"
    run = subprocess.run(
        ["bash", "-c", script], cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False
    )
    assert (run.returncode, run.stdout) == (141, "")
