"""
The pytest plugin: options, ini keys, hooks and fixtures.

Every pytest run in an environment with this package loads this module, also runs that use nothing of it.
Everything else is therefore imported inside the functions that need it. PYTEST_DONT_REWRITE
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Mapping
from pathlib import Path
from types import MethodType
from typing import TYPE_CHECKING, Any

import pytest

from pytest_hookharness._imports import import_plainly

if TYPE_CHECKING:
    from pytest_hookharness.agents import BehaviourFunction
    from pytest_hookharness.frontends.harness import Harness
    from pytest_hookharness.frontends.pytest_plugin.fixtures import ScriptMaker, TestContext
    from pytest_hookharness.hosts import Profile
    from pytest_hookharness.model.outcome import Outcome

import_plainly("pytest_hookharness")

SUFFIX = ".scenario.yaml"
# A test compares them with the catalogue, which --help does not import.
HOSTS = "claude-code codex gemini-cli qwen-code openhands cursor copilot-cli antigravity kimi goose droid"

# Each is declared as --hook-NAME, with these arguments of argparse.
_OPTIONS: Mapping[str, dict[str, Any]] = {
    "scenarios": {
        "action": "store_true",
        "help": "run scenario files: those below the given paths, or below hook_scenario_paths without paths",
    },
    "host": {
        "action": "append",
        "metavar": "HOST",
        "help": f"play scenarios on this host instead: {HOSTS.replace(' ', ', ')} or all",
    },
    "live": {"action": "append", "metavar": "HOST", "help": "compare scenarios with the real program"},
    "stress": {"action": "store_true", "help": "also play every scenario with one thing different at a time"},
    "seed": {"type": int, "metavar": "N", "help": "seed of all generated values"},
    "keep": {"action": "store_true", "help": "keep the workspaces of failures and print where they are"},
    "turns": {"type": int, "metavar": "N", "help": "maximum number of turns"},
    "timeout": {"metavar": "TIME", "help": "end a hook run after this time, such as 10s"},
    "budget": {"metavar": "TIME", "help": "wall-clock time that one item may take, such as 60s"},
    "tier": {
        "choices": ("namespaces", "subreaper", "group"),
        "help": "how hook runs are isolated from the machine; the default is the best available",
    },
    "warm": {"action": "store_true", "help": "fork runs of Python hooks from a Python that is started once"},
    "durations": {"type": int, "metavar": "N", "help": "print the N slowest hooks; 0 prints all"},
    "github": {"action": "store_true", "help": "print failures as annotations of GitHub Actions"},
    "sarif": {"metavar": "FILE", "help": "write findings into FILE, in the format SARIF 2.1.0"},
    "cov": {"action": "store_true", "help": "record which lines of hooks run, for coverage.py"},
    "cov-source": {"action": "append", "metavar": "DIR", "help": "the same, for all scripts below DIR"},
    "trace-dir": {"metavar": "DIR", "help": "write a trace file of each simulation into DIR while it runs"},
    "report": {"metavar": "FILE", "help": "write an HTML page of all simulations into FILE"},
    "check": {
        "nargs": "?",
        "const": ".",
        "metavar": "PATH",
        "help": "check the hooks of the project at PATH (this one) without scenarios; its hooks are run",
    },
    "incident-dir": {"metavar": "DIR", "help": "write an incident report for each failed test into DIR"},
    "update": {
        "nargs": "?",
        "const": "sound",
        "choices": ("sound", "all"),
        "help": "write observed results into the scenario files as expectations; =all includes endless loops",
    },
}


def pytest_addoption(parser: pytest.Parser) -> None:
    """Declare the command line options and the ini keys."""
    group = parser.getgroup("hook harness", "simulate agent hosts and run real hooks")
    for name, option in _OPTIONS.items():
        group.addoption(f"--hook-{name}", **option)
    parser.addini("hook_scenarios", "collect scenario files without the flag", type="bool", default=False)
    parser.addini("hook_warm", "as --hook-warm", type="bool", default=False)
    parser.addini("hook_scenario_paths", "folders with scenarios", type="args", default=["scenarios"])
    parser.addini("hook_live_path", "folder of the real programs for --hook-live", default="")
    for name, usual in (("seed", "0"), ("turns", ""), ("timeout", "10s"), ("budget", "60s")):
        parser.addini(f"hook_{name}", f"as --hook-{name}", default=usual)


def pytest_addhooks(pluginmanager: pytest.PytestPluginManager) -> None:
    """Declare the hooks by which other plugins extend the harness."""
    pluginmanager.add_hookspecs(Specifications)


class Specifications:
    """The pytest hooks by which other plugins extend the harness."""

    @pytest.hookspec
    def pytest_hook_behaviours(self) -> Mapping[str, BehaviourFunction]:  # type: ignore[empty-body]
        """Return behaviours for ``then:``, as generator functions by name."""

    @pytest.hookspec
    def pytest_hook_hosts(self) -> Iterable[Profile]:  # type: ignore[empty-body]
        """Return profiles of hosts; plugins and the conftest.py files that pytest loads first are asked."""

    @pytest.hookspec
    def pytest_hook_report_sections(self, outcome: Outcome) -> Iterable[Any]:  # type: ignore[empty-body]
        """Return sections for the report of a test that failed, each as title and text."""


def _wanted(config: pytest.Config) -> bool:
    return bool(config.getoption("--hook-scenarios") or config.getini("hook_scenarios"))


def _names_scenarios(config: pytest.Config) -> bool:
    return _wanted(config) or any(SUFFIX in named for named in config.args)


def _require_system() -> None:
    from pytest_hookharness.execution.platform import why_unsupported

    if why := why_unsupported():
        raise pytest.UsageError(why)


def _only_scenarios(config: pytest.Config) -> bool:
    """Return whether the flag was given without paths, so that only the scenario folders are collected."""
    worker = getattr(config, "workerinput", None)
    if worker is not None:
        return bool(worker.get("hook_only_scenarios"))
    named = config.args_source is pytest.Config.ArgsSource.ARGS
    return bool(config.getoption("--hook-scenarios")) and not named


def pytest_configure(config: pytest.Config) -> None:
    """
    Check the options; collect the scenario folders if the flag was given without paths.

    Raises:
        pytest.UsageError: An option cannot be read, or none of the folders exists.
    """
    config.addinivalue_line("markers", "hook_scenario(name, host): an item of a scenario file, for -m")
    if config.hook.pytest_hook_hosts.get_hookimpls():
        from pytest_hookharness.frontends.pytest_plugin import registration

        registration.register_hosts(config)
    values = [config.getoption(f"--hook-{name}") for name in _OPTIONS]
    given = any(value is not None and value is not False for value in values)
    if given or _names_scenarios(config):
        _require_system()
    if given:
        from pytest_hookharness.frontends.pytest_plugin import registration

        registration.configure(config)
    if not _only_scenarios(config):
        return
    from pytest_hookharness.frontends.pytest_plugin import collection

    config.args = collection.scenario_folders(config)


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Tell an xdist worker whether the flag was given without paths: it is started with other arguments."""
    node.workerinput["hook_only_scenarios"] = _only_scenarios(node.config)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Ignore all but scenarios if only they are wanted, and the project folders that scenarios copy."""
    if collection_path.is_dir():
        # Only file names are read here, once for each folder: a run without scenarios pays for nothing else.
        parent, seen = collection_path.parent, config.stash.setdefault(_WITH_SCENARIOS, {})
        if parent not in seen:
            seen[parent] = any(path.name.endswith(SUFFIX) for path in parent.iterdir())
        if not seen[parent]:
            return None
        from pytest_hookharness.frontends.pytest_plugin import collection

        return True if collection.is_material(collection_path) else None
    if _only_scenarios(config) and not collection_path.name.endswith(SUFFIX):
        return True
    return None


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Collect a scenario file if the flag or the file itself was named."""
    if not file_path.name.endswith(SUFFIX):
        return None
    if not _wanted(parent.config) and not parent.session.isinitpath(file_path):
        parent.config.stash[_LEFT_OUT] = True
        return None
    from pytest_hookharness.frontends.pytest_plugin import collection

    return collection.ScenarioFile.of(parent, file_path)


