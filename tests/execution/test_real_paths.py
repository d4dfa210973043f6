"""Several paths that are resolved together, each as the system resolves it alone."""

from __future__ import annotations

import os
from pathlib import Path

from pytest_hookharness.execution.real_paths import real_path, real_paths


def test_paths_resolved_together_are_those_resolved_alone(tmp_path: Path) -> None:
    """Links in any part, loops, missing parts, dots and relative paths give what each path gives alone."""
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "a" / "file").touch()
    links = {
        "here": "a",
        "a/up": "..",
        "a/b/out": "/usr/bin",
        "loop": "loop",
        "gone": "nowhere/x",
        "two": "here/b",
    }
    for name, target in links.items():
        (tmp_path / name).symlink_to(target)
    ends = ["", "x", "b", "b/out", "b/out/sh", "up", "up/a/b", "up/here/up/two/out/x", "file", "file/x"]
    roots = [f"{tmp_path}/{name}" for name in ("a", "here", "two", "loop", "gone", "missing")]
    paths = [f"{root}/{end}" if end else root for root in roots for end in ends]
    paths += ["/", "//", "", ".", "a/../b", f"{tmp_path}/a/../here/b", f"{tmp_path}//a/./b/", "x" * 700]
    paths += [f"/{tmp_path}/here/b", "//usr//bin"]
    assert real_paths([*paths, *map(Path, paths[:3])]) == {path: os.path.realpath(path) for path in paths}
    assert [*map(real_path, paths)] == [*map(os.path.realpath, paths)]
