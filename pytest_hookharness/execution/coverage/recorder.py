"""
The recorder: writes down which lines the hooks of a simulation run; and all instruments of a simulation.

The recorder lies beside the folders that hooks work in, so nothing of it is part of any state. The hooks' own
shells and Pythons write to it; their data are read after each hook run, and mapped to the files of the
project when the workspace is closed. The result is one JSON file per simulation, which workers of xdist can
write too.
"""

from __future__ import annotations

import json
import os
import stat
import uuid
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, replace
from importlib.util import find_spec
from pathlib import Path

from pytest_hookharness.execution.clock.shims import bash_env
from pytest_hookharness.execution.coverage.hook_traces import (
    BASH_ENV,
    SETTINGS,
    TraceLine,
    bash_preload,
    find_loadable,
    loads_trace,
    python_preload,
    python_settings,
    read_trace,
)
from pytest_hookharness.execution.coverage.scripts import (
    CLEARED,
    OWN_TRACE,
    TAKEN,
    SourceMap,
    called_scripts,
    why_silent,
)
from pytest_hookharness.execution.paths import (
    WorkspaceError,
    make_folders,
    read_bytes,
    remove_tree,
    write_bytes,
)
from pytest_hookharness.model.line_coverage import CoverageStore, Gap, ScriptCoverage, TracedLine
from pytest_hookharness.model.processes import ProcessSpec

_SUFFIX = ".recording.json"


def write_recording(folder: Path, recording: ScriptCoverage) -> None:
    """Write the coverage that one simulation recorded."""
    write_bytes(folder / f"{uuid.uuid4()}{_SUFFIX}", json.dumps(asdict(recording)).encode())


def read_recordings(folder: Path) -> Iterator[ScriptCoverage]:
    """Yield the coverage that all simulations recorded."""
    for path in sorted(folder.glob(f"*{_SUFFIX}")):
        given = json.loads(path.read_bytes())
        yield ScriptCoverage(
            shell={file: tuple(TracedLine(**one) for one in run) for file, run in given["shell"].items()},
            python={file: tuple(map(tuple, steps)) for file, steps in given["python"].items()},
            gaps=tuple(Gap(**gap) for gap in given["gaps"]),
            context=given["context"],
        )


_PRELOAD, _LOADS, _PYTHON, _SETTINGS = "preload.bash", "loads", "python", "coveragerc"
# Where this name is not a folder, Python keeps no bytecode, which would count as written by the hook.
_NO_BYTECODE = "__pycache__"
# Bytes; a longer trace is not that of a hook.
_MAX_TRACE = 64 << 20
# Seconds that recording may add to a hook run on a busy machine. Only the harness's own hook timeout grows by
# it, which is no property of a host.
_SPARE = 1.0


