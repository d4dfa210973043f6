"""
Searches in transcripts that find too much, or never anything, or that look into the main agent's transcript.

A transcript of Claude Code is JSON in lines (observed in version 2.1.329): each line begins with `{`, and
what was said and called stands below `message`. So a search for a word also finds it where the user, a file
or the hook itself said it, and a search for a key of tools at the top of a line finds nothing.
At a subagent's end, ``transcript_path`` is the main agent's, and ``agent_transcript_path`` the subagent's.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import islice

from pytest_hookharness import hosts
from pytest_hookharness.campaigns.arming.project_texts import COMMENT_LINES
from pytest_hookharness.campaigns.check.shell_code.shell_scripts import (
    ShellScript,
    script_of,
    shell_script_of,
)
from pytest_hookharness.campaigns.short_texts import in_one_line
from pytest_hookharness.model.checkup import HookSet
from pytest_hookharness.model.expectations import first_few
from pytest_hookharness.model.fast_dataclass import dataclass
from pytest_hookharness.model.protocol import Hook

# A variable with the path of the transcript, and one with its text.
_ASSIGNED = re.compile(r"(?<![\w$.-])([A-Za-z_]\w*)=([^\n]*)")
_PATH = re.compile(
    r"\"?\$\((?![^)]*\b(?:dirname|basename|cat|tail|head|tac|sed|tr)\b)[^|]*\|?[^|]*\btranscript_path\b[^|\n]*(?:\|\|[^|]*)?"
    r"\)\"?\s*"
)
_EMPTY = re.compile(r"(?:\"\"|'')?\s*|[^\n]*(?:\.transcript\b|[\"']transcript[\"'])[^\n]*")
# With nothing after it that could take a text out of its lines.
_TEXT = (
    r"\"?\$\((?:(?:cat|tail|head|tac)\b|<)[^|)\n]*\$\{{?(?:{0})\b\}}?\"?(?:\s*2>\s*\S+)?"
    r"(?:\s*\|\s*(?:cat|tail|head|tac)\b[^|)]*)*(?:\s*\|\|[^|)]*)?\)\"?\s*"
)
_OPERATOR = re.compile(
    r"\|\||&&|\|&?|;|\n|(?<![<>])&(?!>)|[()`]|\b(?:then|do|else|if|elif|while|until)\b|!(?=\s)"
)
_WITHIN = frozenset({"\n", "while", "until"})
_COPIES = frozenset({"cat", "tail", "head", "tac"})
_PRINTS = frozenset({"echo", "printf"})
_SEARCHES = frozenset({"grep", "egrep", "fgrep"})
_FILTERS = _COPIES | _SEARCHES | {"sed"}
# Programs that may read the structure of the lines that a search only selects.
_PARSES = r"(?:jq|gojq|jaq|python[\d.]*|node|bun|deno|perl|ruby|read)"
_GIVEN_ON = (
    rf"\$\{{{{?{{0}}\}}}}?\"?[ \t]*\|[ \t]*{_PARSES}\b"
    rf"|\b{_PARSES}\b[^\n]*<<<[ \t]*\"?\$\{{{{?{{0}}\b"
)
_VALUE_OF = re.compile(r"(?<![\w$.-])([A-Za-z_]\w*)=\"?\$\(\s*$")
_OPTION = re.compile(r"-{1,2}[A-Za-z][\w-]*(?:=.*)?|-\d+")
_TAKES_WORD = re.compile(r"-\w*[ABCm]$|--(?:after|before)-context$|--max-count$")
_WORD = re.compile(r"[A-Za-z]{3,}")
# What only the structure of a transcript has.
_STRUCTURE = re.compile(
    r"\"|<[\w/]|\$[\w{(]|[a-z]_[a-z]|[a-z][A-Z]|\b(?:type|name|role)\.|tool_use|tool_result|assistant|isSidechain|\\[dw]\{"
)
_AT_START = re.compile(r"\^\(?[A-Za-z]")
_GROUPED = re.compile(r"\([^()]*\)|\[[^\]]*\]|\\.")
# Keys that no line has at its top, and what a filter has that looks further down.
_AT_TOP = re.compile(r"(?<![\w\])}\"?.])\.(tool_name|tool_input|tool_calls|tool|role|name|text)\b")
_FURTHER_DOWN = re.compile(
    r"recurse|walk|paths|getpath|//\s*\.|\.type\b[^|]*\bor\b|\bor\b[^|]*\.type\b|\.\w+\s*\||message|payload|content|fromjson|\.\.|toolUseResult|\bas\b"
)
_LONGEST, _MOST, _NAMED = 48, 60, 2


@dataclass(frozen=True, slots=True)
class _Command:
    """A command of a pipe: its words, the place where it begins, and the commands before and after it."""

    words: tuple[str, ...]
    place: int
    before: tuple[tuple[str, ...], ...]
    after: tuple[tuple[str, ...], ...]
    # Where the pipe begins.
    begin: int


def words_anywhere(text: str) -> Iterator[tuple[str, int]]:
    """Yield the words that are searched for in the text of a transcript, together, with the first line."""
    if found := [
        (pattern, line)
        for pattern, line in _searched(text)
        if not all(map(_AT_START.match, _alternatives(pattern)))
    ]:
        shown = _listed(in_one_line(pattern, _LONGEST) for pattern, _ in found)
        said = "what the user, a file or the hook itself says counts too"
        yield f"the transcript is searched as text for {shown}, so {said}", found[0][1]


def unfound_keys(text: str) -> Iterator[tuple[str, int]]:
    """Yield the keys that are read at the top of a transcript's lines, where they never stand."""
    script, found = script_of(text), dict[str, int]()
    for one, paths, texts in _commands_on_transcripts(text):
        program, *words = one.words
        if program == "jq" and _reads(one, paths, texts, _FILTERS):
            program = next((word for word in words if not word.startswith("-")), "")
            keys = [] if _FURTHER_DOWN.search(program) else _AT_TOP.findall(program)
            found = {**{key: script.line_of(one.place) for key in keys}, **found}
    if found:
        names = _listed(found)
        yield f"no line of the transcript has {names} at its top, where the script looks", min(found.values())


