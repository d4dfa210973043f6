"""The moves that show whether a file with secrets, of which a guard knows, can be read by another tool."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Sequence

from pytest_hookharness import hosts
from pytest_hookharness.campaigns.guards.denials import is_denied
from pytest_hookharness.campaigns.guards.file_ways import hooks_of_commands
from pytest_hookharness.judging.checkup.other_readers import FileReading, reading_of
from pytest_hookharness.model.checkup import HookSet
from pytest_hookharness.model.moves import FIRST_PROMPT, Act, Read, RunCommand

_SECRET = re.compile(r"^\.env|secret|credential|\.pem$|\.key$|^id_", re.IGNORECASE)


def prove_readers(hook_set: HookSet, refused: Sequence[Act]) -> tuple[Act, ...]:
    """
    Return the acts that show that files are read by one tool and refused to another; none if none may be.
    """
    found = {one for act in refused if (one := reading_of(act)) is not None}
    open_ones = [one for one in sorted(found, key=str) if one.other not in found and _is_open(hook_set, one)]
    controls = dict.fromkeys(one.control for one in open_ones)
    others = [*(one.other.act for one in open_ones), *(one.act for one in controls)]
    known = [one.act for one in open_ones]
    return (FIRST_PROMPT, *others, *known, *known, *others) if known else ()


def _is_open(hook_set: HookSet, one: FileReading) -> bool:
    """Return whether only a hook can keep a file with secrets from the other tool."""
    profile = hosts.find(hook_set.host)
    by_tool = profile.tools.call(Read(file=one.file), "/w").name
    by_command = profile.tools.call(RunCommand(command="true"), "/w").name
    other = by_tool if one.by_command else by_command
    can_be_asked = bool(profile.for_role(hosts.Role.BEFORE_TOOL, other))
    name = posixpath.basename(one.file)
    secret = _SECRET.search(name) is not None
    # A command may read a file in any way, and the host asks about commands itself: where no guard is asked
    # about them, none is meant for them.
    meant = one.by_command or bool(hooks_of_commands(hook_set))
    return secret and meant and by_tool != by_command and can_be_asked and not is_denied(hook_set, name)
