"""
Questions to Git that end a strict shell script in a new repository: without a commit, `git log` fails.

Only plugins are asked for, as the repository of a project's own hooks has commits.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from pytest_hookharness.campaigns.check.shell_code.shell_conditions import conditions_at
from pytest_hookharness.campaigns.check.shell_code.shell_functions import functions_of, is_within
from pytest_hookharness.campaigns.check.shell_code.shell_scripts import code_of, without_comment_lines
from pytest_hookharness.campaigns.check.static.ended_searches import strict_part

# A value that is taken, and what Git is asked for that needs a commit.
_TAKEN = re.compile(r"^[ \t]*[A-Za-z_]\w*=\"?\$\((?P<pipe>[^\n;]*)\)\"?[ \t]*$", re.MULTILINE)
_GIT = r"git[ \t]+(?:-C[ \t]+\S+[ \t]+|--no-pager[ \t]+)*"
_ASKS = re.compile(
    rf"{_GIT}(?P<what>log\b|show[ \t]+(?:-[\w=-]+[ \t]+)*HEAD\b|rev-list\b[^|]*\bHEAD\b"
    r"|rev-parse[ \t]+(?:-[\w=-]+[ \t]+)*HEAD\b|diff[ \t]+(?:-[\w=-]+[ \t]+)*HEAD\b)"
)
# What asks for commits before, waits for one, or loads a file that may ask.
_KNOWN = re.compile(
    r"\bgit\b[^\n]*\b(?:rev-parse\b[^\n]*\bHEAD|rev-list|log|show-ref|describe|diff[^\n]*HEAD)\b"
    r"|\bgit\W[^\n]{0,40}\b(?:commit|push|merge|rebase)\b|^[ \t]*(?:source|\.)[ \t]",
    re.MULTILINE,
)
_ANY = re.compile(r"--(?:all|branches|remotes|tags)\b")
_PIPEFAIL = re.compile(r"^[ \t]*set[ \t][^\n]*\bpipefail\b", re.MULTILINE)
_OPENS = re.compile(r"[({][ \t]*$", re.MULTILINE)
_CLOSES = re.compile(r"^[ \t]*[)}]", re.MULTILINE)
_MOST = 40


def ended_without_commits(text: str) -> Iterator[tuple[str, int]]:
    """Yield the question to Git that ends a strict shell script where there is no commit, with the line."""
    code, shown = without_comment_lines(text), code_of(text)
    begun, until = strict_part(text, shown)
    functions = [*functions_of(code)]
    piped = _PIPEFAIL.search(shown) is not None
    for found in islice(_TAKEN.finditer(shown, begun, until), _MOST):
        place = found.start()
        what = _asked(found["pipe"], piped=piped)
        if not what or is_within(place, functions):
            continue
        if len(_OPENS.findall(shown, 0, place)) > len(_CLOSES.findall(shown, 0, place)):
            continue
        if _is_known_to_have_commits(code, shown, place):
            return
        words = (
            f"`set -e` ends the script with an error in a repository without a commit, where `{what}` "
            "fails, and nothing that follows is done"
        )
        yield words, code.count("\n", 0, found.start("pipe")) + 1
        return


def _asked(pipe: str, *, piped: bool) -> str:
    """Return what a pipe asks Git that needs a commit, if its failure is that of the pipe."""
    if "||" in pipe or "&&" in pipe or "$(" in pipe:
        return ""
    parts = pipe.split("|")
    for part in parts if piped else parts[-1:]:
        found = _ASKS.match(part.strip())
        if found and not _ANY.search(part):
            return f"git {' '.join(found['what'].split())}"
    return ""


def _is_known_to_have_commits(code: str, shown: str, place: int) -> bool:
    """Return whether a script may have asked for commits before, so that there are some."""
    if any(_KNOWN.search(code, one.begin, one.end) for one in conditions_at(shown, place)):
        return True
    return _KNOWN.search(code, 0, place) is not None
