"""Hooks whose truth is known because they were made for it."""

from __future__ import annotations

import math
import random
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum

MOST = 150


class Truth(Enum):
    """
    The course of a session that stops again and again.

    It ends after some refusals, or never, or at some time by chance, or only when time has passed.
    """

    ENDS = "ends"
    ENDLESS = "endless"
    CHANCE = "chance"
    TIME = "time"


@dataclass(frozen=True, slots=True)
class Subject:
    """
    Hooks, and the truth about them.

    Attributes:
        stops: The scripts that run at each stop, all of them; a refusal of one is enough.
        truth: The course of the session.
        after: With ``ENDS``: the number of refusals, or nothing where it depends on what a host writes.
        files: Further files of the workspace.
        prompt: The script that runs at the prompt.
        git: Whether the workspace is a repository.
        needs: The programs that the scripts start.
        mechanism: What the scripts do.
    """

    stops: tuple[str, ...]
    truth: Truth
    after: int | None
    files: Mapping[str, str]
    prompt: str
    git: bool
    needs: tuple[str, ...]
    mechanism: str = ""


Mechanism = Callable[[random.Random], Subject]

BASH, SH = "#!/bin/bash", "#!/bin/sh"
PYTHON = """\
#!/usr/bin/env python3
import collections, hashlib, json, os, pathlib, random, re, sqlite3, sys, tempfile, time
payload = json.load(sys.stdin)"""

# A script that keeps something keeps it in $p, in Python in p.
SHELL_PLACES = (
    "p=.",
    "p=$HOME",
    "p=$HOME/.cache/gate; mkdir -p $p",
    "p=${TMPDIR:-/tmp}",
    "p=$CLAUDE_PROJECT_DIR/.claude/state; mkdir -p $p",
    'p="${TMPDIR:-/tmp}/gate"; mkdir -p $p',
)
PYTHON_PLACES = (
    'p = pathlib.Path(".")',
    "p = pathlib.Path.home()",
    'p = pathlib.Path.home() / ".local/share/gate"; p.mkdir(parents=True, exist_ok=True)',
    "p = pathlib.Path(tempfile.gettempdir())",
    'p = pathlib.Path(os.environ["CLAUDE_PROJECT_DIR"], ".gate"); p.mkdir(exist_ok=True)',
)
SHELL_REFUSALS = (
    "echo 'run the tests first' >&2; exit 2",
    'echo \'{"decision": "block", "reason": "tests are missing"}\'; exit 0',
    'printf \'{"decision":"block","reason":"%s"}\\n\' "not done yet"; exit 0',
    'cat >&2 <<< "please finish your work"; exit 2',
)
PYTHON_REFUSALS = (
    'sys.exit(print("run the tests first", file=sys.stderr) or 2)',
    'sys.exit(print(json.dumps({"decision": "block", "reason": "not done"})))',
)


def limit(dice: random.Random, most: int = MOST, least: int = 1) -> int:
    """Return a limit: small ones as often as large ones, or anything."""
    if dice.random() < 0.5:
        return dice.randint(least, most)
    return max(least, round(math.exp(dice.uniform(math.log(least), math.log(most)))))


def _script(dice: random.Random, head: str, body: str, words: Mapping[str, object]) -> str:
    """Return a script in which ``@R`` became a refusal, and ``@WORD`` what is given for it."""
    shell = head in (BASH, SH)
    refusals = {SH: SHELL_REFUSALS[:3], BASH: SHELL_REFUSALS, PYTHON: PYTHON_REFUSALS}.get(head, ("",))
    places = SHELL_PLACES if shell else PYTHON_PLACES if head == PYTHON else ("",)
    refusal, place = dice.choice(refusals), dice.choice(places)
    words = {"R": refusal, **words}
    for word in sorted(words, key=len, reverse=True):
        body = body.replace(f"@{word}", str(words[word]))
    uses_place = "$p" in body if shell else re.search(r"\bp\b", body)
    return f"{head}\n{place if uses_place else ''}\n{body.strip()}\n"


def hook(
    dice: random.Random,
    body: str,
    after: int | None = None,
    *,
    head: str = BASH,
    truth: Truth | None = None,
    others: tuple[str, ...] = (),
    files: Mapping[str, str] | None = None,
    prompt: str = "",
    git: bool = False,
    needs: tuple[str, ...] = (),
    **words: object,
) -> Subject:
    """
    Return a hook, and the truth about it.

    Args:
        dice: Draws the place where the script keeps what it keeps, and the form of its refusals.
        body: The script without its first lines; ``@R`` refuses, ``@L`` is the number of refusals.
        after: After how many refusals it allows the stop; nothing for never.
        head: The first lines.
        truth: The course of the session, if ``after`` does not say it.
        others: The bodies of further scripts in bash that run at each stop.
        files: Further files of the workspace.
        prompt: The body of a script in bash that runs at the prompt.
        git: Whether the workspace is a repository.
        needs: Programs that are not on every machine.
        words: What ``@WORD`` in the bodies becomes.
    """
    words = {"L": after, **words}
    stops = (_script(dice, head, body, words), *(_script(dice, BASH, other, words) for other in others))
    at_prompt = _script(dice, BASH, prompt, words) if prompt else ""
    truth = truth or (Truth.ENDLESS if after is None else Truth.ENDS)
    return Subject(stops, truth, after, files or {}, at_prompt, git, needs)
