"""Hooks whose process ran and whose program did not: no refusal of theirs counts."""

from __future__ import annotations

import shutil
import subprocess
import time

import pytest

from pytest_hookharness.model.processes import Exited, Output, ProcessResult, ProcessSpec
from pytest_hookharness.simulation.startup import program_trials, start_check, trial_runs

pytestmark = pytest.mark.slow

STOP = {"stop": "Done."}
CALL = {"run": "rm -rf build", "expect": "deny"}
AGENT = [{"prompt": "go"}, CALL, STOP]

# An interpreter that nobody knows: its own syntax, messages and exit codes. `(exit N)` ends it, `(say TEXT)`
# writes on standard error, `(use NAME)` executes another program, and `(read)` reads the input.
TOY = """#!/usr/bin/python3
import pathlib, sys

def execute(path):
    try:
        lines = pathlib.Path(path).read_text().splitlines()
    except OSError:
        print(f"E-17 >> nothing to interpret at <<{path}>>", file=sys.stderr)
        sys.exit(2)
    calls = [line.strip() for line in lines if line.strip() and line[0] not in "#;"]
    for number, call in enumerate(calls, 1):
        if not (call.startswith("(") and call.endswith(")")):
            print(f"E-4 >> <<{path}>> @ {number} : cannot make sense of that", file=sys.stderr)
            sys.exit(2)
    for call in calls:
        word, _, rest = call[1:-1].partition(" ")
        if word == "exit":
            sys.exit(int(rest))
        if word == "say":
            print(rest, file=sys.stderr)
        if word == "read":
            sys.stdin.read()
        if word == "use":
            place = pathlib.Path(path).with_name(rest + ".toy")
            if not place.exists():
                print(f"E-9 >> {rest} is unheard of, says <<{path}>>", file=sys.stderr)
                sys.exit(2)
            execute(place)
execute(sys.argv[1])
"""
# For each interpreter: the extension of its programs, a guard that refuses and names its own file, one with a
# syntax error and one that needs a module which does not exist.
LANGUAGES = {
    "python3": (
        "py",
        "import json, sys\njson.load(sys.stdin)\nprint('guard.py:3: no rm', file=sys.stderr)\nsys.exit(2)\n",
        "import sys\nif True\n    sys.exit(2)\n",
        "import sys\nimport nomod\nsys.exit(2)\n",
    ),
    "node": (
        "js",
        "console.error('guard.js:2 no rm');\nprocess.exit(2);\n",
        "const x = (;\nprocess.exit(2);\n",
        "const lint = require('nomod');\nprocess.exit(2);\n",
    ),
    "perl": (
        "pl",
        "use strict;\nprint STDERR 'guard.pl line 2: no rm';\nexit 2;\n",
        "my $x = (;\nexit 2;\n",
        "use strict;\nuse Nomod::Deep;\nexit 2;\n",
    ),
    "bash": (
        "sh",
        "input=$(cat)\necho 'guard.sh: line 2: no rm' >&2\nexit 2\n",
        "input=$(cat)\nif true; then\n  x=1\nfi\nfi\nexit 0\n",
        None,
    ),
    "dash": (
        "sh",
        "input=$(cat)\necho 'guard.sh: 2: no rm' >&2\nexit 2\n",
        "input=$(cat)\nif true; then\n  exit 0\n",
        ". ./nomod.sh\nexit 0\n",
    ),
    "tclsh": (
        "tcl",
        "puts stderr {guard.tcl line 1: no rm}\nexit 2\n",
        None,
        "source nomod.tcl\nexit 2\n",
    ),
    "awk -f": ("awk", 'BEGIN { print "guard.awk:1 no rm" > "/dev/stderr"; exit 2 }\n', "BEGIN { (\n", None),
    "jq -f": ("jq", '"guard.jq:1 no rm" | halt_error(2)\n', ". |\n", None),
    "make -f": ("mk", "all:\n\t@echo 'guard.mk:2: no rm' >&2; exit 2\n", None, None),
    "./toy": (
        "toy",
        "(read)\n(say guard.toy @ 2 : no rm)\n(exit 2)\n",
        "(read)\nwhat\n",
        "(use nomod)\n(exit 2)\n",
    ),
}


