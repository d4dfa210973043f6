"""
Warnings of a shell script that also refuses: printed where the host passes them to nobody, as it then allows.

Only a text is named after which the script surely ends with 0 unless another condition holds. The conditions
and the ends after it are read. Left out are a script that replaces its output, or ends in a way of its own,
and a text beside which the script sets a variable, if it may refuse later.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from itertools import islice

from pytest_hookharness.campaigns.check.shell_code.shell_outputs import goes_elsewhere, is_for_authors
from pytest_hookharness.campaigns.check.shell_code.shell_scripts import (
    LOADS,
    ShellScript,
    code_of,
    shell_script_of,
    without_comment_lines,
)
from pytest_hookharness.judging.checkup.unseen_texts import is_advice

_ECHO = re.compile(
    r"^[ \t]*(?:echo(?:[ \t]+-\w+)*|printf)[ \t]+"
    r"(?P<mark>[\"'])(?P<text>(?:(?!(?P=mark))[^\n]|\\\"){3,400})(?P=mark)"
    r"(?:[ \t]+\"?\$\{?\w+\}?\"?)*[ \t]*(?P<err>1?>&2)?[ \t]*(?=$|;)",
    re.MULTILINE,
)
_DOCUMENT = re.compile(
    r"^[ \t]*cat[ \t]*(?P<before>1?>&2)?[ \t]*<<-?[ \t]*['\"]?(?P<word>\w+)['\"]?"
    r"[ \t]*(?P<after>1?>&2)?[ \t]*\n"
    r"(?P<text>(?:(?!^[ \t]*(?P=word)$)[^\n]*\n){1,40})",
    re.MULTILINE,
)
_TOKEN = re.compile(
    r"(?:^|[\n;&|(){}!]|(?<![\w$-])(?:then|do|else)(?=\s))[ \t]*"
    r"(?P<word>if|elif|else|fi|case|esac|for|while|until|select|done|exit|exec|return)(?![\w-])"
    r"(?:[ \t]+(?P<status>[^\s;)}]+))?|(?P<arm>;;)"
)
# The last command; a here-document after it is hidden.
_ENDS_WELL = re.compile(r"(?:^|\n)[ \t]*(?:fi|esac|true|:|(?:echo|printf|cat)\b[^\n|&]*)(?:\n_*)*\s*\Z")
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
# A variable in a text, what it is given, and the name of one that gathers warnings.
_VARIABLE = re.compile(r"\$\{?([A-Za-z_]\w*)\}?")
_GIVEN = r"^[ \t]*(?:local[ \t]+)?{0}\+?=\"(?P<text>(?:[^\"\\\n]|\\.)+)\"[ \t]*$"
_GATHERS = re.compile(r"_?(?:warn(?:ing)?s?|advice|hints|reminders?)", re.IGNORECASE)
_OF_MACHINE = re.compile(r"\bnot (?:found|installed|available|on PATH)\b|\binstall|\bskip", re.IGNORECASE)
_MOST, _FAR = 60, 2000


def lost_warnings(text: str, loaded: Sequence[str] = (), *, of_calls: bool) -> Iterator[tuple[str, str]]:
    """
    Yield the streams and the texts of advice after which a shell script ends with 0.

    A warning alone may be for a log, but not at calls and prompts. Loaded texts are given as far as known.
    """
    script = shell_script_of(text)
    shown = script.shown if script else ""
    ways = [shown, *(code_of(one) for one in loaded)]
    if script is None or len(LOADS.findall(shown)) > len(loaded) or any(map(_OWN_WAY.search, ways)):
        return
    # A person may start a script that takes arguments, unless these only stand in for the input.
    if re.search(_WAYS if reads_input(text) else _ARGUMENTS, script.code):
        return
    for place, behind, stream, words in islice(_printed(script), _MOST):
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


def _is_remembered(script: ShellScript, place: int, behind: int, *, but: Collection[str] = ()) -> bool:
    """Return whether the branch of a text sets another variable by which the script may refuse later."""
    begin, end = _branch(script.shown, place, behind)
    names = {name for found in _SETS.findall(script.shown[begin:end]) for name in found} - {"", *but}
    return any(re.search(rf"\b{name}\b", script.code[end:]) for name in names)


def _branch(shown: str, place: int, behind: int) -> tuple[int, int]:
    """Return where the branch around a text begins, if it is not too far away, and where it ends."""
    begin = max((one.end() for one in _BEGINS.finditer(shown, max(0, place - _FAR), place)), default=0)
    ended = _BRANCH_ENDS.search(shown, behind)
    return begin, ended.start() if ended else len(shown)


def reads_input(text: str) -> bool:
    """Return whether a script reads keys that only a host sends."""
    return _OF_A_HOST.search(without_comment_lines(text)) is not None


def _printed(script: ShellScript) -> Iterator[tuple[int, int, str, str]]:
    """Yield advice that a script prints: its place, the place after it, the stream and the words."""
    for found in _ECHO.finditer(script.code):
        words = " ".join(found["text"].split())
        words = words if is_advice(words) else _gathered(script, words, found)
        if words and script.is_code(found.start("mark")):
            yield found.start("text"), found.end(), "stderr" if found["err"] else "stdout", words
    for found in _DOCUMENT.finditer(script.code):
        line = next((line for line in found["text"].splitlines() if is_advice(line)), "")
        if line and "cat" in script.shown[found.start() : found.start("text")]:
            stream = "stderr" if found["before"] or found["after"] else "stdout"
            yield found.start(), found.end("text"), stream, " ".join(line.split())


def _gathered(script: ShellScript, words: str, printed: re.Match[str]) -> str:
    """Return the first advice that a script put into a variable which it only prints; empty for none."""
    for name in _VARIABLE.findall(words):
        given = [*re.compile(_GIVEN.format(name), re.MULTILINE).finditer(script.code)]
        own = [printed, *given]
        # Before it is printed, it may be asked whether there is something in it.
        asked = rf"(?<!-[nz] )(?<!-[nz] \")\$\{{?{name}\b"
        uses = [*re.compile(asked).finditer(script.code, 0, printed.start())]
        uses += re.compile(rf"\b{name}\b").finditer(script.code, printed.end())
        if any(not any(one.start() <= use.start() < one.end() for one in own) for use in uses):
            continue
        # What is set beside it may lead to a refusal.
        if any(
            _is_remembered(script, one.start(), one.end(), but=(name, *_VARIABLE.findall(one["text"])))
            for one in given
        ):
            continue
        for text in (re.sub(rf"\$\{{?{name}\}}?|\\n", " ", one["text"]) for one in given):
            told = " ".join(text.split())
            if is_advice(told) or (_GATHERS.fullmatch(name) and " " in told and not _OF_MACHINE.search(told)):
                return told
    return ""


def _is_one_of_several(script: ShellScript, place: int, behind: int) -> bool:
    """Return whether a text goes with an answer, or is for the authors of a script."""
    begin, end = _branch(script.shown, place, behind)
    return _ANSWERS.search(script.code, begin, end) is not None or is_for_authors(script.code, place)


def _ends_with_zero(shown: str, place: int) -> bool:
    depth, skipped = 0, -1
    for found in _TOKEN.finditer(shown, place):
        word = found["word"] or found["arm"]
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
        elif not _is_conditional(shown, found.start("word")):
            return word == "exit" and found["status"] == "0"
    return _ENDS_WELL.search(shown) is not None


def _is_conditional(shown: str, place: int) -> bool:
    """Return whether a command stands after another one that decides whether it runs."""
    begin = max(shown.rfind(mark, 0, place) for mark in ("\n", ";")) + 1
    return re.search(r"&&|\|\|", shown[begin:place]) is not None
