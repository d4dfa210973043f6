"""
Programs that stand in a shell script: after an option, as in ``python3 -c '...'``, or in a here-document.

Only a call where the shell expects a command counts, and only code that is one text. What the shell puts into
the code, such as a variable, stays as it is written.
"""

from __future__ import annotations

import ast
import re
from bisect import bisect_left
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import takewhile

from pytest_hookharness.campaigns.check.shell_code.shell_scripts import code_of
from pytest_hookharness.model.fast_dataclass import dataclass

# The name of an interpreter, and a variable that holds one.
_CALL = re.compile(
    r"(?:(?<![\w./$-])|(?<=/bin/))(?P<program>python[\d.]*|node|bun|perl|ruby|php|osascript|(?:ba|da|z)?sh)"
    r"(?=[ \t<\\])"
    r"|\"?\$\{?(?P<variable>PYTHON\w*|NODE\w*)\}?\"?(?=[ \t<\\])"
)
_LANGUAGES = (
    (re.compile("python", re.IGNORECASE), "python"),
    (re.compile("node|bun", re.IGNORECASE), "javascript"),
    (re.compile(r"\w*sh"), "shell"),
)
# The text in front of a command, with the variables that are set for it.
_BEFORE = re.compile(
    r"(?:^|[\n;&|({`!]"
    r"|(?<![\w$-])(?:then|do|else|if|elif|while|until|exec|command|time|env|timeout[ \t]+\S{1,20})[ \t])"
    r"[ \t]*(?P<set>(?:[A-Za-z_]\w*=(?:\"[^\"\n]*\"|'[^'\n]*'|[^\s\"'();&|]*)(?:[ \t]+|[ \t]*\\\n[ \t]*))*)"
    r"(?:/(?:usr/)?bin/(?:env[ \t]+)?)?$"
)
_SET = re.compile(r"([A-Za-z_]\w*)=(\"[^\"\n]*\"|'[^'\n]*'|[^\s\"'();&|]*)")
_NEAR = 500
# Between the words of a command: blanks, a wrapped line, and outputs that go elsewhere.
_GAP = re.compile(r"(?:[ \t]|\\\n|[12]?>>?(?:&[12]|[ \t]*[\w./$\"{}-]+))*")
_OPTION = re.compile(r"--?[\w-]+(?:=[\w./-]*)?(?=[\s'\"<])")
_WITH_CODE = re.compile(r"-[A-Za-z]*[ceErp]|--eval|--print")
_WORD = re.compile(r"(?:'[^'\n]*'|\"(?:[^\"\\\n]|\\.)*\"|\\.|[^\s'\"\\;&|<>()`])+")
_QUOTED = {"'": re.compile(r"[^']*'"), '"': re.compile(r"(?:[^\"\\]|\\[\s\S])*\"")}
_DOCUMENT = re.compile(r"<<(?P<tabs>-?)(?!<)[ \t]*(?P<mark>['\"\\]?)(?P<word>[A-Za-z_]\w*)['\"]?")
_LAST_LINE = re.compile(r"^(?P<tabs>\t*)(?P<word>[A-Za-z_]\w*)$", re.MULTILINE)
# What tells a program to read its code, and what follows a word.
_READS, _ENDS_WORD = re.compile(r"-(?=[\s<])"), re.compile(r"(?=[\s;&|<>()`\"])|\Z")
# What a shell takes away in a quoted text and in a here-document.
_ESCAPED, _ESCAPED_IN_DOCUMENT = re.compile(r"\\([\"\\$`])|\\\n"), re.compile(r"\\([\\$`])|\\\n")
# Standard input in each language, and how a program gets a variable or an argument.
_STDIN = {"python": "sys.stdin.read()", "javascript": "require('fs').readFileSync(0, 'utf8')"}
_OWN_STDIN = re.compile(r"\bstdin\b|\breadFileSync\(\s*0\b")
_BY_NAME = {
    "python": r"\b(?:os\.)?(?:environ\.get|getenv)\(\s*[\"']{0}[\"']\s*(?:,[^()\n]*)?\)"
    r"|\b(?:os\.)?environ\[\s*[\"']{0}[\"']\s*\]",
    "javascript": r"\bprocess\.env(?:\.{0}\b|\[\s*[\"']{0}[\"']\s*\])",
}
_BY_NUMBER = {"python": r"\bsys\.argv\[{0}\]", "javascript": r"\bprocess\.argv\[{0}\]"}
_PASTED = r"(?P<mark>'''|\"\"\"|['\"`])\$\{{?{0}\}}?(?P=mark)"
# A field that is taken out of an object, or something that is empty.
_FIELD = re.compile(
    r"[\w.()]+(?:\.get\('\w+'(?:, (?:\{\}|None))?\)|\['\w+'\]| or \{\}|[()])*"
    r"(?:\.get\('(\w+)'(?:, (?:''|None|\w+\.get\('\w+'(?:, '')?\)))?\)|\['(\w+)'\])(?: or '')?"
)
_UNSURE = re.compile(r"\$(?!\()|\"\$(?:@|\{\w+\[@\]\})\"")
_PASSED = re.compile(r"\"?\$\{?(\w+)\}?\"?")
_EXPORTED = r"^[ \t]*(?:export|declare[ \t]+-x)[ \t]+{0}(?:=[^\n]*)?$"
_GIVES = re.compile(
    r"^[ \t]*(?:export|declare[ \t]+-x)[ \t]+(?P<name>\w+)=\"?\$\{?(?P<value>\w+)\}?\"?[ \t]*$", re.MULTILINE
)


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddedProgram:
    """
    A program that stands in a shell script.

    Attributes:
        program: What runs it, as the script calls it.
        language: ``python``, ``javascript``, ``shell``, or empty for another one.
        call: Where the call begins in the script.
        begin: Where the code begins in the script.
        end: Where the code ends in the script.
        behind: Where the call ends, but for the lines of a here-document.
        document: Whether standard input is a here-document with the code.
        expands: Whether the shell puts variables into the code.
        arguments: The words that the program gets, as they are written.
        variables: The variables that are set for it alone, as they are written.
    """

    program: str
    language: str
    text: str
    call: int
    begin: int
    end: int
    behind: int
    document: bool
    expands: bool
    arguments: Sequence[str]
    variables: Mapping[str, str]

    @property
    def printed(self) -> str:
        """The field of its input that a program in Python prints as it is, and nothing else; or empty."""
        try:
            value = _printed_value(ast.parse(self.text)) if self.language == "python" else ""
        except (SyntaxError, ValueError, RecursionError):
            return ""
        found = _FIELD.fullmatch(value) if len(value) < _NEAR and "sys.stdin" in self.text else None
        return next(filter(None, found.groups()), "") if found else ""

    def with_input(self, names: Collection[str], script: str, *, alone: bool) -> str:
        """
        Return the code as if it read from standard input what it gets of the input in another way.

        ``names`` hold the whole input; ``alone``: standard input is something else, such as the code itself.
        """
        if self.language not in _STDIN:
            return ""
        text = _OWN_STDIN.sub("none", self.text) if alone else self.text
        # The first argument follows `-c`, and for JavaScript the name of the program or `-`.
        first = 2 if self.language == "javascript" and self.document else 1
        # Node takes `--` away. A variable without quotes may be no word, or several.
        words = self.arguments[self.language == "javascript" and self.arguments[:1] == ["--"] :]
        known = [*takewhile(lambda word: not _UNSURE.match(word), words)]
        given = [
            _BY_NUMBER[self.language].format(number)
            for number, word in enumerate(words[: len(known) + 1], first)
            if _passes(word, names)
        ]
        given += [
            _BY_NAME[self.language].format(name) for name in _environment(script, names, self.variables)
        ]
        given += [_PASTED.format(name) for name in names] if self.expands else []
        for pattern in given:
            text = re.sub(pattern, lambda _: _STDIN[self.language], text)
        return text


