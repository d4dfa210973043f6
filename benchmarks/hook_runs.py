"""The time of one hook run, beside the same work in C and with ``subprocess``."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from measuring import Rounds, Table, Turn, against, micro, milli, take_turns
from toys import STDIN, build_floor, targets

from pytest_hookharness.execution.processes.sandbox import Sandbox, Supervisor, available_tiers
from pytest_hookharness.execution.processes.translation import Confinement
from pytest_hookharness.execution.workspace.visible_machine import host_environment
from pytest_hookharness.model.fast_dataclass import replace
from pytest_hookharness.model.processes import ProcessSpec, Stdin, Stdio, Tier

AIMS = {
    (Tier.SUBREAPER.value, "true"): 1.20,
    (Tier.SUBREAPER.value, "bash"): 1.08,
    (Tier.NAMESPACES.value, "true"): 1.30,
    (Tier.NAMESPACES.value, "bash"): 1.15,
    (f"{Tier.SUBREAPER.value}, without the round trip", "true"): 1.10,
    (f"{Tier.SUBREAPER.value}, without the round trip", "bash"): 1.05,
}
# A twelfth was measured where the exit of Python was cut short.
_WARM_AIM = 1 / 12
_BATCH = 5
_C = "C"
# The same in a process of its own, as the hooks of a reaper must be: two changes between processes more.
_ASKED = "C in another process"


def table(folder: Path, *, quick: bool) -> Table:
    """Measure all programs with all runners in turns."""
    found = Table(
        "1. One hook run: median time, and times as long as the C program with the same streams",
        ("hook run", "streams", "median", "x C", "aim", ""),
    )
    floor = build_floor(folder)
    environment = hook_environment(folder)
    for target, words in targets(folder).items():
        rounds = (4 if target == "python" else 6) if quick else (30 if target == "python" else 80)
        with ExitStack() as stack:
            turns: dict[str, Turn] = {}
            if floor is not None:
                for stdio in (Stdio.SOCKET, Stdio.PIPE):
                    program = in_c(floor, stdio, folder, words, environment)
                    turns[f"{_C} {stdio.value}"] = stack.enter_context(program)
                    program = in_c(floor, stdio, folder, words, environment, asked=True)
                    turns[f"{_ASKED} {stdio.value}"] = stack.enter_context(program)
            turns |= _in_tiers(stack, folder, words, environment)
            turns["bare pipe"] = _by_subprocess(words, environment)
            turns["usual pipe"] = _by_subprocess(
                words, environment, timeout=10, start_new_session=True, cwd=folder
            )
            seen = take_turns(turns, rounds)
        _add_rows(found, target, turns, seen)
    return found


def warm_table(folder: Path, *, quick: bool) -> Table:
    """Measure runs of Python hooks that are forked (--hook-warm) against those that are started."""
    found = Table(
        "1b. One run of a Python hook: forked from a prepared Python, against a usual start",
        ("hook", "tier", "started", "forked", "forked / started", "aim", ""),
    )
    script = folder / "hook.py"
    for modules in ("json", "json, re, subprocess, pathlib"):
        script.write_text(f"import {modules}, sys\nprint(json.dumps({{'got': len(sys.stdin.read())}}))\n")
        for words in ((sys.executable, str(script)), ("/bin/sh", "-c", f"{sys.executable} {script}")):
            launch = ProcessSpec(
                argv=words, cwd=str(folder), env=hook_environment(folder), stdin=Stdin(data=STDIN.encode())
            )
            _add_warm_rows(
                found, f"{modules}{' by sh' if len(words) > 2 else ''}", launch, 6 if quick else 30
            )
    return found


def _add_warm_rows(found: Table, hook: str, launch: ProcessSpec, rounds: int) -> None:
    for tier in (Tier.SUBREAPER, Tier.NAMESPACES):
        if tier not in available_tiers():
            continue
        with Supervisor() as supervisor, supervisor.open(Confinement(tier=tier)) as sandbox:
            warm = replace(launch, warm="prepared")
            forked = [sandbox.run([warm], budget=30.0)[0].warm for _ in range(2)]
            if forked != [False, True]:
                found.add(hook, tier.value, "not forked here")
                continue
            turns = {"started": _in_sandbox(sandbox, launch), "forked": _in_sandbox(sandbox, warm)}
            seen = take_turns(turns, rounds)
        ratio = seen.ratio("forked", "started")
        times = (milli(seen.median(name)) for name in turns)
        found.add(hook, tier.value, *times, ratio, *against(_WARM_AIM, ratio))


def _add_rows(found: Table, target: str, turns: Iterable[str], seen: Rounds) -> None:
    floors = [name for name in turns if name.startswith(_C)]
    if not floors:
        found.add(f"{target}: C", "no C compiler")
    for name in turns:
        kind, _, stdio = name.rpartition(" ")
        ratio = seen.ratio(name, f"{_C} {stdio}") if floors else None
        found.add(
            f"{target}: {_TITLES.get(kind, kind)}",
            stdio,
            micro(seen.median(name)),
            ratio or "",
            *against(AIMS.get((kind, target)) if ratio else None, ratio or 0.0),
        )


_TITLES = {"bare": "subprocess.run(input)", "usual": "subprocess.run(input, timeout, session, cwd)"}


def hook_environment(folder: Path) -> dict[str, str]:
    """Return the environment in which the hooks are run."""
    return host_environment(
        path="/usr/local/bin:/usr/bin:/bin",
        root=str(folder / "root"),
        home=str(folder / "home"),
        tmp=str(folder / "tmp"),
        top=str(folder / "root"),
        doubles=str(folder / "doubles"),
        given={},
    )


@contextmanager
def in_c(
    floor: Path,
    stdio: Stdio,
    folder: Path,
    words: Sequence[str],
    environment: Mapping[str, str],
    stdin: str = STDIN,
    *,
    asked: bool = False,
) -> Generator[Turn]:
    """
    Start the C program for a block; gives the turn in which it runs a command.

    Args:
        asked: Whether another process runs the command, and is asked to by a message.
    """
    process = subprocess.Popen(
        [floor, stdio.value + ("-asked" if asked else ""), folder, stdin, *words],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=dict(environment),
    )
    assert process.stdin is not None
    assert process.stdout is not None
    requests, answers = process.stdin, process.stdout

    def turn() -> list[float]:
        requests.write(f"{_BATCH}\n")
        requests.flush()
        return [int(word) / 1e9 for word in answers.readline().split()]

    with process:
        yield turn


def _timed(work: Callable[[], object]) -> list[float]:
    times = []
    for _ in range(_BATCH):
        began = time.perf_counter()
        work()
        times.append(time.perf_counter() - began)
    return times


def _in_tiers(
    stack: ExitStack, folder: Path, words: tuple[str, ...], environment: Mapping[str, str]
) -> dict[str, Turn]:
    turns: dict[str, Turn] = {}
    supervisor = stack.enter_context(Supervisor())
    for tier in available_tiers():
        sandbox = stack.enter_context(supervisor.open(Confinement(tier=tier)))
        for stdio in (Stdio.SOCKET, Stdio.PIPE):
            stdin = Stdin(data=STDIN.encode())
            launch = ProcessSpec(argv=words, cwd=str(folder), env=environment, stdin=stdin, stdio=stdio)
            turns[f"{tier.value} {stdio.value}"] = _in_sandbox(sandbox, launch)
            turns[f"{tier.value}, without the round trip {stdio.value}"] = _in_supervisor(sandbox, launch)
    return turns


def _in_sandbox(sandbox: Sandbox, launch: ProcessSpec) -> Turn:
    return lambda: _timed(lambda: sandbox.run([launch], budget=30.0))


def _in_supervisor(sandbox: Sandbox, launch: ProcessSpec) -> Turn:
    """Return what runs a hook, with the time from its start to its end by the clock of the supervisor."""
    return lambda: [sandbox.run([launch], budget=30.0)[0].wall for _ in range(_BATCH)]


def _by_subprocess(words: Sequence[str], environment: Mapping[str, str], **how: Any) -> Turn:
    def work() -> None:
        subprocess.run(words, input=STDIN.encode(), capture_output=True, env=environment, check=False, **how)

    return lambda: _timed(work)
