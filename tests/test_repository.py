"""The files of the repository agree with each other."""

import ast
import json
import re
import shutil
import subprocess
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

import pytest_hookharness

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))

# Paths that exist only on the author's machine.
MACHINE = re.compile(r"(?<![\w.])(/root/\w|/home/(?!(user|dev|agent|\w)\b)\w|/Users/(?!user\b)\w)|\bfile:///")


def tracked(pattern: str = "*") -> list[Path]:
    """The files of the repository, those included that are about to be added."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", pattern]
    names = subprocess.check_output(command, cwd=ROOT, text=True).split("\0")
    return sorted(path for name in names if name and (path := ROOT / name).is_file())


def text_of(path: Path) -> str:
    """The text of a file; empty if it is none."""
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return ""


def commands_of_readme() -> list[str]:
    """The two commands that the README gives for a checkout, each on a line of its own."""
    _, _, section = (ROOT / "README.md").read_text().partition("\n## From a checkout\n")
    blocks = re.findall(r"```(?:sh|shell|bash)\n(.*?)```", section.partition("\n## ")[0], re.DOTALL)
    return [line for block in blocks for line in block.splitlines() if line and not line.startswith("#")]


def test_versions_agree():
    """The distribution has the version of the package, and the changelog's newest entry is that version."""
    newest = re.search(r"^## \[(.+?)\]", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)

    assert "version" in PROJECT["project"]["dynamic"]
    assert PROJECT["tool"]["hatch"]["version"]["path"] == "pytest_hookharness/__init__.py"
    assert newest is not None
    assert newest[1] == pytest_hookharness.__version__


def test_supported_pythons_agree():
    """The oldest classified Python is the required one, and the workflow tests every classified one."""
    words = "\n".join(PROJECT["project"]["classifiers"])
    classified = re.findall(r"^Programming Language :: Python :: (3\.\d+)$", words, re.MULTILINE)
    workflow = (ROOT / ".github" / "workflows" / "ci.yml").read_text()

    assert PROJECT["project"]["requires-python"] == f">={classified[0]}"
    assert [python for python in classified if f'"{python}"' not in workflow] == []
    assert PROJECT["tool"]["ruff"]["target-version"] == "py" + classified[0].replace(".", "")
    assert PROJECT["tool"]["mypy"]["python_version"] == classified[0]
    assert PROJECT["tool"]["pyright"]["pythonVersion"] == classified[0]


def test_readme_commands_are_run_by_ci():
    """The two commands of the README for a checkout are run by the CI script, letter for letter."""
    script = (ROOT / ".ci" / "run").read_text().splitlines()
    commands = commands_of_readme()

    assert len(commands) == 2
    assert "--hook-scenarios" in commands[0]
    assert "--group test" in commands[1]
    assert [command for command in commands if command not in map(str.strip, script)] == []


def test_readme_commands_are_run_on_macos():
    """The job of the workflow for macOS runs the two commands of the README and nothing else."""
    jobs = yaml.safe_load((ROOT / ".github" / "workflows" / "ci.yml").read_text())["jobs"]

    assert jobs["macos"]["runs-on"].startswith("macos")
    assert [step["run"] for step in jobs["macos"]["steps"] if "run" in step] == commands_of_readme()


def test_a_container_has_one_set_of_options():
    """The page about containers and the development container give the same options."""
    page = (ROOT / "docs" / "how-to" / "run-in-a-container.md").read_text()
    settings = json.loads((ROOT / ".devcontainer" / "devcontainer.json").read_text())
    (command,) = re.findall(r"^docker run (.*)$", page, re.MULTILINE)

    assert [word for word in command.split() if "=" in word] == settings["runArgs"]
    assert all(f"| `{option}` |" in page for option in settings["runArgs"])


def test_every_lint_exclusion_has_its_reason():
    """Each ruff rule that is switched off for all files stands under or beside the reason for it."""
    text = (ROOT / "pyproject.toml").read_text()
    block = text[text.index("ignore = [") : text.index("[tool.ruff.lint.per-file-ignores]")]
    bare = re.findall(r'^\s+"([A-Z]+\d*)",\s*$', block.partition("# -- in the way of")[0], re.MULTILINE)

    assert bare == []


def is_one_sentence(text: str | None) -> bool:
    """Whether a docstring is one declarative sentence."""
    words = " ".join((text or "").split())
    return words.endswith(".") and not re.search(r"(?<!e\.g)(?<!i\.e)[.!?] +[A-Z]", words)


