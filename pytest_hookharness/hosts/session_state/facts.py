"""
What is fixed for the whole of a session.

Values that a host makes up: identifiers and times.

They follow from the seed and a position, so that a run can be repeated.
"""

from __future__ import annotations

import hashlib
import posixpath
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from pytest_hookharness.hosts.rules.profile import Profile

_COMMAND = re.compile(r"/([^\s/]+)(?:\s+(.*))?", re.DOTALL)
_FRONT_MATTER = re.compile(r"---[ \t]*\n(?:.*?\n)??---[ \t]*(?:\n|\Z)", re.DOTALL)
_EPOCH = datetime(2026, 1, 5, 9, 0, tzinfo=UTC)


def derive_digest(seed: int, *parts: object) -> str:
    """
    A hexadecimal digest of a seed and a position.
    """
    text = "\n".join(str(part) for part in (seed, *parts))
    return hashlib.sha256(text.encode()).hexdigest()


def derive_uuid(seed: int, *parts: object) -> str:
    """
    An identifier that looks like a random UUID.
    """
    digest = derive_digest(seed, *parts)
    variant = "89ab"[int(digest[16], 16) % 4]
    return f"{digest[:8]}-{digest[8:12]}-4{digest[13:16]}-{variant}{digest[17:20]}-{digest[20:32]}"


def derive_datetime(position: int, waited: float) -> datetime:
    """
    A time: one second for each position, and what the script waited.
    """
    return _EPOCH + timedelta(seconds=position + waited)


def derive_timestamp(position: int, waited: float) -> str:
    """
    The same as a time stamp.
    """
    return derive_datetime(position, waited).isoformat(timespec="milliseconds").replace("+00:00", "Z")


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptCommand:
    """
    A command that a prompt can name.

    Attributes:
        name: What the prompt calls it.
        source: Whose it is, in the host's words.
        text: What the model sees, without front matter; arguments are not yet in it.
    """

    name: str
    source: str
    text: str


def read_commands(profile: Profile, files: Mapping[str, str]) -> tuple[PromptCommand, ...]:
    """
    The commands of a host, from texts of files by state path; of two with one name the nearer comes first.
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
    """
    The command that a prompt names, with its arguments; ``None`` for any other prompt.
    """
    typed = _COMMAND.fullmatch(prompt.strip())
    if typed is None:
        return None
    found = next((command for command in commands if command.name == typed[1]), None)
    return (found, (typed[2] or "").strip()) if found is not None else None


def expand_command(profile: Profile, command: PromptCommand, arguments: str) -> str:
    """
    What the model sees instead of a prompt that names a command.
    """
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
    What is fixed for the whole of a session.

    Attributes:
        session_id: The host's name of the session.
        workspace: The project folder, absolute.
        home: The person's folder.
        tmp: The folder for temporary files.
        transcript_path: Where the conversation is written; empty if it is not.
        seed: What made-up values follow from.
        env: The host's own environment.
        permission_mode: As the host calls it.
        model: The model's name, as the transcript has it.
        instructions: Instruction files that the host loads at the start, absolute.
        commands: Commands that a prompt can name.
        setup: The trigger of a setup session (``init``, ``maintenance``); empty for none.
        worktree: Name of the worktree that the session is started in; empty for none.
        options: Options that the host was started with, all of them.
        flags: What hooks of stops are told one after the other, and then from the beginning again, whatever
            the host would say; empty for what it says.
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
    flags: tuple[bool, ...] = ()

    @property
    def words(self) -> dict[str, str]:
        """
        What the templates of a profile are filled with.
        """
        return {
            "session": self.session_id,
            "workspace": self.workspace,
            "home": self.home,
            "tmp": self.tmp,
            "slug": folder_slug(self.workspace),
            "short": self.session_id[:8],
            "project": posixpath.basename(self.workspace.rstrip("/")),
            "model": self.model,
            **start_time_values(),
        }


def folder_slug(folder: str) -> str:
    """
    A folder's path as one name.
    """
    return re.sub(r"[^A-Za-z0-9]", "-", folder)


def facts(
    profile: Profile,
    *,
    workspace: str,
    home: str,
    tmp: str,
    seed: int = 0,
    env: Mapping[str, str] | None = None,
    permission_mode: str = "",
    instructions: tuple[str, ...] = (),
    commands: tuple[PromptCommand, ...] = (),
    setup: str = "",
    worktree: str = "",
    options: Mapping[str, bool | int | float | str] | None = None,
    flags: tuple[bool, ...] = (),
) -> Facts:
    """
    The facts of a session; everything that the host makes up follows from the seed.
    """
    session = derive_uuid(seed, "session")
    known = {name: rule.default for name, rule in profile.options.items()} | dict(options or {})
    return Facts(
        session_id=session,
        workspace=workspace,
        home=home,
        tmp=tmp,
        transcript_path=_transcript_path(profile, workspace, home, session),
        seed=seed,
        env=dict(env or {}),
        permission_mode=permission_mode or str(known.get(_MODE, profile.turns.mode)),
        model=profile.model,
        instructions=instructions,
        commands=commands,
        setup=setup,
        worktree=worktree,
        options=known,
        flags=flags,
    )


def _transcript_path(profile: Profile, workspace: str, home: str, session: str) -> str:
    template = profile.transcript.path
    words = {
        "home": home,
        "slug": folder_slug(workspace),
        "session": session,
        "short": session[:8],
        "project": posixpath.basename(workspace.rstrip("/")),
        **start_time_values(),
    }
    return posixpath.normpath(template.format(**words)) if template else ""


def start_time_values() -> dict[str, str]:
    """
    The parts of the time at which every session begins.
    """
    parts = {"year": "%Y", "month": "%m", "day": "%d", "hour": "%H", "minute": "%M", "second": "%S"}
    return {name: derive_datetime(0, 0.0).strftime(part) for name, part in parts.items()}
