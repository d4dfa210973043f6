"""
Coverage of hooks: what was recorded, as data and as a table of coverage.py.
"""

from __future__ import annotations

import io
import os
import secrets
import tempfile
from collections.abc import Generator, Iterable, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from coverage import Coverage, CoverageData
from coverage.exceptions import CoverageException

from pytest_hookharness import coverage as plugin
from pytest_hookharness.execution.coverage.recorder import read_recordings
from pytest_hookharness.execution.coverage.source_map import GONE
from pytest_hookharness.execution.coverage.statements import ShellExtraMissing, lines_run, read_script
from pytest_hookharness.execution.paths import remove_tree
from pytest_hookharness.frontends.option_types import OptionError
from pytest_hookharness.model.line_coverage import CoverageStore, Gap, ScriptCoverage
from pytest_hookharness.simulation.testbed.run_settings import Settings

_NOT_NAMED = (
    "shell scripts are left out of the data, because without its plugin coverage stops at them; put "
    f'plugins = ["{plugin.__name__}"] into its settings ([tool.coverage.run], or [run] of .coveragerc)'
)
_NOTHING = "no line of a hook was recorded; are the hooks files below {sources}?"


@dataclass(frozen=True, slots=True, kw_only=True)
class CoverageOptions:
    """
    What is wanted of the data.

    Attributes:
        sources: Folders or files; nothing else is reported.
        whole: Whether files in them are reported too that no hook ran.
        settings: The settings file of coverage; ``True`` for where it looks itself.
        aside: Whether somebody else writes the data file, and adds what stands beside it.
        verbose: Whether all scripts are named of which nothing is known.
    """

    sources: tuple[str, ...]
    whole: bool = False
    settings: str | bool = True
    aside: bool = False
    verbose: bool = False

    def wants(self, file: str) -> bool:
        """
        Whether a file is one of those that are reported.
        """
        return any(Path(file).is_relative_to(source) for source in self.sources)


def open_ledger(*, settings: str | bool = True, branch: bool = False) -> CoverageStore:
    """
    Begin to record.

    Raises:
        OptionError: The settings of coverage cannot be read.
    """
    try:
        asked = Coverage(data_file=None, config_file=settings).get_option("run:branch")
    except CoverageException as error:
        raise OptionError(f"hooks cannot be recorded with these settings of coverage: {error}") from error
    return CoverageStore(
        folder=Path(tempfile.mkdtemp(prefix="hookharness-lines-")), branch=branch or bool(asked)
    )


def publish(coverage_store: CoverageStore, wish: CoverageOptions) -> list[str]:
    """
    Write the data of a run, and say in lines what they show and what they do not.
    """
    recordings = [*map(_still_there, read_recordings(coverage_store.folder))]
    missing = _missing_extra()
    data = _collect(recordings, wish, branch=coverage_store.branch, shell=not missing)
    said = [missing] if missing else []
    if data.measured_files():
        said = [*_table(data, wish), *_write(data, recordings, wish, branch=coverage_store.branch), *said]
    else:
        said.append(_NOTHING.format(sources=", ".join(wish.sources)))
    said += _tell_gaps({gap for each in recordings for gap in each.gaps if _matters(gap, wish)}, wish)
    return ["".join(sign if sign.isprintable() else "?" for sign in line) for line in said]


def _still_there(recording: ScriptCoverage) -> ScriptCoverage:
    """
    A recording without the files that were removed after their hooks ran, of which no report could be made.
    """
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


def _matters(gap: Gap, wish: CoverageOptions) -> bool:
    # What has no place of its own was written by a scenario.
    return not Path(gap.script).is_absolute() or wish.wants(gap.script)


def _tell_gaps(gaps: Iterable[Gap], wish: CoverageOptions) -> Generator[str]:
    """
    One line for each reason, or for each script if they are to be named.
    """
    scripts: dict[str, list[str]] = {}
    for gap in sorted(gaps, key=lambda gap: (gap.script, gap.reason)):
        scripts.setdefault(gap.reason, []).append(gap.script)
    for reason, names in scripts.items():
        if len(names) == 1 or wish.verbose:
            yield from (f"not recorded: {name}: {reason}" for name in names)
        else:
            yield f"not recorded: {len(names)} scripts (-v names them): {reason}"


def _collect(
    recordings: Sequence[ScriptCoverage], wish: CoverageOptions, *, branch: bool, shell: bool
) -> CoverageData:
    """
    What all simulations ran, as data of coverage; with the scenario as context.
    """
    data = CoverageData(no_disk=True)
    # Even if there is nothing else, it must be known which of the two this is.
    (data.add_arcs if branch else data.add_lines)({})
    for recording in recordings:
        data.set_context(recording.context)
        for file, steps in recording.python.items():
            if wish.wants(file):
                _add(data, file, steps, branch=branch)
        for file, traced in recording.shell.items() if shell else ():
            if wish.wants(file):
                ran = lines_run(read_script(Path(file).read_bytes()).statements, traced)
                _add(data, file, [(line,) for line in sorted(ran)], branch=branch)
                data.touch_file(file, plugin.NAME)
    for source in wish.sources if wish.whole else ():
        data.touch_files([*plugin.python_files(source)])
        data.touch_files([*plugin.bash_files(source)] if shell else [], plugin.NAME)
    return data


