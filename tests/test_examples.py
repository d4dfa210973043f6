"""
The examples of the documentation: each page is carried out from top to bottom in a folder of its own.

How a code block is taken: one whose last line of text before it names a file in backticks is written there.
Other `yaml` is loaded as a scenario or keys of one, `python` and `sh` are run, `toml` and `json` are read; an
unnamed or `text` block is what was printed, with other times, and with `...` for what is left out. A block
behind `<!-- not run: REASON -->` is left alone.
"""

import json
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from pytest_hookharness import scenario_files

ROOT = Path(__file__).parent.parent
# The examples of findings are produced by docs/write_findings.py; test_pages.py checks these pages.
PAGES = [
    ROOT / "README.md",
    *sorted((ROOT / "docs").glob("*.md")),
    *sorted((ROOT / "docs" / "how-to").glob("*.md")),
]
LONG = (
    *("README.md", "docs/check.md", "docs/exploration.md", "docs/tutorial.md"),
    *("docs/what-a-verdict-rests-on.md", "docs/how-to/from-a-stuck-session-to-a-test.md"),
    *("docs/how-to/reproduce-a-reported-loop.md", "docs/trace-page.md"),
)
BLOCK = re.compile(r"^( *)```(\w*)\n(.*?)^\1```$", re.MULTILINE | re.DOTALL)
NAMED = re.compile(r"`([\w./-]+\.\w+|[\w./-]*/[\w.-]+)`[^`]*:\s*$")
LEFT_ALONE = re.compile(r"<!-- not run: (\S.*?) -->\s*$", re.DOTALL)
# 0 and 1 are results about hooks; any other exit code is a wrong command.
STRICT = "trap 'test $? -le 1 || exit 2' ERR\n"
DURATION = re.compile(r"\b\d[\d,.]* ?(?:ms|s|min)\b")


@dataclass(frozen=True)
class Block:
    """
    One code block of a page.

    Attributes:
        line: Where it begins.
        language: What it is written in.
        text: What is in it.
        path: The file that it is, by the text before it.
        left: Why it is not run.
    """

    line: int
    language: str
    text: str
    path: str = ""
    left: str = ""


def blocks(page: str) -> Iterator[Block]:
    """The code blocks of a page."""
    for found in BLOCK.finditer(page):
        before = page[: found.start()].rstrip()
        named = NAMED.search(before[before.rfind("\n\n") + 1 :])
        left = LEFT_ALONE.search(before)
        text = re.sub(rf"^{found[1]}", "", found[3], flags=re.MULTILINE)
        line = page.count("\n", 0, found.start()) + 1
        yield Block(line, found[2], text, named[1] if named else "", left[1] if left else "")


