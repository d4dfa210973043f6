"""Coverage of hooks: recorded lines as data and as a table of coverage.py."""

from __future__ import annotations

import io
import os
import secrets
import tempfile
from collections.abc import Generator, Iterable, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from coverage import Coverage, CoverageData
from coverage.exceptions import CoverageException

from pytest_hookharness import coverage as plugin
from pytest_hookharness.execution.coverage.recorder import read_recordings
from pytest_hookharness.execution.coverage.scripts import GONE, ShellExtraMissing, lines_run, read_script
from pytest_hookharness.execution.paths import remove_tree
from pytest_hookharness.frontends.option_types import OptionError
from pytest_hookharness.model.fast_dataclass import dataclass
from pytest_hookharness.model.line_coverage import CoverageStore, Gap, ScriptCoverage
from pytest_hookharness.simulation.testbed.run_settings import Settings

_NOT_NAMED = (
    "shell scripts are left out of the data, because coverage cannot read them without a plugin; put "
    f'plugins = ["{plugin.__name__}"] into its settings ([tool.coverage.run], or [run] of .coveragerc)'
)
_NOTHING = "no line of a hook was recorded; are the hooks files below {sources}?"


@dataclass(frozen=True, slots=True, kw_only=True)
class CoverageOptions:
    """
    What to report, and where to write it.

    Attributes:
        sources: Folders or files; nothing else is reported.
        whole: Whether files that no hook ran are reported too.
        settings: The settings file of coverage; ``True`` for the one that it finds itself.
        aside: Whether pytest-cov writes the data file, and combines it with files next to it.
        verbose: Whether every script that was not recorded is named.
    """

    sources: tuple[str, ...]
    whole: bool = False
    settings: str | bool = True
    aside: bool = False
    verbose: bool = False

    def wants(self, file: str) -> bool:
        """Return whether a file is reported."""
        return any(Path(file).is_relative_to(source) for source in self.sources)


def open_store(*, settings: str | bool = True, branch: bool = False) -> CoverageStore:
    """Make an empty coverage store; raise ``OptionError`` if the settings of coverage cannot be read."""
    try:
        asked = Coverage(data_file=None, config_file=settings).get_option("run:branch")
    except CoverageException as error:
        raise OptionError(f"hooks cannot be recorded with these settings of coverage: {error}") from error
    return CoverageStore(
        folder=Path(tempfile.mkdtemp(prefix="hookharness-lines-")), branch=branch or bool(asked)
    )


def publish(coverage_store: CoverageStore, options: CoverageOptions) -> list[str]:
    """Write the data of a run, and return lines about what they show and what is missing."""
    recordings = [*map(_still_there, read_recordings(coverage_store.folder))]
    missing = _missing_extra()
    lines = [missing] if missing else []
    with _collected(recordings, options, branch=coverage_store.branch, shell=not missing) as data:
        if data.measured_files():
            lines = [
                *_table(data, options),
                *_write(data, recordings, options, branch=coverage_store.branch),
                *lines,
            ]
        else:
            lines.append(_NOTHING.format(sources=", ".join(options.sources)))
    lines += _describe_gaps(
        {gap for each in recordings for gap in each.gaps if _matters(gap, options)}, options
    )
    return ["".join(sign if sign.isprintable() else "?" for sign in line) for line in lines]


def _still_there(recording: ScriptCoverage) -> ScriptCoverage:
    """Return a recording without files that were removed since: coverage cannot report them."""
    gone = {file for file in (*recording.shell, *recording.python) if not Path(file).is_file()}
    return replace(
        recording,
        shell={file: traced for file, traced in recording.shell.items() if file not in gone},
        python={file: steps for file, steps in recording.python.items() if file not in gone},
        gaps=(*recording.gaps, *(Gap(file, GONE) for file in sorted(gone))),
    )


def _missing_extra() -> str:
    try:
        read_script(b"")
    except ShellExtraMissing as missing:
        return str(missing)
    return ""


