from pytest_hookharness.exploring import explore
from pytest_hookharness.model.expectations import Expectation, Range
from pytest_hookharness.model.moves import (
    Behaviour,
    Edit,
    Prompt,
    Reaction,
    Read,
    Run,
    Script,
    Stop,
    Subagent,
    ToolCall,
    ToolResult,
    Tools,
)
from pytest_hookharness.model.outcome import Outcome
from pytest_hookharness.model.scenario import Double, Scenario
from pytest_hookharness.simulation import simulate

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
    "Run",
    "Scenario",
    "Script",
    "Stop",
    "Subagent",
    "ToolCall",
    "ToolResult",
    "Tools",
    "explore",
    "simulate",
]

__version__: str
