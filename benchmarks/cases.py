"""
What one small case costs in a whole run of its runner.

A case gives a bash hook a payload and asserts that it refuses. Times are of whole processes, so the
start of the runner is shared among the cases.
"""

from __future__ import annotations

import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from measuring import Table, Turn, against, milli, pytest_environment, take_turns
from toys import STDIN, write_guard

MOST_MILLISECONDS = 2.3

_OURS = """\
import pytest

def ask(hook_fire):
    call = {"tool_name": "Bash", "tool_input": {"command": "git push --force"}}
    assert hook_fire("PreToolUse", "./guard.sh", **call).refused
"""
_PLAIN = """\
import json
import subprocess

import pytest

PAYLOAD = {payload!r}

def ask():
    run = subprocess.run({command!r}, input=PAYLOAD, capture_output=True, timeout=10, text=True)
    assert run.returncode == 2
"""
_FORMS = {
    "one test": "def test_cases({fixture}):\n    for _ in range({cases}):\n        ask({fixture})\n",
    "many tests": '@pytest.mark.parametrize("number", range({cases}))\n'
    "def test_case(number{comma}{fixture}):\n    ask({fixture})\n",
}
_BATS = """@test "case {number}" {{
  run ./guard.sh <<< {payload}
  [ "$status" -eq 2 ]
}}
"""
_LOOP = """\
for _ in {{1..{cases}}}; do
  ./guard.sh <<< {payload} 2> /dev/null
  [ $? -eq 2 ] || exit 1
done
"""
_FLOOR = "loop in bash"
_PEER = "pytest + subprocess.run"
_PEER_WITH_SHELL = "pytest + subprocess.run of /bin/sh -c"
_OUR = "pytest + hook_fire"


def table(folder: Path, *, quick: bool) -> Table:
    """Run the same cases with every runner, in turns."""
    cases = 10 if quick else 200
    place = folder / "cases"
    place.mkdir()
    write_guard(place)
    found = Table(
        f"4. {cases} cases of one hook run, whole processes: time per case",
        ("runner", "per case", "x loop", "x subprocess", "x sh -c", "aim", ""),
        notes=[
            "A host starts hooks by /bin/sh -c, and so does hook_fire; loop and subprocess.run do not.",
            "Each test begins with a workspace and a sandbox in which nothing has happened.",
        ],
    )
    commands = _commands(place, cases)
    seen = take_turns(
        {name: _whole(place, command, cases) for name, command in commands.items()}, 2 if quick else 7
    )
    for name in commands:
        ours = name.startswith(_OUR)
        aim = MOST_MILLISECONDS if ours and not quick else None
        peers = [name.replace(_OUR, peer) for peer in (_PEER, _PEER_WITH_SHELL)] if ours else []
        found.add(
            name,
            milli(seen.median(name)),
            seen.ratio(name, _FLOOR),
            *(seen.ratio(name, peer) for peer in peers),
            *([] if peers else ["", ""]),
            *against(aim, seen.median(name) * 1e3, "{:.2f} ms"),
        )
    if "bats" not in commands:
        found.add("bats", "not installed")
    return found


def _commands(place: Path, cases: int) -> dict[str, Sequence[str]]:
    payload = shlex.quote(STDIN.strip())
    (place / "loop.sh").write_text(_LOOP.format(cases=cases, payload=payload))
    commands: dict[str, Sequence[str]] = {_FLOOR: ("bash", "loop.sh")}
    pytest = (sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider")
    for form, text in _FORMS.items():
        for name, head, fixture, plugin in (
            (_PEER, _PLAIN.format(payload=STDIN, command=["./guard.sh"]), "", ()),
            (_PEER_WITH_SHELL, _PLAIN.format(payload=STDIN, command=["/bin/sh", "-c", "./guard.sh"]), "", ()),
            (_OUR, _OURS, "hook_fire", ("-p", "pytest_hookharness.plugin")),
        ):
            body = text.format(cases=cases, fixture=fixture, comma=", " if fixture else "")
            file = place / f"test_{len(commands)}.py"
            file.write_text(f"{head}\n{body}")
            commands[f"{name}, {form}"] = (*pytest, *plugin, file.name)
    if shutil.which("bats"):
        tests = [_BATS.format(number=number, payload=payload) for number in range(cases)]
        (place / "cases.bats").write_text("\n".join(tests))
        commands["bats"] = ("bats", "cases.bats")
    return commands


def _whole(place: Path, command: Sequence[str], cases: int) -> Turn:
    env = pytest_environment()

    def turn() -> list[float]:
        began = time.perf_counter()
        subprocess.run(command, cwd=place, env=env, capture_output=True, check=True)
        return [(time.perf_counter() - began) / cases]

    return turn
