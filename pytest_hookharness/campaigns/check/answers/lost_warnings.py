"""
Warnings of a shell script that also refuses: printed where the host passes them to nobody, as it then allows.

Only a text is named after which the script surely ends with 0 unless another condition holds. The conditions
and the ends after it are read. Left out are a script that replaces its output, or ends in a way of its own,
and a text beside which the script sets a variable, if it may refuse later.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import islice

from pytest_hookharness.campaigns.check.shell_code.shell_outputs import goes_elsewhere, is_for_authors
from pytest_hookharness.campaigns.check.shell_code.shell_scripts import (
    LOADS,
    ShellScript,
    script_of,
    shell_script_of,
    without_comment_lines,
)
from pytest_hookharness.judging.checkup.unseen_texts import is_advice

_QUOTED = r"(?P<mark>[\"'])(?P<text>(?:(?!(?P=mark))[^\n]|\\\"){3,400})(?P=mark)"
_ECHO = re.compile(
    rf"^[ \t]*(?:echo(?:[ \t]+-\w+)*|printf)[ \t]+{_QUOTED}"
    r"(?:[ \t]+\"?\$\{?\w+\}?\"?)*[ \t]*(?P<err>1?>&2)?[ \t]*(?=$|;)",
    re.MULTILINE,
)
_DOCUMENT = re.compile(
    r"^[ \t]*cat[ \t]*(?P<before>1?>&2)?[ \t]*<<-?[ \t]*['\"]?(?P<word>\w+)['\"]?"
    r"[ \t]*(?P<after>1?>&2)?[ \t]*\n"
    r"(?P<text>(?:(?!^[ \t]*(?P=word)$)[^\n]*\n){1,40})",
    re.MULTILINE,
)
# Functions that print their argument, and functions that only end the script well.
_PRINTS_IT = re.compile(
    r"^[ \t]*(?:echo|printf)\b[^\n|>]*\$\{?(?P<name>[1@*]|\w+)\}?[^\n|>]*(?P<err>1?>&2)?[ \t]*;?[ \t]*$",
    re.MULTILINE,
)
_IS_IT = r"\b{0}=[\"']?\$\{{?[1@*]"
_ENDS_IT = re.compile(r"\s*exit(?:[ \t]+0)?[ \t]*;?\s*")
# What stands in the place of a call of the latter, and is not part of a script.
_ENDED = "\0"
_TOKEN = re.compile(
    r"(?:^|[\n;&|(){}!]|(?<![\w$-])(?:then|do|else)(?=\s))[ \t]*"
    r"(?P<word>if|elif|else|fi|case|esac|for|while|until|select|done|exit|exec|return)(?![\w-])"
    rf"(?:[ \t]+(?P<status>[^\s;)}}]+))?|(?P<arm>;;)|(?P<ended>{_ENDED})"
)
# The last command; a here-document after it is hidden.
_ENDS_WELL = re.compile(
    rf"(?:^|\n)[ \t]*(?:fi|esac|true|:|{_ENDED}|(?:echo|printf|cat)\b[^\n|&]*)(?:\n_*)*\s*\Z"
)
_OWN_WAY = re.compile(r"^[ \t]*(?:trap\b|exec[ \t]+\d*[<>]|(?:function[ \t]+)?echo\b[ \t]*\()", re.MULTILINE)
# Answers that the host may read in the place of plain text.
_ANSWERS = re.compile(
    r"hookSpecificOutput|(?i:additional_?context)|systemMessage|\bdecision\b|permission|_message\b"
)
_WAYS = r"\bgetopts\b|\bcase[ \t]+\"?\$\{?[1@*]"
_ARGUMENTS = re.compile(rf"{_WAYS}|^[^\n{{]*[\"' \t]\$\{{?[1@](?![\w])", re.MULTILINE)
_OF_A_HOST = re.compile(r"\b(?:tool_input|tool_name|tool_response|hook_event_name)\b")
# Words of a statement, and words of an instruction.
_NOTE = re.compile(
    r"^\W*(?:note|hint|tip)\b|\bno \w+ found\b|\boverrid|(?<!not )\ballow(?:ed|ing)\b", re.IGNORECASE
)
_ORDER = re.compile(
    r"\b(?:please|must|should|remember|make sure|ensure|do not|don't|never|consider)\b|\brun [/`'\"]"
    r"|\b(?:review|verify|check|fix|update) (?:the|your|it|all|this)\b"
    r"|\u8bf7|\u3057\u3066\u304f\u3060\u3055\u3044|\uc8fc\uc138\uc694",
    re.IGNORECASE,
)
# Where a branch begins and ends, and what gives a variable a value.
_BEGINS = re.compile(r"(?<![\w$-])(?:then|else|do)(?=\s)|\)[ \t]*\n")
_BRANCH_ENDS = re.compile(r"(?<![\w$-])(?:fi|elif|else|done)(?![\w-])|;;")
_SETS = re.compile(
    r"(?<![\w$.-])([A-Za-z_]\w*)\+?=|\(\([ \t]*([A-Za-z_]\w*)[ \t]*(?:\+\+|\+=|=)|\+\+([A-Za-z_]\w*)"
)
_MOST, _FAR = 60, 2000


def lost_warnings(text: str, loaded: Sequence[str] = (), *, of_calls: bool) -> Iterator[tuple[str, str]]:
    """
    Yield the streams and the texts of advice after which a shell script ends with 0.

    A warning alone may be for a log, but not at calls and prompts. Loaded texts are given as far as known.
    """
    script = shell_script_of(text)
    shown = script.shown if script else ""
    others = [script_of(one) for one in loaded]
    ways = [shown, *(one.shown for one in others)]
    if script is None or len(LOADS.findall(shown)) > len(loaded) or any(map(_OWN_WAY.search, ways)):
        return
    shown = _with_ends(shown, _enders([script, *others]))
    # A person may start a script that takes arguments, unless these only stand in for the input.
    arguments = re.finditer(_WAYS if reads_input(text) else _ARGUMENTS, script.code)
    if any(script.function_at(one.end()) is None for one in arguments):
        return
    for place, behind, stream, words in islice(_printed(script, _tellers([script, *others])), _MOST):
        plain = stream == "stderr" or not _ANSWERS.search(text)
        told = not _NOTE.search(words) if of_calls else _ORDER.search(words)
        if (
            told
            and plain
            and not script.function_at(place)
            and not goes_elsewhere(text, place)
            and _ends_with_zero(shown, behind)
            and not _is_remembered(script, place, behind)
            and not _is_one_of_several(script, place, behind)
        ):
            yield stream, words


def _is_remembered(script: ShellScript, place: int, behind: int) -> bool:
    """Return whether the branch of a text also sets a variable, by which the script may refuse later."""
    begin, end = _branch(script.shown, place, behind)
    names = {name for found in _SETS.findall(script.shown[begin:end]) for name in found if name}
    return any(re.search(rf"\b{name}\b", script.code[end:]) for name in names)


def _branch(shown: str, place: int, behind: int) -> tuple[int, int]:
    """Return where the branch around a text begins, if it is not too far away, and where it ends."""
    begin = max((one.end() for one in _BEGINS.finditer(shown, max(0, place - _FAR), place)), default=0)
    ended = _BRANCH_ENDS.search(shown, behind)
    return begin, ended.start() if ended else len(shown)


def reads_input(text: str) -> bool:
    """Return whether a script reads keys that only a host sends."""
    return _OF_A_HOST.search(without_comment_lines(text)) is not None


def _bodies(scripts: Sequence[ShellScript]) -> Iterator[tuple[str, str]]:
    """Yield the names and the bodies of the functions of some scripts."""
    return ((one.name, each.code[one.begin : one.end]) for each in scripts for one in each.functions)


def _enders(scripts: Sequence[ShellScript]) -> list[str]:
    """Return the names of functions that only end the script, with 0."""
    return [name for name, body in _bodies(scripts) if _ENDS_IT.fullmatch(body)]


def _with_ends(shown: str, enders: Collection[str]) -> str:
    """Return a script of the same length, with a mark in the place of each call that ends it."""
    if not enders:
        return shown
    call = rf"(?<![\w$./-])(?:{'|'.join(map(re.escape, enders))})(?=[ \t]*(?:$|[;)}}]))"
    return re.sub(call, lambda found: _ENDED.ljust(len(found[0])), shown, flags=re.MULTILINE)


def _tellers(scripts: Sequence[ShellScript]) -> Mapping[str, str]:
    """Return the functions that print their argument and go on, each with the stream."""
    found: dict[str, str] = {}
    for name, body in _bodies(scripts):
        prints = [
            one
            for one in _PRINTS_IT.finditer(body)
            if not one["name"].isalpha() or re.search(_IS_IT.format(one["name"]), body)
        ]
        if len(prints) == 1 and not re.search(r"\bexit\b|\breturn[ \t]+[^0\s]", body):
            found[name] = "stderr" if prints[0]["err"] else "stdout"
    return found


def _printed(script: ShellScript, tellers: Mapping[str, str]) -> Iterator[tuple[int, int, str, str]]:
    """Yield advice that a script prints: its place, the place after it, the stream and the words."""
    told = rf"^[ \t]*(?P<name>{'|'.join(map(re.escape, tellers))})[ \t]+{_QUOTED}[ \t]*(?=$|;)"
    for found in re.finditer(told, script.code, re.MULTILINE) if tellers else ():
        words = " ".join(found["text"].split())
        if is_advice(words) and script.is_code(found.start("mark")):
            yield found.start("text"), found.end(), tellers[found["name"]], words
    for found in _ECHO.finditer(script.code):
        words = " ".join(found["text"].split())
        if is_advice(words) and script.is_code(found.start("mark")):
            yield found.start("text"), found.end(), "stderr" if found["err"] else "stdout", words
    for found in _DOCUMENT.finditer(script.code):
        line = next((line for line in found["text"].splitlines() if is_advice(line)), "")
        if line and "cat" in script.shown[found.start() : found.start("text")]:
            stream = "stderr" if found["before"] or found["after"] else "stdout"
            yield found.start(), found.end("text"), stream, " ".join(line.split())


def _is_one_of_several(script: ShellScript, place: int, behind: int) -> bool:
    """Return whether a text goes with an answer, or is for the authors of a script."""
    begin, end = _branch(script.shown, place, behind)
    return _ANSWERS.search(script.code, begin, end) is not None or is_for_authors(script.code, place)


def _ends_with_zero(shown: str, place: int) -> bool:
    depth, skipped = 0, -1
    for found in _TOKEN.finditer(shown, place):
        word = found["word"] or found["arm"] or found["ended"]
        if word in ("if", "case", "for", "while", "until", "select"):
            depth += 1
        elif word in ("fi", "esac", "done"):
            skipped = -1 if depth == skipped else skipped
            depth -= depth > 0
        elif skipped >= 0 or depth:
            continue
        elif word in ("elif", "else", ";;"):
            # The branch of another condition, to the end of the whole.
            skipped, depth = 1, 1
        elif not _is_conditional(shown, found.start("ended" if word == _ENDED else "word")):
            return word == _ENDED or (word == "exit" and found["status"] == "0")
    return _ENDS_WELL.search(shown) is not None


def _is_conditional(shown: str, place: int) -> bool:
    """Return whether a command stands after another one that decides whether it runs."""
    begin = max(shown.rfind(mark, 0, place) for mark in ("\n", ";")) + 1
    return re.search(r"&&|\|\|", shown[begin:place]) is not None