def _matters(gap: Gap, options: CoverageOptions) -> bool:
    # A relative path is a file that the scenario wrote.
    return not Path(gap.script).is_absolute() or options.wants(gap.script)


def _describe_gaps(gaps: Iterable[Gap], options: CoverageOptions) -> Generator[str]:
    """Yield one line for each reason, or for each script if they are to be named."""
    scripts: dict[str, list[str]] = {}
    for gap in sorted(gaps, key=lambda gap: (gap.script, gap.reason)):
        scripts.setdefault(gap.reason, []).append(gap.script)
    for reason, names in scripts.items():
        if len(names) == 1 or options.verbose:
            yield from (f"not recorded: {name}: {reason}" for name in names)
        else:
            yield f"not recorded: {len(names)} scripts (-v names them): {reason}"


@contextmanager
def _collected(
    recordings: Sequence[ScriptCoverage], options: CoverageOptions, *, branch: bool, shell: bool
) -> Generator[CoverageData]:
    """Yield the lines that all simulations ran as data of coverage, with the scenario as context."""
    data = CoverageData(no_disk=True)
    try:
        _fill(data, recordings, options, branch=branch, shell=shell)
        yield data
    finally:
        # It is a database in memory, which stays open otherwise.
        data.close(force=True)


def _fill(
    data: CoverageData,
    recordings: Sequence[ScriptCoverage],
    options: CoverageOptions,
    *,
    branch: bool,
    shell: bool,
) -> None:
    # Also for empty data, coverage must know whether they hold lines or branches.
    (data.add_arcs if branch else data.add_lines)({})
    for recording in recordings:
        data.set_context(recording.context)
        for file, steps in recording.python.items():
            if options.wants(file):
                _add(data, file, steps, branch=branch)
        for file, traced in recording.shell.items() if shell else ():
            if options.wants(file):
                ran = lines_run(read_script(Path(file).read_bytes()).statements, traced)
                _add(data, file, [(line,) for line in sorted(ran)], branch=branch)
                data.touch_file(file, plugin.NAME)
    for source in options.sources if options.whole else ():
        data.touch_files([*plugin.python_files(source)])
        data.touch_files([*plugin.bash_files(source)] if shell else [], plugin.NAME)


def _add(data: CoverageData, file: str, steps: Iterable[Sequence[int]], *, branch: bool) -> None:
    if branch:
        # Branch data hold only pairs of lines: a single line is an entry and an exit.
        arcs = [arc for step in steps for arc in (((-1, *step), (*step, -1)) if len(step) == 1 else (step,))]
        data.add_arcs({file: [(arc[0], arc[1]) for arc in arcs]})
    else:
        data.add_lines({file: [line for step in steps for line in step]})


def _table(data: CoverageData, options: CoverageOptions) -> list[str]:
    reporter = Coverage(data_file=None, config_file=options.settings)
    reporter.set_option("run:plugins", [*dict.fromkeys([*_plugins(reporter), plugin.__name__])])
    table = io.StringIO()
    try:
        reporter.get_data().update(data)
        reporter.report(file=table, show_missing=True)
    except (CoverageException, ImportError) as error:
        # The settings may name a plugin that cannot be imported.
        return [f"no table: {error}"]
    finally:
        reporter.get_data().close(force=True)
    return table.getvalue().splitlines()


def _plugins(reader: Coverage) -> list[str]:
    named = reader.get_option("run:plugins")
    return [str(name) for name in named] if isinstance(named, list) else []


