"""
This package is concerned with hosts: what each does with hooks, as pure functions over values.

Middle floor. Nothing here starts a process, reads a file or a clock, or looks at the environment. A
host is a ``Profile``; a session is a value that asks for what it needs and goes on with the answer.
"""

from pytest_hookharness.hosts.called import (
    CommandLine,
    join_prompt,
    read_command_line,
    write_answer,
)
from pytest_hookharness.hosts.catalogue import UnknownHost, assumed_of_calls, find, known, names
from pytest_hookharness.hosts.commands import PromptCommand, read_commands
from pytest_hookharness.hosts.company import as_agent, tells_agents_apart
from pytest_hookharness.hosts.configuration import Configuration, configure
from pytest_hookharness.hosts.decisions import aggregate
from pytest_hookharness.hosts.ends import find_limits
from pytest_hookharness.hosts.entries import Problem
from pytest_hookharness.hosts.events import EventRule, Power
from pytest_hookharness.hosts.explaining import explain, known_facts, summarise
from pytest_hookharness.hosts.facts import Facts, facts
from pytest_hookharness.hosts.freshness import outdated
from pytest_hookharness.hosts.launching import env_files, env_folder, launch
from pytest_hookharness.hosts.matching import select, waves
from pytest_hookharness.hosts.options import find_ignored
from pytest_hookharness.hosts.profile import GuardRules, Operation, ProcessRules, Profile
from pytest_hookharness.hosts.replies import read_reply, refuses_at_once
from pytest_hookharness.hosts.requests import (
    Answer,
    Ended,
    Fired,
    Lines,
    Mismatch,
    NextAct,
    PerformCall,
    Request,
    RunHooks,
)
from pytest_hookharness.hosts.roles import Role
from pytest_hookharness.hosts.rules.calling import Answered
from pytest_hookharness.hosts.samples import sample_words
from pytest_hookharness.hosts.session import Progress, advance, begin, guard_for, reconfigure
from pytest_hookharness.hosts.shaping import shape
from pytest_hookharness.hosts.state import Session
from pytest_hookharness.hosts.stdin import encode, find_event, payload_for, target_of
from pytest_hookharness.hosts.turns import EVENTS
from pytest_hookharness.model.moves import Performance

__all__ = [
    "EVENTS",
    "Answer",
    "Answered",
    "CommandLine",
    "Configuration",
    "Ended",
    "EventRule",
    "Facts",
    "Fired",
    "GuardRules",
    "Lines",
    "Mismatch",
    "NextAct",
    "Operation",
    "PerformCall",
    "Performance",
    "Power",
    "Problem",
    "ProcessRules",
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
    "as_agent",
    "assumed_of_calls",
    "begin",
    "configure",
    "encode",
    "env_files",
    "env_folder",
    "explain",
    "facts",
    "find",
    "find_event",
    "find_ignored",
    "find_limits",
    "guard_for",
    "join_prompt",
    "known",
    "known_facts",
    "launch",
    "names",
    "outdated",
    "payload_for",
    "read_command_line",
    "read_commands",
    "read_reply",
    "reconfigure",
    "refuses_at_once",
    "sample_words",
    "select",
    "shape",
    "summarise",
    "target_of",
    "tells_agents_apart",
    "waves",
    "write_answer",
]