@pytest.fixture(params=LANGUAGES, ids=lambda name: name.strip("./"))
def language(request):
    """Return an interpreter and its programs."""
    if not request.param.startswith(".") and not shutil.which(request.param.split()[0], path="/usr/bin:/bin"):
        pytest.skip(f"no {request.param} here")
    return request.param, *LANGUAGES[request.param]


@pytest.fixture
def guard(play):
    """Play a session whose guard hook is a command with some files."""

    def run(command, files=None, **keys):
        made = {"toy": TOY, **(files or {})}
        return play(agent=AGENT, hooks={"PreToolUse": command}, files=made, env=PATH, **keys)

    return run


PATH = {"PATH": "/usr/bin:/bin"}


def names(outcome):
    """Return the names of the findings."""
    return [finding.name for finding in outcome.findings]


def is_caught(outcome, name):
    """Return whether a guard was reported as not run, with the name of what was missing, and met nothing."""
    (finding,) = outcome.findings
    met = not any(broken.path.endswith("expect") for broken in outcome.violations)
    return finding.name == "NOT-RUN" and name in finding.text and not met


@pytest.mark.nightly
def test_a_guard_without_its_program_refuses_nothing(guard, language):
    """A guard whose program does not exist is NOT-RUN, and `expect: deny` is not met."""
    interpreter, extension, *_ = language
    outcome = guard(f"{interpreter} ./gaurd.{extension}")

    assert is_caught(outcome, f"./gaurd.{extension}")


@pytest.mark.nightly
def test_a_guard_with_a_syntax_error_refuses_nothing(guard, language):
    """A guard whose program cannot be read to its end is NOT-RUN under every interpreter."""
    interpreter, extension, _, broken, _ = language
    if broken is None:
        pytest.skip("this language has no syntax errors before it executes")
    outcome = guard(f"{interpreter} ./guard.{extension}", {f"guard.{extension}": broken})

    assert is_caught(outcome, f"./guard.{extension}")


@pytest.mark.nightly
def test_a_guard_without_its_module_refuses_nothing(guard, language):
    """A guard that loads a module which does not exist is NOT-RUN, and the finding names the module."""
    interpreter, extension, _, _, incomplete = language
    if incomplete is None:
        pytest.skip("this interpreter continues without a module")
    outcome = guard(f"{interpreter} ./guard.{extension}", {f"guard.{extension}": incomplete})

    assert is_caught(outcome, "omod")


@pytest.mark.nightly
def test_a_guard_that_refuses_did_run(guard, language):
    """A guard that refuses and names its own file and a line of it, as interpreters do, is not NOT-RUN."""
    interpreter, extension, program, *_ = language
    outcome = guard(f"{interpreter} ./guard.{extension}", {f"guard.{extension}": program})

    assert names(outcome) == []
    assert outcome.passed


NOWHERE = "./gaurd.py"
AS_TYPED = [
    pytest.param("cat | python3 ./gaurd.py", {}, id="in a pipeline"),
    pytest.param("python3 ./gaurd.py 2>/dev/null", {}, id="without its message"),
    pytest.param("cd sub && python3 ../gaurd.py", {"sub/keep": ""}, id="in another folder"),
    pytest.param("bash -c 'exec python3 ./gaurd.py'", {}, id="by a second shell"),
    pytest.param('python3 "$CLAUDE_PROJECT_DIR"/gaurd.py', {}, id="by a variable"),
    pytest.param("python3 -u ./gaurd.py --strict", {}, id="with options"),
    pytest.param("env X=1 python3 ./gaurd.py", {}, id="by env"),
    pytest.param("./run.sh", {"run.sh": "#!/bin/bash\nexec python3 ./gaurd.py\n"}, id="in a wrapper"),
    pytest.param("./run.sh", {"run.sh": "#!/bin/sh\npython3 gaurd.py\n"}, id="by a wrapper"),
    pytest.param("python3 ./gaurd.py || exit 2", {}, id="with its code repeated"),
    pytest.param(". ./gaurd.py", {}, id="by a shell that reads it"),
    pytest.param("sh -c 'python3 <./gaurd.py'", {}, id="on standard input"),
    pytest.param("python3 -c \"exec(open('gaurd.py').read())\"", {}, id="by a program that executes it"),
    pytest.param("bash ./gaurd.py", {}, id="by a shell"),
    pytest.param("./gaurd.py", {}, id="alone"),
]


