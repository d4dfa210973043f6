"""Hooks that may decide by random numbers that no system call shows, with real hooks."""

import shutil
import sys
from dataclasses import replace

import pytest

from pytest_hookharness.judging.recurrence import hidden_chance
from pytest_hookharness.model.reads import ProgramReads, Reads
from pytest_hookharness.model.verdicts import Livelock
from pytest_hookharness.simulation.probing.hidden_chance import find_hidden_chance, names_clock

OFF = {"CLAUDE_CODE_STOP_HOOK_BLOCK_CAP": "0"}
REFUSE = "import sys; sys.stderr.write('run the tests'); sys.exit(2)\n"


@pytest.mark.nightly
@pytest.mark.parametrize(
    "text",
    [
        f"#!{sys.executable}\nif hash('a') == 0: raise SystemExit(0)\n{REFUSE}",
        f"#!/bin/sh\n{sys.executable} - <<'EOF'\nwords = {{'a'}}\nfor word in words: pass\n{REFUSE}EOF\n",
    ],
)
def test_a_hash_is_a_random_number(play, text):
    """A loop of a hook that may decide by a hash, which differs in each process, is no proved one."""
    outcome = play(hooks={"Stop": "./check"}, files={"check": text}, modes={"check": "755"}, env=OFF, turns=4)

    assert isinstance(outcome.verdict, Livelock)
    assert outcome.verdict.evidence == "driven"
    assert outcome.verdict.matters == ("random numbers (the order of a set or a hash in workspace/check)",)


@pytest.mark.slow
def test_a_script_is_searched_once(play, monkeypatch):
    """Simulations with the same script search its source once."""
    (python,) = (each for each in hidden_chance.LANGUAGES if each.program.search("/python3"))
    searched = []

    def find(text):
        searched.append(text)
        return python.find(text)

    monkeypatch.setattr(hidden_chance, "LANGUAGES", (replace(python, find=find),))
    text = f"#!{sys.executable}\n{REFUSE}"
    for _ in range(2):
        play(hooks={"Stop": "./check"}, files={"check": text}, modes={"check": "755"}, env=OFF)

    assert searched.count(text.encode()) == 1


@pytest.mark.slow
def test_a_set_that_is_only_searched(play):
    """A loop of a hook that only asks what is in a set is proved."""
    text = f"#!{sys.executable}\nif 'a' in {{'b', 'c'}}: raise SystemExit(0)\n{REFUSE}"
    outcome = play(hooks={"Stop": "./check"}, files={"check": text}, modes={"check": "755"}, env=OFF)

    assert isinstance(outcome.verdict, Livelock)
    assert outcome.verdict.evidence == "closed"


@pytest.mark.slow
def test_an_imported_module(play):
    """What a hook imports is looked at too, also once it is compiled."""
    files = {
        "check": f"#!{sys.executable}\nimport words\n{REFUSE}",
        "words.py": "first = next(iter({'a', 'b'}))\n",
    }
    outcome = play(hooks={"Stop": "./check"}, files=files, modes={"check": "755"}, env=OFF, turns=4)

    assert isinstance(outcome.verdict, Livelock)
    assert outcome.verdict.matters == ("random numbers (the order of a set or a hash in workspace/words.py)",)


@pytest.mark.parametrize(("text", "count"), [("a >log &\nexit 2\n", 0), ("a >log &\ncat log\n", 1)])
def test_a_job_runs_beside_its_own_script(tmp_path, text, count):
    """A job at the end of one script does not run beside what another script does."""
    scripts = tmp_path / "one.sh", tmp_path / "other.sh"
    for script in scripts:
        script.write_text(text)
    programs = tuple(ProgramReads("/bin/sh", script=str(script)) for script in scripts)
    places = {str(script): (script.name, str(script)) for script in scripts}
    found = [*find_hidden_chance([Reads(programs=programs)], [], places)]
    assert found == [
        f"which of several jobs ends first (& in {script.name})" for script in scripts[: 2 * count]
    ]


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("text", "used"),
    [
        ("#!/usr/bin/perl\nexit 0 if rand() == 0;\nprint STDERR 'no'; exit 2;\n", "rand"),
        ("#!/bin/sh\nawk 'BEGIN { exit rand() > 0 }' && exit 0\necho no >&2; exit 2\n", "rand"),
        (
            "#!/usr/bin/env node\nif (Math.random() == 0) process.exit(0);\nprocess.exit(2);\n",
            "Math.random",
        ),
    ],
)
def test_numbers_of_an_interpreter(play, text, used):
    """A loop of a hook that draws random numbers from its interpreter is no proved one."""
    if "node" in text and not shutil.which("node"):
        pytest.skip("needs Node")
    outcome = play(hooks={"Stop": "./check"}, files={"check": text}, modes={"check": "755"}, env=OFF, turns=4)

    assert isinstance(outcome.verdict, Livelock)
    assert f"random numbers ({used} in workspace/check)" in outcome.verdict.matters


