"""Edits that only write of code which a guard refuses: in a document, in a comment, as another name."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pytest_hookharness.judging.checkup.bypasses import WRITING
from pytest_hookharness.judging.checkup.neighbour import Neighbour

# Lines of code that guards of contents commonly refuse, each with its file and the words of such a guard.
CONTENTS = (
    ("src/sample.js", "eval(text);", r"\beval\b"),
    ("src/sample.js", "element.innerHTML = text;", r"innerHTML"),
    ("src/sample.js", "document.write(text);", r"document\W{1,2}write"),
    ("src/sample.js", "console.log(text);", r"console"),
    ("src/sample.js", "debugger;", r"debugger"),
    ("src/sample.py", "exec(text)", r"\bexec\b"),
    ("src/sample.py", "os.system(text)", r"os\W{1,2}system"),
    ("src/sample.py", "pickle.loads(text)", r"pickle"),
    ("src/sample.py", "print(text)", r"\bprint\W{0,2}\("),
)
# Any other line of code, derived from a pattern of a guard.
_LINE = re.compile(rf"{WRITING}(?P<file>src/sample\.\w+): (?P<line>//\w[^\n]*|[^\n]*\w\([^\n]*)")
# What a guard may rightly refuse in documents too.
_SECRET = re.compile(r"\d{6}|key|token|secret|passw|BEGIN|<<<|>>>|https?:|\b\d+\.\d+\.\d+", re.IGNORECASE)
# A comment with them may be code that somebody left out for now.
_LEFT_OUT = re.compile(r"console|debugger|print")
# Usual methods whose names end so.
_METHODS = {
    "eval(text);": ("model.eval();", "model.train();"),
    "exec(text)": ("query.exec()", "query.load()"),
}


def written_words(refused: str) -> Iterator[Neighbour]:
    """Yield harmless edits that resemble a refused edit, if that wrote a line of code."""
    beside = re.escape(refused) + "$"
    found = _LINE.fullmatch(refused)
    usual = found is not None and any(found["line"].strip() in line for _, line, _ in CONTENTS)
    if found and not usual and not _SECRET.search(found["line"]):
        line = f"Never write {found['line']}"
        yield _neighbour("docs/notes.md", line, "Never write that", "a document", beside)
    for file, line, _ in CONTENTS:
        if refused != f"{WRITING}{file}: {line}":
            continue
        yield _neighbour("docs/notes.md", f"Never write {line}", "Never write that", "a document", beside)
        if line in _METHODS:
            own, other = _METHODS[line]
            yield _neighbour(file, own, other, "a method of another object", beside)
        if not _LEFT_OUT.search(line):
            sign = "#" if file.endswith(".py") else "//"
            yield _neighbour(
                file, f"{sign} Never write {line}", f"{sign} Never write that", "a comment", beside
            )


def _neighbour(file: str, line: str, other: str, detail: str, beside: str) -> Neighbour:
    controls = (f"{WRITING}{file}: {other}",)
    return Neighbour(f"{WRITING}{file}: {line}", detail, controls, beside, made=True)
