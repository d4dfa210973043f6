"""
The public names of the package, each imported when it is first used.

PYTEST_DONT_REWRITE
"""
# pyright: reportUnsupportedDunderAll=false

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

__version__ = "0.1.0"


_MODULES = {
    "frontends.checkup": ["check_project"],
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
            # Processes that wait for a module of ours load this one too, and `importlib` takes long.
            from importlib import import_module  # noqa: PLC0415 -- see above

            return getattr(import_module(f"{__name__}.{module}"), name)
    raise AttributeError(f"{__name__} has no {name!r}; it has {', '.join(__all__)}")
