"""
Comparing two stored runs of the benchmarks: the ratios that moved by more than their noise.

usage: python benchmarks/compare.py OLD.json NEW.json
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Mapping
from pathlib import Path

Ratios = Mapping[str, Mapping[str, float]]


def moved(old: Ratios, new: Ratios) -> Iterator[str]:
    """Yield a line for each ratio that moved by more than the noise of both runs, largest change first."""
    changes: list[tuple[float, str]] = []
    for name in old.keys() & new.keys():
        before, after = old[name], new[name]
        if abs(after["ratio"] - before["ratio"]) > before["noise"] + after["noise"]:
            change = after["ratio"] / before["ratio"] - 1
            changes.append((change, f"{change:+.0%}  {before['ratio']:.2f} -> {after['ratio']:.2f}  {name}"))
    yield from (line for _, line in sorted(changes, key=lambda item: (-abs(item[0]), item[1])))


def only_in(one: Ratios, other: Ratios) -> list[str]:
    """Return the names of ratios that only the first run has."""
    return sorted(one.keys() - other.keys())


def main() -> int:
    """Print what moved; return 1 if a ratio grew by more than the noise."""
    parser = argparse.ArgumentParser(description="List the ratios that moved by more than their noise.")
    parser.add_argument("old", type=Path)
    parser.add_argument("new", type=Path)
    chosen = parser.parse_args()
    old, new = (json.loads(file.read_text())["ratios"] for file in (chosen.old, chosen.new))
    lines = [*moved(old, new)]
    print("\n".join(lines) or "No ratio moved by more than the noise of the two runs.")
    for words, names in (
        ("only in the old run", only_in(old, new)),
        ("only in the new run", only_in(new, old)),
    ):
        print("".join(f"{words}: {name}\n" for name in names), end="")
    return 1 if any(line.startswith("+") for line in lines) else 0


if __name__ == "__main__":
    raise SystemExit(main())