@pytest.mark.nightly
@pytest.mark.parametrize(("command", "files"), AS_TYPED)
def test_a_missing_program_is_found_behind_a_shell(guard, command, files):
    """However a command line reaches a program that does not exist, the guard is NOT-RUN."""
    assert is_caught(guard(command, files), "gaurd.py")


@pytest.mark.nightly
@pytest.mark.parametrize("module", ["nomod", "tools.nomod"])
def test_a_missing_module_on_the_command_line_is_found(guard, module):
    """A guard that is given as a module which does not exist is NOT-RUN."""
    outcome = guard(f"python3 -m {module}", {"tools/__init__.py": ""})

    assert is_caught(outcome, module)


# An interpreter of a language that has nothing in common with any other one.
STRANGE = r"""
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(int count, char **words) {
    char line[99];
    FILE *file = count > 1 ? fopen(words[1], "r") : NULL;
    if (!file) return 2;
    while (fgets(line, 99, file))
        if (strncmp(line, "WRITE|", 6) && strncmp(line, "STOPWITH|", 9)) return fputs("?! 1\n", stderr), 2;
    rewind(file);
    while (fgets(line, 99, file))
        if (*line == 'W') fputs(line + 6, stderr); else return atoi(line + 9);
    return 0;
}
"""


@pytest.fixture
def strange(tmp_path):
    """An interpreter outside of the project."""
    if not shutil.which("cc"):
        pytest.skip("no C compiler here")
    place = tmp_path / "strange"
    subprocess.run(["cc", "-x", "c", "-o", place, "-"], input=STRANGE, text=True, check=True)
    return str(place)


def test_an_unknown_language_needs_no_probe(guard, strange):
    """A guard whose program is missing is NOT-RUN also in a language that nobody knows."""
    assert is_caught(guard(f"{strange} ./${{NOWHERE}}gaurd.st"), "./gaurd.st does not exist")


def test_a_guard_in_an_unknown_language_counts(guard, strange):
    """A guard in a language that nobody knows refuses; if it ends like nonsense, it meets nothing."""
    refusing = guard(f"{strange} ./guard.st", {"guard.st": "WRITE|guard.st 1: no rm\nSTOPWITH|2\n"})
    broken = guard(f"{strange} ./guard.st", {"guard.st": "WRITE|no rm\nSTOP WITH 2\n"})

    assert refusing.passed
    assert not any("itself ran" in text for text in refusing.assumptions)
    assert any("nonsense in the place of ./guard.st has a similar end" in text for text in broken.assumptions)
    assert any("it is unknown whether" in one.seen for one in broken.violations)


INLINE = [
    ("if [ -f x ; then", "`if [ -f x ; then` does not compile"),
    ('echo "no rm >&2; exit 2', '`echo "no rm >&2; exit 2` does not compile'),
    ("awk '/rm/ { exit 2'", "`/rm/ { exit 2` does not compile"),
    ("perl -MNomod::Deep -e 'exit 2'", "the module Nomod::Deep was not found"),
    ("make gaurd", "GNUmakefile or makefile or Makefile does not exist"),
]


@pytest.mark.nightly
@pytest.mark.parametrize(("command", "why"), INLINE)
def test_a_program_that_no_file_of_the_command_line_names(guard, command, why):
    """A guard whose text on the command line does not compile or lacks its program or module is NOT-RUN."""
    if command.startswith(("awk", "perl", "make")) and not shutil.which(command.split()[0]):
        pytest.skip(f"no {command.split()[0]} here")
    assert is_caught(guard(command), why)


@pytest.mark.nightly
def test_an_explanation_holds_for_the_files_beside_it_only(guard):
    """The same words of make mean another thing in a project that has a Makefile, and are explained anew."""
    if not shutil.which("make"):
        pytest.skip("no make here")
    makefile = {"Makefile": "guard:\n\t@exit 2\n"}
    with_one = guard("make gaurd --no-print-directory", makefile)
    without = guard("make gaurd --no-print-directory")

    assert with_one.findings == ()
    assert is_caught(without, "Makefile does not exist")


