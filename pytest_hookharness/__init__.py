"""
The public names of the package, each imported when it is first used.

PYTEST_DONT_REWRITE
"""
# pyright: reportUnsupportedDunderAll=false

from importlib import import_module

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
    "explore",
    "simulate",
]

__version__ = "0.1.0"


_MODULES = {
    "frontends.harness": ["explore", "simulate"],
    "model.expectations": ["Expectation", "Range"],
    "model.moves": [
        "Behaviour", "Edit", "Prompt", "Reaction", "Read", "RunCommand", "Script", "Stop", "Subagent",
        "ToolCall", "ToolResult", "Tools",
    ],
    "model.outcome": ["Outcome"],
    "model.scenario": ["Double", "Scenario"],
}  # fmt: skip


def __getattr__(name: str) -> object:
    for module, names in _MODULES.items():
        if name in names:
            return getattr(import_module(f"{__name__}.{module}"), name)
    raise AttributeError(f"{__name__} has no {name!r}; it has {', '.join(__all__)}")
