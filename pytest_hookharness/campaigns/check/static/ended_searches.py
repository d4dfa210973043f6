"""
Searches in strict shell scripts whose status is not what was meant, and texts that are taken for an option.

Under ``set -e`` the script ends where `grep` finds nothing, even if the next lines handle an empty value.
Under ``pipefail`` a pipe to ``grep -q`` fails where it finds something early in a long text, as `grep` ends
there and the writer gets SIGPIPE. Bash and dash refuse a format such as ``- %s``, and GNU grep refuses a
pattern such as ``--force``; a dash alone is a text for both. Calls that end their options with ``--``, or
give the pattern with ``-e``, work.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from pytest_hookharness.campaigns.check.lone_programs.lone_switches import refusals_of
from pytest_hookharness.campaigns.check.shell_code.shell_scripts import (
    PRINTS,
    SHELL_SCRIPT,
    ShellScript,
    code_of,
    script_of,
    shell_script_of,
)
from pytest_hookharness.campaigns.short_texts import in_one_line

_STRICT_LINE = re.compile(r"#![^\n]*sh[ \t]+-[a-z]*e")
STRICT: re.Pattern[str] = re.compile(
    r"^set[ \t]+-[a-z]*e[a-z]*\b|^set[ \t][^\n]*-o[ \t]+errexit\b", re.MULTILINE
)
PIPEFAIL: re.Pattern[str] = re.compile(r"^[ \t]*set[ \t]+-[^\n]*\bpipefail\b", re.MULTILINE)
# What goes on after an error, or does something else there.
_GOES_ON = re.compile(r"\bset[ \t]+\+\w*[eo]|^[ \t]*trap[ \t][^\n]*\b(?:ERR|EXIT)\b", re.MULTILINE)
# A whole statement that takes what a pipe prints.
_TAKEN = re.compile(
    r"^(?P<indent>[ \t]*)(?P<name>[A-Za-z_]\w*)=\"?(?P<default>\$\{\w+:?-)?\$\((?P<pipe>[^\n;]*)\)"
    r"(?(default)\})\"?[ \t]*(?:_*)$",
    re.MULTILINE,
)
# If the errors of the program that reads a file are hidden, the file may be missing.
_SEARCHES = re.compile(
    r"(?P<program>[efr]?grep|rg|git[ \t]+(?:rev-parse|symbolic-ref|describe)"
    r"|cat(?=[^\n]*[ \t]2>[ \t]*/dev/null))\b"
)
_READ = re.compile(r"cat[ \t]+(?P<file>[^\s)]+)")
_GREPS = re.compile(r"grep|=~|\brg\b")
_PATTERN = re.compile(r"grep[ \t]+(?:-[\w-]+[ \t]+)*(?P<words>'[^'\n]*'|\"[^\"\n]*\")")
_KEY = re.compile(
    r"\"\w+\\?\"(?:\\s|\[\[:space:\]\]|[ *])*:"
    r"|(?<![$\w{])(?:tool_name|session_id|hook_event_name|transcript_path)\b"
)
# Git answers in every folder of a repository once it has answered before.
_OF_GIT = re.compile(r"git[ \t]+rev-parse\b")
# Tests of a value that may be empty.
_HANDLED = (
    r"-[zn][ \t]+[\"']?\$\{{?{0}\b|\$\{{?{0}\}}?[\"']?[ \t]+(?:!?==?)[ \t]+(?:\"\"|'')"
    r"|![ \t]+\"?\$\{{?{0}\}}?\"?[ \t]+=~[ \t]+\^\[0-9\]\+\$"
)
# Whether it is a certain word, in the next statement, whose branch holds only then.
_COMPARED = (
    r"\s*if[ \t]+\[\[?[ \t]+\"?\$\{{?{0}\}}?\"?[ \t]+==?[ \t]+[\"']?\w[^\n|&]*\]\]?[ \t]*(?:;|\n)\s*then\b"
)
_OPENS = re.compile(r"[({][ \t]*$", re.MULTILINE)
_CLOSES = re.compile(r"^[ \t]*[)}]", re.MULTILINE)
# A search through a value, whose status decides.
_SOUGHT = re.compile(
    r"^[ \t]*(?:if|elif)[ \t]+(?P<not>![ \t]+)?"
    + PRINTS
    + r"\"\$\{?(?P<name>\w+)\}?\"[ \t]*\|[ \t]*[ef]?grep[ \t]+(?:-[\w-]+[ \t]+)*?-\w*q[^\n]*?"
    r"(?:;|\n)\s*then\b",
    re.MULTILINE,
)
_BRANCH = re.compile(r"^[ \t]*(?:fi|else|elif)\b", re.MULTILINE)
# Values that are often longer than what fits into a pipe: texts of files, outputs and differences.
_LONG = (
    r"(?<![\w$]){0}=\"?\$\([^\n]*?(?:\bjq\b[^\n]*?\.(?:content|contents|new_string|newString|new_str|file_text"
    r"|stdout|tool_response|tool_output)\b(?![.\[])"
    r"|\bgit[ \t]+diff\b(?![^\n]*--(?:name|\w*stat|quiet))"
    r"|\bcat[ \t]+\"?\$\{{?(?:FILE_?PATH|TRANSCRIPT|file_?path|transcript)\w*)[^\n|]*\)\"?"
)
_MOST, _NAMED = 60, 4


def ended_searches(text: str, *, plugin: bool = True) -> Iterator[tuple[str, int]]:
    """
    Yield how a search ends a strict shell script that expects an empty value, and the line.

    Without ``plugin``, `git rev-parse` is left out: a project's own hooks always run in its repository.
    """
    script = script_of(text)
    strict = strict_part(text, script.shown)
    ended = (one for one in _ended(script, *strict) if plugin or not _OF_GIT.match(one[0]))
    found = [*islice(ended, _NAMED)]
    if not found:
        yield from islice(_unreached(script, *strict), 1)
    for program in dict.fromkeys(one for one, _, _ in found):
        same = [(name, place) for one, name, place in found if one == program]
        names = ", ".join(f"`{name}`" for name in dict.fromkeys(name for name, _ in same))
        words = (
            f"`set -e` ends the script with an error where `{program}` finds nothing, so its own test of an "
            f"empty {names} is not reached"
        )
        yield words, script.line_of(same[0][1])


def strict_part(text: str, shown: str) -> tuple[int, int]:
    """Return where the part of a shell script begins and ends in which failures end it; 0 for nowhere."""
    # The first line is a comment to a shell.
    strict = (_STRICT_LINE.match(text) or STRICT.search(shown)) if SHELL_SCRIPT.match(text) else None
    if strict is None:
        return 0, 0
    goes_on = _GOES_ON.search(shown)
    return strict.end(), goes_on.start() if goes_on else len(shown)


def _ended(script: ShellScript, begun: int, until: int) -> Iterator[tuple[str, str, int]]:
    """Yield the programs that find nothing and end a script, with the variable and the place."""
    shown = script.shown
    piped = PIPEFAIL.search(shown) is not None
    for found in islice(_TAKEN.finditer(shown, begun, until), _MOST):
        place, name = found.start("name"), found["name"]
        program = _failing(found["pipe"], piped=piped)
        if not program or script.function_at(place):
            continue
        open_group = len(_OPENS.findall(shown, 0, place)) > len(_CLOSES.findall(shown, 0, place))
        handled = re.compile(_HANDLED.format(name)).search(script.code, found.end())
        if handled and not open_group and not _is_known_to_match(script, found):
            yield program, name, place


def _unreached(script: ShellScript, begun: int, until: int) -> Iterator[tuple[str, int]]:
    """Yield a search for the word of one branch, whose failure ends a script before it refuses."""
    code, shown = script.code, script.shown
    places = [*islice(refusals_of(script), _MOST)]
    for found in islice(_TAKEN.finditer(shown, begun, until), _MOST if places else 0):
        place, name, program = found.start("name"), found["name"], _failing(found["pipe"], piped=True)
        first = next(filter(None, re.split(r"[|\s]+", found["pipe"])), "")
        branch = (
            re.compile(_COMPARED.format(name)).match(code, found.end()) if program.endswith("grep") else None
        )
        # Only a search of a whole file: what is searched in a text may be known to be there.
        if branch is None or first != program or not _fails(found["pipe"], shown):
            continue
        end = _BRANCH.search(shown, branch.end())
        behind = (
            end is not None
            and shown.startswith("fi", end.end() - 2)
            and any(one > end.end() for one in places)
        )
        if behind and not script.function_at(place) and not _is_known_to_match(script, found):
            words = (
                f"`set -e` ends the script with an error where `{program}` finds nothing for `{name}`, so "
                "the refusals after its test are not reached"
            )
            yield words, script.line_of(place)


def _fails(pipe: str, shown: str) -> bool:
    """Return whether a pipe fails if its first program does."""
    return "|" not in pipe or PIPEFAIL.search(shown) is not None


def _failing(pipe: str, *, piped: bool) -> str:
    """Return the program of a pipe that fails if it finds nothing, and makes the whole pipe fail."""
    # A list goes on, or ends in another way.
    if "||" in pipe or "&&" in pipe or "$(" in pipe:
        return ""
    parts = pipe.split("|")
    for part in parts if piped else parts[-1:]:
        if found := _SEARCHES.match(part.strip()):
            return " ".join(found["program"].split())
    return ""


def _is_known_to_match(script: ShellScript, found: re.Match[str]) -> bool:
    """Return whether a search may have been made before, so that it finds something."""
    code, place = script.code, found.start("name")
    if any(one["file"] in code[:place] for one in _READ.finditer(code, place, found.end())):
        return True
    if any(_GREPS.search(code, one.begin, one.end) for one in script.conditions_at(place)):
        return True
    # A key of JSON, which the input may always have.
    if _KEY.search(code, place, found.end()):
        return True
    if _OF_GIT.search(code, place, found.end()) and _OF_GIT.search(code, 0, place):
        return True
    patterns = [one["words"].strip("'\"^$") for one in _PATTERN.finditer(code, place, found.end())]
    return any(words in code[:place] for words in patterns if words)


def missed_matches(text: str) -> Iterator[tuple[str, int]]:
    """Yield the searches through long texts whose match fails the pipe, so that nothing is refused."""
    script = shell_script_of(text)
    strict = PIPEFAIL.search(script.shown) if script else None
    if script is None or strict is None or re.search(r"\bset[ \t]+\+o[ \t]+pipefail", script.shown):
        return
    code, shown = script.code, script.shown
    places = [*refusals_of(script)]
    for found in islice(_SOUGHT.finditer(code, strict.end()), _MOST):
        end = _BRANCH.search(shown, found.end())
        until = end.start() if end else len(code)
        refuses = any(found.end() <= place < until for place in places)
        long = re.compile(_LONG.format(found["name"])).search(code, 0, found.start())
        # A second value may be a part of the first.
        single = len(re.findall(rf"(?<![\w$]){found['name']}\+?=", shown)) == 1
        if refuses and long and single and shown.startswith("if", code.find("if", found.start())):
            what = "is refused" if found["not"] else "is missed"
            words = (
                "with `pipefail`, a pipe to `grep -q` fails where grep finds a match early in a long text, "
                f"so an early match in a text of 128 KiB or more {what}"
            )
            yield words, script.line_of(found.start("name"))


# Where a command begins, in code without quoted text.
_BEGINS = (
    r"(?:^|[\n;&|(`{!]|\b(?:then|do|else|if|elif|while|until|time)[ \t])[ \t]*"
    r"(?:[A-Za-z_]\w*=[^\s;|&\"']*[ \t]+)*"
)
_PRINTED = re.compile(_BEGINS + r"(?P<call>printf)[ \t]+(?P<mark>[\"'])(?=\S)")
# Options without a value, of which none gives the pattern.
_SEARCHED = re.compile(
    _BEGINS + r"(?P<call>[ef]?grep)(?:[ \t]+(?:-[a-dg-zA-Z]+|--(?:quiet|silent|extended-regexp|ignore-case"
    r"|fixed-strings|perl-regexp|only-matching|invert-match|word-regexp)))*[ \t]+(?P<mark>[\"'])"
)
# Options of GNU grep whose name may be cut, and that such a pattern might mean.
_LONG_OPTIONS = frozenset({
    "after-context", "basic-regexp", "before-context", "binary", "binary-files", "byte-offset", "color",
    "colour", "context", "count", "dereference-recursive", "devices", "directories", "exclude",
    "exclude-dir", "exclude-from", "extended-regexp", "file", "files-with-matches",
    "files-without-match", "fixed-strings", "group-separator", "help", "ignore-case", "include",
    "initial-tab", "invert-match", "label", "line-buffered", "line-number", "line-regexp", "max-count",
    "no-filename", "no-group-separator", "no-ignore-case", "no-messages", "null", "null-data",
    "only-matching", "perl-regexp", "quiet", "recursive", "regexp", "silent", "text",
    "unix-byte-offsets", "version", "with-filename", "word-regexp",
})  # fmt: skip
_WITH_VALUE = re.compile(r"-v\b|-*$")
_ENDS = re.compile(r"[ \t]*(?:$|[\n;|&)}<>]|\d>)")
_LETTERS = re.compile(r"-[a-zA-Z]+")
_SHOWN = 40
_ZSH = re.compile(r"#!.*\bzsh\b")
# A script may have a function of this name.
_OWN = re.compile(
    r"^[ \t]*(?:(?:function|alias)[ \t]+)?(?:printf|[ef]?grep)[ \t]*(?:\(\)|=|\{)", re.MULTILINE
)


def texts_as_options(text: str) -> Iterator[tuple[str, int]]:
    """Yield a message and the line number for each text that a program takes for an option."""
    reported: dict[str, str] = {}
    is_known = SHELL_SCRIPT.match(text) and not _ZSH.match(text) and not _OWN.search(text)
    code = code_of(text) if is_known else ""
    for call, refused, effect in (
        (_PRINTED, _is_refused_format, "format"),
        (_SEARCHED, _is_refused_pattern, "pattern"),
    ):
        for found in call.finditer(code):
            end = code.find(found["mark"], found.end())
            given = text[found.end() : end]
            if end > 0 and refused(given, code[end + 1 :]):
                name, shown = found["call"], in_one_line(given, _SHOWN)
                words = f"`{name}` takes the {effect} `{shown}` for an option because of its dash, and fails"
                # One cause, however often it stands in the script.
                yield reported.setdefault(name, words), text.count("\n", 0, found.end()) + 1


def _is_refused_format(given: str, _after: str) -> bool:
    return given.startswith("-") and not _WITH_VALUE.match(given) and "\n" not in given.partition("\\n")[0]


def _is_refused_pattern(given: str, after: str) -> bool:
    """Return whether GNU grep surely refuses a pattern: as an unknown option, or as no pattern is left."""
    if given.startswith("--"):
        name = given[2:].partition("=")[0]
        return bool(name) and not any(known.startswith(name) for known in _LONG_OPTIONS)
    return _LETTERS.fullmatch(given) is not None and _ENDS.match(after) is not None
