"""
This package is concerned with hook scripts of coding agents, and with whether their loop ever ends.

Top floor: the face. Nothing inside imports it; a name is fetched when it is asked for. PYTEST_DONT_REWRITE
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

__version__ = "0.1.0"


def __getattr__(name: str) -> object:
    homes = (
        ("model.moves", "model.scenario", "model.expectations", "model.outcome", "simulation", "exploring")
        if name in __all__
        else ()
    )
    for home in homes:
        module = import_module(f"{__name__}.{home}")
        if hasattr(module, name):
            return getattr(module, name)
    raise AttributeError(f"{__name__} has no {name!r}; it offers {', '.join(__all__)}")
