"""The lines of shell scripts on which something can run."""

import sys

import pytest

from pytest_hookharness.execution.coverage.scripts import ShellExtraMissing, lines_run, read_script
from pytest_hookharness.model.line_coverage import TracedLine


def counted(text):
    return sorted(read_script(text.encode()).lines)


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("#!/bin/bash\n\n# words\necho a\n", [4]),
        ("echo a \\\n  b \\\n  c\necho d\n", [1, 4]),
        ("f() {\n  echo a\n}\nf\n", [2, 4]),
        ("if [ -n x ]; then\n  a\nelif b; then\n  c\nelse\n  d\nfi\n", [1, 2, 3, 4, 6]),
        ("if [[ a == a &&\n  b == b ]]; then\n  c\nfi\n", [1, 3]),
        ("case $x in\n  a | b)\n    c\n    ;;\n  *) d ;;\nesac\n", [1, 3, 5]),
        ("for i in a b \\\n  c; do\n  d\ndone\n", [1, 3]),
        ("for ((i = 0; i < 3; i++)); do\n  d\ndone\n", [1, 2]),
        ("while read -r l; do\n  a\ndone <file\n", [1, 2]),
        ("cat <<END\nwords $(echo a)\nEND\necho b\n", [1, 4]),
        ("x=$(\n  echo a\n)\ny=1\n", [1, 4]),
        ("a |\n  b |\n  c\n", [1, 2, 3]),
        ("a &&\n  b ||\n  c\n", [1, 2, 3]),
        ("(\n  cd /\n  a\n)\n{ b\n}\n", [2, 3, 5]),
        ("local x=1 \\\n  y=2\nexport z\nunset q\n", [1, 3, 4]),
        ("x=1\nx+=2\na[0]=3\n((x++))\n", [1, 2, 3, 4]),
        (">file\n2>&1 a\n", [2]),
        ("trap 'a\nb' EXIT\neval 'c\nd'\n", [1, 3]),
        ("! a\ntime b\n", [1, 2]),
    ],
)
def test_what_can_be_run_counts_by_the_line_on_which_it_begins(text, lines):
    """A statement counts once, by its first line, and keywords of the grammar do not count."""
    assert counted(text) == lines


def test_what_the_author_marks_is_excluded_with_all_that_begins_there():
    """Coverage's own comment excludes a line, and the whole block if it is on the block's first line."""
    script = read_script(b"a # pragma: no cover\nif b; then # pragma: no cover\n  c\nfi\nd\n")
    assert sorted(script.excluded) == [1, 2, 3, 4]
    assert 5 in script.lines


def test_bytes_that_are_no_text_and_scripts_that_are_broken_are_read_all_the_same():
    """No script is so broken that it ends a report."""
    assert counted("echo a\n(((\n if\n") is not None
    assert sorted(read_script(b"echo \xff\necho b\n").lines) == [1, 2]


def test_a_long_command_counts_as_run():
    """Only the beginning of a traced command is kept, which is enough to recognise it."""
    command = "echo " + " ".join(f"word{number}" for number in range(60))
    traced = TracedLine(line=1, text=command[:200])

    assert lines_run(read_script(command.encode()).statements, [traced]) == {1}


def test_without_the_extra_the_message_says_what_to_install(monkeypatch):
    """Where tree-sitter is missing, the error names the extra."""
    monkeypatch.setitem(sys.modules, "tree_sitter_bash", None)
    with pytest.raises(ShellExtraMissing, match=r"pytest-hookharness\[shell\]"):
        read_script(b"echo a\n")


@pytest.mark.parametrize(
    ("text", "line", "traced", "ran"),
    [
        ("echo a\necho b\n", 2, "echo b", [2]),
        ("echo a \\\n  b\n", 2, "echo a b", [1]),
        ("x=$(\n  echo a\n)\necho b\n", 4, "echo a", []),
        ("eval 'echo a\necho b'\necho c\n", 3, "echo b", []),
        ('"$command" a\n', 1, "anything at all", [1]),
        ("echoes\n", 1, "echo es", []),
        ("[ a = a ]\n", 1, "'[' a = a ']'", [1]),
        ("case $x in\n  a) b ;;\nesac\n", 1, "case a in", [1]),
        ("x+=1\n", 1, "x+=1", [1]),
        ("echo a\n", 7, "echo a", []),
    ],
)
def test_a_line_ran_only_if_what_was_traced_fits_what_stands_there(text, line, traced, ran):
    """Bash reports wrong lines for what is evaluated; they do not prove that another statement ran."""
    assert sorted(lines_run(read_script(text.encode()).statements, [TracedLine(line, traced)])) == ran