def _add(data: CoverageData, file: str, steps: Iterable[Sequence[int]], *, branch: bool) -> None:
    if branch:
        # What stands alone is a way in and a way out: data hold ways or lines, never both.
        ways = [way for step in steps for way in (((-1, *step), (*step, -1)) if len(step) == 1 else (step,))]
        data.add_arcs({file: [(way[0], way[1]) for way in ways]})
    else:
        data.add_lines({file: [line for step in steps for line in step]})


def _table(data: CoverageData, wish: CoverageOptions) -> list[str]:
    reporter = Coverage(data_file=None, config_file=wish.settings)
    reporter.set_option("run:plugins", [*dict.fromkeys([*_plugins(reporter), plugin.__name__])])
    table = io.StringIO()
    try:
        reporter.get_data().update(data)
        reporter.report(file=table, show_missing=True)
    except (CoverageException, ImportError) as error:
        # One that its settings name may be a plugin that nobody can import.
        return [f"no table: {error}"]
    return table.getvalue().splitlines()


def _plugins(reader: Coverage) -> list[str]:
    named = reader.get_option("run:plugins")
    return [str(name) for name in named] if isinstance(named, list) else []


def _write(
    data: CoverageData, recordings: Sequence[ScriptCoverage], wish: CoverageOptions, *, branch: bool
) -> Generator[str]:
    """
    Write what a report of coverage will read; into its own file, or beside it where that is not ours alone.
    """
    reader = Coverage(config_file=wish.settings)
    readable = plugin.__name__ in _plugins(reader)
    bash = any(data.file_tracer(file) for file in data.measured_files())
    if not readable:
        data = _collect(recordings, wish, branch=branch, shell=False)
    outer = Coverage.current() is not None
    parallel = bool(reader.get_option("run:parallel"))
    aside = wish.aside or outer or parallel
    suffix = f"hooks.{os.getpid()}.{secrets.token_hex(4)}" if aside else None
    written = CoverageData(str(reader.get_option("run:data_file")), suffix=suffix)
    if not aside:
        written.erase()
    relative = reader.get_option("run:relative_files")
    written.update(data, map_path=os.path.relpath if relative else str)
    written.write()
    told = f"wrote {os.path.relpath(written.data_filename())}"
    if wish.aside:
        told = "the data were left to pytest-cov, which adds them to its own"
    elif aside:
        # Without the option it would replace what `coverage run` has written into one file.
        told += f"; `coverage combine{'' if parallel else ' --append'}` adds it to the rest"
    yield told
    if bash and not readable:
        yield _NOT_NAMED


@contextmanager
def recording() -> Generator[CoverageStore]:
    """
    Open a coverage store for the simulations inside; print at the end which lines they ran.
    """
    store = open_ledger()
    try:
        yield store
        options = CoverageOptions(sources=(os.path.realpath(Path.cwd()),), verbose=True)
        print(*publish(store, options), sep="\n")
    finally:
        remove_tree(store.folder)


_LEDGER = pytest.StashKey[CoverageStore]()
_SAID = pytest.StashKey[list[str]]()


def recorded(settings: Settings, config: pytest.Config) -> Settings:
    """
    The settings of a run whose hooks are recorded.
    """
    return replace(settings, coverage_store=config.stash[_LEDGER])


def _beside_pytest_cov(config: pytest.Config) -> bool:
    return config.pluginmanager.hasplugin("_cov")


def _settings(config: pytest.Config) -> str | bool:
    return str(config.getoption("cov_config")) if _beside_pytest_cov(config) else True


def pytest_configure(config: pytest.Config) -> None:
    """
    Begin to record; a worker of xdist goes on in the ledger of its controller.
    """
    given: dict[str, Any] | None = getattr(config, "workerinput", None)
    if given is not None:
        folder, branch = given["hook_ledger"]
        config.stash[_LEDGER] = CoverageStore(folder=Path(folder), branch=branch)
        return
    branch = _beside_pytest_cov(config) and bool(config.getoption("cov_branch"))
    config.stash[_LEDGER] = open_ledger(settings=_settings(config), branch=branch)


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """
    Tell a worker of xdist where to record.
    """
    ledger = node.config.stash[_LEDGER]
    node.workerinput["hook_ledger"] = (str(ledger.folder), ledger.branch)


@pytest.hookimpl(wrapper=True, trylast=True)
def pytest_runtestloop(session: pytest.Session) -> Generator[None, object, object]:
    """
    Write the data when all was played or nothing more will be, and before pytest-cov adds up what lies there.
    """
    config = session.config
    try:
        return (yield)
    finally:
        if not hasattr(config, "workerinput"):
            config.stash[_SAID] = publish(config.stash[_LEDGER], _wish(config))


def _wish(config: pytest.Config) -> CoverageOptions:
    named: list[str] = config.getoption("--hook-cov-source") or []
    return CoverageOptions(
        sources=tuple(os.path.realpath(source) for source in named or [str(config.rootpath)]),
        whole=bool(named),
        settings=_settings(config),
        aside=_beside_pytest_cov(config),
        verbose=config.get_verbosity() > 0,
    )


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """
    Print the table, and what it does not show.
    """
    said = terminalreporter.config.stash.get(_SAID, None)
    if said is not None:
        terminalreporter.section("hook coverage")
        for line in said:
            terminalreporter.write_line(line)


def pytest_unconfigure(config: pytest.Config) -> None:
    """
    Leave nothing but the data.
    """
    ledger = config.stash.get(_LEDGER, None)
    if ledger is not None and not hasattr(config, "workerinput"):
        remove_tree(ledger.folder)