CALLING = [
    "python3 ./gaurd.py 2>/dev/null || { echo no guard, no call >&2; exit 2; }",
    "python3 ./gaurd.py; [ $? = 0 ] || { echo 'guard.sh:2: no' >&2; exit 2; }",
]


@pytest.mark.nightly
@pytest.mark.parametrize("command", CALLING)
def test_a_missing_program_behind_a_refusal_is_named(guard, command):
    """A hook that refuses because a program which it calls is missing did run, and the program is named."""
    outcome = guard(command)

    (finding,) = outcome.findings
    assert finding.name == "CRASHED"
    assert "./gaurd.py, which it calls, does not exist" in finding.text
    assert not any(broken.path.endswith("expect") for broken in outcome.violations)


@pytest.mark.nightly
def test_a_target_with_the_name_of_its_command_is_no_missing_program(play):
    """A rule of make whose command fails lacks no program, also if its target has the command's name."""
    outcome = play(
        files={"Makefile": "test:\n\ttest -f fixed.txt\n"},
        hooks={"Stop": "make test >&2"},
        agent=[{"prompt": "go"}],
        expect={"verdict": "livelock"},
    )

    assert outcome.passed


# On this host every exit code but 0 refuses.
FAILED = {
    "another name": ("python3 guard.py", {"guard.py": "from json import nothing\n"}, "nonsense"),
    "an inner module": (
        "python3 -m pkg.mod",
        {"pkg/__init__.py": "", "pkg/mod.py": "import nomod\n"},
        "nomod",
    ),
    "a package": ("python3 -m pkg", {"pkg/__init__.py": ""}, "pkg.__main__"),
    "an empty folder": ("python3 ./guard", {"guard/note": ""}, "./guard cannot be read"),
    "an encoding": ("./guard.py", {"guard.py": "#!/usr/bin/python3\n# coding: strange\n"}, "not compile"),
    "silence": ("python3 guard.py 2>/dev/null", {"guard.py": "import nomod\n"}, "nomod"),
    "a late module": ("node guard.mjs", {"guard.mjs": "await import('./nomod.mjs');\n"}, "nomod.mjs"),
    "a package of a module": (
        "node hooks/guard.mjs",
        {
            "hooks/guard.mjs": "import { load } from '../src/config.mjs';\nload('sensors.yaml');\n",
            "src/config.mjs": "import './inner.mjs';\nimport YAML from 'yaml';\nexport const load = YAML;\n",
            "src/inner.mjs": "import './deep.mjs';\n",
            "src/deep.mjs": "",
        },
        "the module yaml was not found",
    ),
    "an inline program": ("jq '.a |'", {}, "not compile"),
    "a missing calculation": ("bc ${NOWHERE}guard.bc", {}, "guard.bc does not exist"),
    "a missing class": ("java ${NOWHERE}Guard", {}, "Guard.class does not exist"),
}


@pytest.mark.nightly
@pytest.mark.parametrize("name", FAILED)
def test_a_program_that_failed_to_start_refuses_nothing_on_a_strict_host(play, name):
    """Where every failure refuses, one of an interpreter meets no expectation; the reason is reported."""
    command, files, why = FAILED[name]
    if not shutil.which(command.split()[0], path="/usr/bin:/bin:.") and "/" not in command:
        pytest.skip(f"no {command.split()[0]} here")
    hooks = {"preToolUse": command}
    outcome = play(agent=AGENT, hooks=hooks, files=files, env=PATH, host="copilot-cli")

    (about,) = (broken.seen for broken in outcome.violations if broken.path.endswith("expect"))
    assert "did not run" in about or "it is unknown whether" in about
    assert why in about + " ".join(finding.text for finding in outcome.findings)


REFUSING_ANYWHERE = {
    "reads its input": "import sys\nsys.stdin.read()\nimport rules\nsys.exit(rules.WHY)\n",
    "says own words": "import sys\nsys.exit('guard.py, line 3: invalid syntax')\n",
    "says other words": "import sys, rules\nsys.exit(rules.WHY)\n",
}


