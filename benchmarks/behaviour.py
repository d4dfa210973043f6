"""
Record what the harness decides, and compare it with an earlier record.

usage: python benchmarks/behaviour.py record FILE [--set NAME...] [--jobs N]
       python benchmarks/behaviour.py compare FILE [--set NAME...] [--jobs N]
       python benchmarks/behaviour.py stable FIRST SECOND FILE

A record has one line for each item: every shipped scenario on every host, every hook of the corpus, every
recorded row of a real host. A line holds verdict, evidence, turns, blocks, decisions, numbers of findings
and a digest of all replies. Wording is left out: texts that the harness itself makes may change freely.

``stable`` keeps of two records what is the same in both; what a hook draws at random is dropped so.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import multiprocessing
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from pytest_hookharness import hosts, scenario_files  # noqa: E402
from pytest_hookharness.frontends.harness import Harness, finding_names, known_behaviours  # noqa: E402
from pytest_hookharness.model.outcome import Outcome  # noqa: E402
from pytest_hookharness.model.scenario import Scenario  # noqa: E402
from pytest_hookharness.simulation.testbed.run_settings import Settings  # noqa: E402

SETS = ("scenarios", "corpus", "rows")
# Enough turns to judge nearly every hook of the corpus; the far ends stay undecided.
TURNS = 60
# What differs from run to run in a text that a hook or a host wrote: numbers, and names drawn at random.
_OWN = re.compile(r"[^\s\"']*\.hookharness-\w+")
_DRAWN = re.compile(r"[0-9a-f]{8,}|\d+|(?<=/)tmp[\w.]+")

Line = dict[str, Any]


def line_of(outcome: Outcome) -> Line:
    """Return what one simulation decided, without any wording of the harness."""
    verdict = outcome.verdict
    names = ("turn", "stem", "period", "repetitions", "evidence", "asked")
    numbers = {key: getattr(verdict, key) for key in names if hasattr(verdict, key)}
    cap = getattr(verdict, "cap", None)
    hooked = [each for _, each in outcome.trace.hooked()]
    return {
        "verdict": outcome.verdict_name,
        **numbers,
        **({"overrides": cap.overrides} if cap is not None else {}),
        "host": outcome.host,
        "passed": outcome.passed,
        "turns": outcome.iterations,
        "blocks": outcome.blocks(),
        "decisions": _runs([f"{each.event}:{each.decision.ruling.value}" for each in hooked]),
        "refused": _runs([_flag(each.decision) for each in hooked]),
        "findings": sorted([f.code, f.turn, f.times] for f in outcome.findings),
        "violations": sorted(each.path for each in outcome.violations),
        "replies": _digest([_reply(run) for each in hooked for run in each.hook_runs]),
        "faults": _faults(outcome),
        "explored": _explored(outcome),
        "sessions": outcome.sessions,
    }


def _flag(decision: Any) -> str:
    return "o" if decision.overridden else "r" if decision.refused else "-"


def _reply(hook_run: Any) -> list[Any]:
    said = hook_run.reply
    return [
        hook_run.hook.event,
        said.ruling.value,
        said.halt is not None,
        said.silent,
        said.fault is None,
    ] + [
        _DRAWN.sub("#", _OWN.sub("~", str(text)[:2000].replace(str(ROOT), "~")))
        for text in (said.reason, said.context, said.behaviour, said.updated_input)
    ]


def _faults(outcome: Outcome) -> list[list[Any]]:
    counted = Counter((row.family, row.outcome, row.payload, row.left) for row in outcome.trial_results)
    return sorted([*key, number] for key, number in counted.items())


def _explored(outcome: Outcome) -> list[Any]:
    found = outcome.explored
    if found is None:
        return []
    return [found.states, found.stopping, found.trap is not None, found.covered, len(found.escape)]


def _runs(words: list[str]) -> list[str]:
    """Return a list of words with repeated words written once, with their number."""
    runs: list[list[Any]] = []
    for word in words:
        if runs and runs[-1][0] == word:
            runs[-1][1] += 1
        else:
            runs.append([word, 1])
    return [f"{word} x{number}" if number > 1 else word for word, number in runs]


def _digest(value: Any) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True, default=str).encode()).hexdigest()[:12]


def _play(scenario: Scenario, harness: Harness) -> Line:
    return line_of(harness.simulate(scenario))


def scenario_items() -> Iterator[tuple[str, Callable[[Harness], Line]]]:
    """Yield every item of every shipped scenario file."""
    for file in sorted(ROOT.glob("scenarios/**/*.scenario.yaml")):
        short = file.relative_to(ROOT)
        found = scenario_files.load(
            short,
            known_hosts=hosts.names(),
            known_findings=finding_names(),
            known_behaviours=known_behaviours(),
        )
        for scenario in found:
            yield f"{short}::{scenario.id}", partial(_play, scenario)


def corpus_items() -> Iterator[tuple[str, Callable[[Harness], Line]]]:
    """Yield every hook of the corpus as a stop hook without a cap of the host."""
    from tests.corpus.drive import HOOKS, LABELS, can_run, interpreter_of  # noqa: PLC0415

    for name, label in sorted(json.loads(LABELS.read_text()).items()):
        if not can_run(interpreter_of((HOOKS / name).read_bytes())):
            continue
        keys = {"hooks": {"Stop": str(HOOKS / name)}, "env": {"CLAUDE_CODE_STOP_HOOK_BLOCK_CAP": "0"}}
        pace = {"pace": "1s"} if name == "cooldown_begins_anew.sh" else {}
        made = scenario_files.scenario_from({"name": "judged", "turns": TURNS, **keys, **pace})
        script = scenario_files.script_from([], then=label["agent"])
        scenario = replace(made, script=script, reach=(str(HOOKS),))
        yield f"corpus::{name}", partial(_play, scenario)


def row_items() -> Iterator[tuple[str, Callable[[Harness], Line]]]:
    """Yield every recorded row of a host that is known."""
    from tests.conformance.replay import REPLAYS, differences  # noqa: PLC0415
    from tests.conformance.rows import rows  # noqa: PLC0415

    known = {profile.id for profile in hosts.known()}

    def play(row: Any, harness: Harness) -> Line:
        lines: list[Line] = []

        def simulate(scenario: Scenario) -> Outcome:
            outcome = harness.simulate(scenario)
            lines.append(line_of(outcome))
            return outcome

        differs = differences(row, simulate)
        return {"differs": sorted(differs), "outcomes": _digest(lines), "sessions": len(lines)}

    for row in rows():
        if row.host in known and row.table in REPLAYS:
            yield f"row::{row.id}", partial(play, row)


ITEMS = {"scenarios": scenario_items, "corpus": corpus_items, "rows": row_items}


def _work(job: tuple[tuple[str, ...], int, int]) -> dict[str, Line]:
    """Play every n-th item, beginning with a given one."""
    sets, first, jobs = job
    items = [item for name in sets for item in ITEMS[name]()][first::jobs]
    found: dict[str, Line] = {}
    with (
        tempfile.TemporaryDirectory(prefix=".hookharness-", dir=Path.home()) as folder,
        Harness(Settings(base=Path(folder), wall=300.0)) as harness,
    ):
        for number, (name, play) in enumerate(items, 1):
            try:
                found[name] = play(harness)
            except Exception as error:  # noqa: BLE001 -- a crash is a result to compare as well
                found[name] = {"error": type(error).__name__}
            if not first and sys.stderr.isatty():
                print(f"\r{number}/{len(items)}", end="", file=sys.stderr, flush=True)
    return found


def record(sets: tuple[str, ...], jobs: int) -> dict[str, Line]:
    """Play all items of some sets, and return their lines by name."""
    with multiprocessing.get_context("spawn").Pool(jobs) as pool:
        parts = pool.map(_work, [(sets, place, jobs) for place in range(jobs)], chunksize=1)
    return {name: line for part in parts for name, line in part.items()}


def write(path: Path, lines: dict[str, Line]) -> None:
    """Write a record, one item on a line."""
    text = "".join(json.dumps([name, lines[name]]) + "\n" for name in sorted(lines))
    path.write_text(text, encoding="utf-8")


def read(path: Path) -> dict[str, Line]:
    """Read a record."""
    return dict(json.loads(line) for line in path.read_text(encoding="utf-8").splitlines())


def stable(first: dict[str, Line], second: dict[str, Line]) -> dict[str, Line]:
    """Return what two records have in common."""
    return {
        name: {key: value for key, value in line.items() if second[name].get(key) == value}
        for name, line in first.items()
        if name in second
    }


def differences_of(expected: dict[str, Line], seen: dict[str, Line], sets: tuple[str, ...]) -> list[str]:
    """Return one sentence for each item that is missing or was decided differently."""
    prefixes = {"scenarios": "scenarios/", "corpus": "corpus::", "rows": "row::"}
    differences = []
    for name, line in expected.items():
        if not name.startswith(tuple(prefixes[each] for each in sets)):
            continue
        if name not in seen:
            differences.append(f"{name}: was not played")
            continue
        differences += [
            f"{name}: {key}: expected {value!r}, seen {seen[name].get(key)!r}"
            for key, value in line.items()
            if seen[name].get(key) != value
        ]
    return differences


def main() -> int:
    """Record or compare; exit with 1 if something differs."""
    parser = argparse.ArgumentParser(description="Record what the harness decides, or compare it.")
    parser.add_argument("what", choices=("record", "compare", "stable"))
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--set", dest="sets", action="append", choices=SETS)
    parser.add_argument("--jobs", type=int, default=2)
    chosen = parser.parse_args()
    if chosen.what == "stable":
        first, second, target = chosen.files
        write(target, stable(read(first), read(second)))
        return 0
    sets = tuple(chosen.sets or SETS)
    seen = record(sets, chosen.jobs)
    if chosen.what == "record":
        write(chosen.files[0], seen)
        print(f"{len(seen)} items recorded")
        return 0
    differences = differences_of(read(chosen.files[0]), seen, sets)
    if differences:
        # Played once more, alone: a machine under load can lose a race that no hook decides.
        print("\n".join(differences))
    print(f"{len(seen)} items compared, {len(differences)} differences")
    return 1 if differences else 0


if __name__ == "__main__":
    raise SystemExit(main())
