"""
Places where shell scripts ask whether a program is there, and what they do if it is missing.

A question is silent if its script then only ends with 0, goes on, or allows without a message.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import islice

from pytest_hookharness.campaigns.arming.project_texts import project_files, read_text
from pytest_hookharness.campaigns.check.shell_code.shell_scripts import (
    ShellScript,
    code_of,
    ends_of_if,
    script_of,
    without_comment_lines,
)
from pytest_hookharness.model.checkup import HookSet
from pytest_hookharness.model.fast_dataclass import dataclass

_ASKS = (
    r"(?:command[ \t]+-[vV]|which|type|hash)[ \t]+(?:-\w+[ \t]+)?(?P<mark>[\"']?)(?P<tool>[A-Za-z][\w.+-]*)"
    r"(?P=mark)(?:[ \t]*(?:[12&]?>[>&]?|&>)[ \t]*(?:/dev/null|[12]))*"
)
_QUESTION = re.compile(
    r"(?P<word>(?:\bif|\belif)[ \t]+)?(?P<not>![ \t]+)?"
    r"(?P<test>\[\[?[ \t]+(?:![ \t]+)?-(?P<kind>[nxz])[ \t]+\"?\$\()?(?<![\w$.-])" + _ASKS
    + r"(?(test)[ \t]*(?:\|\|[ \t]*true[ \t]*)?\)\"?[ \t]+\]\]?)"
)  # fmt: skip
# A condition of which a question is a part, with nothing but `&&` before it.
_PART_OF_IF = re.compile(r"[ \t]*(?:if|elif)[ \t](?:[^|]|\|(?!\|))*&&[ \t]*")
_THEN = re.compile(r"[ \t]*(?P<more>&&[^\n;]*)?(?:;|\n)\s*then\b")
_LIST = re.compile(r"[ \t]*(?P<sign>\|\||&&)[ \t]*(?:\\\n\s*)?")
_BLOCK = re.compile(r"\{\s(?P<body>[^{}]{0,400})\}")
# Silent code: an end with 0, or an answer without a text.
_QUIET = re.compile(r"(?:exit[ \t]+0|return(?:[ \t]+[01])?|:|true|continue|[A-Za-z_]\w*=(?:\"\"|''|[\w.-]*))")
# What only a file gets, and where a person may look.
_WRITES = re.compile(
    r"(?:mkdir|local)[ \t]+[^|&>]*$|(?:echo|printf)[ \t]+[^|&<>]*(?:[\"'][ \t]*>>?[ \t]*\"?)[$/~.\w][^|&]*$"
)
_TO_PERSON = re.compile(r"/dev/(?:stderr|tty|stdout|fd)\b|>[ \t]*&")
_ANSWER = re.compile(
    r"(?:echo|printf)[ \t]+(?:[\"']%s(?:\\n)?[\"'][ \t]+)?(?P<mark>[\"'])[ \t]*(?P<json>\{.*\})"
    r"(?:\\n)?(?P=mark)"
)
# What may tell somebody, unless it is written to a file.
_TELLS = re.compile(
    r">[ \t]*&2|/dev/(?:stderr|tty)|(?<![\w$-])(?:echo|printf|cat|logger|osascript|notify-send|say"
    r"|(?:log|warn|err|fail|die|notify|deny|block|info|msg|ask)[\w-]*)(?![\w-])"
)
_FAILS = re.compile(r"\bexit[ \t]+(?!0\b)")
_OF_MISSING = re.compile(
    r"\b(?:missing|not (?:found|installed|available)|unavailable|install|requires?|required|needs?|needed"
    r"|without|cannot|can't|skip\w*)\b",
    re.IGNORECASE,
)
_TO_FILE = re.compile(r">>?[ \t]*\"?[$/.\w~-]|^[ \t]*\w+=")
_FOR_SOMEBODY = re.compile(r"message|reason|context|text", re.IGNORECASE)
_REFUSES = re.compile(r"\b(?:block|deny|ask)\b|\bfalse\b")
_LEAVES = re.compile(r"exit[ \t]+0\b")
# A command that only writes words to standard error.
_WORDS = r"(?:echo|printf)(?:[ \t]+-[ne]+)*(?:[ \t]+(?:\"(?:[^\"\\]|\\.)*\"|'[^']*')){1,9}"
_WARNING = re.compile(
    rf"(?:^|(?<=[\n;{{&]))[ \t]*(?:{_WORDS}[ \t]*1?>[ \t]*&[ \t]*2|1?>&2[ \t]+{_WORDS})[ \t]*(?=[\n;}}&]|$)"
)
_ENDS_WITH_2 = re.compile(r"(?:^|[\n;{])[ \t]*exit[ \t]+2[ \t]*(?:$|[\n;}#])")
# A question for one program, and a loop over several.
_ASKED = (
    r"\b(?:command[ \t]+-[vV]|which|type|hash)[ \t]+(?:-\w+[ \t]+)?[\"']?{0}\b"
    r"|\bfor[ \t]+\w+[ \t]+in\b[^\n]{{0,200}}\b{0}\b"
)
# Scripts that a person or the agent starts before.
_RUNS_FIRST = re.compile(r"install|setup|init|start|check|doctor|bootstrap|preflight|dep")
_MOST = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgramQuestion:
    """
    A place where a script asks whether a program is there.

    Attributes:
        begin: Where the question begins in the script.
        named: Where the program's name begins.
        end: Where the question ends.
        silent: Whether the script says nothing if the program is missing.
        leaves: Whether it then ends with 0.
        tells: Whether it may tell somebody, also if it does more.
        refuses: Whether it then ends with 2.
        warns: Whether it ends with 0 after a warning on standard error, and does nothing else.
    """

    tool: str
    begin: int
    named: int
    end: int
    silent: bool
    tells: bool
    leaves: bool = False
    refuses: bool = False
    warns: bool = False


def questions_in(code: str) -> Iterator[ProgramQuestion]:
    """Yield where a shell script, given without comment lines, asks whether a program is there."""
    script = script_of(code)
    shown, bodies = script.shown, {name: code[begin:end] for name, begin, end in script.functions}
    for found in islice(_QUESTION.finditer(code), _MOST):
        branch = _missing_branch(found, code, shown)
        # In quoted text, it is no code.
        if not shown.startswith(found["tool"][:1] if not found["mark"] else found["mark"], _first(found)):
            continue
        leaves = _leaves(branch, bodies) if branch is not None else None
        rest = _WARNING.sub("", branch or "")
        yield ProgramQuestion(
            tool=found["tool"],
            begin=found.start(),
            named=found.start("tool"),
            end=found.end(),
            silent=leaves is not None,
            leaves=bool(leaves),
            refuses=_ENDS_WITH_2.search(code_of(branch or "")) is not None,
            tells=branch is None or _tells(branch, found["tool"], bodies),
            warns=leaves is None and rest != branch and _leaves(rest, bodies) is True,
        )


def questions_always_asked(script: ShellScript) -> Iterator[ProgramQuestion]:
    """Yield the questions that begin a line outside of functions and conditions."""
    for one in questions_in(script.code):
        first = script.code.rfind("\n", 0, one.begin) + 1 == one.begin
        if first and script.is_outermost(one.begin):
            yield one


def without_silent_questions(code: str, *, warnings: bool = False) -> str:
    """
    Return a script, given without comment lines, with blanks in place of programs that it misses silently.

    With ``warnings``, also programs whose lack it only reports on standard error before it ends with 0.
    """
    for one in questions_in(code):
        if not one.tells or (warnings and one.warns):
            end = one.named + len(one.tool)
            code = f"{code[: one.named]}{' ' * len(one.tool)}{code[end:]}"
    return code


def _scripts_before(hook_set: HookSet) -> Iterator[str]:
    """Yield the texts of the scripts that are started before the hooks run, such as an installer."""
    files = (file for file in project_files(hook_set.root) if file.suffix in (".sh", ".bash", ""))
    yield from (read_text(file) or "" for file in files if _RUNS_FIRST.search(file.stem))


def is_asked_for(hook_set: HookSet, tool: str) -> bool:
    """Return whether a script that may run before, or a command, looks for a program and may report it."""
    asks = re.compile(_ASKED.format(tool))
    texts = [*(text for _, text in hook_set.sources), *(hook.command for hook in hook_set.hooks)]
    asking = (one for one in (*texts, *_scripts_before(hook_set)) if asks.search(one))
    return any(asks.search(without_silent_questions(without_comment_lines(one))) for one in asking)


def _first(found: re.Match[str]) -> int:
    return found.start("mark") if found["mark"] else found.start("tool")


def _missing_branch(found: re.Match[str], code: str, shown: str) -> str | None:
    """Return what a script does if the program is missing; ``None`` if that is not understood."""
    turned = bool(found["not"]) != bool(found["test"] and (found["kind"] == "z" or "! " in found["test"]))
    before = shown[shown.rfind("\n", 0, found.start()) + 1 : found.start()]
    if found["word"] or (not turned and _PART_OF_IF.fullmatch(before)):
        then = _THEN.match(shown, found.end())
        if then is None or (turned and then["more"]):
            return None
        middle, end = ends_of_if(shown, then.end())
        if end == len(shown) or shown.startswith("elif", middle):
            return None
        return code[then.end() : middle] if turned else code[middle:end].removeprefix("else")
    signed = _LIST.match(shown, found.end())
    if signed is None:
        return None
    # With `&&` the rest runs if the program is there, unless the test is turned.
    if (signed["sign"] == "&&") is not turned:
        return "" if "||" not in shown[signed.end() : _line_end(shown, signed.end())] else None
    block = _BLOCK.match(shown, signed.end())
    if block:
        return code[block.start("body") : block.end("body")]
    end = _line_end(shown, signed.end())
    return code[signed.end() : end]


def _line_end(shown: str, place: int) -> int:
    end = shown.find("\n", place)
    return len(shown) if end < 0 else end


def _leaves(branch: str, bodies: Mapping[str, str], depth: int = 1) -> bool | None:
    """Return whether a branch ends the script with 0, or goes on; ``None`` if it may say something."""
    leaves = False
    for line in re.split(r"[\n;]", branch.replace("&&", ";")):
        words = re.sub(r"(?:^|[ \t])#.*", "", line).strip()
        if not words or words in ("else", "fi", "then"):
            continue
        answer = _ANSWER.fullmatch(words)
        if answer and not _FOR_SOMEBODY.search(answer["json"]) and not _REFUSES.search(answer["json"]):
            continue
        name = words.split(maxsplit=1)[0]
        if name in bodies and depth:
            inner = _leaves(bodies[name], {}, depth - 1)
            if inner is None:
                return None
            leaves = leaves or inner
        elif _QUIET.fullmatch(words) or (_WRITES.match(words) and not _TO_PERSON.search(words)):
            leaves = leaves or _LEAVES.match(words) is not None
        else:
            return None
    return leaves


def _tells(branch: str, tool: str, bodies: Mapping[str, str], depth: int = 1) -> bool:
    """Return whether a branch may tell somebody that a program is missing, or fails."""
    for line in re.split(r"[\n;]", branch):
        words = line.strip()
        said = _TELLS.search(words) and (_TO_PERSON.search(words) or not _TO_FILE.search(words))
        if _FAILS.search(words) or (said and (tool in words or _OF_MISSING.search(words))):
            return True
        if depth and words in bodies and _tells(bodies[words], tool, {}, depth - 1):
            return True
    return False