def pytest_report_header(config: pytest.Config) -> str | None:
    """Return the line that says how hook runs will be isolated."""
    if not _names_scenarios(config):
        return None
    from pytest_hookharness.frontends import replay_command
    from pytest_hookharness.frontends.pytest_plugin import options

    return replay_command.header(options.settings(config))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Add the results of a test's simulations to its report."""
    results = item.stash.get(RESULTS, None)
    if results is not None and call.excinfo is not None and not hasattr(item, "scenario"):
        from pytest_hookharness.frontends.pytest_plugin import failed_asserts

        failed_asserts.shorten(call.excinfo.value, results)
    report = yield
    if results is not None and report.when == "call":
        from pytest_hookharness.frontends.pytest_plugin import summary

        summary.enrich(item, call, report, results)
    return report


def pytest_assertrepr_compare(op: str, left: object, right: object) -> list[str] | None:
    """Explain why an outcome or a verdict is not equal to something."""
    owners = (value.__self__ if isinstance(value, MethodType) else value for value in (left, right))
    if not any(type(owner).__module__.startswith("pytest_hookharness.") for owner in owners):
        return None
    from pytest_hookharness.frontends.pytest_plugin import failed_asserts

    return failed_asserts.explain_comparison(op, left, right)


def pytest_report_teststatus(report: pytest.CollectReport | pytest.TestReport) -> tuple[str, str, str] | None:
    """Count a scenario that could not be played as an error, not as a failure of its hooks."""
    if report.when == "call" and ("hook_error", True) in report.user_properties:
        return "error", "E", "ERROR"
    return None


