"""Claims about counts of grep that have two lines."""

import subprocess

import pytest

from pytest_hookharness.campaigns.check.static.exit_statuses import double_counts

COUNT = "n=$(grep -c x notes.md 2>/dev/null || echo 0)"


@pytest.mark.parametrize(
    "text",
    [
        f'{COUNT}\nif [ "$n" -gt 0 ]; then exit 2; fi\n',
        f"{COUNT}\nif [[ 0 -lt $n ]]; then exit 2; fi\n",
        f"{COUNT}\ntotal=$((total + n))\n",
        f'{COUNT}\nif [ "$n" -gt 0 ]; then exit 2; fi\nall="${{n:-${{total:-?}}}}"\n',
        f'{COUNT}\nn="${{n:-0}}"\nif [[ "$n" -gt 0 ]]; then exit 2; fi\n',
        f'{COUNT}\nif [ "${{n:-0}}" -gt 0 ]; then exit 2; fi\n',
        f"{COUNT}\ntotal=$((total + ${{n:-0}}))\n",
        f'{COUNT}\necho "{{\\"count\\": $n}}"\n',
        f"{COUNT}\njq -n --argjson n \"$n\" '{{n: $n}}'\n",
        f'{COUNT}\necho "links: 3, code: $n" >> "$log"\n',
        'local n="$(cat notes.md | grep -ci \'x\' || echo "0")"\n[ "$n" -eq 0 ]\n',
    ],
)
def test_a_count_with_two_lines(text):
    """A count that is used as a number and has a stand-in for grep's failure is named with its line."""
    assert [line for _, line in double_counts(f"#!/bin/bash\n{text}")] == [2]


@pytest.mark.parametrize(
    "text",
    [
        f'{COUNT}\necho "Found $n"\n',
        'n=$(grep -c x notes.md || true)\n[ "$n" -gt 0 ]\n',
        'n=$(grep x notes.md | wc -l || echo 0)\n[ "$n" -gt 0 ]\n',
        'n=$( (grep -c x notes.md || echo 0) | head -1)\n[ "$n" -gt 0 ]\n',
        'n=$(grep -c x notes.md | head -1 || echo 0)\n[ "$n" -gt 0 ]\n',
        f'{COUNT}\nn=${{n%%[!0-9]*}}\n[ "$n" -gt 0 ]\n',
        f'{COUNT}\n[[ "$n" =~ ^[0-9]+$ ]] || n=0\n[ "$n" -gt 0 ]\n',
        f'{COUNT}\nn=$(echo "${{n:-0}}" | head -1)\n[ "$n" -gt 0 ]\n',
        f'{COUNT}\necho "Found ${{n:-0}}"\n',
        'n=$(grep -c x notes.md || echo "")\nif [ "${n:-0}" -gt 3 ]; then exit 2; fi\n',
        f'{COUNT}\nn=${{n:0:1}}\n[ "$n" -gt 0 ]\n',
        f'{COUNT}\nread -r n <<< "$n"\n[ "$n" -gt 0 ]\n',
        f'# {COUNT}\n[ "$n" -gt 0 ]\n',
    ],
)
def test_a_sound_count(text):
    """Other counts, and those whose digits a script checks or takes, are left alone."""
    assert not [*double_counts(f"#!/bin/bash\n{text}")]


def test_bash_agrees(tmp_path):
    """A default does not change a count of two lines, which bash rejects as a number."""
    script = f'{COUNT}\n[ "${{n:-0}}" -eq 0 ] && echo "none"'
    (tmp_path / "notes.md").write_text("a\n")
    run = subprocess.run(["bash", "-c", script], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (run.stdout, run.returncode) == ("", 2)
