"""Paths of files that hooks write or name, as seen from the project."""

from __future__ import annotations

import posixpath
import re

from pytest_hookharness.model.trace import HookEvent

# Mount points that hide folders of the machine, by the state's name for their root.
_POINTS = {"private-tmp": "/tmp", "private-var-tmp": "/var/tmp", "shm": "/dev/shm"}  # noqa: S108 - names
# The temporary folder of a run; its name differs in each run.
_RUN_FOLDER = re.compile(r"/[^\s'\":]*/hookharness-\w+/(?:\d+/)?\w+/(?=(?:workspace|plugin|home|tmp)\b)")


def without_run_folder(text: str) -> str:
    """Return a hook's text without the temporary folder of the run: paths begin at ``workspace``."""
    return _RUN_FOLDER.sub("", text)


def written_above_project(path: str, hooked: HookEvent) -> str:
    """
    Return the name of a file that was written in a parent folder of the project; empty for other files.

    The input of the event's hooks contains the project's path.
    """
    root, _, rest = path.partition("/")
    if root not in _POINTS:
        return ""
    folder = posixpath.dirname(f"{_POINTS[root]}/{rest}")
    inputs = (str(value) for hook_run in hooked.hook_runs for value in hook_run.payload.values())
    above = folder != _POINTS[root] and any(value.startswith(f"{folder}/") for value in inputs)
    return posixpath.basename(path) if above else ""
