"""
Recorded commands that a replay does not carry out, because they reach out of the project.

They use the network, install packages, or name files elsewhere. Words decide, so the result is a guess on the
careful side: what is left out has its recorded result.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate
from pathlib import PurePath

from pytest_hookharness.model.moves import WORKSPACE

# Programs by what they do: with any argument (*), or with one of these words (- for none).
_REACHES: Mapping[str, str] = {
    "network": """
        curl * wget * ssh * scp * sftp * rsync * nc * telnet * ftp * gh * glab * aws * gcloud * az * kubectl *
        helm * terraform *
        git push,pull,fetch,clone,ls-remote,submodule,remote,lfs docker pull,push,login,run,build,compose
    """,
    "installs packages": """
        apt * apt-get * dnf * yum * apk * brew * pacman * conda * mamba * pipx * uvx * npx * pip-sync *
        pip-compile * easy_install * pip install,download,wheel uv pip,add,sync,tool,lock
        poetry install,add,update,lock npm i,ci,install,add,update,exec pnpm i,install,add,update,dlx,exec
        yarn -,install,add,upgrade,dlx bun i,install,add,update,x cargo install,add,fetch,update
        go get,install,mod gem install,update bundle -,install,update composer install,require,update
        dotnet restore,add setup.py install,develop
    """,
}
_PROGRAMS: Mapping[str, tuple[str, str]] = {
    name: (reach, words)
    for reach, table in _REACHES.items()
    for name, words in zip(table.split()[::2], table.split()[1::2], strict=True)
}
# Words before a command, and options of programs, that have a value after them.
_STARTERS = "do then else elif if while until ! { sudo env time nohup timeout nice command exec xargs stdbuf"
_BEFORE = frozenset(_STARTERS.split())
_OPTIONS = "-C -c -n -u -k -s -I --prefix --cwd --dir --directory --git-dir --work-tree --project"
_VALUED = frozenset(_OPTIONS.split())
_SHELLS = frozenset({"sh", "bash", "dash", "zsh", "ksh"})
_INNER = re.compile(r"\$\(([^()]*)\)|`([^`]*)`")
_ENDS = frozenset("();|&\n`")
# The first folder of a path outside, as systems have it. A pattern such as `/x/` in a command has none.
_PATH = re.compile(
    rf"{re.escape(WORKSPACE)}(?P<here>(?:/[\w.@+~-]*)*)|"
    r"(?<![\w./~-])(?P<path>(?:~|\$HOME|\$\{HOME\}|/(?:etc|home|root|tmp|var|opt|usr|mnt|srv|media|Users|"
    r"private|Volumes|Library|boot|run|data|workspace|app))(?:/[\w.@+~-]*)*|(?:\.\./)+[\w.-]*|"
    r"\.\.(?![\w./]))"
)
CHANGES_FOLDER = re.compile(r"\b(?:cd|pushd)\b")
_HARMLESS = re.compile(r"\A/(?:usr/(?:local/)?)?s?bin/")
_DEEPEST, _LONGEST = 5, 50_000


def find_reach(command: str, above: int = 0) -> str:
    """
    Return why a shell command is not carried out; empty if it stays within the project.

    Its paths of the project are relative, or begin with ``{{workspace}}``, ``above`` folders below the top.
    """
    reach = next(filter(None, map(_reach_of, _simple_commands(command))), "")
    if reach:
        return reach
    left = above
    for found in _PATH.finditer(command):
        path, here = found["path"] or "", found["here"]
        if here is not None:
            leads_out = is_outside(f".{here}", above)
        elif up := path.split("/").count(".."):
            leads_out = up > left
            # Paths after `cd ..` start further up.
            left -= up if CHANGES_FOLDER.search(command) else 0
        else:
            leads_out = not _HARMLESS.match(path)
        if leads_out:
            return f"names {found[0]}, outside of the project"
    return ""


def is_outside(path: str, above: int = 0) -> bool:
    """Return whether a path, relative where it lies in the project, leads out of the project."""
    steps = path.split("/")
    levels = accumulate({"..": -1, ".": 0, "": 0}.get(step, 1) for step in steps)
    return path.startswith(("/", "~")) or min(levels) < -above


def _reach_of(words: Sequence[str]) -> str:
    program, *rest = words
    name = re.sub(r"(?<=[a-z])[\d.]+\Z", "", PurePath(program).name)
    if name == "python" and rest[:1] == ["-m"] and len(rest) > 1:
        name, rest = rest[1], rest[2:]
    elif name == "python" and rest and PurePath(rest[0]).name == "setup.py":
        name, rest = "setup.py", rest[1:]
    reach, words = _PROGRAMS.get(name, ("", ""))
    return reach if words == "*" or next(_without_options(rest), "-") in words.split(",") else ""


def _without_options(words: Sequence[str]) -> Iterator[str]:
    skipped = False
    for word in words:
        if not skipped and not word.startswith("-"):
            yield word
        skipped = word in _VALUED


def _simple_commands(text: str, depth: int = 0) -> Iterator[list[str]]:
    """Yield the words of each command of a line, without what stands before it; those within it too."""
    lexer = shlex.shlex(text[:_LONGEST], posix=True, punctuation_chars="();<>|&\n`")
    lexer.whitespace, lexer.commenters = " \t\r", ""
    words: list[str] = []
    try:
        tokens = [*lexer]
    except ValueError:
        # A quote is open, as in a here-document.
        tokens = re.findall(r"[^\s;|&()]+|[;|&()\n]", text)
    for token in [*tokens, "\n"]:
        if depth < _DEEPEST:
            for found in _INNER.finditer(token):
                yield from _simple_commands(found[1] or found[2] or "", depth + 1)
        if token and not _ENDS.issuperset(token):
            words.append(token)
            continue
        command = [*_bare(words)]
        if command:
            yield command
            yield from _inner_commands(command, depth)
        words = []


def _inner_commands(command: Sequence[str], depth: int) -> Iterator[list[str]]:
    """Yield the commands that a shell gets as text."""
    name = PurePath(command[0]).name
    flag = next((n for n, word in enumerate(command) if re.fullmatch(r"-\w*c", word)), 0)
    if depth < _DEEPEST and name in _SHELLS and 0 < flag < len(command) - 1:
        yield from _simple_commands(command[flag + 1], depth + 1)
    elif depth < _DEEPEST and name == "eval":
        yield from _simple_commands(" ".join(command[1:]), depth + 1)


def _bare(words: Sequence[str]) -> Iterator[str]:
    """Yield a command without keywords, assignments and programs that start it."""
    begun, skips, before = False, False, False
    for word in words:
        if begun:
            yield word
        elif skips:
            skips = False
        elif word in _BEFORE:
            before = True
        elif before and word.startswith("-"):
            skips = word in _VALUED
        elif re.match(r"\w+=", word) or (before and re.fullmatch(r"[\d.]+[smhd]?", word)):
            continue
        else:
            begun = True
            yield word