def _write(
    data: CoverageData, recordings: Sequence[ScriptCoverage], options: CoverageOptions, *, branch: bool
) -> Generator[str]:
    """Write the data file of coverage, or a file next to it if something else writes data too."""
    reader = Coverage(config_file=options.settings)
    readable = plugin.__name__ in _plugins(reader)
    bash = any(data.file_tracer(file) for file in data.measured_files())
    outer = Coverage.current() is not None
    parallel = bool(reader.get_option("run:parallel"))
    aside = options.aside or outer or parallel
    suffix = f"hooks.{os.getpid()}.{secrets.token_hex(4)}" if aside else None
    written = CoverageData(str(reader.get_option("run:data_file")), suffix=suffix)
    if not aside:
        written.erase()
    relative = reader.get_option("run:relative_files")
    map_path = os.path.relpath if relative else str
    if readable:
        written.update(data, map_path=map_path)
    else:
        with _collected(recordings, options, branch=branch, shell=False) as python_only:
            written.update(python_only, map_path=map_path)
    written.write()
    line = f"wrote {os.path.relpath(written.data_filename())}"
    if options.aside:
        line = "the data were left to pytest-cov, which combines them with its own"
    elif aside:
        # Without --append it would replace what `coverage run` has written into one file.
        line += f"; `coverage combine{'' if parallel else ' --append'}` adds it to the rest"
    yield line
    if bash and not readable:
        yield _NOT_NAMED


@contextmanager
def recording() -> Generator[CoverageStore]:
    """Open a coverage store for the simulations inside; print at the end which lines they ran."""
    store = open_store()
    try:
        yield store
        options = CoverageOptions(sources=(os.path.realpath(Path.cwd()),), verbose=True)
        print(*publish(store, options), sep="\n")
    finally:
        remove_tree(store.folder)


_STORE = pytest.StashKey[CoverageStore]()
_LINES = pytest.StashKey[list[str]]()


def recorded(settings: Settings, config: pytest.Config) -> Settings:
    """Return the settings of a run whose hooks are recorded."""
    return replace(settings, coverage_store=config.stash[_STORE])


def _beside_pytest_cov(config: pytest.Config) -> bool:
    return config.pluginmanager.hasplugin("_cov")


def _settings(config: pytest.Config) -> str | bool:
    return str(config.getoption("cov_config")) if _beside_pytest_cov(config) else True


def pytest_configure(config: pytest.Config) -> None:
    """Open a coverage store; an xdist worker uses that of its controller."""
    given: dict[str, Any] | None = getattr(config, "workerinput", None)
    if given is not None:
        folder, branch = given["hook_coverage_store"]
        config.stash[_STORE] = CoverageStore(folder=Path(folder), branch=branch)
        return
    branch = _beside_pytest_cov(config) and bool(config.getoption("cov_branch"))
    config.stash[_STORE] = open_store(settings=_settings(config), branch=branch)


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Tell an xdist worker where to record."""
    store = node.config.stash[_STORE]
    node.workerinput["hook_coverage_store"] = (str(store.folder), store.branch)


@pytest.hookimpl(wrapper=True, trylast=True)
def pytest_runtestloop(session: pytest.Session) -> Generator[None, object, object]:
    """Write the data after the last simulation, before pytest-cov combines the data files."""
    config = session.config
    try:
        return (yield)
    finally:
        if not hasattr(config, "workerinput"):
            config.stash[_LINES] = publish(config.stash[_STORE], _options(config))


def _options(config: pytest.Config) -> CoverageOptions:
    named: list[str] = config.getoption("--hook-cov-source") or []
    return CoverageOptions(
        sources=tuple(os.path.realpath(source) for source in named or [str(config.rootpath)]),
        whole=bool(named),
        settings=_settings(config),
        aside=_beside_pytest_cov(config),
        verbose=config.get_verbosity() > 0,
    )


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print the table, and what is missing in it."""
    lines = terminalreporter.config.stash.get(_LINES, None)
    if lines is not None:
        terminalreporter.section("hook coverage")
        for line in lines:
            terminalreporter.write_line(line)


def pytest_unconfigure(config: pytest.Config) -> None:
    """Remove the coverage store."""
    store = config.stash.get(_STORE, None)
    if store is not None and not hasattr(config, "workerinput"):
        remove_tree(store.folder)
