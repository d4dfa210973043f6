from pytest_hookharness.frontends.checkup import check_project
from pytest_hookharness.frontends.harness import explore, simulate
from pytest_hookharness.model.expectations import Expectation, Range
from pytest_hookharness.model.moves import (
    Behaviour,
    Edit,
    Prompt,
    Reaction,
    Read,
    RunCommand,
    Script,
    Stop,
    Subagent,
    ToolCall,
    ToolResult,
    Tools,
)
from pytest_hookharness.model.outcome import Outcome
from pytest_hookharness.model.scenario import Double, Scenario

__all__ = [
    "Behaviour",
    "Double",
    "Edit",
    "Expectation",
    "Outcome",
    "Prompt",
    "Range",
    "Reaction",
    "Read",
    "RunCommand",
    "Scenario",
    "Script",
    "Stop",
    "Subagent",
    "ToolCall",
    "ToolResult",
    "Tools",
    "check_project",
    "explore",
    "simulate",
]

__version__: str