@pytest.mark.nightly
@pytest.mark.parametrize("name", REFUSING_ANYWHERE)
def test_a_program_that_fails_on_purpose_refuses_on_a_strict_host(play, name):
    """A guard with the exit code of its interpreter refuses, also with words of another file."""
    files = {"guard.py": REFUSING_ANYWHERE[name], "rules.py": "WHY = 'src/a.py:1: the invalid File line 3'"}
    hooks = {"preToolUse": "python3 guard.py"}
    outcome = play(agent=AGENT, hooks=hooks, files=files, env=PATH, host="copilot-cli")

    assert not any(broken.path.endswith("expect") for broken in outcome.violations)


HEALING = [
    '"$CLAUDE_PROJECT_DIR"/guard.sh',
    "python3 ./gaurd.py 2>/dev/null; npm test || { echo 'npm:1: no' >&2; exit 2; }",
]


@pytest.mark.nightly
@pytest.mark.parametrize("command", HEALING)
def test_a_tool_that_heals_meanwhile_blames_no_program(guard, command):
    """A hook whose tool succeeds after two runs did run, and no program is blamed for the other end."""
    script = "#!/bin/sh\nnpm test || { echo 'npm:1: no' >&2; exit 2; }\n"
    outcome = guard(command, {"guard.sh": script}, commands={"npm": {"exit": 1, "heals_after": 2}})

    assert names(outcome) == []
    assert not any(broken.path.endswith("expect") for broken in outcome.violations)


def test_the_end_of_a_copy_is_the_same_if_its_longer_path_spreads_a_list():
    """Node writes a list of long paths on several lines; a copy has a longer path than its original."""
    short = "Error: Cannot find module 'x' {\n  requireStack: [ '/w/h.js' ]\n}\n"
    long = "Error: Cannot find module 'x' {\n  requireStack: [\n    '/w/h.js'\n  ]\n}\n"

    assert trial_runs.Trial(1, long).ends_like(trial_runs.Trial(1, short))
    assert not trial_runs.Trial(1, long).ends_like(trial_runs.Trial(1, short.replace("h.js", "i.js")))


def test_a_link_to_nothing_is_a_program_that_cannot_be_read(play):
    """A program that exists and cannot be opened is NOT-RUN too."""
    hooks = {"SessionStart": "ln -s nowhere guard.py", "PreToolUse": "python3 ./guard.py"}

    assert is_caught(play(agent=AGENT, hooks=hooks), "guard.py cannot be read")


GUARDS = {
    "a word of its options": ("python3 ./guard.py --mode strict", "print('strict: no rm', file=sys.stderr)"),
    "a module that it loads": ("python3 ./guard.py", "import json; print('json: no rm', file=sys.stderr)"),
    "a message like that of a module": (
        "python3 ./guard.py",
        "print(\"guard.py: No module named 'nomod'\", file=sys.stderr)",
    ),
    "a message like that of a missing file": (
        "python3 ./guard.py",
        "print(\"python3: can't open file './gaurd.py'\", file=sys.stderr)",
    ),
    "no message": ("python3 ./guard.py 2>/dev/null", "print('no rm', file=sys.stderr)"),
    "a file to write first": ("python3 ./guard.py", "print('write tests/test_it.py first', file=sys.stderr)"),
    "its first line": ("python3 ./guard.py", "print('  File \"guard.py\", line 1', file=sys.stderr)"),
}


@pytest.mark.nightly
@pytest.mark.parametrize("name", GUARDS)
def test_no_words_of_a_guard_make_it_one_that_never_ran(guard, name):
    """A guard that really refuses may say what interpreters say, and its refusal counts."""
    command, line = GUARDS[name]
    outcome = guard(command, {"guard.py": f"import sys\nsys.stdin.read()\n{line}\nsys.exit(2)\n"})

    assert "NOT-RUN" not in names(outcome)
    assert not any(broken.path.endswith("expect") for broken in outcome.violations)


