"""
This package is concerned with scenario files: from YAML, or plain Python data, to scenarios.

Middle floor: it imports only the model.

The key tables (``acts``, ``promises``, ``keys``) are data. They drive what is accepted, what it becomes,
and the JSON Schema. The way of a file: ``composing`` reads YAML into elements with positions,
``conversion`` holds them against the tables, ``assembly`` makes the scenarios.
"""

from pytest_hookharness.loading.doors import load, loads, scenario_from, script_from
from pytest_hookharness.loading.export import SCHEMA_LINE, schema
from pytest_hookharness.loading.problems import Problem, ScenarioErrors
from pytest_hookharness.loading.writing import Unwritable, write

__all__ = [
    "SCHEMA_LINE",
    "Problem",
    "ScenarioErrors",
    "Unwritable",
    "load",
    "loads",
    "scenario_from",
    "schema",
    "script_from",
    "write",
]
