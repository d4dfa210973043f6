"""
This module is concerned with neighbours: what of the developer's own files hooks must find.

Middle floor: execution.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Collection

from pytest_hookharness.execution.confinement import lies_in
from pytest_hookharness.execution.doubles import PACKAGE, home_of_module
from pytest_hookharness.execution.environment import search_path
from pytest_hookharness.model.scenario import Scenario


def find_neighbours(scenario: Scenario, private: Collection[str]) -> list[str]:
    """
    What belongs to the developer and must be seen although places are private that may hide it.
    """
    found = [sys.prefix, sys.base_prefix]
    found += [str(folder) for folder in (scenario.project, scenario.plugin) if folder is not None]
    found += [*scenario.reach, *([str(PACKAGE)] if scenario.stand_ins or scenario.parallel else [])]
    found += [home_of_module(double.module) for double in scenario.commands.values() if double.module]
    if scenario.origin is not None:
        found.append(str(scenario.origin.file.absolute().parent))
    path = (*search_path(os.environ.get("PATH", "")), *search_path(scenario.env.get("PATH", "")))
    found += [_home_of(folder) for folder in path if lies_in(folder, private)]
    return [folder for folder in found if os.path.exists(folder)]


def _home_of(folder: str) -> str:
    # The programs of a virtual environment are nothing without the rest of it.
    parent = os.path.dirname(folder)
    return parent if os.path.exists(os.path.join(parent, "pyvenv.cfg")) else folder
