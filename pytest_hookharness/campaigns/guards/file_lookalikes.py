"""
Guards of files that refuse harmless files with similar names, or that let another tool read secrets.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from pytest_hookharness import hosts
from pytest_hookharness.campaigns.arming.project_texts import files_by_path
from pytest_hookharness.campaigns.guards.denials import is_denied
from pytest_hookharness.campaigns.guards.file_ways import (
    ESCAPES,
    FileProof,
    GuardedFile,
    hooks_of_commands,
    is_allowed,
    is_refused,
)
from pytest_hookharness.judging.checkup.file_calls import FileCalls
from pytest_hookharness.judging.checkup.file_overblocks import (
    FOLDERS,
    HARMLESS,
    KINDS,
    TRIED,
    lookalike_of,
)
from pytest_hookharness.judging.checkup.other_readers import FileReading, reading_of
from pytest_hookharness.model.checkup import HookSet
from pytest_hookharness.model.moves import FIRST_PROMPT, Act, Edit, Read, RunCommand

# Words of a guard that means the examples too, or makes an exception for them.
_ALL_ENVIRONMENTS = re.compile(r"\.env[.*]")
_SPEAKS_OF_EXAMPLES = re.compile("|".join(KINDS), re.IGNORECASE)
# An example that ends like the usual one, and is not named like it.
_LONG_NAME = ".env.local.example"
_EXAMPLE = re.compile(r"(?:^|/)\.env(?:\.\w+)*\.(?:example|sample|template)$")
_MOST_EXAMPLES, _MOST_FOLDERS, _MOST_TRIED, _MOST_PROVED = 1, 2, 5, 2


def harmless_files(
    hook_set: HookSet, files: Sequence[GuardedFile], source: str
) -> Iterator[tuple[Edit, Edit]]:
    """Yield the edits of harmless files that resemble guarded ones, each with one of a different name."""
    done: set[str] = set()
    for one in files:
        for file, beside in (*_examples(hook_set, source), *((file, "") for file in TRIED[1:])):
            lookalike = lookalike_of(file, one.file)
            # A guard means the files that it names.
            named = posixpath.splitext(posixpath.basename(file))[0] in source and file in TRIED[1:]
            if lookalike is not None and file not in done and not named:
                done.add(file)
                yield replace(one.edit, file=file), replace(one.edit, file=beside or lookalike.control)


def _examples(hook_set: HookSet, source: str) -> list[tuple[str, str]]:
    """
    Return the project's examples of environments; a usual one, if no guard says that it means these.

    Beside each stands the file that is to be allowed; empty for a usual one.
    """
    text = ESCAPES.sub("", source)
    if _SPEAKS_OF_EXAMPLES.search(text):
        return _others_than_named(text)
    found = [path for path in files_by_path(hook_set.root) if _EXAMPLE.search(path)][:_MOST_EXAMPLES]
    files = found if found or _ALL_ENVIRONMENTS.search(text) else [*TRIED[:1]]
    return [(file, "") for file in files]


def _others_than_named(text: str) -> list[tuple[str, str]]:
    """Return an example that a guard does not name, beside one for which it may make an exception."""
    named = {one.lower() for one in _SPEAKS_OF_EXAMPLES.findall(text)}
    beside = next(kind for kind in KINDS if kind in named)
    # A guard often names the third word for another reason.
    other = next((f".env.{kind}" for kind in KINDS[:2] if kind not in named), _LONG_NAME)
    return [] if other in text else [(other, f".env.{beside}")]


def guarded_folders(edit: Edit, source: str) -> list[Edit]:
    """Return the edits of files in folders that a guard names."""
    text = ESCAPES.sub("", source)
    named = [word for word in FOLDERS if re.search(rf"(?<![\w.-]){word}/", text)]
    return [replace(edit, file=f"{word}/{HARMLESS}") for word in named[:_MOST_FOLDERS]]


def try_lookalikes_of(hook_set: HookSet, files: Sequence[GuardedFile], source: str) -> tuple[Act, ...]:
    """Return the acts that try whether harmless files are refused."""
    if not files:
        return ()
    # What they resemble is tried only where one of them is refused: each run of a hook takes time.
    harmless = [edit for edit, _ in harmless_files(hook_set, files, source)][:_MOST_TRIED]
    folders = guarded_folders(files[0].edit, source)
    control = [replace(files[0].edit, file=HARMLESS)] if folders else []
    return (*harmless[:1], *control, *folders, *harmless[1:])


def prove_lookalikes_of(
    hook_set: HookSet, seen: Sequence[FileCalls], files: Sequence[GuardedFile], source: str
) -> FileProof:
    """Return what shows that harmless files are refused, between others that are allowed."""
    found = harmless_files(hook_set, files, source)
    pairs = [pair for pair in found if is_refused(hook_set, seen, pair[0])][:_MOST_PROVED]
    harmless = [edit for edit, _ in pairs]
    known = [one.edit for one in files if any(lookalike_of(edit.file, one.file) for edit in harmless)]
    return FileProof(
        around=tuple({edit.file: edit for _, edit in pairs}.values()),
        refused=(*known, *harmless),
    )


def folder_to_play_in(
    hook_set: HookSet, seen: Sequence[FileCalls], files: Sequence[GuardedFile], source: str
) -> str:
    """Return the name of a folder that a guard refuses, in which a project is played; empty for none."""
    edits = guarded_folders(files[0].edit, source)
    if not edits or not is_allowed(hook_set, seen, replace(edits[0], file=HARMLESS)):
        return ""
    refused = (edit for edit in edits if is_refused(hook_set, seen, edit))
    return next((posixpath.dirname(edit.file) for edit in refused), "")


_SECRET = re.compile(r"^\.env|secret|credential|\.pem$|\.key$|^id_", re.IGNORECASE)


def prove_readers(hook_set: HookSet, refused: Sequence[Act]) -> tuple[Act, ...]:
    """Return the acts that show whether a file refused to one tool can be read by another; or nothing."""
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
    # A command may read a file in any way, and the host itself asks about commands. If no guard is asked
    # about commands, the project does not mean to guard them.
    meant = one.by_command or bool(hooks_of_commands(hook_set))
    return secret and meant and by_tool != by_command and can_be_asked and not is_denied(hook_set, name)
