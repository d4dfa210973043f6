"""
Hosts: what each one does with hooks, as pure functions over values.

Nothing here starts a process, reads a file or a clock, or looks at the environment. A
host is a ``Profile``; a session is a value that returns requests and continues with the answers to them.

A name is imported from its module when it is first used, so that a run imports only the parts that it needs.
"""

from importlib import import_module

# ``__init__.pyi`` has the same names.
_MODULES = {
    "hosts.catalogue": [
        "UnknownHost",
        "assumed_of_calls",
        "describe_assumed_cap",
        "find",
        "known",
        "names",
        "settings_folders",
        "with_cap",
    ],
    "hosts.explanations": ["explain", "known_facts", "summarise"],
    "hosts.hook_input.launch": ["env_files", "env_folder", "launch", "select", "start_groups"],
    "hosts.hook_input.stdin": [
        "encode",
        "find_event",
        "identifies_agents",
        "matcher_target",
        "payload_for",
        "payload_of_subagent",
        "sample_values",
        "shape",
    ],
    "hosts.profiles.command_line": ["CommandLine", "join_prompt", "read_command_line", "write_answer"],
    "hosts.replies.decision": ["aggregate"],
    "hosts.replies.reply": ["read_reply", "refuses_at_once"],
    "hosts.rules.profile": ["EventRule", "FinalAnswer", "Power", "Profile"],
    "hosts.rules.tools_and_transcript": ["Operation"],
    "hosts.rules.turns": ["Role"],
    "hosts.session.folders_and_files": ["find_outdated"],
    "hosts.session.limits": ["cap_for", "find_last_turn", "find_limits"],
    "hosts.session.moves_and_events": ["EVENTS"],
    "hosts.session.step": ["Progress", "advance", "begin", "reconfigure"],
    "hosts.session_state.facts": ["Facts", "PromptCommand", "facts", "read_commands", "session_id"],
    "hosts.session_state.requests": [
        "Ended",
        "HooksFinished",
        "Mismatch",
        "NextAct",
        "PerformCall",
        "Request",
        "RunHooks",
    ],
    "hosts.session_state.session_value": ["Session"],
    "hosts.settings.configuration": ["Configuration", "configure", "own_event"],
    "hosts.settings.components": ["component_hooks", "plugin_files", "plugin_name"],
    "hosts.settings.handlers": ["find_ignored"],
}


def __getattr__(name: str) -> object:
    for module, names in _MODULES.items():
        if name in names:
            value: object = getattr(import_module(f"pytest_hookharness.{module}"), name)
            globals()[name] = value
            return value
    raise AttributeError(f"{__name__} has no {name!r}")
