"""A command that a hook calls and that does not exist, as opposed to a hook that does not exist."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

from pytest_hookharness.model.protocol import Hook
from pytest_hookharness.model.start_failures import StartFailure
from pytest_hookharness.simulation.startup.bench import Bench, Trial

_MOST_NAMES = 40
_NAME = re.compile(r"\w[\w.+-]*\w")
_CALLED = "called"
# A stand-in notes its name, beside its own folder.
_STAND_IN = '#!/bin/sh\nprintf "%s\\n" "${0##*/}" >>"${0%/*}/../called"\nexit 77\n'


def find_missing_tool(bench: Bench, hook: Hook, seen: Trial) -> StartFailure | None:
    """
    Return the command that a hook called and that was not found; ``None`` if its own command line names it.

    The interpreter that its first line names is not such a command: without it the hook did not run.

    Stand-ins for all words of its message that are no commands come last on the search path. The one that
    is called first is what was missing.
    """
    path = bench.spec.env.get("PATH", os.defpath)
    names = [name for name in dict.fromkeys(_NAME.findall(seen.stderr)) if not shutil.which(name, path=path)]
    folder = bench.folder({f"bin/{name}": _STAND_IN for name in names[:_MOST_NAMES]})
    bench.run_hook(env={"PATH": f"{path}{os.pathsep}{folder}/bin"})
    called = bench.read(Path(folder, _CALLED)) or ""
    tool = called.partition("\n")[0]
    if not tool or re.search(rf"(?<![\w./-]){re.escape(tool)}(?![\w./-])", hook.command):
        return None
    return StartFailure(kind="missing" if _is_interpreter(bench, tool) else "tool", name=tool)


def _is_interpreter(bench: Bench, tool: str) -> bool:
    """Return whether a command was called only because the first line of a program names it."""
    argv, files = bench.decider.argv, bench.decider.files
    programs = (bench.read(bench.path(word)) or "" for word in argv[1:] if files.get(word) == "file")
    first_lines = [program.partition("\n")[0] for program in programs]
    return tool in argv and any(line.startswith("#!") and tool in line.split() for line in first_lines)
