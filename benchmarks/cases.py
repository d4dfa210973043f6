"""
This module is concerned with what one small case costs in a whole run of its runner.

A case gives a bash hook a payload and asserts that it refuses. Times are of whole processes, so the
start of the runner is shared among the cases.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from measuring import Table, Turn, against, milli, take_turns
from toys import STDIN, write_guard

MOST_MILLISECONDS = 2.3

_OURS = """\
import pytest

def ask(hook_fire):
    answer = hook_fire("PreToolUse", "./guard.sh", tool_name="Bash", tool_input={"command": "git push --force"})
    assert answer.refused
"""
_PLAIN = """\
import json
import subprocess

import pytest

PAYLOAD = {payload!r}

def ask():
    run = subprocess.run(["./guard.sh"], input=PAYLOAD, capture_output=True, timeout=10, text=True)
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


def table(folder: Path, *, quick: bool) -> Table:
    """
    Run the same cases with every runner, in turns.
    """
    cases = 40 if quick else 200
    place = folder / "cases"
    place.mkdir()
    write_guard(place)
    found = Table(
        f"4. {cases} cases of one fire, whole processes: time per case",
        ("runner", "per case", "x loop", "x pytest + subprocess", "aim", ""),
    )
    commands = _commands(place, cases)
    seen = take_turns(
        {name: _whole(place, command, cases) for name, command in commands.items()}, 2 if quick else 7
    )
    for name in commands:
        peer = name.replace("hook_fire", "subprocess.run")
        aim = MOST_MILLISECONDS if "hook_fire" in name and not quick else None
        found.add(
            name,
            milli(seen.median(name)),
            f"{seen.ratio(name, _FLOOR):.2f}",
            f"{seen.ratio(name, peer):.2f}" if peer != name else "",
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
            ("subprocess.run", _PLAIN.format(payload=STDIN), "", ()),
            ("hook_fire", _OURS, "hook_fire", ("-p", "pytest_hookharness.plugin")),
        ):
            body = text.format(cases=cases, fixture=fixture, comma=", " if fixture else "")
            file = place / f"test_{name.replace('.', '_')}_{form.replace(' ', '_')}.py"
            file.write_text(f"{head}\n{body}")
            commands[f"pytest + {name}, {form}"] = (*pytest, *plugin, file.name)
    if shutil.which("bats"):
        tests = [_BATS.format(number=number, payload=payload) for number in range(cases)]
        (place / "cases.bats").write_text("\n".join(tests))
        commands["bats"] = ("bats", "cases.bats")
    return commands


def _whole(place: Path, command: Sequence[str], cases: int) -> Turn:
    env: Mapping[str, str] = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}

    def turn() -> list[float]:
        began = time.perf_counter()
        subprocess.run(command, cwd=place, env=env, capture_output=True, check=True)
        return [(time.perf_counter() - began) / cases]

    return turn