@pytest.mark.nightly
@pytest.mark.skipif(not shutil.which("tclsh"), reason="needs Tcl")
@pytest.mark.parametrize(("script", "evidence"), [("puts [clock seconds]", "driven"), ("puts 5", "closed")])
def test_a_time_that_an_interpreter_without_reader_asks_for(play, script, evidence):
    """A loop is driven if Tcl asks for the time, as nothing reads its code."""
    text = f"#!/bin/sh\necho '{script}' | tclsh >/dev/null\necho no >&2; exit 2\n"
    outcome = play(hooks={"Stop": "./check"}, files={"check": text}, modes={"check": "755"}, env=OFF, turns=8)

    assert isinstance(outcome.verdict, Livelock)
    assert outcome.verdict.evidence == evidence
    assert any("tclsh" in words for words in outcome.verdict.matters) == (evidence == "driven")


@pytest.mark.nightly
@pytest.mark.slow
@pytest.mark.parametrize(
    ("code", "evidence"),
    [
        (
            "import gzip, io\nwith gzip.GzipFile(fileobj=io.BytesIO(), mode='w') as file: file.write(b'x')\n",
            "driven",
        ),
        ("import json\njson.dumps({})\n", "closed"),
    ],
)
def test_a_time_that_a_library_asks_for(play, code, evidence):
    """A loop is driven if a module that a script uses asks for the time, and the script names no clock."""
    text = f"#!{sys.executable}\n{code}{REFUSE}"
    outcome = play(hooks={"Stop": "./check"}, files={"check": text}, modes={"check": "755"}, env=OFF, turns=8)

    assert isinstance(outcome.verdict, Livelock)
    assert outcome.verdict.evidence == evidence


@pytest.mark.slow
def test_random_text_that_is_only_written(play):
    """A log with random text that nothing reads leaves the loop driven, and the report names the log."""
    command = "bash -c 'cat /proc/sys/kernel/random/uuid /proc/uptime >> log; echo run the tests >&2; exit 2'"
    outcome = play(hooks={"Stop": command}, env=OFF, turns=8)

    assert isinstance(outcome.verdict, Livelock)
    assert outcome.verdict.evidence == "driven"
    assert any("workspace/log" in limit for report in outcome.probe_reports for limit in report.limits)


@pytest.mark.nightly
@pytest.mark.slow
def test_random_text_that_is_read(play):
    """A log with random text that the hook reads is not left out of the experiments."""
    command = (
        "bash -c 'cat /proc/sys/kernel/random/uuid >> log; grep -q no log; echo run the tests >&2; exit 2'"
    )
    outcome = play(hooks={"Stop": command}, env=OFF, turns=8)

    assert outcome.probe_reports
    assert not any("left out" in limit for report in outcome.probe_reports for limit in report.limits)


@pytest.mark.parametrize(
    "text",
    [
        "import time",
        "from datetime import datetime",
        "stamp = datetime.utcnow()",
        "logging.basicConfig()",
        "const t = Date.now()",
        "console.log(`${Date.now()}`)",
        "console.time('a')",
        "let t = process.hrtime()",
        "files = glob('src/*.js'); t = Date.now(); all = glob('*/x')",
        "log(f'{time.time()}')",
        "id = uuid.uuid1()",
    ],
)
def test_scripts_that_may_ask_for_the_time(text):
    """A script with the name of a clock, or of a module that has one, may ask for the time itself."""
    assert names_clock(text.encode())


@pytest.mark.parametrize(
    "text",
    [
        "# unknown runtime: update and validate now, at this time",
        "x = 1  # the time of today",
        "// the date of now\nlet a = 1",
        "/* now\n * the time */",
        '"""Update it now.\n\nThis time."""',
        "print('run the tests one more time')",
        "unknown = validate(update, runtime, timestamps, candidate, mandate)",
        "id = uuid.uuid4()",
    ],
)
def test_scripts_that_name_no_clock(text):
    """Parts of other words, comments and messages are no names of a clock."""
    assert not names_clock(text.encode())


@pytest.mark.nightly
@pytest.mark.parametrize("comment", ["# update the unknown runtime", ""])
def test_a_library_whose_result_has_the_time(play, comment):
    """A script whose library puts the time in what it returns is no proved loop, whatever a comment says."""
    decides = "import gzip\nif gzip.compress(b'x')[4:8] == b'none': raise SystemExit(0)"
    files = {"check": f"#!{sys.executable}\n{comment}\n{decides}\n{REFUSE}"}
    outcome = play(hooks={"Stop": "./check"}, files=files, modes={"check": "755"}, env=OFF, turns=4)

    assert isinstance(outcome.verdict, Livelock)
    assert outcome.verdict.evidence == "driven"
    assert outcome.verdict.matters == ("the clock (read by a library of workspace/check)",)
