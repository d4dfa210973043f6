"""
Recorded inputs in another place: paths of the recorded session lead into the workspace.

An input was recorded on a person's machine. With its own ``cwd`` a hook would run in that person's project,
or not start at all.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Mapping, Sequence

from pytest_hookharness.hosts.session_state.facts import Facts
from pytest_hookharness.model.protocol import Json

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

    return {key: _moved(value, pattern, here_of) for key, value in fields.items()}


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


def _moved(value: Json, pattern: re.Pattern[str], here_of: Callable[[re.Match[str]], str]) -> Json:
    match value:
        case str():
            return pattern.sub(here_of, value)
        case Mapping():
            return {key: _moved(item, pattern, here_of) for key, item in value.items()}
        case Sequence():
            return [_moved(item, pattern, here_of) for item in value]
        case _:
            return value