def _has_simulations(report: Any) -> bool:
    of_scenario = getattr(report, "nodeid", "").partition("::")[0].endswith(SUFFIX)
    properties = getattr(report, "user_properties", ()) if getattr(report, "when", "") == "call" else ()
    return of_scenario or any(name == "hook_timings" for name, _ in properties)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, exitstatus: int) -> None:
    """Print the results of the simulations; if nothing ran, that scenario files were left out."""
    if exitstatus == pytest.ExitCode.NO_TESTS_COLLECTED and _LEFT_OUT in terminalreporter.config.stash:
        terminalreporter.write_line("hook harness: scenario files are there; --hook-scenarios runs them")
    reports = [
        report
        for kind, reports in terminalreporter.stats.items()
        for report in reports
        # pytest keeps the deselected items.
        if kind != "deselected" and _has_simulations(report)
    ]
    harness = terminalreporter.config.stash.get(HARNESS, None)
    interrupted = None if harness is None else harness.interrupted
    option = terminalreporter.config.option
    if reports or interrupted or option.hook_incident_dir or option.hook_trace_dir:
        from pytest_hookharness.frontends.pytest_plugin import summary

        summary.write(terminalreporter, reports, interrupted)


HARNESS = pytest.StashKey[Any]()
RESULTS = pytest.StashKey[Any]()
_WITH_SCENARIOS = pytest.StashKey[dict[Path, bool]]()
_LEFT_OUT = pytest.StashKey[bool]()


@pytest.fixture(scope="session")
def _hook_harness(pytestconfig: pytest.Config, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Harness]:
    _require_system()
    from pytest_hookharness.execution.processes.sandbox import Supervisor

    with Supervisor() as supervisor:
        # Its process gets ready while this one imports the rest.
        supervisor.start()
        from pytest_hookharness.frontends.pytest_plugin.options import open_harness

        with open_harness(pytestconfig, tmp_path_factory, supervisor) as harness:
            pytestconfig.stash[HARNESS] = harness
            yield harness


@pytest.fixture
def _hook_context(request: pytest.FixtureRequest, _hook_harness: Harness) -> Iterator[TestContext]:
    from pytest_hookharness.frontends.pytest_plugin.fixtures import TestContext

    with TestContext(_hook_harness, request.path.parent, request.node.nodeid) as context:
        request.node.stash[RESULTS] = context.results
        yield context


def _tool(name: str, doc: str, *given: object) -> Any:
    """Return a fixture that makes an object of a class in `fixtures` for the context of a test."""

    def make(_hook_context: TestContext) -> Any:
        from pytest_hookharness.frontends.pytest_plugin import fixtures

        return getattr(fixtures, name)(_hook_context, *given)

    make.__doc__ = doc
    return pytest.fixture(make)


def _double(doc: str, **how: object) -> Any:
    return _tool("CommandMaker", doc, how)


hook_workspace = _tool(
    "HookWorkspace", "Set up files and scenario keys that the other hook fixtures of this test start from."
)
hook_loop = _tool("HookLoop", 'Simulate a session: ``hook_loop(Stop="./hook.sh")`` returns its outcome.')
hook_fire = _tool(
    "HookFire",
    'Fire the hooks of one event once: ``hook_fire("PreToolUse", "./guard.sh", tool_name="Bash")``.',
)
hook_payload = _tool(
    "HookPayload", 'Generate the standard input of an event: ``hook_payload("Stop", stop_hook_active=True)``.'
)
hook_recordings = _tool(
    "HookRecordings", 'Read recorded payloads by event: ``hook_recordings("hook-recordings")["Stop"]``.'
)
failing_command = _double(
    'Put a command first on the PATH that always fails: ``failing_command("npm", exit=1)``.', exit=1
)
flaky_command = _double("Put a command first on the PATH that fails, then works.", exit=1, heals_after=1)
hanging_command = _double("Put a command first on the PATH that never ends.", hangs=True)
flooding_command = _double("Put a command first on the PATH that prints 10 MB.", floods=10_000_000)
prompting_command = _double(
    "Put a command first on the PATH that asks a question on the terminal.", prompts="Password: "
)
agent_command = _double(
    'Put a fake agent first on the PATH: ``agent_command("claude", stdout="All is well.")``.',
    agent="claude-code",
)


@pytest.fixture
def scripted_agent() -> ScriptMaker:
    """Write a scripted agent: ``scripted_agent({"run": "make"}, {"stop": "Done."}, then="obedient")``."""
    from pytest_hookharness.frontends.pytest_plugin.fixtures import ScriptMaker

    return ScriptMaker()