REAL = {
    "a constant": ("echo no >&2; exit 2", {}),
    "a file that is looked for": ("grep -q yes ./approved.txt", {}),
    "a listed file": ("ls ./approved.txt", {}),
    "a file to approve": (": <./approved.txt || { echo approve first >&2; exit 2; }", {}),
    "a compared file": ("diff ./expected.txt ./seen.txt >&2", {"seen.txt": "x\n"}),
    "a program that must exist": ("[ -x ./deploy.sh ] || { echo ./deploy.sh is missing >&2; exit 2; }", {}),
    "a checked program": ("bash -n ./deploy.sh", {"deploy.sh": "if\n"}),
    "a compiled program": ("python3 -m py_compile ./app.py || exit 2", {"app.py": "if\n"}),
    "a checked data file": ("jq . ./settings.json", {"settings.json": "{"}),
    "a rules file of a program": (
        "python3 ./guard.py ./rules.txt",
        {"guard.py": "import sys; print(open(sys.argv[1]).read().index('<')) or sys.exit('rules.txt: no')"},
    ),
    "a program that is looked for and executed": (
        "test -f ./deploy.sh || { echo write ./deploy.sh first >&2; exit 2; }; sh ./deploy.sh",
        {},
    ),
    "a failed helper": ("python3 ./log.py; exit 2", {}),
    "another guard": (
        "python3 ./log.py; python3 ./guard.py",
        {"guard.py": "import sys; sys.exit('./log.py')"},
    ),
}


@pytest.mark.nightly
@pytest.mark.parametrize("name", REAL)
def test_a_guard_of_existing_tools_did_run(guard, name):
    """A guard that refuses because a file of the project is missing or wrong has decided that."""
    command, files = REAL[name]

    assert "NOT-RUN" not in names(guard(command, files))


TOOLS = {
    "by a shell": "#!/bin/sh\nblack --check .\n",
    "by bash": "#!/bin/bash\nset -e\nls >/dev/null\nblack --check .\n",
    "in a function": "#!/bin/sh\nfmt() { black .; }\nfmt\n",
}


@pytest.mark.parametrize("how", TOOLS)
def test_a_missing_tool_is_not_a_missing_hook(guard, how):
    """A hook that calls a command which does not exist did run; the finding names the command."""
    outcome = guard("./fmt.sh", {"fmt.sh": TOOLS[how]})

    (finding,) = outcome.findings
    assert finding.name == "CRASHED"
    assert "the command black was not found" in finding.text


def test_a_missing_hook_is_no_missing_tool(guard):
    """A command line that begins with a command which does not exist is NOT-RUN."""
    assert names(guard("gaurd --strict")) == ["NOT-RUN"]


EXPECTED = [
    pytest.param({"blocks": 1}, id="blocks"),
    pytest.param({"blocks": 0}, id="no blocks"),
    pytest.param({"blocks": {"PreToolUse": 1}}, id="blocks of an event"),
    pytest.param({"decisions": {"PreToolUse": ["deny"]}}, id="decisions"),
    pytest.param({"reasons": ["open file"]}, id="reasons"),
    pytest.param({"sometimes": ["PreToolUse:deny"]}, id="sometimes"),
]


@pytest.mark.nightly
@pytest.mark.parametrize("expect", EXPECTED)
def test_no_expectation_about_refusals_is_met_by_a_guard_that_never_ran(play, expect):
    """A refusal by an interpreter without its script meets no expectation, and not its opposite."""
    outcome = play(
        agent=[{"prompt": "go"}, {"run": "rm -rf build"}, STOP],
        hooks={"PreToolUse": "python3 ./gaurd.py"},
        expect={**expect, "findings": ["NOT-RUN"]},
    )

    assert [broken.path.partition("[")[0].split(".")[1] for broken in outcome.violations] == [*expect]


@pytest.mark.parametrize("text", ["x", ".", "/", "x.", ".:", "a/"])
def test_a_long_output_is_not_searched_for_long(text):
    """What a hook prints is searched for names of files and modules in a time that grows with its length."""
    run = ProcessResult(ending=Exited(2), stderr=Output(data=text.encode() * 20_000))
    began = time.monotonic()

    spec = ProcessSpec(argv=("sh",), cwd="/", env={}, limit=1, hook_timeout=1)
    start_check._is_doubtful(run, 2, "./guard; exit", ["./guard"], spec)
    names = [one[0] for one in program_trials._NAME.finditer(run.stderr.text)]

    assert len("".join(names)) == 20_000 * len(text)
    assert time.monotonic() - began < 5


