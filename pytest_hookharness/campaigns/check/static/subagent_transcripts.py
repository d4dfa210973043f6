"""
Hooks of a subagent's end that read the transcript of the main agent.

Where the host sends both, ``transcript_path`` is the main agent's, and ``agent_transcript_path`` that of the
subagent. A script that also looks for the lines of subagents, or at the last message, is left out.
"""

from __future__ import annotations

import re

from pytest_hookharness import hosts
from pytest_hookharness.campaigns.arming.project_texts import COMMENT_LINES
from pytest_hookharness.model.checkup import HookSet
from pytest_hookharness.model.protocol import Hook

OWN = "agent_transcript_path"
_READS = re.compile(r"(?<![\w])transcript_path(?!\w)")
_KNOWS = re.compile(r"agent_transcript|isSidechain|last_assistant_message|subagents/")


def reads_main_transcript(hook_set: HookSet, hook: Hook) -> bool:
    """Return whether a hook of a subagent's end reads only the transcript of the main agent."""
    rule = hosts.find(hook_set.host).events.get(hook.event)
    if rule is None or rule.role is not hosts.Role.SUBAGENT_STOP:
        return False
    if not any(field.name == OWN for field in rule.fields.fields):
        return False
    texts = [COMMENT_LINES.sub("", text) for text in hook_set.code_of(hook)]
    return any(map(_READS.search, texts)) and not any(map(_KNOWS.search, texts))
