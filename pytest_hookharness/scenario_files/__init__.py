"""
Scenario files: from YAML, or plain Python data, to scenarios.

``yaml`` reads a file into elements with positions, ``schema`` compares them with shapes, and ``variants``
combines the values into scenarios. The tables in ``keys`` define which keys exist, what they become, and the
JSON Schema; they are derived from the dataclasses of the model.
"""

from pytest_hookharness.scenario_files.loader import load, loads, scenario_from, script_from
from pytest_hookharness.scenario_files.yaml.elements import ScenarioErrors, ScenarioProblem

__all__ = ["ScenarioErrors", "ScenarioProblem", "load", "loads", "scenario_from", "script_from"]