def _searched(text: str) -> Iterator[tuple[str, int]]:
    """Yield the patterns of words that are searched for in the text of a transcript, with the line."""
    script = script_of(text)
    for one, paths, texts in _commands_on_transcripts(text):
        if (
            one.words[0] not in _SEARCHES
            or not _reads(one, paths, texts, _COPIES)
            or _is_parsed(one, script.code)
        ):
            continue
        pattern = _pattern(one.words[1:])
        if pattern and _WORD.search(pattern) and not _STRUCTURE.search(pattern):
            yield pattern, script.line_of(one.place)


def _pattern(words: tuple[str, ...]) -> str:
    """Return the pattern of a search; empty if it finds what does not fit, or if there are several."""
    rest = [*words]
    while rest and _OPTION.fullmatch(rest[0]):
        option = rest.pop(0)
        if option in ("-v", "--invert-match") or (re.fullmatch(r"-[a-zA-Z]*[vef]", option)):
            return ""
        if _TAKES_WORD.match(option) and rest:
            rest.pop(0)
    return rest[0] if rest else ""


def _alternatives(pattern: str) -> list[str]:
    """Return the alternatives of a pattern, as far as they stand at its top."""
    shown = _GROUPED.sub(lambda found: "_" * len(found[0]), pattern)
    ends = [*(found.start() for found in re.finditer(r"\|", shown)), len(pattern)]
    begins = [0, *(end + 1 for end in ends)]
    return [pattern[begin:end] for begin, end in zip(begins, ends, strict=False)]


def _listed(words: Iterable[str]) -> str:
    return first_few([f"`{one}`" for one in dict.fromkeys(words)], _NAMED, between=" and ")