class Folder:
    """Where one page is carried out."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.printed = ""

    def take(self, block: Block) -> str:
        """
        Carry out one block.

        Returns:
            What is wrong with it, or nothing.
        """
        if block.left:
            return ""
        if block.path and block.language not in ("", "text"):
            return self.write(block)
        match block.language:
            case "yaml":
                return self.load(block.text)
            case "toml":
                tomllib.loads(block.text)
            case "json":
                json.loads(block.text)
            case "python":
                return self.run([sys.executable, "-c", block.text], allowed=(0,))
            case "sh":
                return self.run(["bash", "-c", STRICT + block.text], allowed=(0, 1))
            case "text" | "":
                return missing(block.text, self.printed)
            case other:
                return f"nobody knows how to try {other!r}; name a language, or say why it is not run"
        return ""

    def write(self, block: Block) -> str:
        """Write a file, and load it if it is a scenario."""
        file = self.path / block.path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(block.text)
        if block.text.startswith("#!"):
            file.chmod(0o755)
        try:
            _ = scenario_files.load(file) if file.name.endswith(".scenario.yaml") else ()
        except scenario_files.ScenarioErrors as errors:
            return str(errors)
        return ""

    def load(self, text: str) -> str:
        """Load a scenario, or keys of one."""
        content = yaml.safe_load(text)
        try:
            scenario_files.scenario_from({"name": "example", **content})
        except (scenario_files.ScenarioErrors, ValueError) as error:
            return str(error)
        return ""

    def run(self, command: list[str], allowed: tuple[int, ...]) -> str:
        """Run a command as a reader would, who has the project installed."""
        here = {
            "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
            "PYTEST_ADDOPTS": "-p no:faker",
            # As wide as what the pages show.
            "COLUMNS": "112",
        }
        clean = {
            key: value for key, value in os.environ.items() if not key.startswith(("PYTEST", "GITHUB", "CI"))
        }
        ran = subprocess.run(
            command,
            check=False,
            cwd=self.path,
            env=clean | here,
            capture_output=True,
            text=True,
            # A block may have two checks, each with its minute.
            timeout=300,
        )
        self.printed = ran.stdout + ran.stderr
        return "" if ran.returncode in allowed else f"{ran.returncode}: {self.printed}"


def plain(line: str) -> str:
    """A printed line without its times, and without the rules that pytest draws around its last one."""
    return DURATION.sub("N s", line).strip("= ") if "==" in line else DURATION.sub("N s", line).rstrip()


def missing(shown: str, printed: str) -> str:
    """The first shown line that was not printed after the one before it."""
    lines = iter([plain(line) for line in printed.splitlines()])
    for line in shown.splitlines():
        pattern = re.escape(plain(line)).replace(r"\.\.\.", ".*")
        if line.strip() not in ("", "...") and not any(re.fullmatch(pattern, other) for other in lines):
            return f"not printed: {line}\n{printed}"
    return ""


def page_param(page: Path) -> Any:
    """Return a page as a parameter; those whose commands take long are nightly."""
    name = str(page.relative_to(ROOT))
    return pytest.param(page, marks=pytest.mark.nightly if name in LONG else pytest.mark.slow, id=name)


def wrong(page: str, folder: Path) -> list[str]:
    """What is wrong with the examples of a page."""
    place = Folder(folder)
    taken = [(block.line, place.take(block)) for block in blocks(page)]
    return [f"line {line}: {said}" for line, said in taken if said]


@pytest.mark.parametrize("page", [page_param(page) for page in PAGES])
def test_the_examples_of_a_page_work(page, tmp_path):
    """The files and commands of a page work in their order, and print what the page shows."""
    found = wrong(page.read_text(), tmp_path)

    assert not found, f"{page}\n" + "\n".join(found)


STUCK = ROOT / "docs/how-to/from-a-stuck-session-to-a-test.md"
SAMPLES = ROOT / "tests/data/transcripts"


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("sample", "name", "settings", "count"),
    [
        ("claude-reploop", "claude-code-stop-5b2817be", ".claude/settings.json", 12),
        ("codex-reploop", "codex-stop-01a20233", ".codex/hooks.json", 15),
    ],
)
def test_the_way_from_a_stuck_session_with_real_ones(sample, name, settings, count, tmp_path):
    """The commands of that page lead from a real session to two scenarios that pass with a fixed hook."""
    page = STUCK.read_text()
    # What the page shows is about its own session; these lines hold for any.
    shrunk = "shrunk to 2 acts and 3 files; each of them is needed (..."
    lines = f"  {count} of {count} refusals as recorded\n  {shrunk}\n"
    shown = re.findall(r"^```text\n.*?^```$", page, re.MULTILINE | re.DOTALL)
    page = page.replace(shown[0], "").replace(shown[1], f"```text\n{lines}```")
    page = page.replace("claude-code-stop-4f1c", name).replace(
        "shop/.claude/settings.json", f"shop/{settings}"
    )
    page = page.replace("TODO left in src.txt'", "TODO left: remove it before you stop'")
    before, _, rest = page.partition("As an example take")
    (tmp_path / "session.jsonl").write_text((SAMPLES / f"{sample}.jsonl").read_text())
    found = wrong(f"{before}\n\n{rest[rest.index('```sh') :]}", tmp_path)

    assert not found, "\n".join(found)


@pytest.mark.parametrize(
    ("page", "said"),
    [
        ("```yaml\nhooks: {Stop: ./x}\n```\n", []),
        ("```yaml\nhocks: {Stop: ./x}\n```\n", ["line 1: "]),
        ("A file `a/b.py`:\n\n```python\nx = (\n```\n\n```sh\nls a\n```\n\n```text\nb.py\n```\n", []),
        ("```python\nx = (\n```\n", ["line 1: 1: "]),
        ("```sh\necho took 3 ms of all\n```\n\n```text\ntook 9 ms ... all\n```\n", []),
        ("```sh\necho b; echo a\n```\n\n```\na\nb\n```\n", ["line 5: not printed: b"]),
        ("```sh\nhookharness nonsense\necho on\n```\n", ["line 1: 2: hookharness: there is no command"]),
        ("```cobol\n```\n", ["line 1: nobody knows"]),
        ("<!-- not run: it installs things -->\n```sh\nexit 3\n```\n", []),
        ("<!-- not run: -->\n```sh\nexit 3\n```\n", ["line 2: 3: "]),
    ],
)
def test_a_page_that_lies_is_seen(page, said, tmp_path):
    """Blocks that cannot be loaded, fail, or print something else are named with their line."""
    found = wrong(page, tmp_path)

    assert [line[: len(start)] for line, start in zip(found, said, strict=True)] == said
