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
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import median

from hook_runs import hook_environment, in_c
from measuring import Rounds, Table, Turn, against, milli, pytest_environment, take_turns
from toys import STDIN, build_floor, write_guard

from pytest_hookharness.frontends.harness import Harness
from pytest_hookharness.frontends.pytest_plugin.fixtures import HookFire, TestContext
from pytest_hookharness.model.processes import Stdio
from pytest_hookharness.simulation.testbed.run_settings import Settings

# Against the same cases with subprocess.run of /bin/sh -c.
AIMS = {"one test": 1.0, "many tests": 1.2}

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
_NOTHING = """\
import pytest

@pytest.fixture
def nothing():
    return None

def ask(nothing):
    pass
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
_EMPTY = "pytest + a fixture that does nothing"
_START = ", start alone"
# The least that a test with a fixture and a hook run of a reaper can cost.
_LEAST = "a fixture that does nothing, and the hook in C in another process"
_SHORT, _SENT = "/bin/sh -c in C, pipes, input of the others", "/bin/sh -c in C, sockets, input of hook_fire"
_SENT_ASKED = f"{_SENT}, in another process"


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
    commands, starts = _commands(place, cases), _commands(place, 1)
    with _hooks_in_c(place) as turns:
        turns |= {name: _whole(place, command, cases) for name, command in commands.items()}
        # One case, shared among as many as the others have.
        alone = {f"{name}{_START}": command for name, command in starts.items() if "one test" in name}
        turns |= {name: _whole(place, command, cases) for name, command in alone.items()}
        seen = take_turns(turns, 2 if quick else 10)
    for name in commands:
        ours = name.startswith(_OUR)
        aim = AIMS[name.partition(", ")[2]] if ours and not quick else None
        peers = [name.replace(_OUR, peer) for peer in (_PEER, _PEER_WITH_SHELL)] if ours else []
        found.add(
            name,
            milli(seen.median(name)),
            seen.ratio(name, _FLOOR),
            *(seen.ratio(name, peer) for peer in peers),
            *([] if peers else ["", ""]),
            *against(aim, seen.ratio(name, peers[-1]) if ours else 0.0),
        )
    _add_shares(found, seen)
    if "bats" not in commands:
        found.add("bats", "not installed")
    return found


def _add_shares(found: Table, seen: Rounds) -> None:
    """Add where the time of a case goes: the start, the hook itself, and the rest."""
    names = [name for name in seen.times if name.endswith(_START) or name in (_SHORT, _SENT, _SENT_ASKED)]
    for name in names:
        found.add(name, milli(seen.median(name)))
    for form in AIMS if _SENT in seen.times else ():
        rounds = zip(*(seen.times[name] for name in (f"{_EMPTY}, {form}", _SENT_ASKED)), strict=True)
        least = Rounds({**seen.times, _LEAST: [[median(empty) + median(hook)] for empty, hook in rounds]})
        ratio = least.ratio(_LEAST, f"{_PEER_WITH_SHELL}, {form}")
        found.add(f"{_LEAST}, {form}", milli(least.median(_LEAST)), "", "", ratio)
        for runner, hook in ((_PEER_WITH_SHELL, _SHORT), (_OUR, _SENT)):
            start = seen.median(f"{runner}, one test{_START}")
            rest = seen.median(f"{runner}, {form}") - start - seen.median(hook)
            found.add(f"{runner}, {form}, without start and hook", milli(rest))


@contextmanager
def _hooks_in_c(place: Path) -> Generator[dict[str, Turn]]:
    """Start a C program for each input that the hook gets; gives their turns, none without a compiler."""
    floor = build_floor(place)
    if floor is None:
        yield {}
        return
    shell, environment = ("/bin/sh", "-c", "./guard.sh"), hook_environment(place)
    with Harness(Settings()) as harness, TestContext(harness, place) as context:
        call = {"command": "git push --force"}
        ran = HookFire(context)("PreToolUse", "cat >&2; exit 2", tool_name="Bash", tool_input=call)
        sent = ran.stderr
    with (
        in_c(floor, Stdio.PIPE, place, shell, environment) as short,
        in_c(floor, Stdio.SOCKET, place, shell, environment, sent) as long,
        in_c(floor, Stdio.SOCKET, place, shell, environment, sent, asked=True) as asked,
    ):
        yield {_SHORT: short, _SENT: long, _SENT_ASKED: asked}


def _commands(place: Path, cases: int) -> dict[str, Sequence[str]]:
    payload = shlex.quote(STDIN.strip())
    loop, bats = place / f"loop_of_{cases}.sh", place / f"cases_{cases}.bats"
    loop.write_text(_LOOP.format(cases=cases, payload=payload))
    commands: dict[str, Sequence[str]] = {_FLOOR: ("bash", loop.name)}
    pytest = (sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider")
    for form, text in _FORMS.items():
        for name, head, fixture, plugin in (
            (_PEER, _PLAIN.format(payload=STDIN, command=["./guard.sh"]), "", ()),
            (_PEER_WITH_SHELL, _PLAIN.format(payload=STDIN, command=["/bin/sh", "-c", "./guard.sh"]), "", ()),
            (_EMPTY, _NOTHING, "nothing", ()),
            (_OUR, _OURS, "hook_fire", ("-p", "pytest_hookharness.plugin")),
        ):
            body = text.format(cases=cases, fixture=fixture, comma=", " if fixture else "")
            file = place / f"test_{len(commands)}_of_{cases}.py"
            file.write_text(f"{head}\n{body}")
            commands[f"{name}, {form}"] = (*pytest, *plugin, file.name)
    if shutil.which("bats"):
        tests = [_BATS.format(number=number, payload=payload) for number in range(cases)]
        bats.write_text("\n".join(tests))
        commands["bats"] = ("bats", bats.name)
    return commands


def _whole(place: Path, command: Sequence[str], cases: int) -> Turn:
    env = pytest_environment()

    def turn() -> list[float]:
        began = time.perf_counter()
        subprocess.run(command, cwd=place, env=env, capture_output=True, check=True)
        return [(time.perf_counter() - began) / cases]

    return turn
