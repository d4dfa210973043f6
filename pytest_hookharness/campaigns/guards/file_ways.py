"""
Other ways to change a guarded file than the one that is refused, and related files that need a guard too.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from pytest_hookharness import hosts
from pytest_hookharness.campaigns.arming.project_texts import is_small, project_files
from pytest_hookharness.campaigns.guards.denials import is_denied, is_denied_to_shell
from pytest_hookharness.campaigns.guards.named_commands import read_guards
from pytest_hookharness.campaigns.guards.rewording import edited_files, refused_moves
from pytest_hookharness.campaigns.guards.watched_moves import is_asked_about, may_refuse
from pytest_hookharness.campaigns.stress.first_run import GIVEN
from pytest_hookharness.judging.checkup.file_bypasses import (
    LOCKS,
    control_of,
    other_paths,
    shell_ways,
    siblings_of,
)
from pytest_hookharness.judging.checkup.file_calls import FileCall, FileCalls, call_of
from pytest_hookharness.model.checkup import HookSet, hook_names
from pytest_hookharness.model.fast_dataclass import dataclass
from pytest_hookharness.model.moves import (
    FIRST_PROMPT,
    WORKSPACE,
    Act,
    Edit,
    RunCommand,
    ToolCall,
    Tools,
)
from pytest_hookharness.model.outcome import Outcome

# Files that nobody may change by any tool, for whatever reason a guard has.
_SURE = re.compile(r"^\.env|secret|credential|\.pem$|\.key$|\.lock$|-lock\.|settings\.", re.IGNORECASE)
# The agent's own settings and hooks: who changes them switches all guards off.
_OF_AGENT = re.compile(r"(?:^|/)\.(?:claude|codex|cursor|gemini|qwen|github/hooks|factory|openhands)/")
# Suffixes that say nothing about what a guard means.
_USUAL = frozenset(["", ".py", ".js", ".ts", ".sh", ".json", ".md", ".yaml", ".yml", ".txt", ".html", ".css"])
_SECRET = re.compile(r"secret|credential")
_MOST_COMMANDS, _MOST_FILES, _MOST_SIBLINGS = 3, 2, 4
# Backslashes before the dots and slashes of a pattern.
ESCAPES = re.compile(r"\\+(?=[./-])")


@dataclass(frozen=True, slots=True)
class GuardedFile:
    """A file whose edit a guard refused, with the command and the texts of the guard."""

    edit: Edit
    hook: str
    source: str

    @property
    def file(self) -> str:
        """The file."""
        return self.edit.file


def guarded_files(hook_set: HookSet, outcomes: Sequence[Outcome]) -> dict[str, list[GuardedFile]]:
    """Return the files whose edits guards refuse by their names, by the command of the guard."""
    found: dict[str, dict[str, GuardedFile]] = {}
    sources: dict[str, str] = {}
    for outcome in outcomes:
        kept = _refused_before(outcome)
        for hook, move in refused_moves(outcome):
            source = sources.get(hook) or sources.setdefault(hook, _source_of(hook_set, hook))
            if isinstance(move, Edit) and move.file in kept and is_named(move.file, source):
                one = GuardedFile(replace(move, given=GIVEN, expect=None), hook, source)
                found.setdefault(hook, {}).setdefault(move.file, one)
    return {
        hook: sorted(files.values(), key=lambda one: _certainty(hook_set, one), reverse=True)
        for hook, files in found.items()
    }


def _source_of(hook_set: HookSet, command: str) -> str:
    """Return the texts of a guard and of what guards load; those of all guards if its own are unknown."""
    guards = read_guards(hook_set)
    own = [text for hook in hook_set.hooks if hook.command == command for text in hook_set.scripts_of(hook)]
    return "\n".join((command, *own, *guards.loaded.values()) if own else guards.sources)


def _refused_before(outcome: Outcome) -> set[str]:
    """
    Return the files whose edits were all refused beforehand; refusals after an edit do not count.

    If one edit of a file was allowed, another was refused for its text, so the file is left out.
    """
    refused, allowed = edited_files(outcome)
    return refused - allowed


def is_named(file: str, source: str) -> bool:
    """Return whether a text names a file, its kind by a suffix that says something, or a folder of it."""
    text = ESCAPES.sub("", source)
    name, suffix = posixpath.basename(file), posixpath.splitext(file)[1]
    folders = (f"{part}/" for part in posixpath.dirname(file).split("/") if part)
    # A guard of secrets may only look for the word.
    word = _SECRET.search(name)
    words = (name, *folders, *([suffix] if suffix not in _USUAL else []), *([word[0]] if word else []))
    return any(one in text for one in words)


def _certainty(hook_set: HookSet, one: GuardedFile) -> tuple[bool, ...]:
    name = posixpath.basename(one.file)
    named, sure = name in ESCAPES.sub("", one.source), _SURE.search(name) is not None
    return not _is_denied(hook_set, one.file), named, (hook_set.root / one.file).is_file(), sure


def other_ways(hook_set: HookSet, one: GuardedFile) -> Iterator[Act]:
    """Yield other ways to change a file, about which the host can ask hooks; none if it is denied anyway."""
    if _is_denied(hook_set, one.file):
        return
    if _OF_AGENT.search(one.file) or hooks_of_commands(hook_set):
        for command in shell_ways(one.file):
            # The last program is the one that changes the file.
            program = command.rpartition("| ")[2].split()[0]
            if not is_denied_to_shell(hook_set, program):
                yield RunCommand(command=command, given=GIVEN)
    for file in other_paths(one.file) if _keeps_paths(hook_set.host) else ():
        yield replace(one.edit, file=file)
    if _SURE.search(posixpath.basename(one.file)):
        yield from _by_other_tools(hook_set, one)


def _is_denied(hook_set: HookSet, file: str) -> bool:
    folder, _, rest = file.partition("/")
    return is_denied(hook_set, posixpath.basename(file)) or bool(rest and is_denied(hook_set, f"{folder}/"))


def hooks_of_commands(hook_set: HookSet) -> list[str]:
    """Return the guards that run before commands; without any the project leaves commands to the host."""
    shell = hosts.find(hook_set.host).tools.call(RunCommand(command="true"), "/w").name
    return [
        hook.command
        for hook in hook_set.hooks
        if is_asked_about(hook_set, hook.command, shell) and may_refuse(hook_set, hook)
    ]


def unguarded_commands(hook_set: HookSet, outcomes: Sequence[Outcome]) -> Iterator[str]:
    """Yield sentences about guards of files in a project whose commands no hook sees."""
    profile = hosts.find(hook_set.host)
    shell = profile.tools.call(RunCommand(command="true"), "/w").name
    if hooks_of_commands(hook_set) or not profile.for_role(hosts.Role.BEFORE_TOOL, shell):
        return
    for hook, files in guarded_files(hook_set, outcomes).items():
        open_ones = [one for one in files[:1] if not _OF_AGENT.search(one.file)]
        for one in open_ones:
            if not _is_denied(hook_set, one.file):
                yield (
                    f"{hook_names(hook_set.hooks, hook)} refuses edits of {one.file}, and no guard is asked "
                    f"about commands, so only the host decides about `{shell_ways(one.file)[1]}`."
                )


def _by_other_tools(hook_set: HookSet, one: GuardedFile) -> Iterator[Act]:
    """Yield the change of a file by the host's other tools, about which the host does not ask the guard."""
    tools = hosts.find(hook_set.host).tools
    other = replace(one.edit, old="old" if one.edit.old is None else None)
    if not is_asked_about(hook_set, one.hook, tools.call(other, "/w").name):
        yield other
    if tools.deletes and not is_asked_about(hook_set, one.hook, tools.deletes):
        # Its input is not documented, and no hook of the guard gets it.
        given = {"file_path": f"{WORKSPACE}/{one.file}"}
        yield Tools(calls=(ToolCall(name=tools.deletes, input=given, given=GIVEN),))


