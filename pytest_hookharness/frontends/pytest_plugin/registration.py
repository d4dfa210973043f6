"""
Checks of the given options of a pytest run, and the plugins behind them.

Imported only if an option is given. Each plugin is imported only if its own option is.
"""

from __future__ import annotations

import functools
import itertools

import pytest

from pytest_hookharness.frontends.option_types import OptionError, make_folder
from pytest_hookharness.frontends.pytest_plugin.options import COVERAGE_PLUGIN, settings
from pytest_hookharness.hosts import catalogue

# Options that are checked before anything is collected.
_CHECKED = ("durations", "seed", "turns", "timeout", "budget", "host")
_FOLDERS = ("incident-dir", "trace-dir")


def configure(config: pytest.Config) -> None:
    """Check the options and register the plugins behind them; raise ``pytest.UsageError`` for a bad value."""
    try:
        _check(config)
        _register(config)
    except OptionError as error:
        raise pytest.UsageError(str(error)) from None


def register_hosts(config: pytest.Config) -> None:
    """
    Make the hosts known that plugins bring, until the end of the run.

    Raises:
        pytest.UsageError: One of them is not a profile, or is built in.
    """
    for profile in itertools.chain.from_iterable(config.hook.pytest_hook_hosts()):
        try:
            catalogue.register(profile)
        except catalogue.UnknownHost as error:
            raise pytest.UsageError(str(error)) from None
        config.add_cleanup(functools.partial(catalogue.forget, profile))


def _check(config: pytest.Config) -> None:
    if any(config.getoption(f"--hook-{name}") is not None for name in _CHECKED):
        settings(config)
    for name in _FOLDERS:
        if (named := config.getoption(f"--hook-{name}")) is not None:
            folder = make_folder(named, f"--hook-{name}", below=config.invocation_params.dir)
            setattr(config.option, f"hook_{name}".replace("-", "_"), str(folder))


def _register(config: pytest.Config) -> None:
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
    if config.getoption("--hook-live"):
        from pytest_hookharness.frontends.pytest_plugin import live_items

        live_items.check_option(config)
        config.option.hook_scenarios = True
        config.pluginmanager.register(live_items)
    if config.getoption("--hook-cov") or config.getoption("--hook-cov-source"):
        from pytest_hookharness.frontends import coverage_data

        config.pluginmanager.register(coverage_data, COVERAGE_PLUGIN)
