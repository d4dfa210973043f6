"""Claims about programs that stand in shell scripts."""

import subprocess

import pytest

from pytest_hookharness.campaigns.check.reads.shell_reads import shell_reads
from pytest_hookharness.campaigns.check.shell_code.embedded_programs import embedded_programs

HEAD = "#!/bin/bash\n"


@pytest.mark.parametrize(
    ("text", "language", "code"),
    [
        ("python3 -c 'print(1)'", "python", "print(1)"),
        ('x=$(echo "$IN" | /usr/bin/python3 -I -c "print(\\"a\\")" 2>/dev/null)', "python", 'print("a")'),
        ('"$PYTHON" -c "print(1)" || exit 0', "python", "print(1)"),
        ("if ! timeout 5 node -e 'f()'; then exit 2; fi", "javascript", "f()"),
        ('A="x" B=1 \\\n  python3 - "$A" <<\'PY\' 2>&1\nprint(1)\nPY', "python", "print(1)\n"),
        ("out=$(python3 <<EOF\nprint('\\$x')\nEOF\n)", "python", "print('$x')\n"),
        ("bash -s <<-'EOF'\n\tls\n\tEOF", "shell", "\tls\n"),
        ("perl -pe 's/a/b/' x", "", "s/a/b/"),
    ],
)
def test_a_program_in_a_script(text, language, code):
    """Code behind an option and in a here-document is found as the program gets it."""
    (found,) = embedded_programs(f"{HEAD}{text}\n")
    assert (found.language, found.text) == (language, code)


@pytest.mark.parametrize(
    "text",
    [
        "python3 check.py",
        "python3 -m json.tool <<EOF\n{}\nEOF",
        "python3 check.py <<EOF\nprint(1)\nEOF",
        "docker exec -i db python3 -c 'print(1)'",
        "echo \"python3 -c 'print(1)'\"",
        "# python3 -c 'print(1)'",
        "cat <<EOF\npython3 -c 'print(1)'\nEOF",
        "my-python3 -c 'print(1)'",
        "python3 -c \"$CODE\"'more'",
        "python3 -c 'print(1)",
        "python3 - <<EOF\nprint(1)",
        "python3 - <<< 'print(1)'",
    ],
)
def test_what_is_no_program_of_a_script(text):
    """Files, texts, comments, and code that is put together or has no end are left out."""
    assert not embedded_programs(f"{HEAD}{text}\n")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("python3 -c 'import sys, json; d = json.load(sys.stdin); print(d[\"a\"])'", ["a"]),
        (
            'IN=$(cat)\nprintf %s "$IN" | python3 -c "import json, sys\nprint(json.load(sys.stdin)[\'a\'])"',
            ["a"],
        ),
        (
            "IN=$(cat)\nexport X=\"$IN\"\npython3 <<'E'\nd = json.loads(os.getenv('X'))\nprint(d['a'])\nE",
            ["a"],
        ),
        ("IN=$(cat)\nX=\"$IN\" python3 - <<'E'\nd = json.loads(os.environ['X'])\nprint(d['a'])\nE", ["a"]),
        ("export IN=$(cat)\nnode <<'E'\nconst d = JSON.parse(process.env.IN);\nf(d.a);\nE", ["a"]),
        ("IN=$(cat)\npython3 - \"$F\" \"$IN\" <<'E'\nd = json.loads(sys.argv[2])\nprint(d['a'])\nE", ["a"]),
        ("IN=$(cat)\nnode -e 'const d = JSON.parse(process.argv[1]); f(d.a)' \"$IN\"", ["a"]),
        ("IN=$(cat)\npython3 - <<E\nd = json.loads('''$IN''')\nprint(d['a'])\nE", ["a"]),
        ('IN=$(cat)\necho "$IN" |\n  node -e "const d = JSON.parse(readFileSync(0)); f(d.a)"', ["a"]),
        (
            'IN=$(cat)\nT=$(jq -c .b <<<"$IN")\necho "$T" | python3 -c "print(json.load(sys.stdin)[\'a\'])"',
            ["b", "b.a"],
        ),
    ],
)
def test_an_embedded_program_reads_the_input(text, found):
    """The input is followed through pipes, variables of the environment, arguments and pasted text."""
    reads = shell_reads(f"{HEAD}{text}\n")
    assert sorted(".".join(path) for paths in reads for path in paths) == found


