"""
Running the benchmarks: one table after the other.

usage: python benchmarks/run.py [--quick] [--json FILE] [NAME...]
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path

import cases
import checks
import default_tests
import detectors
import explorations
import hook_runs
import hosts
import live_runs
import observed_reads
import recording
import scale
import shipped
import startup
import stress
import unused
import verdicts
import workspaces
from measuring import Table

from pytest_hookharness.execution.processes.sandbox import available_tiers

TABLES: Mapping[str, Callable[..., Table]] = {
    "hook_runs": hook_runs.table,
    "warm_runs": hook_runs.warm_table,
    "unused": unused.table,
    "verdicts": verdicts.table,
    "verdict_costs": verdicts.costs,
    "blind": verdicts.blind,
    "cases": cases.table,
    "checks": checks.table,
    "workspaces": workspaces.table,
    "hosts": hosts.table,
    "detectors": detectors.table,
    "detector_costs": detectors.costs,
    "explorations": explorations.table,
    "recording": recording.table,
    "shipped": shipped.table,
    "scale": scale.table,
    "default_tests": default_tests.table,
    "stress": stress.table,
    "startup": startup.table,
    "observed_reads": observed_reads.table,
    "live_runs": live_runs.table,
}
# They take minutes; the last needs real programs.
ON_DEMAND = ("blind", "checks", "shipped", "scale", "default_tests", "live_runs")


def main() -> None:
    """Print the tables that are named, or all but those that are only printed on demand."""
    parser = argparse.ArgumentParser(description="Run the benchmarks and print their tables.")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"tables: {', '.join(TABLES)}; default all")
    parser.add_argument("--json", metavar="FILE", type=Path, help="write the ratios to a file for compare.py")
    parser.add_argument("--quick", action="store_true", help="few rounds: a look, not a measurement")
    chosen = parser.parse_args()
    unknown = set(chosen.names) - TABLES.keys()
    if unknown:
        parser.error(f"there is no table {', '.join(sorted(unknown))}; choose from {', '.join(TABLES)}")
    print(_machine())
    ratios: dict[str, dict[str, float]] = {}
    for name in chosen.names or (name for name in TABLES if name not in ON_DEMAND):
        # As projects do, it lies outside of /tmp: hooks have a private /tmp.
        with tempfile.TemporaryDirectory(prefix=".hookharness-", dir=Path.home()) as folder:
            table = TABLES[name](Path(folder), quick=chosen.quick)
        print(f"\n{table}", flush=True)
        for row, ratio in table.ratios.items():
            ratios[f"{name}: {row}"] = {"ratio": round(ratio, 4), "noise": round(ratio.noise, 4)}
        if chosen.json is not None:
            # After each table, so that a run which is interrupted keeps what it measured.
            chosen.json.write_text(json.dumps({"machine": _machine(), "ratios": ratios}, indent=1) + "\n")


def _machine() -> str:
    tiers = ", ".join(tier.value for tier in available_tiers())
    load = os.getloadavg()[0]
    return (
        f"{os.cpu_count()} cores, {platform.system()} {platform.release()}, "
        f"{platform.python_implementation()} {platform.python_version()}, load {load:.1f}; tiers: {tiers}"
    )


if __name__ == "__main__":
    main()
