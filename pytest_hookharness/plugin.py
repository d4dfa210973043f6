"""
Pytest: options, settings, fixtures and the summary.

What costs time is imported inside the functions that need it: a run that does not use the
harness pays for this file alone. PYTEST_DONT_REWRITE, for there is nothing to assert here.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pytest_hookharness._imports import import_plainly

if TYPE_CHECKING:
    from pytest_hookharness.agents import BehaviourFunction
    from pytest_hookharness.frontends.harness import Harness
    from pytest_hookharness.frontends.pytest_plugin.fixtures import ScriptMaker
    from pytest_hookharness.frontends.pytest_plugin.test_context import TestContext

import_plainly("pytest_hookharness")

SUFFIX = ".scenario.yaml"
_COVERING = "hookharness-covering"
_CHECKED = ("durations", "seed", "turns", "timeout", "budget", "host")
_FOLDERS = ("entry-dir", "trace-dir")


# What the command line takes, as argparse has it.
_OPTIONS: Mapping[str, dict[str, Any]] = {
    "scenarios": {
        "action": "store_true",
        "help": "run scenario files: alone those below hook_scenario_paths, with paths those below them",
    },
    "host": {"action": "append", "metavar": "HOST", "help": "play scenarios on this host instead, or on all"},
    "stress": {"action": "store_true", "help": "play scenarios again with everything different in turn"},
    "seed": {"type": int, "metavar": "N", "help": "seed of everything the harness makes up"},
    "keep": {"action": "store_true", "help": "keep the workspace of failures and say where"},
    "turns": {"type": int, "metavar": "N", "help": "most turns that are played"},
    "timeout": {"metavar": "TIME", "help": "end a hook run after this time, such as 10s"},
    "budget": {"metavar": "TIME", "help": "wall time that one item may take, such as 60s"},
    "tier": {
        "choices": ("namespaces", "subreaper", "group"),
        "help": "how fires are kept apart from the machine; the best available is the default",
    },
    "durations": {
        "type": int,
        "metavar": "N",
        "help": "print the N slowest hooks, 0 for all, also quick ones",
    },
    "github": {"action": "store_true", "help": "tell what was broken as GitHub Actions wants to be told"},
    "sarif": {"metavar": "FILE", "help": "write what was found into FILE, in the format SARIF 2.1.0"},
    "cov": {"action": "store_true", "help": "record which lines of hooks run, for coverage.py"},
    "cov-source": {"action": "append", "metavar": "DIR", "help": "the same, of all scripts below DIR"},
    "trace-dir": {
        "metavar": "DIR",
        "help": "write down each simulation into a file in DIR while it is played",
    },
    "report": {"metavar": "FILE", "help": "write a page of all simulations, for a browser, into FILE"},
    "check": {
        "nargs": "?",
        "const": ".",
        "metavar": "PATH",
        "help": "check the hooks of a project (this one), without scenarios; its hooks are run",
    },
    "entry-dir": {"metavar": "DIR", "help": "write a debugging entry for each failed simulation into DIR"},
    "update": {
        "nargs": "?",
        "const": "sound",
        "choices": ("sound", "all"),
        "help": "write what was seen into the scenario files; =all promises endless loops too",
    },
}


def pytest_addoption(parser: pytest.Parser) -> None:
    """
    Declare the command line options and the ini keys.
    """
    group = parser.getgroup("hook harness", "simulate agent hosts and fire real hooks")
    for name, option in _OPTIONS.items():
        group.addoption(f"--hook-{name}", **option)
    parser.addini("hook_scenarios", "collect scenario files without the flag", type="bool", default=False)
    parser.addini("hook_scenario_paths", "folders with scenarios", type="args", default=["scenarios"])
    for name, usual in (("seed", "0"), ("turns", ""), ("timeout", "10s"), ("budget", "60s")):
        parser.addini(f"hook_{name}", f"as --hook-{name}", default=usual)


def pytest_addhooks(pluginmanager: pytest.PytestPluginManager) -> None:
    """
    Declare the hooks by which others extend the harness.
    """
    pluginmanager.add_hookspecs(Specifications)


class Specifications:
    """
    The pytest hooks by which others extend the harness.
    """

    @pytest.hookspec
    def pytest_hook_behaviours(self) -> Mapping[str, BehaviourFunction]:  # type: ignore[empty-body]
        """
        Register behaviours for ``then:``, as generator functions by name.
        """


def _wanted(config: pytest.Config) -> bool:
    return bool(config.getoption("--hook-scenarios") or config.getini("hook_scenarios"))


def _alone(config: pytest.Config) -> bool:
    worker = getattr(config, "workerinput", None)
    if worker is not None:
        return bool(worker.get("hook_alone"))
    named = config.args_source is pytest.Config.ArgsSource.ARGS
    return bool(config.getoption("--hook-scenarios")) and not named


def pytest_configure(config: pytest.Config) -> None:
    """
    Check the options, and turn to the scenario folders when the flag stands alone.

    Raises:
        pytest.UsageError: An option cannot be read, or none of the folders exists.
    """
    if any(config.getoption(f"--hook-{name}") is not None for name in _CHECKED):
        from pytest_hookharness.frontends import harness

        harness.settings(config)
    for name in _FOLDERS:
        if (named := config.getoption(f"--hook-{name}")) is not None:
            from pytest_hookharness.frontends.output import incident_files

            folder = incident_files.make_folder(named, f"--hook-{name}", below=config.invocation_params.dir)
            setattr(config.option, f"hook_{name}".replace("-", "_"), str(folder))
    if config.getoption("--hook-report") is not None:
        from pytest_hookharness.frontends.pytest_plugin import html_report

        html_report.expect_page(config)
    if (file := config.getoption("--hook-sarif")) is not None:
        from pytest_hookharness.frontends.pytest_plugin import ci_files

        ci_files.register(config, file)
    if config.getoption("--hook-update"):
        from pytest_hookharness.frontends.pytest_plugin import update_files

        config.pluginmanager.register(update_files.Updates(config))
    if config.getoption("--hook-check") is not None:
        from pytest_hookharness.frontends.pytest_plugin import check_items

        config.pluginmanager.register(check_items)
    if config.getoption("--hook-cov") or config.getoption("--hook-cov-source"):
        from pytest_hookharness.frontends import coverage_data

        config.pluginmanager.register(coverage_data, _COVERING)
    if not _alone(config):
        return
    from pytest_hookharness.frontends.pytest_plugin import collection

    config.args = collection.scenario_folders(config)


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """
    Tell an xdist worker, which sees other arguments, whether the flag stands alone.
    """
    node.workerinput["hook_alone"] = _alone(node.config)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """
    Leave alone what is not a scenario, and the projects that scenarios copy.
    """
    if collection_path.is_dir():
        # A look at names only, so that a run without scenarios pays for nothing else.
        if not any(path.name.endswith(SUFFIX) for path in collection_path.parent.iterdir()):
            return None
        from pytest_hookharness.frontends.pytest_plugin import collection

        return True if collection.is_material(collection_path) else None
    if _alone(config) and not collection_path.name.endswith(SUFFIX):
        return True
    return None


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """
    Collect a scenario file if it was asked for, by the flag or by its name.
    """
    if not file_path.name.endswith(SUFFIX):
        return None
    if not _wanted(parent.config) and not parent.session.isinitpath(file_path):
        return None
    from pytest_hookharness.frontends.pytest_plugin import collection

    return collection.ScenarioFile.from_parent(parent, path=file_path)


def pytest_report_header(config: pytest.Config) -> str | None:
    """
    Say how the fires will be kept apart from the machine.
    """
    if not _wanted(config) and not any(SUFFIX in named for named in config.args):
        return None
    from pytest_hookharness.frontends import harness

    return harness.header(harness.settings(config))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """
    Add what the simulations of a test gave to its report.
    """
    report = yield
    told = item.stash.get(TOLD, None)
    if told is not None and report.when == "call":
        from pytest_hookharness.frontends.pytest_plugin import summary

        summary.enrich(item, call, report, told)
    return report


def pytest_report_teststatus(report: pytest.CollectReport | pytest.TestReport) -> tuple[str, str, str] | None:
    """
    Count a scenario that could not be played as an error, not as a failure of its hooks.
    """
    if report.when == "call" and ("hook_error", True) in report.user_properties:
        return "error", "E", "ERROR"
    return None


def _is_ours(report: Any) -> bool:
    of_scenario = getattr(report, "nodeid", "").partition("::")[0].endswith(SUFFIX)
    told = getattr(report, "user_properties", ()) if getattr(report, "when", "") == "call" else ()
    return of_scenario or any(name == "hook_timings" for name, _ in told)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """
    Print what became of the simulations that ran.
    """
    reports = [
        report for reports in terminalreporter.stats.values() for report in reports if _is_ours(report)
    ]
    harness = terminalreporter.config.stash.get(HARNESS, None)
    interrupted = None if harness is None else harness.interrupted
    asked = any(terminalreporter.config.getoption(f"--hook-{name}") is not None for name in _FOLDERS)
    if reports or interrupted or asked:
        from pytest_hookharness.frontends.pytest_plugin import summary

        summary.write(terminalreporter, reports, interrupted)


HARNESS = pytest.StashKey[Any]()
TOLD = pytest.StashKey[Any]()


@pytest.fixture(scope="session")
def _hook_harness(pytestconfig: pytest.Config, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Harness]:
    from pytest_hookharness.frontends.harness import Harness, settings
    from pytest_hookharness.frontends.progress import open_line

    chosen = settings(pytestconfig, tmp_path_factory)
    if (coverage_data := pytestconfig.pluginmanager.get_plugin(_COVERING)) is not None:
        chosen = coverage_data.recorded(chosen, pytestconfig)
    with open_line(pytestconfig) as line, Harness(chosen, pytestconfig.hook, line) as harness:
        pytestconfig.stash[HARNESS] = harness
        yield harness


@pytest.fixture
def _hook_bench(request: pytest.FixtureRequest, _hook_harness: Harness) -> Iterator[TestContext]:
    from pytest_hookharness.frontends.pytest_plugin.test_context import TestContext

    with TestContext(_hook_harness, request.path.parent, request.node.nodeid) as bench:
        request.node.stash[TOLD] = bench.told
        yield bench


def _tool(name: str, told: str, *given: object) -> Any:
    """
    A fixture that gives a tool for the bench of a test, by the name of its class.
    """

    def make(_hook_bench: TestContext) -> Any:
        from pytest_hookharness.frontends.pytest_plugin import fixtures

        return getattr(fixtures, name)(_hook_bench, *given)

    make.__doc__ = told
    return pytest.fixture(make)


hook_workspace = _tool(
    "HookWorkspace", "The files and settings that the other hook fixtures of this test start from."
)
hook_loop = _tool(
    "HookLoop", 'Simulate a whole session: ``hook_loop(Stop="./hook.sh")``, or a scenario, gives an outcome.'
)
hook_fire = _tool(
    "HookFire",
    'Fire the hooks of one event once: ``hook_fire("PreToolUse", "./guard.sh", tool_name="Bash")``.',
)
hook_payload = _tool(
    "HookPayload", 'Make up the standard input of an event: ``hook_payload("Stop", stop_hook_active=True)``.'
)
failing_command = _tool(
    "CommandMaker",
    'Put a command that always fails first on the PATH: ``failing_command("npm", exit=1)``.',
    {"exit": 1},
)
flaky_command = _tool(
    "CommandMaker",
    "Put a command first on the PATH that fails a few times and then works.",
    {"exit": 1, "heals_after": 1},
)
hanging_command = _tool(
    "CommandMaker", "Put a command first on the PATH that never returns.", {"hangs": True}
)
flooding_command = _tool(
    "CommandMaker", "Put a command first on the PATH that prints very much.", {"floods": 10_000_000}
)
prompting_command = _tool(
    "CommandMaker",
    "Put a command first on the PATH that asks a question on the terminal.",
    {"prompts": "Password: "},
)
agent_command = _tool(
    "CommandMaker",
    'Put a stand-in for an agent first on the PATH: ``agent_command("claude", stdout="All is well.")``.',
    {"agent": "claude-code"},
)


@pytest.fixture
def scripted_agent() -> ScriptMaker:
    """
    Write an agent: ``scripted_agent({"run": "make"}, {"stop": "Done."}, then="obedient")``.
    """
    from pytest_hookharness.frontends.pytest_plugin.fixtures import ScriptMaker

    return ScriptMaker()