@pytest.mark.nightly
@pytest.mark.parametrize("command", ["python3 {}x.py", "cat {}x.txt; exit 2"])
def test_no_program_is_provided_at_a_path_of_many_parts(guard, monkeypatch, command):
    """A path of 1,900 parts is no place for programs: its folders are not made, for removal may fail."""
    made, make_folders = [], trial_runs.make_folders
    monkeypatch.setattr(
        trial_runs, "make_folders", lambda path: (made.append(len(path.parts)), make_folders(path))
    )
    guard(command.format("a/" * 1900))

    assert made
    assert max(made) < 200


def test_what_cannot_be_checked_is_said(play, tmp_path):
    """Where a hook cannot be run again, an assumption says so, and its refusal counts."""
    outcome = play(agent=AGENT, hooks={"PreToolUse": "python3 ./gaurd.py"}, world={"cover": [str(tmp_path)]})

    assert names(outcome) == []
    assert any("gaurd.py` itself ran" in text and "not checked" in text for text in outcome.assumptions)


@pytest.mark.nightly
def test_a_hook_that_answers_is_not_run_again(play, monkeypatch):
    """A hook that exits with 0, prints an answer or shows the name of no file is not checked."""
    monkeypatch.setattr(start_check, "_explain", lambda *_: pytest.fail("checked"))
    for command in (
        "true",
        """echo '{"decision": "block", "reason": "./x.py"}'; exit 1""",
        "echo no >&2; exit 2",
    ):
        play(agent=[{"prompt": "go"}, {"run": "true"}, STOP], hooks={"PreToolUse": command})


@pytest.mark.nightly
def test_a_check_starts_few_processes(guard, monkeypatch):
    """Arguments that are no programs cost few trials, and further words of a program cost none."""
    started, run = [], trial_runs.TrialRuns.run

    def counted(place, variants, **keys):
        started.extend(variants)
        return run(place, variants, **keys)

    # An interpreter of another language, written in Python, must not be taken for Python.
    reader = "import sys\nwords = open(sys.argv[1]).read().split()\n"
    reader += "words and print('rules:1: no', *words, file=sys.stderr)\n"
    reader += "words and sys.exit(77 if 'q77' in words else 2)\n"
    guard("python3 ./reader.py ./rules", {"reader.py": reader, "rules": "deny all"})
    monkeypatch.setattr(trial_runs.TrialRuns, "run", counted)
    script = "import argparse, os, sys\nparser = argparse.ArgumentParser()\n"
    script += "parser.add_argument('--limit', type=int)\nparser.parse_args()\n"
    script += (
        "print('guard.py:3: no', 'rm' * (not os.path.exists('more.txt')), file=sys.stderr)\nsys.exit(2)\n"
    )
    command = "python3 ./guard.py --limit 5"
    first = guard(command, {"guard.py": script})
    trials = len(started)
    again = guard(command, {"guard.py": script, "more.txt": ""})

    assert not names(first)
    assert not names(again)
    assert trials <= 16
    assert len(started) == trials


@pytest.mark.nightly
def test_the_check_leaves_no_trace(play):
    """A hook that is run again to see whether it ran counts its runs as without that."""
    script = "import pathlib, sys\nf = pathlib.Path('n')\n"
    script += "f.write_text(f.read_text() + '1' if f.exists() else '1')\n"
    script += "print('guard.py: no rm', file=sys.stderr)\nsys.exit(2)\n"
    outcome = play(
        agent=AGENT,
        files={"guard.py": script},
        hooks={"PreToolUse": "python3 ./guard.py"},
        expect={"files": {"equal": {"n": "1"}}},
    )

    assert outcome.passed
    assert not any("guard-" in path for state in outcome.trace.states.values() for path in state.files)


MISSING = "python3 ${NOWHERE:-.}/missing.py"
REFUSING = "echo no >&2; exit 2"