class Recorder:
    """
    Records the hooks of one simulation.

    Attributes:
        written: Paths that hooks must be able to write to, at their own place.
        seen: Paths that they must see there.
    """

    def __init__(
        self, coverage_store: CoverageStore, name: str, copies: Mapping[Path | None, Path | None], base: Path
    ) -> None:
        """
        Write the preload scripts.

        Args:
            coverage_store: Where the recordings of the whole run are kept.
            name: The scenario.
            copies: Folders that hooks see, and the folders that these are copies of, where there are any.
            base: The folder of the workspace.
        """
        self._store = coverage_store
        self._name = name
        self._base = base
        self._folder = base / "recorder"
        written, coverage = self._folder / "written", _home_of_coverage()
        self._trace, self._data = written / "trace", written / "data"
        known = {copy: source for copy, source in copies.items() if copy and source}
        self._unread = {copy for copy in copies if copy}
        self._loadable: dict[Path, str] = {}
        self._source_map = SourceMap(known, base, (self._folder, base / "bin", base / "doubles"))
        self._called: dict[str, None] = {}
        self._records: dict[TraceLine, None] = {}
        self._gaps: list[Gap] = []
        self.written, self.seen = (str(written),), (str(self._folder), str(coverage))
        self._write_files(coverage)

    def _write_files(self, coverage: Path) -> None:
        coverage_path = self._folder / "coverage"
        for folder in (coverage_path, self._trace.parent):
            make_folders(folder)
        (coverage_path / "coverage").symlink_to(coverage)
        settings = python_settings(self._data, branch=self._store.branch)
        for path, text in (
            (self._trace, ""),
            (self._folder / _PRELOAD, bash_preload(self._trace, self._folder / _LOADS)),
            (self._folder / _PYTHON / "sitecustomize.py", python_preload(coverage_path)),
            (self._folder / _PYTHON / _NO_BYTECODE, ""),
            (self._folder / _SETTINGS, settings),
        ):
            write_bytes(path, text.encode())

    def environment(self, env: Mapping[str, str]) -> Mapping[str, str]:
        """Return an environment whose shells and Pythons record what they run."""
        own = env.get("BASH_ENV", "")
        places = (str(self._folder / _PYTHON), env.get("PYTHONPATH"))
        return {
            **env,
            "BASH_ENV": bash_env(self._folder / _PRELOAD),
            **({BASH_ENV: own} if own else {}),
            "PYTHONPATH": os.pathsep.join(filter(None, places)),
            SETTINGS: str(self._folder / _SETTINGS),
        }

    def apply_to(self, spec: ProcessSpec) -> ProcessSpec:
        """Return a process spec that is recorded, and expect data from the scripts that it names."""
        called = dict.fromkeys(called_scripts(spec))
        self._note_self_tracing(called)
        self._called |= called
        return replace(spec, env=self.environment(spec.env), hook_timeout=spec.hook_timeout + _SPARE)

    def _note_self_tracing(self, called: Iterable[str]) -> None:
        """Exclude the scripts that load a self-tracing file, in the copies or beside a called script."""
        new = (Path(script).parent for script in called if script not in self._called)
        self._unread |= {folder for folder in new if not folder.is_relative_to(self._base)}
        if self._unread:
            for folder in self._unread:
                self._loadable |= find_loadable(folder)
            self._unread.clear()
            write_bytes(self._folder / _LOADS, f"{loads_trace(self._loadable)}\n".encode())

    def settle(self) -> None:
        """Read what was traced since the last time. No process of a hook run may live."""
        try:
            data = read_bytes(self._trace, most=_MAX_TRACE) or b""
            if data:
                write_bytes(self._trace, b"")
        except WorkspaceError as error:
            self._gaps.append(Gap(self._name, f"the trace of a hook run was lost: {error.reason}"))
            if self._trace.is_dir() and not self._trace.is_symlink():
                remove_tree(self._trace)
            else:
                self._trace.unlink(missing_ok=True)
            return
        self._records |= dict.fromkeys(read_trace(data))

    def close(self) -> None:
        """Write the recording to the coverage store."""
        self.settle()
        shell: dict[str, list[TracedLine]] = {}
        # Scripts that a command line names and of which nothing was recorded; each is reported with the
        # likely reason.
        silent = dict(self._called)
        for record in self._records:
            silent.pop(record.script, None)
            if record.traces_itself:
                # Reported for every file: what the hook prints differs from what it prints otherwise.
                self._gaps.append(Gap(self._name, TAKEN.format(line=record.line, script=record.script)))
            if isinstance(file := self._find_source(record.script), str):
                shell.setdefault(file, []).append(TracedLine(record.line, record.text))
                if record.clears_environment:
                    self._gaps.append(Gap(file, CLEARED.format(line=record.line)))
        python: dict[str, tuple[tuple[int, ...], ...]] = {}
        for script, steps in self._read_pythons():
            silent.pop(script, None)
            if isinstance(file := self._find_source(script), str):
                python[file] = (*python.get(file, ()), *steps)
        for script in silent:
            if isinstance(file := self._find_source(script), str):
                self._gaps.append(Gap(file, why_silent(script)))
        lines = {file: tuple(run) for file, run in shell.items() if not self._is_self_tracing(file, run)}
        gaps = tuple(dict.fromkeys(self._gaps))
        recording = ScriptCoverage(shell=lines, python=python, gaps=gaps, context=self._name)
        write_recording(self._store.folder, recording)

    def _find_source(self, script: str) -> str | None:
        found = self._source_map.find(script)
        if isinstance(found, Gap):
            self._gaps.append(found)
            return None
        return found

    def _is_self_tracing(self, file: str, traced: list[TracedLine]) -> bool:
        if any(not one.line for one in traced):
            self._gaps.append(Gap(file, OWN_TRACE))
        return all(not one.line for one in traced)

    def _read_pythons(self) -> Iterator[tuple[str, tuple[tuple[int, ...], ...]]]:
        from coverage import CoverageData
        from coverage.exceptions import CoverageException

        for path in sorted(self._data.parent.glob(f"{self._data.name}.*")):
            try:
                if not stat.S_ISREG(path.lstat().st_mode):
                    continue
                data = CoverageData(str(path))
                data.read()
                found = [
                    (file, tuple(data.arcs(file) or ((line,) for line in data.lines(file) or ())))
                    for file in data.measured_files()
                ]
                _check_types(found)
            except (CoverageException, OSError, TypeError, ValueError) as error:
                # A hook that was killed while it wrote, or one that wrote something else there.
                self._gaps.append(Gap(self._name, f"what a Python recorded cannot be read: {error}"))
                continue
            yield from found


def _check_types(found: Iterable[tuple[object, Iterable[Iterable[object]]]]) -> None:
    # The columns of a database take values of any type.
    for file, steps in found:
        if not isinstance(file, str) or "\0" in file:
            raise TypeError("a file name is not text")
        if not all(isinstance(line, int) for step in steps for line in step):
            raise TypeError("a line is not a number")


def _home_of_coverage() -> Path:
    found = find_spec("coverage")
    if found is None or found.origin is None:
        raise WorkspaceError("coverage", "is not installed, so that no hook can be recorded; install it")
    return Path(found.origin).parent
