"""
The program that a hook's command starts, and why it cannot run, found without running it.

Only plain commands are read: with operators, substitutions or unknown variables, what runs is not certain.
Operators that only hide how a command ends, such as `|| true`, are taken away.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from pytest_hookharness import hosts
from pytest_hookharness.campaigns.arming.copied_files import OF_TOOLS
from pytest_hookharness.campaigns.check.static.relative_files import starts_elsewhere
from pytest_hookharness.execution.startup.programs import syntax_error
from pytest_hookharness.execution.workspace.uv_stand_in import find_script, has_all, needs_only_python
from pytest_hookharness.model.checkup import HookSet, script_of
from pytest_hookharness.model.fast_dataclass import dataclass
from pytest_hookharness.model.moves import WORKSPACE
from pytest_hookharness.model.protocol import VARIABLE, Hook, fill_variables

# Operators and substitutions of a shell, after redirections that change nothing.
_COMPLEX = re.compile(r"[;&|<>()`\n*?\[\]!]|\$\(")
_REDIRECTED = re.compile(r"\s[12]?>(?:>|&[12]|\s*/dev/null)(?=\s|$)|\s</dev/null(?=\s|$)")
_TO_FILE = re.compile(r"""\s(?:[12]|&)?>>?\s*[\w./~$"{}-]+(?=\s|$)""")
# What hides how a simple command ended, and a shell that starts nothing but another command.
_HIDING = re.compile(r"(?:(?:\|\||;)\s*(?:true|:|exit\s+0)|(?<![&>])&)\s*;?\s*$")
_IN_SHELL = re.compile(r"""\s*(?:/\S*/)?(?:ba|da|z|k)?sh\s+-l?c\s+(?:"([^"\\`]*)"|'([^']*)')\s*""")
_ASSIGNMENT = re.compile(r"\w+=.*", re.DOTALL)
# At the beginning of a line or after a keyword, where a command stands.
_DOUBLE_BRACKET = re.compile(r"(?:^|[;&|\n])\s*(?:(?:if|elif|while|until|then|else|do|!)\s+)*\[\[\s")
# What every system has, and commands that only start others.
_BUILT_IN = re.compile(
    r":|\.|\[|alias|builtin|case|cd|command|echo|env|eval|exec|exit|export|false|for|if|nohup|printf|pwd|read"
    r"|return|set|source|sudo|test|time|timeout|true|type|ulimit|umask|unset|until|wait|while"
)
# A script in the person's home, run by itself or by an interpreter.
_IN_HOME = re.compile(r"\s*(?:[\w./-]+\s+)?[\"']?(?:~|\$HOME|\$\{HOME\})[\"']?/([\w./-]*\w)")
INTERPRETERS = re.compile(r"(?:ba|da|z|k)?sh|python[\d.]*|node|bun|deno|ruby|perl|php|tsx|ts-node")
# How scripts end at once where a program is missing; not inside of a function or a condition.
_ENDS_WITHOUT = re.compile(
    r"^(?:command\s+-v|which|type|hash)\s+(?:-\w+\s+)?[\"']?([\w.+-]+)[\"']?[^|;\n]*\|\|\s*\{?\s*exit\s+0\b"
    r"|^if\s+!\s+(?:command\s+-v|which|type|hash)\s+(?:-\w+\s+)?[\"']?([\w.+-]+)\b[^|;\n]*(?:;\s*|\n\s*)then\s*\n"
    r"(?:\s+(?!exit\b)[^\n]*\n){0,3}\s+exit\s+0\b",
    re.MULTILINE,
)
# How some of them do nothing.
_EMPTY = {
    "python": ("-c", ""),
    "node": ("-e", "0"),
    "bun": ("-e", "0"),
    "tsx": ("-e", "0"),
    "ruby": ("-e", "0"),
    "perl": ("-e", "0"),
    "php": ("-r", ""),
    "deno": ("eval", "0"),
}
# A folder below the home of a person.
_OF_A_PERSON = re.compile(r"/(?:Users|home)/[^/]+/")