def _printed_value(tree: ast.Module) -> str:
    """Return the only value that a program prints, as it is written where it gets its name; else empty."""
    nodes = [*ast.walk(tree)]
    prints = [one for one in nodes if isinstance(one, ast.Call) and ast.unparse(one.func) == "print"]
    if len(prints) != 1 or len(prints[0].args) != 1 or prints[0].keywords:
        return ""
    value = prints[0].args[0]
    if not isinstance(value, ast.Name):
        return ast.unparse(value)
    named = [one for one in nodes if isinstance(one, ast.Name) and one.id == value.id]
    given = [one.value for one in nodes if isinstance(one, ast.Assign) and {*one.targets} & {*named}]
    stored = sum(isinstance(one.ctx, ast.Store) for one in named)
    return ast.unparse(given[0]) if len(given) == stored == 1 else ""


def _passes(word: str, names: Collection[str]) -> bool:
    found = _PASSED.fullmatch(word)
    return found is not None and found[1] in names


def _environment(script: str, names: Collection[str], own: Mapping[str, str]) -> Iterator[str]:
    """Yield the variables of the environment that hold the whole input."""
    yield from (name for name, value in own.items() if _passes(value, names))
    yield from (name for name in names if re.search(_EXPORTED.format(name), script, re.MULTILINE))
    yield from (found["name"] for found in _GIVES.finditer(script) if found["value"] in names)


