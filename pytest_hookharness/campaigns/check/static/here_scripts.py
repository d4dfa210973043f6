"""
Programs in a here-document that read the input of their hook: standard input is the here-document itself.

``bash -s <<'EOF'`` and ``python3 - <<EOF`` read their program from standard input, which is at its end where
the program asks for the input, also behind a pipe (POSIX, Shell Command Language, 2.7.4). A script that reads
the input before may give it in another way, so then only a program behind a pipe is named.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from pytest_hookharness.campaigns.check.static.shell_scripts import SHELL_SCRIPT, code_of

_STARTED = re.compile(
    r"(?:^|[|;&({!`]|(?<![\w$-])(?:then|do|else|if|exec|command|time)[ \t])[ \t]*(?:[A-Za-z_]\w*=\S*[ \t]+)*"
    r"(?:/usr/bin/env[ \t]+|/(?:usr/)?bin/)?"
    r"(?P<program>(?:ba|da|z)?sh|python[\d.]*|node)(?P<option>[ \t]+-s?)?"
    r"(?:[ \t]+2>(?:&1|[ \t]*/dev/null))?[ \t]*<<(?P<tabs>-?)[ \t]*"
    r"(?P<mark>['\"\\]?)(?P<word>[A-Za-z_]\w*)['\"]?",
    re.MULTILINE,
)
# What takes the input, in each of the languages: at the beginning of a line, or as a value.
_OF_SHELL = re.compile(
    r"=\"?\$\([ \t]*(?:cat(?:[ \t]+-)?[ \t]*(?:2>[^)\n]*|\|\|[^)\n]*)?\)|cat[ \t]*\|"
    r"|jq[ \t]+(?:-\w+[ \t]+)*(?:'[^'\n]*'|\"[^\"\n]*\")[ \t]*\))"
    r"|\$\(<[ \t]*/dev/stdin\)"
)
# A use of it in Python that reads nothing.
_UNREAD = frozenset({"isatty", "fileno", "close", "encoding", "reconfigure"})
_OF_NODE = re.compile(r"\bprocess\.stdin\.(?:on|setEncoding|read)|\breadFileSync\(\s*(?:0\b|[\"']/dev/stdin)")
_NEAR = 100
# What takes the input in the script around it.
_TAKES = re.compile(
    r"\$\([ \t]*(?:timeout[ \t]+\w+[ \t]+)?cat[ \t]*(?:-[ \t]*)?[)|2]|/dev/stdin|\bread\b|\bmapfile\b"
)


def lost_inputs(text: str) -> Iterator[tuple[str, int]]:
    """Yield how a program in a here-document looks for the input of its hook in vain, with the line."""
    code = code_of(text) if SHELL_SCRIPT.match(text) else ""
    taken = _TAKES.search(code)
    for found in _STARTED.finditer(code):
        tabs = r"\t*" if found["tabs"] else ""
        end = re.compile(rf"^{tabs}{found['word']}$", re.MULTILINE)
        begin = text.find("\n", found.end()) + 1
        last = end.search(text, begin)
        program = text[begin : last.start()] if begin and last else ""
        # Without quotes, the outer shell replaces what another shell would read.
        replaced = not found["mark"] and found["program"].endswith("sh")
        before = code[: found.start("program")]
        piped = re.search(r"(?<!\|)\|\s*[^|;&\n]*\Z", before[-_NEAR:]) is not None
        if not replaced and (piped or not taken) and _reads_input(found["program"], program):
            words = (
                f"the program in the here-document of `{found['program']}` reads standard input, which is "
                "the here-document itself, so the input of the hook is lost"
            )
            yield words, before.count("\n") + 1


def _reads_input(name: str, program: str) -> bool:
    if name.startswith("python"):
        return _reads_in_python(program)
    if name == "node":
        return _OF_NODE.search(program) is not None
    return _OF_SHELL.search(code_of(program)) is not None


def _reads_in_python(program: str) -> bool:
    try:
        nodes = [*ast.walk(ast.parse(program))]
    except (SyntaxError, ValueError, RecursionError):
        return False
    unread = {id(one.value) for one in nodes if isinstance(one, ast.Attribute) and one.attr in _UNREAD}
    found = [
        one
        for one in nodes
        if isinstance(one, ast.Attribute) and ast.unparse(one) == "sys.stdin" and id(one) not in unread
    ]
    # A program that replaces its input reads another one.
    if any(isinstance(one.ctx, ast.Store) for one in found):
        return False
    return bool(found) or any(
        isinstance(one, ast.Call) and ast.unparse(one).startswith(("open(0", "open('/dev/stdin'"))
        for one in nodes
    )