@lru_cache(maxsize=64)
def _commands_on_transcripts(text: str) -> Sequence[tuple[_Command, frozenset[str], frozenset[str]]]:
    """Return the commands of a script, with the variables that have the transcript's path and its text."""
    script = shell_script_of(text) if "transcript_path" in text else None
    if script is None:
        return ()
    values: dict[str, list[str]] = {}
    for name, value in _ASSIGNED.findall(script.code):
        values.setdefault(name, []).append(value)
    paths = frozenset(name for name, given in values.items() if len(given) == 1 and _PATH.fullmatch(given[0]))
    if not paths:
        return ()
    text_of = re.compile(_TEXT.format("|".join(sorted(paths))))
    texts = frozenset(
        name
        for name, given in values.items()
        if any(map(text_of.fullmatch, given))
        and all(text_of.fullmatch(one) or _EMPTY.fullmatch(one) for one in given)
    )
    names = re.compile(rf"\$\{{?(?:{'|'.join(sorted(paths | texts))})\b")
    return [(one, paths, texts) for one in islice(_commands(script, names), _MOST)]


def _commands(script: ShellScript, names: re.Pattern[str]) -> Iterator[_Command]:
    """Yield the commands of the pipes in which one of some variables stands."""
    for pipe in _pipes(script.code, script.shown.replace("\\\n", "  ")):
        words = tuple(one for one, _ in pipe)
        named = [number for number, one in enumerate(words) if names.search(" ".join(one))]
        for number in range(named[0], len(pipe)) if named else ():
            yield _Command(
                words[number], pipe[number][1], words[:number], words[number + 1 :], begin=pipe[0][1]
            )


def _pipes(code: str, shown: str) -> Iterator[list[tuple[tuple[str, ...], int]]]:
    """Yield the pipes of a script, each as the words of its commands with their places."""
    pipe: list[tuple[tuple[str, ...], int]] = []
    place = 0
    for found in [*_OPERATOR.finditer(shown), None]:
        end = found.start() if found else len(shown)
        part = code[place:end]
        if words := _words(part):
            pipe.append((words, place + len(part) - len(part.lstrip())))
        # Within a pipe, a line may end, and a loop may begin.
        within = found is not None and (found[0] in ("|", "|&") or (not words and found[0] in _WITHIN))
        if not within and pipe:
            yield pipe
            pipe = []
        place = found.end() if found else end


def _words(text: str) -> tuple[str, ...]:
    try:
        return tuple(shlex.split(text.replace("\\\n", " ")))
    except ValueError:
        # A quoted text of several lines.
        return tuple(text.split()[:1])


def _reads(one: _Command, paths: frozenset[str], texts: frozenset[str], filters: frozenset[str]) -> bool:
    """Return whether a command gets lines of a transcript as they are, by programs that only choose lines."""
    if not one.before:
        given = texts if "<<<" in one.words else paths
        return _names_any(one.words, given)
    first, *between = one.before
    begins = (first[0] in filters and _names_any(first, paths)) or (
        first[0] in _PRINTS and _names_any(first, texts)
    )
    return begins and all(part[0] in filters for part in between)


def _is_parsed(one: _Command, code: str) -> bool:
    """Return whether another program gets the lines that a search finds, at once or from a variable."""
    if any(re.fullmatch(_PARSES, words[0]) for words in one.after):
        return True
    given = _VALUE_OF.search(code[: one.begin])
    return bool(given and re.search(_GIVEN_ON.format(given[1]), code))


def _names_any(words: tuple[str, ...], names: frozenset[str]) -> bool:
    return any(re.fullmatch(r"\$\{?(\w+)\}?", word) and word.strip("${}") in names for word in words)


OWN = "agent_transcript_path"
_READS = re.compile(r"(?<![\w])transcript_path(?!\w)")
_KNOWS = re.compile(r"agent_transcript|isSidechain|last_assistant_message|subagents/")


def reads_main_transcript(hook_set: HookSet, hook: Hook) -> bool:
    """
    Return whether a hook of a subagent's end reads only the transcript of the main agent.

    A script that also looks for the lines of subagents, or at the last message, does not count.
    """
    rule = hosts.find(hook_set.host).events.get(hook.event)
    if rule is None or rule.role is not hosts.Role.SUBAGENT_STOP:
        return False
    if not any(field.name == OWN for field in rule.fields.fields):
        return False
    texts = [COMMENT_LINES.sub("", text) for text in hook_set.code_of(hook)]
    return any(map(_READS.search, texts)) and not any(map(_KNOWS.search, texts))
