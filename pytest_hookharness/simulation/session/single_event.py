"""
The hooks of one event, run once outside of any session, on a recorded input too.

An input was recorded on a person's machine. With its own ``cwd`` a hook would run in that person's project,
or not start at all, so paths of the recorded session lead into the workspace.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping
from typing import Any

from pytest_hookharness import hosts
from pytest_hookharness.hosts.session_state.facts import Facts
from pytest_hookharness.model.processes import ProcessResult
from pytest_hookharness.model.protocol import Json, Payload, map_texts
from pytest_hookharness.model.response import Response
from pytest_hookharness.model.time_budget import check_time, remaining
from pytest_hookharness.model.trace import HookEvent
from pytest_hookharness.simulation.startup.start_check import explain_failures
from pytest_hookharness.simulation.testbed.hook_batch import attribute, collect, finished, started
from pytest_hookharness.simulation.testbed.host_actions import run_hooks
from pytest_hookharness.simulation.testbed.testbed import Testbed


def run_event(testbed: Testbed, event: str, fields: Mapping[str, Any]) -> Response:
    """
    Run the hooks of one event once, outside of any session.

    Args:
        fields: Fields of the input that replace the made-up ones. Paths of a recorded session, known by its
            ``cwd``, lead into the workspace.

    Raises:
        ValueError: The host has no such event, or the event no such field.
    """
    profile = testbed.profile
    payload = hosts.payload_for(profile, event, testbed.facts, move_recorded(fields, testbed.facts))
    target = hosts.matcher_target(profile, event, payload)
    hooks = hosts.select(profile, testbed.configuration.hooks, event, target)
    given: list[ProcessResult | Payload] = []
    stdins: list[bytes] = []
    before = testbed.workspace.doubles.session_records.begin()
    for batch in hosts.start_groups(profile, hooks):
        runs, sent = run_hooks(testbed, batch, payload, min(testbed.settings.wall, remaining()))
        # Nothing follows from what a hook did until a limit of ours cut it.
        check_time(f"hooks of {event} ran")
        testbed.note_changes(started(batch, runs))
        pairs = zip(batch, runs, strict=True)
        read = [hosts.read_reply(profile, hook, event, run) for hook, run in pairs]
        given, stdins = [*given, *runs], [*stdins, *sent]
        if hosts.refuses_at_once(profile.events[event], read):
            break
    hooks = hooks[: len(given)]
    changes = testbed.scan()
    given = [*explain_failures(testbed, hooks, payload, given)]
    replies = [hosts.read_reply(profile, hook, event, run) for hook, run in zip(hooks, given, strict=True)]
    decision = hosts.aggregate(profile, event, replies, finished(given), hooks=hooks, target=target)
    return Response(
        HookEvent(
            event=event,
            target=target,
            hook_runs=collect(hooks, payload, stdins, given, replies),
            decision=decision,
            changes=changes,
            children=attribute(testbed.workspace.doubles.session_records.read(before), event, hooks, given),
        ),
        (*testbed.workspace.folders, *testbed.scenario.named_reach),
    )


# Hosts keep their transcripts in a folder with a dot in the home folder; without one, by the usual names.
_HOME = re.compile(r"\A(?P<home>/.+?)/\.(?:claude|codex|gemini|qwen|openhands)/")
_USUAL_HOME = re.compile(r"\A(?P<home>/(?:home|Users)/[^/]+|/root)(?=/)")
# Of Linux and macOS, and of the machines of GitHub Actions.
_TEMPORARY = r"/(?:var/)?tmp|/var/folders/[^/\s]+/[^/\s]+/T|/home/\w+/work/_temp|/__w/_temp|/dev/shm"
# On macOS /tmp and /var are links into this folder, so one path has two names.
_PRIVATE = re.compile(r"\A/private(?=/(?:tmp|var)/)")
_PROJECTS = "projects"


def move_recorded(fields: Mapping[str, Json], facts: Facts) -> Mapping[str, Json]:
    """
    Return given fields with paths of the recorded session replaced by those of this run.

    These are its project, home folder, folder for temporary files and transcript. Fields without the folder
    of the session, or with one of this run, are returned as they are.
    """
    cwd = fields.get("cwd", fields.get("working_dir"))
    here = (facts.workspace, facts.home, facts.tmp)
    if not isinstance(cwd, str) or not cwd.startswith("/") or any(_is_below(cwd, place) for place in here):
        return fields
    transcript = fields.get("transcript_path")
    recorded = transcript if isinstance(transcript, str) else ""
    home = _HOME.match(recorded) or _USUAL_HOME.match(cwd)
    whose = home["home"] if home else ""
    places = {
        whose: facts.home,
        recorded: facts.transcript_path,
        _project(cwd, recorded): facts.workspace,
    }
    known = {_PRIVATE.sub("", old): new for old, new in places.items() if old and new}
    # The longest first; the home folder may contain the one for temporary files as well.
    longest = sorted({*known} - {whose}, key=len, reverse=True)
    names = "|".join((*map(re.escape, longest), _TEMPORARY, *map(re.escape, {*known} & {whose})))
    pattern = re.compile(rf"(?<![\w./-])(?:/private)?(?P<place>{names})(?![\w-]|\.\w)")

    def here_of(found: re.Match[str]) -> str:
        return known.get(found["place"], facts.tmp or found[0])

    return {key: map_texts(value, lambda text: pattern.sub(here_of, text)) for key, value in fields.items()}


def _is_below(path: str, folder: str) -> bool:
    return bool(folder) and (path == folder or path.startswith(f"{folder}/"))


def _project(cwd: str, transcript: str) -> str:
    """Return the project: the folder around ``cwd`` that the folder of the transcripts is named after."""
    parts = transcript.split("/")
    name = parts[parts.index(_PROJECTS) + 1] if _PROJECTS in parts[:-2] else ""
    folder = cwd
    while name and folder != "/":
        if re.sub(r"[^A-Za-z0-9]", "-", folder) == name:
            return folder
        folder = posixpath.dirname(folder)
    return cwd
