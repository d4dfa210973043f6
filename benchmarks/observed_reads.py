"""What it costs to record what a hook run looks at, against the same hook run without that."""

from __future__ import annotations

import shutil
import time
from pathlib import Path

from measuring import Table, Turn, against, milli, take_turns

from pytest_hookharness.execution.processes.sandbox import Sandbox, Supervisor
from pytest_hookharness.execution.processes.translation import Confinement
from pytest_hookharness.execution.reads.observer import ReadObserver
from pytest_hookharness.model.processes import ProcessSpec, Stdin, Tier

AIM = 5.0
_EMPTY = {
    "/bin/sh": ("/bin/sh", "-c", ":"),
    "bash": ("bash", "-c", ":"),
    "python3": ("python3", "-c", "pass"),
    "node": ("node", "-e", "0"),
}
_LOGGING = {
    "/bin/sh, reads and appends": (
        "/bin/sh",
        "-c",
        "n=$(cat count 2>/dev/null); date >>log; [ -e x ]; exit 2",
    ),
    "python3, reads JSON and appends": (
        "python3",
        "-c",
        "import json, sys; json.load(sys.stdin); open('log', 'a').write('x')",
    ),
}


def table(folder: Path, *, quick: bool) -> Table:
    """Run each hook observed and unobserved, in turns."""
    found = Table(
        "12. Hook runs whose reads are recorded: median time, and times as long as without that",
        ("hook", "tier", "normal", "observed", "x normal", "aim", ""),
        notes=["The empty runs that tell the start of an interpreter are made once before, and not counted."],
    )
    with Supervisor() as supervisor:
        for tier in (Tier.NAMESPACES, Tier.SUBREAPER):
            if supervisor.tiers()[tier]:
                continue
            places = (str(folder),)
            with supervisor.open(Confinement(tier=tier, visible=places, writable=places)) as sandbox:
                _measure(found, sandbox, folder, 4 if quick else 30)
    return found


def _measure(found: Table, sandbox: Sandbox, folder: Path, rounds: int) -> None:
    for name, words in {**_EMPTY, **_LOGGING}.items():
        if shutil.which(words[0]) is None:
            found.add(name, sandbox.tier.value, f"no {words[0]}")
            continue
        spec = ProcessSpec(
            argv=words,
            cwd=str(folder),
            env={"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": str(folder)},
            stdin=Stdin(data=b"{}"),
        )
        seen = take_turns({"normal": _normal(sandbox, spec), "observed": _observed(sandbox, spec)}, rounds)
        ratio = seen.ratio("observed", "normal")
        found.add(
            name,
            sandbox.tier.value,
            milli(seen.median("normal")),
            milli(seen.median("observed")),
            ratio,
            *against(AIM, ratio),
        )


def _normal(sandbox: Sandbox, spec: ProcessSpec) -> Turn:
    def turn() -> list[float]:
        began = time.perf_counter()
        sandbox.run([spec])
        return [time.perf_counter() - began]

    return turn


def _observed(sandbox: Sandbox, spec: ProcessSpec) -> Turn:
    observer = ReadObserver()

    def turn() -> list[float]:
        began = time.perf_counter()
        (run,) = observer.run(sandbox.run, [spec])
        if run.reads is None or not run.reads.complete:
            raise RuntimeError(f"not observed: {run.reads.gap if run.reads else ''}")
        return [time.perf_counter() - began]

    return turn
