"""Which scripts may load a file that traces itself, by their text."""

import subprocess
from pathlib import Path

from pytest_hookharness.execution.coverage.hook_traces import find_loadable, loads_trace

MAY = [
    ". ./traced.sh",
    'a; source "$here/traced.sh" || exit',
    '[ -f "$f" ] && . "$f"',
    'for f in lib/*.sh; do\n\t. "$f" 2>/dev/null\ndone',
    '. "$(dirname "$0")/$name"',
    "source ~/lib/*.sh",
    'eval ". $f"',
    "if . <(./make); then :; fi",
    'X=1 . "${files[0]}"',
    ". outer.sh",
]
CANNOT = [
    ". ./other.sh",
    '. "$(dirname "$0")/other.sh"; echo "$a"',
    './traced.sh "$a"',
    'find . -name "*.sh"',
    'resource "$a"',
    'echo "$a" | traced.sh',
]
ASK = 'while IFS= read -r -d "" text; do [[ $text =~ $1 ]] && echo yes || echo no; done'


def test_bash_knows_by_the_pattern_what_may_load_a_trace():
    """In bash the pattern matches named files, their loaders and names in variables, and nothing else."""
    texts = {"traced.sh": "set -x", "outer.sh": ". ./traced.sh", "other.sh": "find . -name '*.sh'"}
    pattern = loads_trace({Path(name): text for name, text in texts.items()})
    asked = "".join(f"{text}\0" for text in MAY + CANNOT)
    done = subprocess.run(
        ["bash", "-c", ASK, "ask", pattern], input=asked, capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["yes"] * len(MAY) + ["no"] * len(CANNOT)


def test_python_reads_the_pattern_as_bash_does():
    """In Python the same pattern finds a file that loads a self-tracing file, for each way to load one."""
    for text in MAY:
        assert "|within\\.sh|" in f"|{names(text)}|", text
    for text in CANNOT:
        assert "within" not in names(text), text


def names(text):
    texts = {"traced.sh": "set -x", "outer.sh": ". ./traced.sh", "within.sh": text}
    return (
        loads_trace({Path(name): each for name, each in texts.items()}).partition("*(")[2].rpartition("(")[0]
    )


def test_nothing_is_a_trace_where_no_file_says_so(tmp_path):
    """Without a self-tracing file there is no pattern, and files that are not shell text are not read."""
    for name in ("traced.py", ".git/traced.sh", "traced.bin"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("set -x\n")
    (tmp_path / "binary").write_bytes(b"set -x\0")
    (tmp_path / "lib.sh").write_text("set -e\n")
    assert [path.name for path in find_loadable(tmp_path)] == ["lib.sh"]
    assert loads_trace(find_loadable(tmp_path)) == ""