@dataclass(frozen=True, slots=True, kw_only=True)
class Obstacle:
    """
    Why a hook cannot run here.

    Attributes:
        cause: What hooks with the same defect have in common.
        text: The defect in words, to be written after the event.
        local: Whether only this machine or checkout lacks something, so that this is no defect of the hook.
        missing: The path of a script that is missing, as the command gives it with its variables filled in.
    """

    cause: str
    text: str
    fix: str = ""
    local: bool = False
    missing: str = ""


def find_obstacle(hook_set: HookSet, hook: Hook) -> Obstacle | None:
    """Return why a hook cannot run; ``None`` if nothing is known against it."""
    if hook.type != "command":
        return None
    words = plain_words(hook_set, hook)
    if not words:
        known = _syntax_obstacle(hook_set, hook) or _home_obstacle(hook_set, hook)
        return known or _hidden_obstacle(hook_set, hook)
    first, rest = words[0], words[1:]
    if "/" not in first:
        if _BUILT_IN.fullmatch(first):
            return None
        if shutil.which(first) is None and not (first == "uv" and runs_without_uv(hook_set, hook)):
            return Obstacle(cause=first, text=f"{first} is not on PATH", local=True)
    elif obstacle := _file_obstacle(hook_set, hook, first) or _mode_obstacle(hook_set, hook, first):
        return obstacle
    if INTERPRETERS.fullmatch(Path(first).name) and rest and not rest[0].startswith("-"):
        return _file_obstacle(hook_set, hook, rest[0])
    return _hidden_obstacle(hook_set, hook)


def _hidden_obstacle(hook_set: HookSet, hook: Hook) -> Obstacle | None:
    """Return why a script never runs whose command hides that; a missing one may be meant to be."""
    first = next(iter(_hidden_words(hook_set, hook)), "")
    elsewhere = hook_set.plugin and not first.startswith("/")
    found = None if "/" not in first or elsewhere else _mode_obstacle(hook_set, hook, first)
    return None if found is None or found.local else found


def _hidden_words(hook_set: HookSet, hook: Hook) -> list[str]:
    """Return the words of a simple command whose end is ignored, as in ``./x.sh || true``; else none."""
    inner = _IN_SHELL.fullmatch(hook.command)
    command = inner[1] or inner[2] or "" if inner else hook.command
    shown = _HIDING.sub("", command)
    if hook.args is not None or shown == hook.command:
        return []
    return plain_words(hook_set, replace(hook, command=_TO_FILE.sub("", f"{shown} ")))


def runs_without_uv(hook_set: HookSet, hook: Hook) -> bool:
    """Return whether a command is a plain ``uv run`` of a script whose modules this Python has."""
    name, *words = plain_words(hook_set, hook) or [""]
    if name != "uv" or (number := find_script(words)) is None:
        return False
    place = _place(hook_set, hook, words[number])
    # A file that is only copied to its place when it is installed is not there yet.
    copied = [text for path, text in hook_set.sources_of(hook) if path in hook_set.texts]
    return has_all(copied[0], place.parent) if copied else needs_only_python(place)


def _syntax_obstacle(hook_set: HookSet, hook: Hook) -> Obstacle | None:
    """Return why the host's shell refuses to read a command."""
    name, shell = _known_shell(hook_set, hook), hosts.find(hook_set.host).process.shell
    said = syntax_error(shell, hook.command) if name else ""
    if not said:
        return None
    return Obstacle(
        cause=said,
        text=f"{name}, which is {shell[0]} here, cannot read the command: {said}",
        fix=f"Write it for {shell[0]}, or start the shell that it needs: `bash -c '...'`.",
    )


def program_that_ends_it(hook_set: HookSet, hook: Hook) -> str:
    """Return the program without which a hook's script ends at once, if this machine lacks it."""
    named = (one or other for text in hook_set.scripts_of(hook) for one, other in _ENDS_WITHOUT.findall(text))
    # Functions of shells have underscores in their names, and hardly any program has.
    return next((name for name in named if "_" not in name and shutil.which(name) is None), "")


def _home_obstacle(hook_set: HookSet, hook: Hook) -> Obstacle | None:
    """Return the file in the person's home that a command runs, if it is not installed on this machine."""
    named = _IN_HOME.match(hook.command)
    if named is None or any(f"{path}/".startswith(f"{named[1]}/") for path, _ in hook_set.installed):
        return None
    if os.path.exists(Path.home() / named[1]):  # noqa: PTH110
        return None
    return Obstacle(cause=f"~/{named[1]}", text=f"~/{named[1]} is not on this machine", local=True)