@lru_cache(maxsize=512)
def embedded_programs(script: str) -> Sequence[EmbeddedProgram]:
    """Return the programs that stand in a shell script, in their order."""
    return [*_Finder(script).find()]


class _Finder:
    """Looks for programs in one script, each text in it once."""

    def __init__(self, script: str) -> None:
        self.script, self.shown = script, code_of(script)
        # The marks of quotations that no later mark ends, and the lines that may end a here-document.
        self.endless = set[str]()
        self.ends: dict[str, list[int]] = {}
        for found in _LAST_LINE.finditer(script):
            for tabs in ("", "-")[bool(found["tabs"]) :]:
                self.ends.setdefault(f"{found['word']}{tabs}", []).append(found.start())

    def find(self) -> Iterator[EmbeddedProgram]:
        place = 0
        while called := _CALL.search(self.script, place):
            place = called.end()
            before = _BEFORE.search(self.script[max(0, called.start() - _NEAR) : called.start()])
            if before and self.shown[called.start()] == called[0][0] and (one := self._at(called, before)):
                yield one
                place = one.end

    def _at(self, called: re.Match[str], before: re.Match[str]) -> EmbeddedProgram | None:
        """Return the program of a call; ``None`` if its code stands elsewhere, or is not one text."""
        name = called["program"] or f"${called['variable']}"
        language = next((known for pattern, known in _LANGUAGES if pattern.search(name)), "")
        place, found = _skip(self.script, called.end()), None
        while option := _OPTION.match(self.script, place):
            place = _skip(self.script, option.end())
            mark = self.script[place : place + 1]
            if mark in _QUOTED and _WITH_CODE.fullmatch(option[0]):
                found = self._quoted(place + 1, mark)
                arguments, behind = _words(self.script, found[1] + 1 if found else place)
                break
            # A module, or a value for the option, is no code.
            if mark not in ("-", "<"):
                return None
        else:
            reads = _READS.match(self.script, place)
            arguments, behind = _words(self.script, reads.end() if reads else place)
            # Another first word is the file with the code.
            found = self._document(behind) if reads or not arguments else None
        if found is None:
            return None
        begin, end, expands = found
        document, code = begin > behind, self.script[begin:end]
        if expands:
            escaped = _ESCAPED_IN_DOCUMENT if document else _ESCAPED
            code = escaped.sub(lambda one: one[1] or "", code)
        return EmbeddedProgram(
            program=name,
            language=language,
            text=code if document else code.lstrip(" \t"),
            call=called.start(),
            begin=begin,
            end=end,
            behind=behind,
            document=document,
            expands=expands,
            arguments=arguments,
            variables=dict(_SET.findall(before["set"])),
        )

    def _quoted(self, begin: int, mark: str) -> tuple[int, int, bool] | None:
        """Return where a quoted text begins and ends, and whether the shell puts variables into it."""
        found = None if mark in self.endless else _QUOTED[mark].match(self.script, begin)
        if found is None:
            self.endless.add(mark)
            return None
        alone = _ENDS_WORD.match(self.script, found.end())
        return (begin, found.end() - 1, mark == '"') if alone else None

    def _document(self, place: int) -> tuple[int, int, bool] | None:
        """Return where the here-document at a place begins and ends, and whether it gets variables."""
        opened = _DOCUMENT.match(self.script, place)
        begin = self.script.find("\n", place) + 1
        lines = self.ends.get(f"{opened['word']}{opened['tabs']}", []) if opened and begin else []
        number = bisect_left(lines, begin)
        return (begin, lines[number], not opened["mark"]) if opened and number < len(lines) else None


def _skip(script: str, place: int) -> int:
    gap = _GAP.match(script, place)
    return gap.end() if gap else place


def _words(script: str, place: int) -> tuple[Sequence[str], int]:
    """Return the words of a command from a place on, and where they end."""
    found = list[str]()
    while word := _WORD.match(script, place := _skip(script, place)):
        found.append(word[0])
        place = word.end()
    return found, place
