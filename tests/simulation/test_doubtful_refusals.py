"""Refusals of which it is doubtful whether the guard itself decided, and those of real guards like them."""

from __future__ import annotations

import shutil
import subprocess

import pytest

pytestmark = pytest.mark.slow

# Each exit code but 0 refuses on the first one, only 2 on the second.
HOSTS = {"copilot-cli": "preToolUse", "claude-code": "PreToolUse"}
AGENT = [{"prompt": "go"}, {"run": "rm -rf build", "expect": "deny"}, {"stop": "Done."}]

PARSED = """
import argparse, sys
parser = argparse.ArgumentParser()
parser.add_argument("mode", choices=["all", "some"])
parser.add_argument("--strict", action="store_true")
mode = parser.parse_args().mode
if "rm" in sys.stdin.read():
    parser.error(f"argument mode: invalid choice: '{mode}' with rm")
"""
MAKE = {"Makefile": "guard:\n\t@grep -q rm && { echo 'guard: No rule for rm' >&2; exit 2; }\n"}
NPM = {"package.json": '{"name": "x", "scripts": {"guard": "grep -q rm && { echo no rm >&2; exit 2; }"}}'}


@pytest.fixture
def refuse(play):
    """Return how a guard met the expectation of a refusal: ``refused``, ``doubtful`` or ``allowed``."""

    def run(host, command, files):
        if not shutil.which(command.split()[0], path="/usr/bin:/bin") and "/" not in command.split()[0]:
            pytest.skip(f"no {command.split()[0]} here")
        hooks, env = {HOSTS[host]: command}, {"PATH": "/usr/bin:/bin"}
        outcome = play(host=host, agent=AGENT, hooks=hooks, files=files, env=env)
        seen = [broken.seen for broken in outcome.violations if broken.path.endswith("expect")]
        doubtful = any("it is unknown whether" in text or "did not run" in text for text in seen)
        return "doubtful" if doubtful else "allowed" if seen else "refused"

    return run


NAMES = [
    ("make gaurd", MAKE),
    ("make tools/gaurd 2>/dev/null", MAKE),
    ("cat | make --silnt gaurd", MAKE),
    ("./run.sh", {**MAKE, "run.sh": "#!/bin/sh\nset -e\nmake -s gaurd\n"}),
    ("python3 guard.py al", {"guard.py": PARSED}),
    ("python3 guard.py all --strct", {"guard.py": PARSED}),
    ("python3 guard.py all -s", {"guard.py": PARSED.replace("strict", "level")}),
    ("python3 -m guard al", {"guard/__init__.py": "", "guard/__main__.py": PARSED}),
    ("python3 guard.py", {"guard.py": PARSED}),
    ("python3 -m json.tool --gaurd", {}),
    ("grep -qf patterns", {}),
    ("grep -q", {}),
    ("grep --qiet rm", {}),
]


@pytest.mark.nightly
@pytest.mark.parametrize(("command", "files"), NAMES)
def test_a_name_that_a_command_does_not_know_refuses_nothing(refuse, command, files):
    """A target, subcommand, option or argument that is misspelt or left out is no refusal where 2 refuses."""
    assert refuse("claude-code", command, files) == "doubtful"


STRICT_NAMES = [
    ("git gaurd", {}),
    ("git --gaurd", {}),
    ("npm run gaurd", NPM),
    ("npm gaurd", NPM),
    ("node --gaurd guard.js", {"guard.js": "process.exit(2)"}),
    ("jq -ef gaurd", {}),
    ("jq 'gaurd(.)'", {}),
    ("bash -n gaurd.sh", {}),
    ("env gaurd", {}),
    ("xargs gaurd", {}),
]


@pytest.mark.nightly
@pytest.mark.parametrize(("command", "files"), STRICT_NAMES)
def test_an_unknown_name_refuses_nothing_on_a_strict_host(refuse, command, files):
    """Where every failure refuses, a misspelt name of any kind meets no expectation."""
    assert refuse("copilot-cli", command, files) == "doubtful"


