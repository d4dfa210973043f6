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

from pytest_hookharness.campaigns.check.shell_code.embedded_programs import EmbeddedProgram, embedded_programs
from pytest_hookharness.campaigns.check.shell_code.shell_scripts import SHELL_SCRIPT, code_of
from pytest_hookharness.judging.recurrence.python_tree import parse_python

# What takes the input, in each of the languages: at the beginning of a line, or as a value.
_OF_SHELL = re.compile(
    r"=\"?\$\([ \t]*(?:cat(?:[ \t]+-)?[ \t]*(?:2>[^)\n]*|\|\|[^)\n]*)?\)|cat[ \t]*\|"
    r"|jq[ \t]+(?:-[A-Za-mo-z]+[ \t]+)*(?:'[^'\n]*'|\"[^\"\n]*\")[ \t]*\))"
    r"|\$\(<[ \t]*/dev/stdin\)"
)
# A use of it in Python that reads nothing.
_UNREAD = frozenset({"isatty", "fileno", "close", "encoding", "reconfigure"})
_OF_NODE = re.compile(r"\bprocess\.stdin\.(?:on|setEncoding|read)|\breadFileSync\(\s*(?:0\b|[\"']/dev/stdin)")
_NEAR = 100
# What takes the input in the script around it.
_TAKES = re.compile(
    r"\$\([ \t]*(?:timeout[ \t]+\w+[ \t]+)?(?:cat[ \t]*(?:-[ \t]*)?[)|2]|jq[ \t])"
    r"|\$\([ \t]*(?:python[\d.]*[ \t]+-c|node[ \t]+-e)\b|/dev/stdin|\bread\b|\bmapfile\b"
)


def lost_inputs(text: str) -> Iterator[tuple[str, int]]:
    """Yield how a program in a here-document looks for the input of its hook in vain, with the line."""
    code = code_of(text) if SHELL_SCRIPT.match(text) else ""
    taken = _TAKES.search(code)
    for one in embedded_programs(text) if code else ():
        # Without quotes, the outer shell replaces what another shell would read.
        replaced = one.expands and one.language == "shell"
        before = code[: one.call]
        piped = re.search(r"(?<!\|)\|\s*[^|;&\n]*\Z", before[-_NEAR:]) is not None
        if one.document and not replaced and (piped or not taken) and _reads_input(one):
            words = (
                f"the program in the here-document of `{one.program}` reads standard input, which is "
                "the here-document itself, so the input of the hook is lost"
            )
            yield words, before.count("\n") + 1


def _reads_input(program: EmbeddedProgram) -> bool:
    if program.language == "python":
        return _reads_in_python(program.text)
    if program.language == "javascript":
        return _OF_NODE.search(program.text) is not None
    return program.language == "shell" and _OF_SHELL.search(code_of(program.text)) is not None


def _reads_in_python(program: str) -> bool:
    tree = parse_python(program)
    nodes = [*ast.walk(tree)] if tree is not None else []
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