def _control(one: GuardedFile) -> Edit:
    return replace(one.edit, file=control_of(one.file))


def _keeps_paths(host: str) -> bool:
    """Return whether hooks get paths as the model writes them, and not only absolute ones."""
    given = hosts.find(host).tools.call(Edit(file="./f", text=""), "/w").input.values()
    return any(isinstance(text, str) and re.search(r"(?<![\w/])\./f\b", text) for text in given)


def _tried(hook_set: HookSet, files: Sequence[GuardedFile], source: str) -> Iterator[tuple[GuardedFile, Act]]:
    """Yield what is tried beside the refused edits: all ways for the surest file, and siblings of others."""
    beside = [(one, [*siblings(hook_set, one.edit, source)][:_MOST_SIBLINGS]) for one in files]
    # The lock file that the project has stands for all of them.
    locks = [pair for pair in beside if posixpath.basename(pair[0].file) in LOCKS]
    later = [pair for pair in beside[1:] if pair[1] and pair not in locks[1:]]
    wanted = [*beside[:1], *later][:_MOST_FILES]
    for place, (one, edits) in enumerate(wanted):
        ways = other_ways(hook_set, one) if place == 0 else ()
        yield from ((one, act) for act in (*ways, *edits))


def try_files(hook_set: HookSet, files: Sequence[GuardedFile], source: str) -> tuple[Act, ...]:
    """Return the acts that try whether a guard's files can be changed in another way; none for no files."""
    tried = [*_tried(hook_set, files, source)]
    return tuple(_once([act for one, act in tried for act in (_control(one), act)]))


@dataclass(frozen=True, slots=True)
class FileProof:
    """The acts that are allowed before and after refused ones, and the acts that are refused each time."""

    around: tuple[Act, ...]
    refused: tuple[Act, ...]

    def acts(self, other: FileProof) -> tuple[Act, ...]:
        """Return the acts of one session for two proofs; none if both have none."""
        around = _once((*self.around, *other.around))
        refused = _once((*self.refused, *other.refused))
        return (FIRST_PROMPT, *around, *refused, *refused, *around) if refused else ()