def _known_shell(hook_set: HookSet, hook: Hook) -> str:
    """Return the name of the shell that reads a command; empty if none does, or one that is not known."""
    process = hosts.find(hook_set.host).process
    # A login shell reads files of its user first.
    known = hook.args is None and not process.login_shells
    return Path(os.path.realpath(process.shell[0])).name if known else ""


def foreign_test(hook_set: HookSet, hook: Hook) -> str:
    """Return the shell that takes `[[` in a command for a program; empty if there is none."""
    name = _known_shell(hook_set, hook)
    return name if name == "dash" and _DOUBLE_BRACKET.search(hook.command) else ""


def plain_words(hook_set: HookSet, hook: Hook) -> list[str]:
    """Return the words of a plain command with its variables filled in; none for any other command."""
    known = known_variables(hook_set)
    if hook.args is not None:
        given: Sequence[str] = hook.args
    else:
        command = _REDIRECTED.sub("", f"{hook.command} ")
        if _COMPLEX.search(command):
            return []
        try:
            given = shlex.split(command)
        except ValueError:
            return []
    words = [fill_variables(word, known, keep_unknown=True) for word in given]
    while words and hook.args is None and _ASSIGNMENT.fullmatch(words[0]):
        words.pop(0)
    # What a variable of the machine contains is not known, and `~` is another home in the sessions.
    certain = words[:2] if len(words) > 1 and "/" not in words[0] else words[:1]
    return [] if any("$" in word or word.startswith("~") for word in certain) else words


def known_variables(hook_set: HookSet) -> Mapping[str, str]:
    """Return the values of the variables in commands that name folders, as far as they are known."""
    profile, root = hosts.find(hook_set.host), str(hook_set.root)
    known = dict.fromkeys(profile.process.project_variables, root)
    if hook_set.plugin:
        # The project of a plugin's user is not known.
        known = {profile.config.plugin_root: root}
    return known | {
        name: os.path.normpath(path.replace(WORKSPACE, root)) for name, path in hook_set.env.items()
    }


def empty_run(hook_set: HookSet, hook: Hook) -> tuple[str, ...]:
    """Return a command that starts the interpreter of a hook and nothing else; a shell if it is unknown."""
    own = (text for path, text in hook_set.sources if path in hook.command.replace('"', ""))
    firsts = [text.partition("\n")[0] for text in own if text.startswith("#!")]
    words = re.findall(r"[\w.+-]+", " ".join([hook.command, *firsts]))
    name = next((word for word in words if INTERPRETERS.fullmatch(word)), "sh")
    kind = next((each for each in _EMPTY if name.startswith(each)), "")
    return name, *_EMPTY.get(kind, ("-c", ":"))


def relative_script(hook_set: HookSet, hook: Hook) -> str:
    """
    Return the script of a plain command that is found only from the project's folder; empty for none.

    A hook that starts only in that folder finds it there.
    """
    words = plain_words(hook_set, hook) or _hidden_words(hook_set, hook)
    if hook_set.plugin or hook.type != "command" or not starts_elsewhere(hook_set, hook):
        return ""
    named = words[1:2] if words and INTERPRETERS.fullmatch(Path(words[0]).name) else words[:1]
    relative = (word for word in named if "/" in word and not word.startswith(("/", "~", "$", "-")))
    return next((word for word in relative if os.path.isfile(_place(hook_set, hook, word))), "")  # noqa: PTH113


def describe_other_readers(hook_set: HookSet) -> Iterator[str]:
    """Yield which other hosts read the same settings, and lack variables that the commands need."""
    own = hosts.find(hook_set.host)
    folders = {*own.process.project_variables}
    others = {profile.name: profile for profile in hosts.known() if profile.name != own.name}
    for name, profile in others.items():
        for file in hook_set.files:
            commands = [hook.command for hook in hook_set.hooks if hook.source.endswith(file)]
            used = {found[1] or found[2] for command in commands for found in VARIABLE.finditer(command)}
            unset = sorted(used & folders - profile.process.env.keys())
            if unset and f"workspace/{file}" in profile.config.paths:
                yield (
                    f"{name} reads {file} too, and sets no ${unset[0]} for its hooks as far as is known, so "
                    "they do not run there."
                )