READS = (
    "import sys\nif 'rm' in sys.stdin.read():\n    print(f'{sys.argv[1]}: unknown word', file=sys.stderr)\n"
)
ASKS = """
import os, sys
if not os.path.exists(sys.argv[1]):
    print(f"write {sys.argv[1]} first", file=sys.stderr)
    sys.exit(2)
"""
GUARDS = [
    ("python3 guard.py all --strict", {"guard.py": PARSED}),
    ("python3 guard.py prod", {"guard.py": READS + "    sys.exit(2)\n"}),
    ("env MODE=x python3 guard.py prod", {"guard.py": READS + "    sys.exit(2)\n"}),
    (
        "python3 -m guard prod",
        {
            "guard/__init__.py": "",
            "guard/words.py": "WHY = 'error: unrecognized arguments: {}'\n",
            "guard/__main__.py": "import sys\nfrom guard.words import WHY\n"
            "if 'rm' in sys.stdin.read():\n    print(WHY.format(sys.argv[1]), file=sys.stderr)\n"
            "    sys.exit(2)\n",
        },
    ),
    (
        "node guard.js prod",
        {
            "guard.js": "const all = require('fs').readFileSync(0, 'utf8');\n"
            "if (!all.includes('rm')) process.exit(0);\n"
            "console.error(`${process.argv[2]}: unknown command`); process.exit(2)\n"
        },
    ),
    ("perl -e 'if (<> =~ /rm/) { print STDERR \"$ARGV[0]: no\\n\"; exit 2 }' <&0", {}),
    ("perl guard.pl", {"guard.pl": 'if (<STDIN> =~ /rm/) { print STDERR "guard.pl: no\\n"; exit 2 }\n'}),
    ("bash guard.sh prod", {"guard.sh": "case $(cat) in *rm*) echo $1: unknown option >&2; exit 2;; esac\n"}),
    ("./guard.sh -x", {"guard.sh": '#!/bin/sh\ngrep -q rm && { echo "illegal option $1" >&2; exit 2; }\n'}),
    ("tclsh guard.tcl prod", {"guard.tcl": 'puts stderr "[lindex $argv 0]: no [read stdin]"\nexit 2\n'}),
    ('awk -v mode=prod \'/rm/ { print mode ": no" > "/dev/fd/2"; exit 2 }\'', {}),
    ('jq -e \'tostring | if test("rm") then "no rm" | halt_error(2) else . end\'', {}),
    ("sed -n '/rm/ { s/.*/no rm/; p; q2 }'", {}),
    ("make -s guard", MAKE),
    ("make guard MODE=strict", MAKE),
    ("npm run -s guard", NPM),
    ("ls ./approved.txt", {}),
    ("ls approved", {}),
    ("grep -q yes approved", {}),
    ("diff expected seen >&2", {"seen": "x\n"}),
    ("jq -e .ok ./missing.json", {}),
    ("bash -n ./deploy.sh", {"deploy.sh": "if\n"}),
    ("python3 guard.py approved", {"guard.py": ASKS}),
    ("echo 'guard: unknown command' >&2; exit 2", {}),
]


@pytest.mark.nightly
@pytest.mark.parametrize(("command", "files"), GUARDS)
def test_a_guard_that_decides_refuses(refuse, command, files):
    """A guard that refuses this call, and not any other, counts in whatever words it says so."""
    assert refuse("claude-code", command, files) == "refused"


STRICT_GUARDS = [
    ("grep -q approved .state", {}),
    ("git ls-files --error-unmatch CHANGELOG.md", {}),
    ("jq . settings.json", {"settings.json": "{"}),
    ("node --check app.js", {"app.js": "x = (;\n"}),
    ("python3 -m py_compile app.py", {"app.py": "if\n"}),
    ("perl guard.pl", {"guard.pl": "die 'approve first' unless -e 'approved';\n"}),
    ('perl -e \'die "approve first" unless -e "approved"\'', {}),
    ("node -e \"throw new Error('no rm')\"", {}),
    ("python3 guard.py", {"guard.py": "raise PermissionError('no rm')\n"}),
]


@pytest.mark.nightly
@pytest.mark.parametrize(("command", "files"), STRICT_GUARDS)
def test_a_guard_that_fails_on_purpose_refuses_on_a_strict_host(refuse, command, files):
    """A guard that refuses by a failure of a tool, or by an error of its own, counts."""
    assert refuse("copilot-cli", command, files) == "refused"


def test_a_gate_that_refuses_in_its_own_words_runs(play):
    """A gate whose commands fail is one that runs if it then says a message that stands in its script."""
    gate = '#!/bin/bash\nn=$(nowhere)\n[ "$n" -ge 3 ] && exit 0\necho run make >&2; exit 2\n'
    outcome = play(
        files={"gate.sh": gate},
        hooks={"Stop": "./gate.sh"},
        agent=[{"prompt": "go"}],
        expect={"verdict": "livelock"},
    )

    assert outcome.passed


# An interpreter of an unknown language that executes each line as soon as it has read it.
LAZY = r"""
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(int count, char **words) {
    char line[99], all[9999];
    FILE *file = count > 1 ? fopen(words[1], "r") : NULL;
    if (!file) return 2;
    for (int number = 1; fgets(line, 99, file); number++)
        if (!strncmp(line, "WRITE|", 6)) fputs(line + 6, stderr);
        else if (!strncmp(line, "TAKE", 4)) fread(all, 1, 9999, stdin);
        else if (!strncmp(line, "STOPWITH|", 9)) return atoi(line + 9);
        else if (!strncmp(line, "CALL|", 5)) return fprintf(stderr, "bad luck with %s", line + 5), 2;
        else return fprintf(stderr, "cannot make sense of line %d\n", number), 2;
    return 0;
}
"""


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("program", "end"),
    [
        ("TAKE|\nWRITE|no rm\nSTOPWITH|2\n", "refused"),
        ("TAKE|\nWRITE|cannot do that\nSTOPWITH|2\n", "refused"),
        ("TAKE|\nWRITE|no rm\nSTOP WITH 2\n", "doubtful"),
        ("TAKE|\nWRITE|no rm\nCALL|nobody\nSTOPWITH|2\n", "doubtful"),
    ],
)
def test_a_language_that_is_executed_while_it_is_read(refuse, tmp_path, program, end):
    """A program that its unknown interpreter gave up late refuses nothing; one that refuses does."""
    if not shutil.which("cc"):
        pytest.skip("no C compiler here")
    place = tmp_path / "lazy"
    subprocess.run(["cc", "-x", "c", "-o", place, "-"], input=LAZY, text=True, check=True)

    assert refuse("claude-code", f"{place} ./guard.lz", {"guard.lz": program}) == end
