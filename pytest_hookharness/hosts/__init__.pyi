from pytest_hookharness.hosts.catalogue import (
    UnknownHost,
    assumed_of_calls,
    describe_assumed_cap,
    find,
    known,
    names,
    settings_folders,
    with_cap,
)
from pytest_hookharness.hosts.explanations import explain, known_facts, summarise
from pytest_hookharness.hosts.hook_input.launch import env_files, env_folder, launch, select, start_groups
from pytest_hookharness.hosts.hook_input.stdin import (
    encode,
    find_event,
    identifies_agents,
    matcher_target,
    payload_for,
    payload_of_subagent,
    sample_values,
    shape,
)
from pytest_hookharness.hosts.profiles.command_line import (
    CommandLine,
    join_prompt,
    read_command_line,
    write_answer,
)
from pytest_hookharness.hosts.replies.decision import aggregate
from pytest_hookharness.hosts.replies.reply import read_reply, refuses_at_once
from pytest_hookharness.hosts.rules.profile import EventRule, FinalAnswer, Power, Profile
from pytest_hookharness.hosts.rules.tools_and_transcript import Operation
from pytest_hookharness.hosts.rules.turns import Role
from pytest_hookharness.hosts.session.folders_and_files import find_outdated
from pytest_hookharness.hosts.session.limits import cap_for, find_last_turn, find_limits
from pytest_hookharness.hosts.session.moves_and_events import EVENTS
from pytest_hookharness.hosts.session.step import Progress, advance, begin, reconfigure
from pytest_hookharness.hosts.session_state.facts import (
    Facts,
    PromptCommand,
    facts,
    read_commands,
    session_id,
)
from pytest_hookharness.hosts.session_state.requests import (
    Ended,
    HooksFinished,
    Mismatch,
    NextAct,
    PerformCall,
    Request,
    RunHooks,
)
from pytest_hookharness.hosts.session_state.session_value import Session
from pytest_hookharness.hosts.settings.components import component_hooks, plugin_files, plugin_name
from pytest_hookharness.hosts.settings.configuration import Configuration, configure, own_event
from pytest_hookharness.hosts.settings.handlers import find_ignored

__all__ = [
    "EVENTS",
    "CommandLine",
    "Configuration",
    "Ended",
    "EventRule",
    "Facts",
    "FinalAnswer",
    "HooksFinished",
    "Mismatch",
    "NextAct",
    "Operation",
    "PerformCall",
    "Power",
    "Profile",
    "Progress",
    "PromptCommand",
    "Request",
    "Role",
    "RunHooks",
    "Session",
    "UnknownHost",
    "advance",
    "aggregate",
    "assumed_of_calls",
    "begin",
    "cap_for",
    "component_hooks",
    "configure",
    "describe_assumed_cap",
    "encode",
    "env_files",
    "env_folder",
    "explain",
    "facts",
    "find",
    "find_event",
    "find_ignored",
    "find_last_turn",
    "find_limits",
    "find_outdated",
    "identifies_agents",
    "join_prompt",
    "known",
    "known_facts",
    "launch",
    "matcher_target",
    "names",
    "own_event",
    "payload_for",
    "payload_of_subagent",
    "plugin_files",
    "plugin_name",
    "read_command_line",
    "read_commands",
    "read_reply",
    "reconfigure",
    "refuses_at_once",
    "sample_values",
    "select",
    "session_id",
    "settings_folders",
    "shape",
    "start_groups",
    "summarise",
    "with_cap",
    "write_answer",
]
