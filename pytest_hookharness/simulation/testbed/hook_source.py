"""
The hooks' own source: which whole numbers and which words stand in it.

A limit that is met exactly, and not crossed, is found only by trying it; most
are written in the script that a command names. What stands there is never evidence: it only says what to try.

File names in the source of scripts: what is looked at, and what is made there.

It reads how shells and Pythons write it; what a program computes is not seen.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from pytest_hookharness import hosts
from pytest_hookharness.model.processes import ProcessSpec
from pytest_hookharness.model.protocol import Hook, Payload
from pytest_hookharness.model.trace import HookRun
from pytest_hookharness.simulation.testbed.testbed import Testbed

# In shells: where a file is looked at, and where one is made.
_LOOKED_AT = re.compile(
    r"(?:\[ (?:! )?-[edfrswx]|\btest (?:! )?-[edfrswx]|\brm(?: -\w+)*)\s+[\"']?([\w.][\w./-]*)"
)
_MADE = re.compile(r"(?:\btouch\s|(?<![\d&<=])>>?)\s*[\"']?([\w.][\w./-]*)")
# In Pythons: the last words of a path that is put together, or the one that a call is given.
_QUOTED = r"[\"'][./-]*\w[\w./-]*[\"']"
_JOINED = re.compile(
    rf"\bpath\.join\([^\n]*?((?:,\s*{_QUOTED}\s*)+)\)"
    rf"|((?<=[\w)\]])(?:\s*/\s*{_QUOTED})+)"
    rf"|\b(?:exists|isfile|open|Path)\(\s*({_QUOTED})\s*[,)]"
)
_WORD = re.compile(r"[\"']([\w./-]+)[\"']")
_BOUND = re.compile(r"^\s*(\w+)\s*(?::[^=\n]*)?=(?!=)")
_WRITES = (
    r"open\(\s*(?:os\.)?{path}[^\n]*?,\s*(?:mode\s*=\s*)?[\"'][wax]"
    r"|{path}\)*\.(?:write_\w+|touch|mkdir|open\([\"'][wax])"
)


def looked_at(source: str) -> Iterator[str]:
    """
    The files that some source asks about, removes or opens, those that it makes among them.
    """
    yield from _LOOKED_AT.findall(source)
    yield from (path for path, _, _ in _joined(source))


def made(source: str) -> Iterator[str]:
    """
    The files that some source makes.
    """
    yield from _MADE.findall(source)
    for path, here, line in _joined(source):
        bound = _BOUND.match(line)
        place, where = (rf"\b{bound[1]}\b", source) if bound else (re.escape(here), line)
        if re.search(_WRITES.format(path=place), where):
            yield path


def _joined(source: str) -> Iterator[tuple[str, str, str]]:
    """
    Paths that are put together, each with its expression and the line that this stands in.
    """
    for line in source.splitlines():
        for found in _JOINED.finditer(line):
            words = _WORD.findall(found[1] or found[2] or found[3])
            yield "/".join(words), found[3] or found[0], line


_NUMBER = re.compile(rb"(?<![\w.])\d{1,7}(?![\w.])")
_WORD_of_sources = re.compile(r"[^\s\"'`;|&<>()*?=]+")
_NAME = re.compile(rb"[A-Za-z_][\w.+-]*")
# Where a shell, or a call of another language, expects the name of a command.
_CALLED = re.compile(
    rb"(?:^|[;|&({!`]|"
    rb"\b(?:then|do|else|elif|if|while|until|exec|command(?: -[vV])?|xargs|nohup|which|hash)\b)"
    rb"[ \t]*(?:\w+=[^\s$`(]*[ \t]+)*([A-Za-z_][\w.+-]*)(?![\w.+=-])"
    rb"|(?:\btimeout[ \t]+\S+[ \t]+|[(\[][\"'])([A-Za-z_][\w.+-]*)",
    re.MULTILINE,
)
# Of `#!/usr/bin/env -S python3 -u` all but the options.
_RUNNER = re.compile(rb"(?<!\S)[A-Za-z/][\w./+-]*(?!\S)")
_COMMENT = re.compile(rb"(?m)^\s*#.*$")
_VARIABLE = re.compile(r"\$(?:\{(\w+)\}|(\w+))")
# Bytes; what is longer is a program, not a script.
_LONGEST = 1 << 18
_PROGRAMS = frozenset({".sh", ".bash", ".zsh", ".py", ".js", ".mjs", ".cjs", ".ts", ".rb", ".pl", ".php"})
_MOST = 40
_SHORT = 1 << 12
_MOST_FILES = 200


def numbers(stage: Testbed, hook_runs: Iterable[HookRun]) -> tuple[int, ...]:
    """
    The smallest whole numbers above 0 in the commands of some fires and the scripts that these name.

    Those in short files of the workspace are among them, for limits are written there too.
    """
    found: set[int] = set()
    for path in _short_files(stage):
        found |= {int(number) for number in _NUMBER.findall(_read(path))}
    for value in stage.scenario.env.values():
        found |= {int(number) for number in _NUMBER.findall(value.encode("utf-8", "surrogateescape"))}
    for fire in {fire.hook.command: fire for fire in hook_runs if fire.run is not None}.values():
        for text in _texts(stage, fire):
            found |= {int(number) for number in _NUMBER.findall(text)}
    return tuple(sorted(number for number in found if number > 0)[:_MOST])


def words(stage: Testbed, hook_runs: Iterable[HookRun]) -> frozenset[str]:
    """
    The words in the commands of some fires and the scripts that these name, but for what is a comment there.
    """
    found: set[str] = set()
    for fire in {fire.hook.command: fire for fire in hook_runs if fire.run is not None}.values():
        for text in _texts(stage, fire):
            found |= {word.decode() for word in _NAME.findall(_COMMENT.sub(b"", text))}
    return frozenset(found)


def called(stage: Testbed, hook_runs: Iterable[HookRun]) -> frozenset[str]:
    """
    Those words that stand where a command is called.
    """
    found: set[str] = set()
    for fire in {fire.hook.command: fire for fire in hook_runs if fire.run is not None}.values():
        for text in _texts(stage, fire):
            matches = _CALLED.finditer(_COMMENT.sub(b"", text))
            found |= {(match[1] or match[2]).decode() for match in matches}
    return frozenset(found)


def runners(stage: Testbed, hook_runs: Iterable[HookRun]) -> frozenset[str]:
    """
    What runs the scripts of some fires, without which no hook is run.

    These are the words before a script in a command, and those in the first line of a script.
    """
    found: set[str] = set()
    for fire in {fire.hook.command: fire for fire in hook_runs if fire.run is not None}.values():
        launch = _launch_of(stage, fire)
        for argument in launch.argv:
            words = _WORD_of_sources.findall(_expand(argument, launch.env))
            scripts = (place for place, word in enumerate(words) if _read(Path(launch.cwd, word)))
            found |= {Path(word).name for word in words[: next(scripts, 0)]}
        for path in _named(launch):
            found |= {Path(word.decode()).name for word in _RUNNER.findall(_first_line(path))}
    return frozenset(found)


def scripts(stage: Testbed, hook_runs: Iterable[HookRun]) -> Mapping[str, bytes]:
    """
    The texts of files of the workspace that the commands of some fires name, by path relative to it.
    """
    root = stage.workspace.root
    found: dict[str, bytes] = {}
    for fire in {fire.hook.command: fire for fire in hook_runs if fire.run is not None}.values():
        for path in _named(_launch_of(stage, fire)):
            inside = path.is_relative_to(root) and not path.is_symlink()
            if inside and (text := _read(path)):
                found[str(path.relative_to(root))] = text
    return found


def configured(stage: Testbed) -> Mapping[str, str]:
    """
    The texts of all configured commands and of the scripts that they name, fired or not, by their path.
    """
    found: dict[str, str] = {}
    for hook in stage.configuration.hooks:
        if hook.type == "command":
            launch = _launch(stage, hook, {})
            found[hook.command] = " ".join(launch.argv)
            found |= {
                str(path): text.decode("utf-8", "replace") for path in _named(launch) if (text := _read(path))
            }
    return found


def hook_files(stage: Testbed) -> frozenset[str]:
    """
    The programs of the workspace that configured commands name, wherever they go to find them there.

    What is no program is what a hook works on, and no part of it.
    """
    launches = [_launch(stage, hook, {}) for hook in stage.configuration.hooks if hook.type == "command"]
    names = {path.name for launch in launches for path in _named(launch)}
    files = (path.removeprefix("workspace/") for path in stage.files if path.startswith("workspace/"))
    return frozenset(
        path for path in files if Path(path).name in names and _is_program(stage.workspace.root / path)
    )


def _is_program(path: Path) -> bool:
    text = _read(path)
    return text.startswith(b"#!") or path.suffix in _PROGRAMS or (bool(text) and os.access(path, os.X_OK))


def _short_files(stage: Testbed) -> Iterator[Path]:
    paths = [path for path, entry in stage.files.items() if entry.kind == "file"]
    for path in paths[:_MOST_FILES]:
        name, _, rest = path.partition("/")
        place = stage.workspace.root / rest
        if name == "workspace" and not rest.startswith(".git/") and place.stat().st_size <= _SHORT:
            yield place


def _texts(stage: Testbed, fire: HookRun) -> Iterator[bytes]:
    launch = _launch_of(stage, fire)
    for argument in launch.argv:
        yield argument.encode("utf-8", "surrogateescape")
    yield from map(_read, _named(launch))


def _first_line(path: Path) -> bytes:
    text = _read(path)
    return text.partition(b"\n")[0][2:] if text.startswith(b"#!") else b""


def _named(launch: ProcessSpec) -> Iterator[Path]:
    for argument in launch.argv:
        for word in _WORD_of_sources.findall(_expand(argument, launch.env)):
            yield Path(os.path.normpath(Path(launch.cwd, word)))


def _launch_of(stage: Testbed, fire: HookRun) -> ProcessSpec:
    return _launch(stage, fire.hook, fire.payload)


def _launch(stage: Testbed, hook: Hook, payload: Payload) -> ProcessSpec:
    return hosts.launch(
        stage.profile, hook, payload, stage.facts, stage.workspace.environment, stage.hook_timeout
    )


def _expand(text: str, env: Mapping[str, str]) -> str:
    # As the shell would in the plain cases, which is all that is needed to find a script.
    return _VARIABLE.sub(lambda found: env.get(found[1] or found[2], ""), text.replace('"', ""))


def _read(path: Path) -> bytes:
    try:
        if not path.is_file() or path.stat().st_size > _LONGEST or os.path.realpath(path).startswith("/usr/"):
            return b""
        data = path.read_bytes()
    except (OSError, ValueError):
        return b""
    return b"" if b"\0" in data else data
