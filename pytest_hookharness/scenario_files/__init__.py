"""
Scenario files: from YAML, or plain Python data, to scenarios.

The key tables (``acts``, ``promises``, ``keys``) are data. They drive what is accepted, what it becomes,
and the JSON Schema. The way of a file: ``composing`` reads YAML into elements with positions,
``conversion`` holds them against the tables, ``assembly`` makes the scenarios.
"""

from pytest_hookharness.scenario_files.json_schema import SCHEMA_LINE, schema
from pytest_hookharness.scenario_files.loader import load, loads, scenario_from, script_from
from pytest_hookharness.scenario_files.writer import Unwritable, write
from pytest_hookharness.scenario_files.yaml.errors import ScenarioErrors, ScenarioProblem

__all__ = [
    "SCHEMA_LINE",
    "ScenarioErrors",
    "ScenarioProblem",
    "Unwritable",
    "load",
    "loads",
    "scenario_from",
    "schema",
    "script_from",
    "write",
]