@pytest.mark.nightly
@pytest.mark.parametrize("verdict", ["livelock", "capped"])
@pytest.mark.parametrize(("hook", "counts"), [(MISSING, False), (REFUSING, True)])
def test_a_loop_of_a_hook_that_does_not_run_meets_no_expectation(play, hook, counts, verdict):
    """A loop is expected of a hook that runs: one whose script is missing breaks the expectation itself."""
    keys = {"until": "guard"} if verdict == "capped" else {}
    outcome = play(hooks={"Stop": hook}, agent=[{"prompt": "go"}], expect={"verdict": verdict}, **keys)

    assert outcome.verdict_name == verdict
    about = [broken.seen for broken in outcome.violations if broken.expected.startswith(verdict)]
    assert [seen.startswith(f"{verdict}: refused, but `python3") for seen in about] == [True] * (not counts)


def test_a_loop_of_a_missing_hook_can_be_expected_by_name(play):
    """A scenario that expects NOT-RUN is about the missing hook, so the loop counts."""
    expect = {"verdict": "livelock", "findings": ["NOT-RUN"]}
    outcome = play(hooks={"Stop": MISSING}, agent=[{"prompt": "go"}], expect=expect)

    assert outcome.violations == ()


def test_a_refusal_before_the_loop_does_not_take_the_loop_away(play):
    """Where the hook of the loop runs, a refusal of a missing one before it is told and the loop counts."""
    outcome = play(
        hooks={"Stop": REFUSING, "PreToolUse": MISSING},
        agent=[{"prompt": "go"}, {"run": "true"}],
        expect={"verdict": "livelock"},
    )

    assert {broken.expected for broken in outcome.violations} == {"no NOT-RUN"}


@pytest.mark.nightly
@pytest.mark.parametrize(
    "command",
    [
        f"echo '{'a' * 300}: not found' >&2; exit 127",
        f"echo '{'a' * 300} cause' >&2; exit 2",
        f"python3 -c 'import {'a' * 300}'",
        f"python3 {'a' * 300}.py",
        f"python3 {'a/' * 3000}x.py",
        f"cat {'a/' * 300}x; exit 1",
    ],
)
def test_names_that_no_file_can_have(play, command):
    """A hook that names, or prints, what is too long for a file is judged like any other."""
    outcome = play(hooks={"Stop": command}, agent=[{"stop": "Done."}])

    assert [run.ending.code for _, run in outcome.trace.hook_runs()]


@pytest.mark.parametrize(
    ("said", "doubtful"),
    [
        (b"curl: (6) Could not resolve host: example.com", False),
        (b"npm error code ENOTCACHED\nnpm error request to https://example.com/tool failed", False),
        (b"error: Could not resolve './guard.ts'", True),
    ],
)
def test_a_program_that_had_no_network_is_not_started_again(said, doubtful):
    """A program that says that it has no network ran, so it is not run again to find out whether it did."""
    run = ProcessResult(ending=Exited(2), stderr=Output(said, len(said)))
    spec = ProcessSpec(argv=("sh",), cwd="/", env={}, limit=1, hook_timeout=1)

    assert start_check._is_doubtful(run, 2, "npx tool", ["npx", "tool"], spec) is doubtful


@pytest.mark.parametrize(
    ("said", "doubtful"),
    [
        ("Tests fail, fix them: FAILED test_a.py::test 1", False),
        ("Tests fail, fix them: python3: can't open file 'gone.py'", True),
        ("./gate.sh: line 3: `Tests fail, fix them'", True),
        ("Tests are bad: test_a.py", True),
    ],
)
def test_a_message_that_begins_as_a_text_of_the_hook_shows_that_it_ran(tmp_path, said, doubtful):
    """A hook that prints a text of its own ran, unless the rest speaks of something that is missing."""
    (tmp_path / "gate.sh").write_text('#!/bin/sh\necho "Tests fail, fix them: $out" >&2\nexit 2\n')
    run = ProcessResult(ending=Exited(2), stderr=Output(said.encode(), len(said)))
    spec = ProcessSpec(argv=("sh",), cwd=str(tmp_path), env={}, limit=1, hook_timeout=1)

    assert start_check._is_doubtful(run, 2, "./gate.sh", ["./gate.sh"], spec) is doubtful