@pytest.mark.parametrize(
    "text",
    [
        "IN=$(cat)\ncat f.json | python3 -c 'import json, sys; print(json.load(sys.stdin)[\"a\"])'",
        "IN=$(cat)\nX=$(cat f.json) python3 - <<'E'\nd = json.loads(os.environ['X'])\nprint(d['a'])\nE",
        "IN=$(cat)\nIN=$(head f)\npython3 - \"$IN\" <<'E'\nd = json.loads(sys.argv[1])\nprint(d['a'])\nE",
        "IN=$(cat)\npython3 - <<'E'\nd = json.loads('''$IN''')\nprint(d['a'])\nE",
        "IN=$(cat)\npython3 - \"$IN\" <<'E'\nd = json.loads(sys.argv[2])\nprint(d['a'])\nE",
        "python3 - <<'E'\nd = json.load(sys.stdin)\nprint(d['a'])\nE",
    ],
)
def test_an_embedded_program_with_another_source(text):
    """A file, another argument, and the here-document itself are not the input."""
    assert not shell_reads(f"{HEAD}{text}\n")


@pytest.mark.parametrize(
    ("code", "field"),
    [
        ("print(json.load(sys.stdin)['a']['b'])", "b"),
        ("d = json.load(sys.stdin)\nt = d.get('a', {})\nprint(t.get('b', t.get('c', '')))", "b"),
        ("d = json.load(sys.stdin)\nx = (d.get('a') or {}).get('b') or ''\nprint(x)", "b"),
        ("print(json.load(sys.stdin)['a'][:9])", ""),
        ("print(json.load(sys.stdin)['a'].lower())", ""),
        ("d = json.load(sys.stdin)\nprint(d['a'])\nprint(d['b'])", ""),
        ("x = json.load(sys.stdin)['a']\nx = clean(x)\nprint(x)", ""),
        ("x = json.load(sys.stdin)['a']\nx += 'b'\nprint(x)", ""),
        ("print(json.load(sys.stdin)" + "()" * 900 + "['a'])", ""),
        ("print(json.load(sys.stdin)" + "['b']" * 2000 + "['a'])", ""),
        ("print(json.load(open('f'))['a'])", ""),
        ("print(", ""),
    ],
)
def test_the_field_that_a_program_prints(code, field):
    """A program prints a field as it is if it prints once, and nothing changes the value."""
    (found,) = embedded_programs(f'{HEAD}python3 -c "{code}"\n')
    assert found.printed == field


def test_the_shell_agrees():
    """The arguments and variables of a program in a script are those that its language has."""
    text = (
        'export IN=$(cat)\nX="$IN" python3 -c \'import os, sys; print(os.environ["X"], sys.argv[1])\' "$IN"\n'
        "python3 - \"$IN\" <<'E'\nimport os, sys\nprint(os.environ['IN'], sys.argv[1])\nE\n"
    )
    run = subprocess.run(["bash", "-c", text], input="payload", capture_output=True, text=True, check=True)
    assert run.stdout == "payload payload\n" * 2


REPEATED = {
    "texts without an end": "python3 -c 'print(1)\n",
    "quotations without an end": 'python3 -c "print(1)\n',
    "here-documents without an end": "python3 <<EOF\n",
    "indented ends": "python3 <<EOF\n\tEOF\n",
    "arguments": "python3 - 'a' \"b\" c\n",
    "variables": "A=1 ",
}


@pytest.mark.nightly
@pytest.mark.parametrize("part", REPEATED.values(), ids=REPEATED)
def test_the_time_grows_with_the_length(takes_linear_time, part):
    """A script four times as long takes about four times as long."""

    def search(text):
        embedded_programs.cache_clear()
        embedded_programs(text)

    takes_linear_time(lambda length: HEAD + part * (length // len(part)) + "python3 -c 'x'\n", search)