def _once(acts: Sequence[Act]) -> list[Act]:
    # Acts with inputs cannot be keys of a dictionary.
    return [act for place, act in enumerate(acts) if act not in acts[:place]]


def prove_files(
    hook_set: HookSet, seen: Sequence[FileCalls], files: Sequence[GuardedFile], source: str
) -> FileProof:
    """Return what shows which other ways to change a guard's files are allowed."""
    allowed = [(one, act) for one, act in _tried(hook_set, files, source) if is_allowed(hook_set, seen, act)]
    commands = [act for _, act in allowed if isinstance(act, RunCommand)]
    shown = [(one, act) for one, act in allowed if act not in commands[_MOST_COMMANDS:]]
    known = [one for one in files if any(one is other for other, _ in shown)]
    controls, others = [_control(one) for one in known], [act for _, act in shown]
    return FileProof((*controls, *others), tuple(one.edit for one in known))


def is_allowed(hook_set: HookSet, seen: Sequence[FileCalls], act: Act) -> bool:
    """Return whether an act was allowed each time."""
    one = _call_of(hook_set, act)
    return any(one in calls.passed for calls in seen) and all(one not in calls.refused for calls in seen)


def is_refused(hook_set: HookSet, seen: Sequence[FileCalls], act: Act) -> bool:
    """Return whether an act was refused each time."""
    one = _call_of(hook_set, act)
    return any(one in calls.refused for calls in seen) and all(one not in calls.passed for calls in seen)


def _call_of(hook_set: HookSet, act: Act) -> FileCall | None:
    """Return the call that an act becomes."""
    tools = hosts.find(hook_set.host).tools
    match act:
        case RunCommand() | Edit():
            return call_of(act, tools.call(act, "/w"))
        case Tools(calls=(call,)):
            return call_of(act, call)
        case _:
            return None


# Words of guards, and of documents about them, for the lock files of all programs.
_LOCK_FILES = re.compile(r"\block[ _-]?files\b", re.IGNORECASE)
_PROMISES = re.compile(
    r"(?:\bblock|protect|\bden[iy]|refus|\bguard).*\block[ -]?files\b"
    r"|\block[ -]?files\b.*(?:blocked|protected|denied)",
    re.IGNORECASE,
)
# The lock files of a language, with files that every project in it has.
_LANGUAGES = (
    (("package-lock.json", "yarn.lock", "pnpm-lock.yaml", "bun.lock"), ("package.json",)),
    (("poetry.lock", "uv.lock"), ("pyproject.toml",)),
    (("Cargo.lock",), ("Cargo.toml",)),
)
_MOST_DOCUMENTS, _LARGEST = 12, 1 << 17


def siblings(hook_set: HookSet, edit: Edit, source: str) -> Iterator[Edit]:
    """Yield edits that a guard should refuse as well, because it refused one of a related file."""
    name = posixpath.basename(edit.file)
    if is_denied(hook_set, name) or (name in LOCKS and not are_locks_meant(hook_set, source)):
        return
    # Files that the project has come first.
    others = [file for file in siblings_of(edit.file) if not _is_spoken_of(file, source)]
    for file in sorted(others, key=lambda file: not (hook_set.root / file).exists()):
        if _is_meant(hook_set, file, name) and not is_denied(hook_set, posixpath.basename(file)):
            yield replace(edit, file=file)


def _is_spoken_of(file: str, source: str) -> bool:
    """Return whether guards name a file: then they allow it on purpose."""
    return posixpath.basename(file) in source.replace("\\", "")


def are_locks_meant(hook_set: HookSet, source: str) -> bool:
    """Return whether guards, or the words of the project about them, say that lock files are protected."""
    if _LOCK_FILES.search(source):
        return True
    documents = [path for path in project_files(hook_set.root) if path.suffix == ".md"]
    nearest = sorted(documents, key=lambda path: len(path.parts))[:_MOST_DOCUMENTS]
    texts = (path.read_text("utf-8", "replace") for path in nearest if is_small(path, _LARGEST))
    return any(_PROMISES.search(line) for text in texts for line in text.splitlines())


def _is_meant(hook_set: HookSet, file: str, known: str) -> bool:
    """Return whether the project has, or may have, a file that a guard of another one must mean."""
    exists, name = (hook_set.root / file).exists(), posixpath.basename(file)
    if name not in LOCKS:
        # Another `.env` file that the project has is assumed to have no secrets.
        return not (exists and name.startswith(".env"))
    languages = [one for one in _LANGUAGES if name in one[0]]
    same = any(known in locks for locks, _ in languages)
    return (
        exists or same or any((hook_set.root / begin).exists() for _, begins in languages for begin in begins)
    )
