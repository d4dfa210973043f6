"""
The facts of a session, which stay the same from start to end.

Identifiers follow from the seed and a position, so that a run can be repeated. Times begin at the start of
the session, because hooks may compare them with their clock.
"""

from __future__ import annotations

import hashlib
import posixpath
import re
from collections.abc import Mapping
from dataclasses import field
from datetime import UTC, datetime
from functools import lru_cache
from typing import Literal

from pytest_hookharness.hosts.rules.profile import Profile
from pytest_hookharness.model.fast_dataclass import dataclass, replace

_COMMAND = re.compile(r"/([^\s/]+)(?:\s+(.*))?", re.DOTALL)
_FRONT_MATTER = re.compile(r"---[ \t]*\n(?:.*?\n)??---[ \t]*(?:\n|\Z)", re.DOTALL)
# The start of a session that is not simulated: a Monday morning, in seconds since the epoch.
_MADE_UP = datetime(2026, 1, 5, 9, 0, tzinfo=UTC).timestamp()
_LAST = datetime.max.replace(tzinfo=UTC).timestamp() - 1


def derive_digest(seed: int, *parts: object) -> str:
    """Return a hexadecimal digest of a seed and a position."""
    text = "\n".join(str(part) for part in (seed, *parts))
    return hashlib.sha256(text.encode()).hexdigest()


def derive_uuid(seed: int, *parts: object) -> str:
    """Return an identifier that looks like a random UUID."""
    digest = derive_digest(seed, *parts)
    # Version 4, variant 1: hooks may check that an identifier is a valid UUID.
    variant = "89ab"[int(digest[16], 16) % 4]
    return f"{digest[:8]}-{digest[8:12]}-4{digest[13:16]}-{variant}{digest[17:20]}-{digest[20:32]}"


def derive_datetime(start: float, position: int, waited: float) -> datetime:
    """
    Return the start plus one second for each position, plus the seconds that the script waited.

    Args:
        start: When the session starts, in seconds since the epoch.
    """
    # A calendar ends, and a script may wait as often as it likes.
    return datetime.fromtimestamp(min(start + position + waited, _LAST), UTC)


def derive_timestamp(start: float, position: int, waited: float) -> str:
    """Return the same time as an ISO 8601 timestamp in UTC."""
    moment = derive_datetime(start, position, waited)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptCommand:
    """
    A command that a prompt can name (a slash command), and who owns it in the host's words.

    The text is for the model, without front matter and before arguments are filled in.
    """

    name: str
    source: str
    text: str


def read_commands(profile: Profile, files: Mapping[str, str]) -> tuple[PromptCommand, ...]:
    """
    Return the commands of a host from texts of files by state path.

    If two commands have one name, the one in the nearer folder comes first.
    """
    rules = profile.commands
    if rules is None:
        return ()
    return tuple(
        PromptCommand(
            name=posixpath.basename(path).removesuffix(rules.suffix),
            source=source,
            text=_without_front_matter(text.replace("\r\n", "\n")),
        )
        for folder, source in rules.folders.items()
        for path, text in files.items()
        if posixpath.dirname(path) == folder and path.endswith(rules.suffix)
    )


def _without_front_matter(text: str) -> str:
    front = _FRONT_MATTER.match(text)
    return text[front.end() :] if front is not None else text


def find_command(commands: tuple[PromptCommand, ...], prompt: str) -> tuple[PromptCommand, str] | None:
    """Return the command that a prompt names, with its arguments; ``None`` for any other prompt."""
    typed = _COMMAND.fullmatch(prompt.strip())
    if typed is None:
        return None
    found = next((command for command in commands if command.name == typed[1]), None)
    return (found, (typed[2] or "").strip()) if found is not None else None


def expand_command(profile: Profile, command: PromptCommand, arguments: str) -> str:
    """Return the text that the model sees instead of a prompt that names a command."""
    rules, text = profile.commands, command.text.strip()
    if rules is None:
        return text
    if rules.arguments in text or not arguments:
        return text.replace(rules.arguments, arguments)
    return f"{text}\n\n{rules.appended.format(arguments=arguments)}"


