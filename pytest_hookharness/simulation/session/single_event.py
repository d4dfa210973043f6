"""
The hooks of one event, run once outside of any session, on a recorded input too.

An input was recorded on a person's machine. With its own ``cwd`` a hook would run in that person's project,
or not start at all, so paths of the recorded session lead into the workspace.
"""

from __future__ import annotations

import posixpath
import re
import tempfile
from collections.abc import Mapping, Sequence
from typing import Any

from pytest_hookharness import hosts
from pytest_hookharness.execution.paths import WorkspaceError, confine
from pytest_hookharness.hosts.hook_input.stdin import value_in
from pytest_hookharness.hosts.session_state.facts import Facts
from pytest_hookharness.model.processes import Exited, ProcessResult, ProcessSpec
from pytest_hookharness.model.protocol import Json, Payload, Reply, map_texts
from pytest_hookharness.model.response import Response
from pytest_hookharness.model.time_budget import check_time, remaining
from pytest_hookharness.model.trace import HookEvent
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
        ValueError: The host has no such event, the event no such field, or the hooks would start elsewhere
            than in the folders of this run.
    """
    profile = testbed.profile
    moved = move_recorded(
        fields, testbed.facts, homes=testbed.workspace.homes, temporary=tempfile.gettempdir()
    )
    payload = hosts.payload_for(profile, event, testbed.facts, moved)
    cwd = str(value_in(profile.events[event], payload, "cwd") or "")
    if cwd != testbed.facts.workspace:
        _check_folder(testbed, cwd)
    target = hosts.matcher_target(profile, event, payload)
    hooks = hosts.select(profile, testbed.configuration.hooks, event, target)
    given: list[ProcessResult | Payload] = []
    specs: list[ProcessSpec | None] = []
    replies: list[Reply] = []
    before = testbed.workspace.doubles.session_records.begin()
    for batch in hosts.start_groups(profile, hooks):
        runs, launched = run_hooks(testbed, batch, payload, min(testbed.settings.wall, remaining()))
        # The effects of a hook that our own limit cut show nothing.
        check_time(f"hooks of {event} ran")
        testbed.note_changes(started(batch, runs))
        pairs = zip(batch, runs, strict=True)
        read = [hosts.read_reply(profile, hook, event, run) for hook, run in pairs]
        given, specs, replies = [*given, *runs], [*specs, *launched], [*replies, *read]
        if hosts.refuses_at_once(profile.events[event], read):
            break
    hooks = hooks[: len(given)]
    changes = testbed.take_changes()
    before_check = given
    if any(isinstance(run, ProcessResult) and run.own_ending != Exited(0) for run in given):
        from pytest_hookharness.simulation.startup.start_check import explain_failures

        given = [*explain_failures(testbed, hooks, specs, given)]
    replies = [
        reply if run is seen else hosts.read_reply(profile, hook, event, run)
        for hook, reply, run, seen in zip(hooks, replies, given, before_check, strict=True)
    ]
    decision = hosts.aggregate(profile, event, replies, finished(given), hooks=hooks, target=target)
    return Response(
        HookEvent(
            event=event,
            target=target,
            hook_runs=collect(hooks, payload, specs, given, replies),
            decision=decision,
            changes=changes,
            children=attribute(testbed.workspace.doubles.session_records.read(before), event, hooks, given),
        ),
        (*testbed.workspace.folders, *testbed.scenario.named_reach),
    )


# Hosts keep their transcripts in a folder with a dot in the home folder; without one, by the usual names.
_HOME = re.compile(r"\A(?P<home>/.+?)/\.(?:claude|codex|gemini|qwen|openhands)/")
_USUAL_HOME = re.compile(r"\A(?P<home>/(?:home|Users)/[^/]+|/root)(?=/)")
# The folders of Linux and macOS, and of the machines of GitHub Actions.
_TEMPORARY = r"/(?:var/)?tmp|/var/folders/[^/\s]+/[^/\s]+/T|/home/\w+/work/_temp|/__w/_temp|/dev/shm"
# On macOS /tmp and /var are links into this folder, so one path has two names.
_PRIVATE = re.compile(r"\A/private(?=/(?:tmp|var)/)")
_PROJECTS = "projects"


def move_recorded(
    fields: Mapping[str, Json], facts: Facts, *, homes: Sequence[str] = (), temporary: str = ""
) -> Mapping[str, Json]:
    """
    Return given fields with paths of the recorded session replaced by those of this run.

    These are its project, home folder, folder for temporary files and transcript. Fields that name neither
    the folder nor the transcript of a session, or a folder of this run, are returned as they are.

    Args:
        homes: Home folders on this machine, where the fields may have been recorded.
        temporary: Its folder for temporary files.
    """
    cwd, transcript = _absolute(_folder(fields)), _absolute(fields.get("transcript_path"))
    here = [place for place in (facts.workspace, facts.home, facts.tmp) if place]
    if not (cwd or transcript) or any(_is_below(cwd or transcript, place) for place in here):
        return fields
    home = _HOME.match(transcript) or _USUAL_HOME.match(cwd)
    of_home = {path: facts.home for path in (*homes, home["home"] if home else "") if path.strip("/")}
    places = {transcript: facts.transcript_path, _project(cwd, transcript): facts.workspace}
    known = {_PRIVATE.sub("", old): new for old, new in (of_home | places).items() if old and new}
    of_home = {path: new for path, new in of_home.items() if path not in places}
    # The longest first; the home folder may contain the one for temporary files as well.
    longest = sorted({*known} - {*of_home}, key=len, reverse=True)
    mine = [re.escape(place) for place in sorted(here, key=len, reverse=True)]
    others = [*map(re.escape, longest), *([re.escape(temporary)] if temporary.strip("/") else [])]
    last = map(re.escape, sorted({*known} & {*of_home}, key=len, reverse=True))
    names = "|".join((*mine, *others, _TEMPORARY, *last))
    pattern = re.compile(rf"(?<![\w./-])(?:/private)?(?P<place>{names})(?![\w-]|\.\w)")

    def here_of(found: re.Match[str]) -> str:
        return found[0] if found["place"] in here else known.get(found["place"], facts.tmp or found[0])

    return {key: map_texts(value, lambda text: pattern.sub(here_of, text)) for key, value in fields.items()}


def _folder(fields: Mapping[str, Json]) -> Json:
    roots = fields.get("workspace_roots")
    first = roots[0] if isinstance(roots, Sequence) and not isinstance(roots, str) and roots else None
    return fields.get("cwd", fields.get("working_dir", first))


def _absolute(path: Json) -> str:
    return path if isinstance(path, str) and path.startswith("/") else ""


def _is_below(path: str, folder: str) -> bool:
    return bool(folder) and (path == folder or path.startswith(f"{folder}/"))


def _project(cwd: str, transcript: str) -> str:
    """Return the project: the folder around ``cwd`` that the folder of the transcripts is named after."""
    parts = transcript.split("/")
    name = parts[parts.index(_PROJECTS) + 1] if _PROJECTS in parts[:-2] else ""
    folder = cwd
    while name and folder not in ("", "/"):
        if re.sub(r"[^A-Za-z0-9]", "-", folder) == name:
            return folder
        folder = posixpath.dirname(folder)
    return cwd


def _check_folder(testbed: Testbed, cwd: str) -> None:
    try:
        confine(testbed.workspace.root / cwd, testbed.workspace.roots.values())
    except WorkspaceError as error:
        raise ValueError(
            f"cwd: {error}; hooks start only in the folders of this run. Give the whole recorded payload, "
            "by `hook_recordings`, or a folder in `hook_workspace`"
        ) from error
