"""
Write the pages of findings: ``python docs/write_findings.py [CODE PROOF COMMAND]``.

Without arguments the part of every page that comes from the catalogue is written anew, and what people wrote
below it stays. With three arguments, such as

    HH005 tests/judging/test_findings.py::test_one "hookharness try Stop 'exit 1'"

what the command prints is put below as the example, with a link to the test or scenario that finds it.
"""

import os
import shlex
import subprocess
import sys
import textwrap
from collections.abc import Sequence
from pathlib import Path

from pytest_hookharness.judging.findings.finding_catalogue import catalogue, look_up
from pytest_hookharness.model.verdicts import FindingCode

ROOT = Path(__file__).parent.parent
PAGES = ROOT / "docs" / "findings"
MOST_LINES = 24
# People write the part of a page below this heading; it is kept.
SEEN = "## How it was seen"
COLUMN = 119
UNSEEN = "\nNot shown yet: `nox -s pages -- CODE PROOF COMMAND` puts an example here.\n"


def page_head(code: FindingCode) -> str:
    """Return the generated part of a finding's page, up to the heading below which people write."""
    paragraphs = (code.what, f"**Why it matters.** {code.why}", f"**What to do.** {code.fix}")
    body = "\n\n".join(textwrap.fill(text, COLUMN, break_on_hyphens=False) for text in paragraphs)
    return f"# {code.code} {code.name}\n\n{body}\n\n{SEEN}\n"


def index(codes: Sequence[FindingCode]) -> str:
    """Return the index page of all findings."""
    rows = [f"| [{code.code}]({code.code}.md) | {code.name} | {code.what} |" for code in codes]
    return "\n".join(
        [
            "# Findings",
            "",
            "Defects that are seen on the way to a verdict. A scenario lists those that it expects, by code",
            "or name, under `expect.findings`; any other finding fails it. `hookharness findings CODE`",
            "prints the same in a terminal. `nox -s pages` generates the first part of each page.",
            "",
            "| code | name | what was seen |",
            "| --- | --- | --- |",
            *rows,
            "",
        ]
    )


def write_all() -> None:
    """Bring every page up to the catalogue."""
    PAGES.mkdir(exist_ok=True)
    (PAGES / "README.md").write_text(index(catalogue()))
    for code in catalogue():
        page = PAGES / f"{code.code}.md"
        old = page.read_text() if page.exists() else ""
        page.write_text(page_head(code) + (old.partition(f"{SEEN}\n")[2] or UNSEEN))


def show(word: str, proof: str, command: str) -> None:
    """Put what a command prints on the page of a code, and drop what stood there before."""
    code = look_up(word)
    if code is None:
        raise SystemExit(f"{word}: no such finding; `hookharness findings` lists them")
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    printed = subprocess.run(
        shlex.split(command),
        cwd=ROOT,
        env={**os.environ, "PATH": path, "COLUMNS": "100"},
        capture_output=True,
        text=True,
        check=False,
    ).stdout
    page = PAGES / f"{code.code}.md"
    file, _, item = proof.partition("::")
    text = "\n".join([f"$ {command}", *excerpt(printed.splitlines(), code.code)])
    page.write_text(f"{page_head(code)}\nFound by [`{item}`](../../{file}).\n\n```text\n{text}\n```\n")


def excerpt(lines: list[str], code: str) -> list[str]:
    """The lines that say it: all if they are few, else how it began and what is said of the code."""
    # The first line of a run tells of the machine.
    lines = [line for line in lines if not line.startswith("hook harness:")]
    found = [number for number, line in enumerate(lines) if line.lstrip().startswith(code)]
    if not found:
        raise SystemExit(f"{code} was not printed:\n" + "\n".join(lines))
    if len(lines) <= MOST_LINES:
        return lines
    last = next((number for number, line in enumerate(lines) if line.startswith("  more:")), found[-1] + 3)
    return [*lines[:8], "  ...", *lines[found[-1] : last + 1]]


if __name__ == "__main__":
    write_all()
    if len(sys.argv) == 4:
        show(*sys.argv[1:])
    elif len(sys.argv) > 1:
        raise SystemExit(__doc__)