def silent_tests(path: Path) -> Iterator[str]:
    """The test functions of a file whose docstrings are not one sentence."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        if node.name.startswith("test_") and not is_one_sentence(ast.get_docstring(node)):
            yield f"{path.name}:{node.lineno}: {node.name}"


def sleeping_calls(path: Path) -> Iterator[str]:
    """Where a file sleeps."""
    text = path.read_text(encoding="utf-8")
    # Few files name it at all, and parsing each takes long.
    for node in ast.walk(ast.parse(text)) if "sleep" in text else ():
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Name(id="time"), attr="sleep")):
                yield f"{path.name}:{node.lineno}"
            case ast.ImportFrom(module="time", names=names) if "sleep" in [alias.name for alias in names]:
                yield f"{path.name}:{node.lineno}"
            case _:
                pass


def our_tests() -> list[Path]:
    """The files with tests and fixtures; toy hooks and toy projects are none."""
    return [path for path in tracked("tests/**.py") if path.name.startswith(("test_", "conftest"))]


@pytest.mark.usefixtures("many_values")
def test_every_test_says_its_claim():
    """Every test function has a docstring that is one sentence."""
    found = [test for path in our_tests() for test in silent_tests(path)]

    assert not found, "\n" + "\n".join(found)


def test_no_test_sleeps():
    """No test waits for time to pass; it waits for what it needs, with a deadline."""
    found = [call for path in our_tests() for call in sleeping_calls(path)]

    assert not found, "\n" + "\n".join(found)


@pytest.mark.parametrize(
    "source",
    [
        "def test_x(): pass",
        'def test_x():\n    """No stop"""',
        'def test_x():\n    """One. Two."""',
        'class TestX:\n    def test_x(self): "Is it"',
    ],
)
def test_silent_tests_are_seen(tmp_path, source):
    """A test without a docstring of one sentence is seen, also in a class."""
    (tmp_path / "test_x.py").write_text(source)

    assert [found.split()[-1] for found in silent_tests(tmp_path / "test_x.py")] == ["test_x"]


@pytest.mark.parametrize("source", ["import time\ntime.sleep(1)", "from time import sleep\nsleep(1)"])
def test_sleeping_tests_are_seen(tmp_path, source):
    """A call of sleep is seen under either of its names."""
    (tmp_path / "test_x.py").write_text(source)

    assert len(list(sleeping_calls(tmp_path / "test_x.py"))) == 1


def shell_of(path: Path) -> str | None:
    """The shell that a file is written for, by its first line, else by its name."""
    first = text_of(path).partition("\n")[0]
    found = re.match(r"#!.*?\b(bash|dash|sh)\b", first)
    if found:
        return found[1]
    return "sh" if path.suffix == ".sh" and not first.startswith("#!") else None


def test_shell_scripts_parse():
    """Every shell script in the repository is understood by the shell that it names."""
    scripts = [(path, shell) for path in tracked() if (shell := shell_of(path)) and shutil.which(shell)]
    runs = [
        subprocess.run([shell, "-n", str(path)], capture_output=True, text=True, check=False)
        for path, shell in scripts
    ]

    assert len(scripts) > 0
    assert [run.stderr for run in runs if run.returncode] == []


def test_nothing_belongs_to_one_machine():
    """No file names a path that exists only on its author's machine."""
    found = [
        f"{path.relative_to(ROOT)}:{number}: {hit[0]}"
        for path in tracked()
        if path != Path(__file__)
        for number, line in enumerate(text_of(path).splitlines(), 1)
        if (hit := MACHINE.search(line))
    ]

    assert not found, "\n" + "\n".join(found)


@pytest.mark.parametrize(
    ("text", "hit"),
    [
        ("see /" + "root/x", True),
        ("in /" + "home/ann/x", True),
        ("in /home/user/x", False),
        ("file:/" + "//x", True),
        ("a /tmp/x", False),
    ],
)
def test_machine_paths_are_seen(text, hit):
    """A path of one machine is distinguished from the paths that examples use."""
    assert bool(MACHINE.search(text)) is hit


@pytest.mark.parametrize(
    ("name", "text", "shell"),
    [
        ("a", "#!/bin/sh\n", "sh"),
        ("a", "#!/usr/bin/env bash\n", "bash"),
        ("a.sh", "true\n", "sh"),
        ("a.sh", "#!/usr/bin/env python3\n", None),
        ("a.py", "pass\n", None),
    ],
)
def test_shell_of_a_script(tmp_path, name, text, shell):
    """The shell of a script is the one in its first line, or sh if only its name says so."""
    (tmp_path / name).write_text(text)

    assert shell_of(tmp_path / name) == shell


def anchor_of(heading: str) -> str:
    """The anchor that a heading gets on the usual forges."""
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")


def dead_links(page: Path) -> Iterator[str]:
    """The links of a Markdown page to files or headings that are not there."""
    text = re.sub(r"```.*?```|`[^`\n]*`", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if re.match(r"[a-z]+:", target):
            continue
        name, _, anchor = target.partition("#")
        aim = page.parent / name if name else page
        headings = re.findall(r"^#+ (.+)$", text_of(aim), re.MULTILINE) if aim.is_file() else []
        if not aim.exists() or (anchor and anchor not in map(anchor_of, headings)):
            yield f"{page.name}: {target}"


def test_links_resolve():
    """Every link between the pages of the repository leads to a file, and to a heading if it names one."""
    found = [link for page in tracked("*.md") for link in dead_links(page)]

    assert not found, "\n" + "\n".join(found)


def test_dead_links_are_seen(tmp_path):
    """A link to a missing file or heading is seen, and a link to what exists is not."""
    page = tmp_path / "page.md"
    page.write_text("# A b\n[x](#a-b) [y](#c) [z](gone.md) [w](page.md#a-b) [v](https://example.org)\n")

    assert list(dead_links(page)) == ["page.md: #c", "page.md: gone.md"]


def doubled_rows(text):
    """What more than one row of a Markdown table is about, going by the first name in its first two cells."""
    for table in re.findall(r"(?m)(?:^\|.*\n)+", text):
        names = re.findall(r"(?m)^\|(?:[^|`\n]*\|)?[^|`\n]*`([^`]+)`", table)
        yield from sorted({name for name in names if names.count(name) > 1})


@pytest.mark.parametrize("name", ["README.md", "ARCHITECTURE.md"])
def test_each_row_is_about_something_else(name):
    """No table of the two main pages has two rows about one thing."""
    assert list(doubled_rows((ROOT / name).read_text())) == []


def test_doubled_rows_are_seen():
    """Two rows about one thing are found, however they differ behind its name."""
    assert list(doubled_rows("| a | b |\n| --- | --- |\n| `x` `y` | 1 |\n| `x` | 2 |\n")) == ["x"]