def _place(hook_set: HookSet, hook: Hook, word: str) -> Path:
    return Path(os.path.normpath(hook_set.root / hook.folder / word))


def _file_obstacle(hook_set: HookSet, hook: Hook, word: str) -> Obstacle | None:
    """Return why a file that a command names cannot be read; names that may be no files are not judged."""
    if "/" not in word and script_of(word) != word:
        return None
    place = _place(hook_set, hook, word)
    profile = hosts.find(hook_set.host)
    if hook_set.plugin and not profile.process.plugin_start and not word.startswith("/"):
        variable = profile.config.plugin_root
        return Obstacle(
            cause=f"relative {word}",
            text=f"{word} is looked up in the user's project, not in the plugin",
            fix=f'Write `"${{{variable}}}"/{hook_set.meant.get(word, os.path.normpath(word))}`.',
            missing=word,
        )
    # Unlike pathlib, this takes a name that is too long for one of no file.
    there = os.path.exists(place)  # noqa: PTH110
    if there or os.path.relpath(place, hook_set.root) in hook_set.texts:
        return None
    own = hook_set.meant.get(word, "")
    inside = place.relative_to(hook_set.root) if place.is_relative_to(hook_set.root) else None
    shown = str(inside or place)
    # A checkout does not have what is built or installed.
    if inside is not None and OF_TOOLS & {*inside.parts[:-1]}:
        return Obstacle(cause=shown, text=f"{shown} does not exist in this checkout", local=True)
    if inside is None and _OF_A_PERSON.match(shown):
        # All files of this folder are missing for the same reason.
        return Obstacle(
            cause=f"missing in {place.parent}",
            text=f"{shown} does not exist: this path is that of one person's machine",
            fix=_in_project(hook_set, own),
            missing=word,
        )
    cause = f"missing {shown}" if os.path.isdir(place.parent) else f"missing in {place.parent}"  # noqa: PTH112
    whose = "plugin" if hook_set.plugin else "project"
    fix = f"Correct the path: the {whose} has {own}." if own else "Correct the path, or add the file."
    if own and not os.access(hook_set.root / own, os.X_OK):
        fix = f"{fix[:-1]}; if no interpreter starts it, run `chmod +x` too."
    return Obstacle(cause=cause, text=f"{shown} does not exist", fix=fix, missing=word)


def _in_project(hook_set: HookSet, own: str) -> str:
    """Return the advice to begin a path with the project's folder, where the project has such a file."""
    variable = next(iter(hosts.find(hook_set.host).process.project_variables), "")
    if not own or not variable or hook_set.plugin:
        return "Name the script by a path that others have too, and add it to the project."
    return f'Begin the path with the project\'s folder: `"${variable}"/{own}`.'


def _mode_obstacle(hook_set: HookSet, hook: Hook, word: str) -> Obstacle | None:
    place = _place(hook_set, hook, word)
    if not os.path.isfile(place):  # noqa: PTH113
        return None
    if not os.access(place, os.X_OK):
        fix = "Run `chmod +x` on it, and `git update-index --chmod=+x` if git does not keep the bit."
        return Obstacle(cause="not executable", text="the script is not executable", fix=fix)
    with place.open("rb") as file:
        line = file.readline(256)
    if not line.startswith(b"#!"):
        return None
    if line.rstrip(b"\n").endswith(b"\r"):
        fix = "Save it with line ends of Unix, and add `*.sh text eol=lf` to .gitattributes."
        return Obstacle(cause="CRLF", text="its first line ends with CR, so no interpreter is found", fix=fix)
    program = line[2:].decode("utf-8", "replace").split()
    names = program[:1] or [""]
    if Path(names[0]).name == "env":
        names = [word for word in program[1:] if not word.startswith("-") and "=" not in word][:1] or [""]
    if names[0] and shutil.which(names[0]) is None:
        return Obstacle(cause=names[0], text=f"{names[0]} is not on PATH", local=True)
    return None