# The option that sets the permission mode, of a host that has it.
_MODE = "permission_mode"


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """
    The facts of a session.

    Attributes:
        session_id: The host's name of the session.
        workspace: The project folder, absolute.
        transcript_path: The file of the conversation; empty if the host writes none.
        start: When the session starts, in seconds since the epoch.
        env: The host's own environment.
        permission_mode: The mode, in the host's words.
        model: The model's name in the transcript.
        instructions: The instruction files that the host loads at the start, absolute.
        setup: The trigger of a setup session (``init``, ``maintenance``); empty for none.
        worktree: The name of the worktree that the session starts in; empty for none.
        options: All options that the host was started with, with defaults.
        flags: Values of ``stop_hook_active`` that replace the host's own, used in order and then
            from the first again, where ``absent`` is no value; empty for the host's own.
    """

    session_id: str
    workspace: str
    home: str
    tmp: str
    transcript_path: str
    seed: int = 0
    env: Mapping[str, str] = field(default_factory=dict)
    permission_mode: str = "default"
    model: str = ""
    instructions: tuple[str, ...] = ()
    commands: tuple[PromptCommand, ...] = ()
    setup: str = ""
    worktree: str = ""
    options: Mapping[str, bool | int | float | str] = field(default_factory=dict)
    flags: tuple[bool | Literal["absent"] | None, ...] = ()
    start: float = _MADE_UP

    @property
    def template_values(self) -> dict[str, str]:
        """The values that the templates of a profile are filled with."""
        return {
            "session": self.session_id,
            "workspace": self.workspace,
            "home": self.home,
            "tmp": self.tmp,
            "slug": folder_slug(self.workspace),
            "short": self.session_id[:8],
            "project": posixpath.basename(self.workspace.rstrip("/")),
            "model": self.model,
            **_parts_of(self.start),
        }


def folder_slug(folder: str) -> str:
    """Return a folder's path as a single name."""
    return re.sub(r"[^A-Za-z0-9]", "-", folder)


def session_id(seed: int) -> str:
    """Return the identifier of the first session of a run."""
    return derive_uuid(seed, "session")


def facts(
    profile: Profile,
    *,
    workspace: str,
    home: str,
    tmp: str,
    seed: int = 0,
    env: Mapping[str, str] | None = None,
    instructions: tuple[str, ...] = (),
    commands: tuple[PromptCommand, ...] = (),
    setup: str = "",
    worktree: str = "",
    options: Mapping[str, bool | int | float | str] | None = None,
    flags: tuple[bool | Literal["absent"] | None, ...] = (),
    start: float = _MADE_UP,
) -> Facts:
    """Return the facts of a session: identifiers that follow from the seed, and times from the start."""
    known = {name: rule.default for name, rule in profile.options.items()} | dict(options or {})
    made = Facts(
        session_id=session_id(seed),
        workspace=workspace,
        home=home,
        tmp=tmp,
        transcript_path="",
        seed=seed,
        env=dict(env or {}),
        permission_mode=str(known.get(_MODE, profile.turns.mode)),
        model=profile.model,
        instructions=instructions,
        commands=commands,
        setup=setup,
        worktree=worktree,
        options=known,
        flags=flags,
        start=start,
    )
    path = profile.transcript.path
    filled = posixpath.normpath(path.format(**made.template_values)) if path else ""
    return replace(made, transcript_path=filled)


@lru_cache(maxsize=64)
def _parts_of(start: float) -> Mapping[str, str]:
    """Return the parts of the time at which a session starts."""
    parts = {"year": "%Y", "month": "%m", "day": "%d", "hour": "%H", "minute": "%M", "second": "%S"}
    return {name: derive_datetime(start, 0, 0.0).strftime(part) for name, part in parts.items()}


@lru_cache(maxsize=64)
def start_time(start: float) -> Mapping[str, str | int]:
    """Return the time at which a session starts, by the engine's names of its two forms."""
    return {"timestamp": derive_timestamp(start, 0, 0.0), "time_ms": int(start * 1000)}
