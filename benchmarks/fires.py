"""
This module is concerned with what one fire costs, beside the same work done in C and by ``subprocess``.
"""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from measuring import Table, Turn, against, micro, take_turns
from toys import STDIN, build_floor, targets

from pytest_hookharness.execution.environment import host_environment
from pytest_hookharness.execution.sandbox import Confinement, Sandbox, Supervisor, available_tiers
from pytest_hookharness.model.processes import Launch, Stdin, Stdio, Tier

AIMS = {
    (Tier.SUBREAPER, "true"): 1.25,
    (Tier.SUBREAPER, "bash"): 1.10,
    (Tier.NAMESPACES, "true"): 1.60,
    (Tier.NAMESPACES, "bash"): 1.60,
}
_BATCH = 5
_C = "C"


def table(folder: Path, *, quick: bool) -> Table:
    """
    Fire everything in turns.
    """
    found = Table(
        "1. One fire: median time, and times as long as the C program with the same streams",
        ("fire", "streams", "median", "x C", "aim", ""),
    )
    floor = build_floor(folder)
    environment = _environment(folder)
    for target, words in targets(folder).items():
        rounds = (4 if target == "python" else 6) if quick else (30 if target == "python" else 80)
        with ExitStack() as stack:
            turns: dict[str, Turn] = {}
            if floor is not None:
                for stdio in (Stdio.SOCKET, Stdio.PIPE):
                    turns[f"{_C} {stdio.value}"] = stack.enter_context(
                        _in_c(floor, stdio, folder, words, environment)
                    )
            supervisor = stack.enter_context(Supervisor())
            tiers = available_tiers()
            for tier in tiers:
                sandbox = stack.enter_context(supervisor.open(Confinement(tier=tier)))
                for stdio in (Stdio.SOCKET, Stdio.PIPE):
                    launch = Launch(
                        argv=words,
                        cwd=str(folder),
                        env=environment,
                        stdin=Stdin(data=STDIN.encode()),
                        stdio=stdio,
                    )
                    turns[f"{tier.value} {stdio.value}"] = _in_sandbox(sandbox, launch)
            turns["bare pipe"] = _by_subprocess(words, environment)
            turns["usual pipe"] = _by_subprocess(
                words, environment, timeout=10, start_new_session=True, cwd=folder
            )
            seen = take_turns(turns, rounds)
        if floor is None:
            found.add(f"{target}: C", "", "no C compiler")
        for name in turns:
            kind, _, stdio_name = name.rpartition(" ")
            tier = next((tier for tier in tiers if tier.value == kind), None)
            ratio = seen.ratio(name, f"{_C} {stdio_name}") if floor is not None else None
            aim = AIMS.get((tier, target)) if tier and ratio else None
            found.add(
                f"{target}: {_TITLES.get(kind, kind)}",
                stdio_name,
                micro(seen.median(name)),
                f"{ratio:.2f}" if ratio else "",
                *against(aim, ratio or 0.0),
            )
    return found


_TITLES = {"bare": "subprocess.run(input)", "usual": "subprocess.run(input, timeout, session, cwd)"}


def _environment(folder: Path) -> dict[str, str]:
    places = {name: str(folder / name) for name in ("root", "home", "tmp", "doubles")}
    return host_environment({"PATH": "/usr/local/bin:/usr/bin:/bin"}, given={}, **places)


@contextmanager
def _in_c(
    floor: Path, stdio: Stdio, folder: Path, words: Sequence[str], environment: Mapping[str, str]
) -> Iterator[Turn]:
    process = subprocess.Popen(
        [floor, stdio.value, folder, STDIN, *words],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=dict(environment),
    )
    assert process.stdin is not None
    assert process.stdout is not None
    stdin, stdout = process.stdin, process.stdout

    def turn() -> list[float]:
        stdin.write(f"{_BATCH}\n")
        stdin.flush()
        return [int(word) / 1e9 for word in stdout.readline().split()]

    with process:
        yield turn


def _timed(work: Callable[[], object]) -> list[float]:
    times = []
    for _ in range(_BATCH):
        began = time.perf_counter()
        work()
        times.append(time.perf_counter() - began)
    return times


def _in_sandbox(sandbox: Sandbox, launch: Launch) -> Turn:
    return lambda: _timed(lambda: sandbox.run([launch], budget=30.0))


def _by_subprocess(words: Sequence[str], environment: Mapping[str, str], **how: Any) -> Turn:
    def work() -> None:
        subprocess.run(words, input=STDIN.encode(), capture_output=True, env=environment, check=False, **how)

    return lambda: _timed(work)
