"""What many cases, many scenario files and long transcripts cost, against a few of them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from measuring import Ratio, Table, against, pytest_environment

ROOT = Path(__file__).resolve().parent.parent
# The most times as much for each item, as much memory, and seconds. Memory is judged without the growth of
# pytest itself, which keeps each test and its reports to the end: empty tests take three times as much, too.
ITEM, MEMORY, LOADING, ANALYZING = 1.05, 1.2, 2.0, 20.0
_CASES = """\
import pytest

@pytest.mark.parametrize("number", range({number}))
def test_case(number, hook_fire):
    assert hook_fire("PreToolUse", "exit 2", tool_name="Bash", tool_input={{"command": "ls"}}).refused
"""
_EMPTY = """\
import pytest

@pytest.fixture
def nothing():
    return None

@pytest.mark.parametrize("number", range({number}))
def test_case(number, nothing):
    pass
"""
_SCENARIO = """\
name: asks-once-{number}
host: claude-code
hooks: {{Stop: '[ -e asked ] || {{ touch asked; echo no >&2; exit 2; }}'}}
agent: [{{prompt: "Fix {number}."}}, {{stop: "Done."}}, {{stop: "Done."}}]
expect: {{verdict: terminated, within: 2}}
"""
_LOAD = """
import sys, time
from pathlib import Path
from pytest_hookharness import hosts, scenario_files
files, began = sorted(Path(sys.argv[1]).iterdir()), time.process_time()
for file in files:
    scenario_files.load(file, known_hosts=hosts.names())
print(time.process_time() - began)
"""


@dataclass(frozen=True, slots=True)
class Cost:
    """
    What one process took.

    Attributes:
        cpu: Seconds of processor time, with its children.
        memory: Its largest resident size in MB, or that of a child.
    """

    cpu: float
    memory: float
    printed: str


def table(folder: Path, *, quick: bool) -> Table:
    """Run each command with few and with many items; the start is measured with one item and subtracted."""
    shrink = 50 if quick else 1
    found = Table(
        "12. Many items against few: CPU time for each item, without the start",
        ("what", "few", "many", "each of many", "x", "aim", "", "memory of many", "x", "aim", ""),
    )
    pytest = (
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "-p",
        "pytest_hookharness.plugin",
    )
    tests = {number: folder / f"test_{number}.py" for number in (1, 100, 10_000 // shrink)}
    for number, file in tests.items():
        file.write_text(_CASES.format(number=number))
    empty = {number: folder / f"test_empty_{number}.py" for number in tests}
    for number, file in empty.items():
        file.write_text(_EMPTY.format(number=number))
    floor = _compare(found, "tests of nothing, with a fixture", _pytest_of(pytest, empty), held=True)
    _compare(found, "tests of one hook run", _pytest_of(pytest, tests), floor=floor)
    places = {
        number: _write_scenarios(folder / f"scenarios{number}", number)
        for number in (1, 100, 1_000 // shrink)
    }
    commands = {n: (*pytest, "--hook-scenarios", str(place)) for n, place in places.items()}
    _compare(found, "scenario files, played", commands)
    many = max(places)
    loading = float(_run((sys.executable, "-c", _LOAD, str(places[many]))).printed)
    found.add(f"{many:,} scenario files, loaded", "", f"{loading:.2f} s", "", "", *against(LOADING, loading))
    lengths = {
        number: _write_transcript(folder, number) for number in (1, 50_000 // shrink, 1_000_000 // shrink)
    }
    analyzed = {
        n: (sys.executable, "-m", "pytest_hookharness", "analyze", str(file)) for n, file in lengths.items()
    }
    seconds = _compare(found, "actions of a transcript, analyzed", analyzed, held=True)[-1].cpu
    found.add(f"{max(lengths):,} actions, CPU", "", f"{seconds:.1f} s", "", "", *against(ANALYZING, seconds))
    return found


def _pytest_of(pytest: Sequence[str], files: Mapping[int, Path]) -> dict[int, Sequence[str]]:
    return {number: (*pytest, str(file)) for number, file in files.items()}


def _compare(
    found: Table,
    what: str,
    commands: Mapping[int, Sequence[str]],
    *,
    held: bool = False,
    floor: Sequence[Cost] = (),
) -> Sequence[Cost]:
    """
    Add a row about one command with different numbers of items; return the costs of one, few and many.

    Args:
        held: Whether all items are held in memory, so that it grows with them.
        floor: The costs of pytest itself, whose growth is subtracted before memories are compared.
    """
    one, few, many = (_run(commands[number]) for number in sorted(commands))
    _, some, most = sorted(commands)
    each = [cost.cpu - one.cpu for cost in (few, many)]
    ratio = Ratio((each[1] / (most - 1)) / (each[0] / (some - 1)))
    own = floor[2].memory - floor[1].memory if floor else 0.0
    memory = Ratio((many.memory - own) / few.memory)
    found.add(
        what,
        f"{some:,}",
        f"{most:,}",
        f"{each[1] / (most - 1) * 1e3:.3f} ms",
        ratio,
        *against(ITEM, ratio),
        f"{many.memory:.0f} MB" + (f", {own:.0f} of them pytest's growth" if floor else ""),
        memory,
        *against(None if held else MEMORY, memory),
    )
    return one, few, many


def _run(command: Sequence[str]) -> Cost:
    # `wait4` of a process of its own: what this process has waited for so far would count otherwise.
    code = (
        "import json, resource, subprocess, sys\n"
        "done = subprocess.run(sys.argv[1:], stdout=subprocess.PIPE, text=True)\n"
        "used = resource.getrusage(resource.RUSAGE_CHILDREN)\n"
        "print(json.dumps([used.ru_utime + used.ru_stime, used.ru_maxrss / 1024, done.stdout]))"
    )
    env = {**pytest_environment(), "PYTHONPATH": str(ROOT), "HOME": os.environ["HOME"]}
    done = subprocess.run(
        [sys.executable, "-c", code, *command], env=env, capture_output=True, text=True, check=True
    )
    return Cost(*json.loads(done.stdout))


def _write_scenarios(place: Path, number: int) -> Path:
    place.mkdir()
    for each in range(number):
        (place / f"{each:05}.scenario.yaml").write_text(_SCENARIO.format(number=each))
    return place


def _write_transcript(folder: Path, number: int) -> Path:
    """Write a transcript of Claude Code in which no call repeats."""
    path = folder / f"{number}.jsonl"
    with path.open("w") as file:
        for each in range(number):
            use = {
                "type": "tool_use",
                "id": f"t{each}",
                "name": "Bash",
                "input": {"command": f"make part-{each}"},
            }
            result = {"type": "tool_result", "tool_use_id": f"t{each}", "content": f"made part {each}"}
            for kind, part in (("assistant", use), ("user", result)):
                line = {"type": kind, "sessionId": "s", "message": {"role": kind, "content": [part]}}
                file.write(json.dumps(line) + "\n")
    return path
