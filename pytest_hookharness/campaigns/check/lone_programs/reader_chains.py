"""
Places where a shell script reads a value by the first of several programs that is there.

A chain asks for one program after the other, in ``if command -v jq`` and ``elif command -v python3``. It is
silent if its last branch says nothing, so that with none of the programs the value stays empty.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from pytest_hookharness.campaigns.check.lone_programs.lone_answers import calls_of
from pytest_hookharness.campaigns.check.lone_programs.program_questions import ASKS, IF_WORD, QUIET
from pytest_hookharness.campaigns.check.lone_programs.silent_ends import READERS, RUNS_A_MODULE
from pytest_hookharness.model.fast_dataclass import dataclass

_HEAD = re.compile(r"(?<![\w-])(?:if|elif)[ \t]+" + ASKS + r"[ \t]*(?:;|\n)\s*then\b")
# What leaves a value empty.
_NOTHING = re.compile(r"(?:echo|printf)(?:[ \t]+(?:-n|\"\"|''))*")
_LEAVES = re.compile(r"exit[ \t]+0\b")
_FAR, _MOST = 6000, 20


@dataclass(frozen=True, slots=True)
class ReaderChain:
    """
    A chain of questions for programs, the last branch of which says nothing.

    Attributes:
        tools: The programs, in order.
        begin: Where the chain begins in the script.
        end: Where it ends.
        branches: Where the branch of each program begins and ends.
        leaves: Whether the script ends with 0 if none of the programs is there.
    """

    tools: tuple[str, ...]
    begin: int
    end: int
    branches: tuple[tuple[int, int], ...]
    leaves: bool


def reader_chains(code: str, shown: str) -> Iterator[ReaderChain]:
    """
    Yield the silent chains of at least two programs that read the input of a hook.

    Args:
        code: The script without comment lines.
        shown: The script without quoted text, as ``code_of`` returns it.
    """
    heads = (found for found in _HEAD.finditer(code) if shown.startswith("if", found.start()))
    for _, head in zip(range(_MOST), heads, strict=False):
        chain = _chain_at(head, code, shown)
        if chain and len({*chain.tools}) > 1 and READERS.issuperset(chain.tools) and _is_used(chain, code):
            yield chain


def without_silent_chains(code: str, shown: str) -> str:
    """Return a script of the same length, with blanks for the silent chains."""
    for one in reader_chains(code, shown):
        code = f"{code[: one.begin]}{re.sub(r'[^ ]', ' ', code[one.begin : one.end])}{code[one.end :]}"
    return code


def _chain_at(head: re.Match[str], code: str, shown: str) -> ReaderChain | None:
    tools, branches = [head["tool"]], list[tuple[int, int]]()
    begin, depth, has_else = head.end(), 0, False
    for found in IF_WORD.finditer(shown, head.end(), head.end() + _FAR):
        word, place = found["word"], found.start("word")
        if word == "if" or depth:
            depth += {"if": 1, "fi": -1}.get(word, 0)
            continue
        if not has_else:
            branches.append((begin, place))
        if word == "fi":
            rest = code[begin:place] if has_else else ""
            leaves = _leaves(rest)
            known = leaves is not None
            ends = (head.start(), found.end(), tuple(branches))
            return ReaderChain(tuple(tools), *ends, leaves=bool(leaves)) if known else None
        if has_else:
            return None
        following = _HEAD.match(code, place) if word == "elif" else None
        if word == "elif" and following is None:
            return None
        tools += [following["tool"]] if following else []
        begin, has_else = following.end() if following else found.end(), word == "else"
    return None


def _leaves(rest: str) -> bool | None:
    """Return whether the last branch of a chain ends its script with 0; ``None`` if it may say something."""
    words = [one.strip() for one in re.split(r"[\n;]", rest)]
    words = [re.sub(r"(?:^|[ \t])#.*", "", one).strip() for one in words]
    if all(not one or QUIET.fullmatch(one) or _NOTHING.fullmatch(one) for one in words):
        return any(map(_LEAVES.match, words))
    return None


def _is_used(chain: ReaderChain, code: str) -> bool:
    """Return whether each branch calls the program for which it asks, and not only to run something else."""
    for tool, (begin, end) in zip(chain.tools, chain.branches, strict=True):
        calls = [place for place, _ in calls_of(tool, code) if begin <= place < end]
        if not calls or all(RUNS_A_MODULE.match(code, place) for place in calls):
            return False
    return True
