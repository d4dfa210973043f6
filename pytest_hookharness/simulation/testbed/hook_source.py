"""
Words, commands and files that the sources of hooks mention.

It only suggests what to try and is never evidence. Only what shells and Pythons usually write is recognized;
what a program computes is not.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path

from pytest_hookharness import hosts
from pytest_hookharness.model.processes import ProcessSpec
from pytest_hookharness.model.protocol import Hook, Payload, fill_variables
from pytest_hookharness.model.trace import HookRun
from pytest_hookharness.simulation.testbed.testbed import Testbed

# In shell scripts: where a file is looked at, and where one is made.
_LOOKED_AT = re.compile(
    r"(?:\[ (?:! )?-[edfrswx]|\btest (?:! )?-[edfrswx]|\brm(?: -\w+)*)[ \t]+[\"']?([\w.][\w./-]*)"
)
_MADE = re.compile(r"(?:\btouch[ \t]|(?<![\d&<=])>>?)[ \t]*[\"']?([\w.][\w./-]*)")
# In Python: the last parts of a path that is joined, or the path in a call.
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
_SHELL_WORD = re.compile(r"[^\s\"'`;|&<>()*?=]+")
_NAME = re.compile(rb"[A-Za-z_][\w.+-]*")
# Where a shell, or a call in another language, expects the name of a command.
_CALLED = re.compile(
    rb"(?:^|[;|&(!`]|(?<!\$)\{|"
    rb"\b(?:then|do|else|elif|if|while|until|exec|command(?: -[vV])?|xargs|nohup|which|hash)\b)"
    rb"[ \t]*(?:\w+=[^\s$`(]*[ \t]+)*([A-Za-z_][\w.+-]*)(?![\w.+=-])"
    rb"|(?:\btimeout[ \t]+\S+[ \t]+|[(\[][\"'])([A-Za-z_][\w.+-]*)",
    re.MULTILINE,
)
# All words of `#!/usr/bin/env -S python3 -u` but the options.
_RUNNER = re.compile(rb"(?<!\S)[A-Za-z/][\w./+-]*(?!\S)")
COMMENT = re.compile(rb"(?m)^[ \t]*#.*$")
# Code of another language in a shell script: in the quotes after `python3 -c`, or in a here-document.
_INTERPRETER = rb"(?:python|node|deno|bun|ruby|perl|php)[\d.]*"
_INTERPRETER_NAME = re.compile(rb"(" + _INTERPRETER + rb").*", re.DOTALL)
_INLINE = re.compile(
    rb"\b" + _INTERPRETER + rb"\b[^\n|;&'\"]{0,99}?[ \t]-\w*[cer][ \t]+"
    rb"(?:\$?'([^']*)'|\"((?:[^\"\\]|\\.)*)\")"
    rb"|\b"
    + _INTERPRETER
    + rb"\b[^\n|;&]{0,99}<<-?[ \t]*['\"]?(\w+)['\"]?[^\n]*\n((?:.*\n){0,400}?)[ \t]*\3[ \t]*$",
    re.MULTILINE,
)
_CODE_LINE = re.compile(rb"\b" + _INTERPRETER + rb"\b")
DATA_SUFFIXES = frozenset(
    (".json", ".jsonl", ".md", ".txt", ".log", ".toml", ".yaml", ".yml", ".ini", ".csv")
)
_CODE_SUFFIXES = frozenset({".py", ".js", ".mjs", ".cjs", ".ts", ".rb", ".pl", ".php"})
# In such code: a text that starts a program, as an argument of a call, or in a variable named for that.
_STARTED = re.compile(
    rb"(?:(?<!/\.)\b(?:run|call|check_call|check_output|getoutput|getstatusoutput|[Pp]open|system|exec\w*|spawn\w*|"
    rb"create_subprocess_\w+|which|fork|execa\w*|start|sh)[ \t]*\(\s*(?:\w+[ \t]*=[ \t]*)?"
    rb"|\b\w*(?:cmd|command|argv|args|tool|program|linter|formatter)\w*[ \t]*(?::[^=\n]*)?[:=][ \t]*"
    rb"|(?<![\w.])[$][ \t]*(?=`))[\[(]?\s*"
    rb"(?:[fFrRbBuU]{0,2}(?:\"([^\"\n]*)\"|'([^'\n]*)')|`([^`]*)`)",
    re.IGNORECASE,
)
# Where a shell script gives a variable a value; of `read`, the names of all its variables.
_ASSIGNED = re.compile(
    rb"(?:^|(?<=[\s;&|({]))([A-Za-z_]\w*)\+?=|\bfor[ \t]+([A-Za-z_]\w*)"
    rb"|\bread(?:[ \t]+-\w+)*((?:[ \t]+[A-Za-z_]\w*)+)",
    re.MULTILINE,
)
# The output of a shell script, unless another program reads it.
_MESSAGE = re.compile(
    rb"\b(echo|printf)\b(?:[ \t]+-[neE]+)*"
    rb"(?:[ \t]+(?:'[^']*'|\"(?:[^\"\\`$]|\\.|\$(?!\())*\"))+(?![^\n;}]*\|)",
    re.DOTALL,
)
# The end of the path of a file that a shell script loads.
_LOADED = re.compile(
    rb"^[ \t]*(?:source|\.)[ \t]+[^\n;#]*?((?:[\w.-]+/)*[\w.-]+\.(?:sh|bash))(?![\w.-])", re.MULTILINE
)
# Bytes; a longer file is a program, not a script.
_SCRIPT_LIMIT = 1 << 18
_PROGRAMS = frozenset({".sh", ".bash", ".zsh", ".py", ".js", ".mjs", ".cjs", ".ts", ".rb", ".pl", ".php"})


def looked_at(source: str) -> Iterator[str]:
    """Yield the files that a source tests, removes, opens or makes."""
    yield from _LOOKED_AT.findall(source)
    yield from (path for path, _, _ in _joined(source))


def made(source: str) -> Iterator[str]:
    """Yield the files that a source makes."""
    yield from _MADE.findall(source)
    for path, here, line in _joined(source):
        bound = _BOUND.match(line)
        place, where = (rf"\b{bound[1]}\b", source) if bound else (re.escape(here), line)
        if re.search(_WRITES.format(path=place), where):
            yield path


def _joined(source: str) -> Iterator[tuple[str, str, str]]:
    """Yield joined paths, each with its expression and the line that contains it."""
    for line in source.splitlines():
        for found in _JOINED.finditer(line):
            words = _WORD.findall(found[1] or found[2] or found[3])
            yield "/".join(words), found[3] or found[0], line


def texts(testbed: Testbed, hook_runs: Iterable[HookRun]) -> Iterator[bytes]:
    """Yield the commands of hook runs and the scripts that these name."""
    for launch, named in launches(testbed, hook_runs):
        yield from (argument.encode("utf-8", "surrogateescape") for argument in launch.argv)
        yield from map(read_script, named)


def launches(testbed: Testbed, hook_runs: Iterable[HookRun]) -> Iterator[tuple[ProcessSpec, Sequence[Path]]]:
    """Yield how hook runs are started, each with the paths that its command may name."""
    # One hook run for each command that was started.
    distinct = {run.hook.command: run for run in hook_runs if run.run is not None}
    for run in distinct.values():
        launch = _launch(testbed, run.hook, run.payload)
        yield launch, [*_named(launch)]


def words(testbed: Testbed, hook_runs: Iterable[HookRun]) -> frozenset[str]:
    """
    Return the words in the commands of hook runs and the scripts that these name, without comments.

    In Python, JavaScript and the like, only texts that start a program count: `file=` and `as` are no
    commands. Nor are variables of a shell script, unless a command of the same name is called.
    """
    return frozenset[str]().union(*map(words_of, _shell_texts(testbed, hook_runs)))


def words_of(text: bytes) -> frozenset[str]:
    """Return the words of a shell script that may be commands; those of a message are none."""
    text = _MESSAGE.sub(rb"\1", text)
    variables = {name for found in _ASSIGNED.findall(text) for part in found for name in part.split()}
    named = {word for word in _NAME.findall(text) if word not in variables}
    return frozenset(word.decode() for word in named) | _called_in(text)


def called(testbed: Testbed, hook_runs: Iterable[HookRun]) -> frozenset[str]:
    """Return the words that stand where a command is called."""
    return frozenset[str]().union(*map(_called_in, _shell_texts(testbed, hook_runs)))


def _called_in(text: bytes) -> frozenset[str]:
    return frozenset((match[1] or match[2]).decode() for match in _CALLED.finditer(text))


def runners(testbed: Testbed, hook_runs: Iterable[HookRun]) -> frozenset[str]:
    """
    Return the programs that run the scripts of hook runs; without them no hook runs.

    These are the words before a script in a command, and those in the first line of a script.
    """
    found: set[str] = set()
    for launch, named in launches(testbed, hook_runs):
        for argument in launch.argv:
            words = _SHELL_WORD.findall(_expand(argument, launch.env))
            scripts = (place for place, word in enumerate(words) if read_script(Path(launch.cwd, word)))
            found |= {Path(word).name for word in words[: next(scripts, 0)]}
        for path in named:
            found |= {Path(word.decode()).name for word in _RUNNER.findall(_first_line(path))}
    return frozenset(found)


def scripts(testbed: Testbed, hook_runs: Iterable[HookRun]) -> Mapping[str, bytes]:
    """Return the texts of the workspace files that the commands of hook runs name, by relative path."""
    root = testbed.workspace.top
    found: dict[str, bytes] = {}
    for path in (path for _, named in launches(testbed, hook_runs) for path in named):
        inside = path.is_relative_to(root) and not path.is_symlink()
        if inside and (text := read_script(path)):
            found[str(path.relative_to(root))] = text
    return found


def configured(testbed: Testbed) -> Mapping[str, str]:
    """Return the texts of all configured commands and of the scripts that they name, by command or path."""
    found: dict[str, str] = {}
    for hook, launch in _configured_launches(testbed):
        found[hook.command] = " ".join(launch.argv)
        texts = ((path, read_script(path)) for path in _named(launch))
        found |= {str(path): text.decode("utf-8", "replace") for path, text in texts if text}
    return found


def _configured_launches(testbed: Testbed) -> Iterator[tuple[Hook, ProcessSpec]]:
    commands = (hook for hook in testbed.configuration.hooks if hook.type == "command")
    return ((hook, _launch(testbed, hook, {})) for hook in commands)


def hook_files(testbed: Testbed) -> frozenset[str]:
    """
    Return the programs of the workspace whose names are in configured commands, in any folder.

    A file that is not a program is data of a hook, and not part of it.
    """
    names = {path.name for _, launch in _configured_launches(testbed) for path in _named(launch)}
    files = (path.removeprefix("workspace/") for path in testbed.files if path.startswith("workspace/"))
    return frozenset(
        path for path in files if Path(path).name in names and _is_program(testbed.workspace.top / path)
    )


def _is_program(path: Path) -> bool:
    text = read_script(path)
    return text.startswith(b"#!") or path.suffix in _PROGRAMS or (bool(text) and os.access(path, os.X_OK))


def _shell_texts(testbed: Testbed, hook_runs: Iterable[HookRun]) -> Iterator[bytes]:
    """Yield what is written for a shell: commands, shell scripts, and texts in other code that start one."""
    for launch, named in launches(testbed, hook_runs):
        for argument in launch.argv:
            yield from split_code(argument.encode("utf-8", "surrogateescape"))
        for path in named:
            text = read_script(path)
            if path.suffix in _CODE_SUFFIXES or _CODE_LINE.search(_first_line(path)):
                yield from started(text)
                continue
            yield from split_code(text)
            for library in loaded(path, text):
                yield from split_code(read_script(library))


def loaded(script: Path, text: bytes) -> Iterator[Path]:
    """Yield the files that a shell script loads, if they are in its folder, the one above, or below these."""
    for found in dict.fromkeys(_LOADED.findall(text)):
        # The text before the path may be the name of a variable.
        parts = found.decode().split("/")
        ends = ("/".join(parts[first:]) for first in range(len(parts)))
        files = (folder / end for end in ends for folder in (script.parent, script.parent.parent))
        yield from islice((file for file in files if file.is_file()), 1)


def split_code(text: bytes) -> Iterator[bytes]:
    """Yield a shell script without comments and without code of other languages, then what that starts."""
    yield COMMENT.sub(b"", _INLINE.sub(_interpreter_alone, text))
    for code in inlined(text):
        yield from started(code)


def _interpreter_alone(inline: re.Match[bytes]) -> bytes:
    return _INTERPRETER_NAME.sub(rb"\1 ", inline[0])


def inlined(text: bytes) -> Iterator[bytes]:
    """Yield the code of other languages in a shell script."""
    yield from (code for _, code in inlined_code(text))


def inlined_code(text: bytes) -> Iterator[tuple[str, bytes]]:
    """Yield the code of other languages in a shell script, each with its interpreter."""
    for match in _INLINE.finditer(text):
        name = _CODE_LINE.search(match[0])
        yield (name[0].decode() if name else "", match[1] or match[2] or match[4] or b"")


def started(code: bytes) -> Iterator[bytes]:
    """Yield the texts with which code of another language than shell starts programs."""
    for match in _STARTED.finditer(COMMENT.sub(b"", code)):
        text = match[1] or match[2] or match[3] or b""
        if text:
            yield text


def _first_line(path: Path) -> bytes:
    text = read_script(path)
    return text.partition(b"\n")[0][2:] if text.startswith(b"#!") else b""


def _named(launch: ProcessSpec) -> Iterator[Path]:
    for argument in launch.argv:
        for word in _SHELL_WORD.findall(_expand(argument, launch.env)):
            yield Path(os.path.normpath(Path(launch.cwd, word)))


def _launch(testbed: Testbed, hook: Hook, payload: Payload) -> ProcessSpec:
    return hosts.launch(
        testbed.profile, hook, payload, testbed.facts, testbed.workspace.environment, testbed.hook_timeout
    )


def _expand(text: str, env: Mapping[str, str]) -> str:
    # As a shell does in plain cases, which is enough to find a script.
    return fill_variables(text.replace('"', ""), env)


def read_script(path: Path) -> bytes:
    """Return the text of a script; empty if there is none, or if it is a program of the system."""
    if os.path.realpath(path).startswith("/usr/"):
        return b""
    data = read_small(path, _SCRIPT_LIMIT)
    return b"" if b"\0" in data else data


def read_small(path: Path | str, largest: int) -> bytes:
    """Return all of a file; empty if there is none, or if it has more bytes than ``largest``."""
    try:
        # Not a pipe or a device, which could block; as could a file of /proc, which has no size.
        if Path(path).is_file() and 0 < Path(path).stat().st_size <= largest:
            return Path(path).read_bytes()
    except (OSError, ValueError):
        return b""
    return b""
