"""Claims about text of the input that scripts put into code."""

import pytest

from pytest_hookharness.campaigns.check.static.pasted_code import pasted_code

HEAD = "#!/bin/bash\nINPUT=$(cat)\nFILE=$(echo \"$INPUT\" | jq -r '.tool_input.file_path // empty')\n"
PASTES = "python3 -c \"print('$FILE')\"\n"
BY_PYTHON = (
    'echo "$INPUT" | python3 -c "import json,sys; '
    "print(json.load(sys.stdin).get('tool_input',{}).get('command',''))\""
)


def taken(way):
    """A script that takes a value from the input in some way, and puts it into code."""
    return f"#!/bin/bash\nINPUT=$(cat)\nFILE=$({way})\n{PASTES}"


@pytest.mark.parametrize(
    "text",
    [
        HEAD + "python3 -c \"import os; print(os.path.abspath('$FILE'))\"\n",
        HEAD + 'python3 -c "open(\\"${FILE}\\")"\n',
        HEAD + 'OUT=$("$PYTHON" -c "print(\'$FILE\')" 2>/dev/null) || exit 0\n',
        HEAD + "node -e \"console.log(require('path').resolve('$FILE'))\"\n",
        HEAD + "python3 -c \"import json; json.loads('''$INPUT''')\"\n",
        HEAD + "python3 - <<EOF\nprint('$FILE')\nEOF\n",
        HEAD + "cat <<EOF\nHelp.\nEOF\npython3 <<EOF\nprint('$FILE')\nEOF\n",
        HEAD + '[ -n "$FILE" ] || exit 0\n' + PASTES,
        HEAD + 'if [[ ! -f "$FILE" ]]; then\n  exit 0\nfi\n' + PASTES,
        HEAD.replace("file_path // empty", "content") + PASTES,
        HEAD.replace("echo \"$INPUT\" | jq -r '.tool_input.file_path // empty'", BY_PYTHON) + PASTES,
        HEAD.replace('echo "$INPUT" | ', "").replace("')", '\' <<< "$INPUT" 2>/dev/null || true)') + PASTES,
        HEAD + 'osascript -e "display notification \\"$FILE\\""\n',
        taken(
            '"$PYTHON" -c "\nimport sys, json\nd = json.load(sys.stdin)\nprint(d[\'prompt\'])\n" <<< "$INPUT"'
        ),
    ],
)
def test_text_of_the_input_in_code(text):
    """A value of the input between quotation marks of code is named with its line."""
    marks = ("'$FILE", '\\"$FILE', "$INPUT'", "${F")
    lines = text[: text.index(next(mark for mark in marks if mark in text))]
    assert [line for _, line in pasted_code(text)] == [lines.count("\n") + 1]


@pytest.mark.parametrize(
    "text",
    [
        # The value is an argument, the input or a variable of the program.
        HEAD + "python3 -c 'import sys; print(sys.argv[1])' \"$FILE\"\n",
        HEAD + 'FILE="$FILE" node -e "console.log(process.env.FILE)"\n',
        HEAD + 'echo "$INPUT" | python3 -c "import json, sys; json.load(sys.stdin)"\n',
        HEAD + "python3 - \"$FILE\" <<'EOF'\nprint('$FILE')\nEOF\n",
        HEAD + "python3 -c 'print(1)' # '$FILE'\n",
        HEAD + "python3 -c \"print('\\$FILE')\"\n",
        # The script looks through it, or changes it, or it does not come from the input.
        HEAD + '[[ "$FILE" =~ ^[a-z/]+$ ]] || exit 0\n' + "python3 -c \"print('$FILE')\"\n",
        HEAD + 'case "$FILE" in *[!a-z]*) exit 0 ;; esac\n' + "python3 -c \"print('$FILE')\"\n",
        HEAD + 'FILE=$(basename "$FILE" | tr -cd a-z)\npython3 -c "print(\'$FILE\')"\n',
        HEAD + "STATE=.claude/state.json\npython3 -c \"print('$STATE')\"\n",
        HEAD + "N=$(wc -l <notes.md)\nnode -e \"console.log('$N')\"\n",
        "#!/usr/bin/env python3\nprint('$FILE')\n",
        HEAD + "echo \"$FILE\" | grep -qE '^[A-Za-z0-9_/.-]+$' || exit 0\n" + PASTES,
        HEAD + "grep -qE '^[a-z]+$' <<< \"$FILE\" || exit 0\n" + PASTES,
        HEAD + '[[ "$FILE" == *\\\'* ]] && exit 0\n' + PASTES,
        HEAD + '[[ "$FILE" != *[!a-z]* ]] || exit 0\n' + PASTES,
        HEAD + '[ "$FILE" = notes.md ] || exit 0\n' + PASTES,
        HEAD + 'is_safe "$FILE" || exit 0\n' + PASTES,
        HEAD + 'if ! is_safe "$FILE"; then exit 0; fi\n' + PASTES,
        HEAD + 'python3 check.py "$FILE" || exit 0\n' + PASTES,
        HEAD + "expr \"$FILE\" : '^[a-z]*$' >/dev/null || exit 0\n" + PASTES,
        HEAD + 'if printf %s "$FILE" | \\\n  grep -q "\'"; then exit 0; fi\n' + PASTES,
        HEAD + "read -r FILE < list\n" + PASTES,
        # Texts that the script writes, and the input of a program.
        HEAD + "cat <<EOF\npython3 -c \"open('$FILE')\"\nEOF\n",
        HEAD + "cat <<USAGE\npython3 - <<EOF\nopen('$FILE')\nEOF\nUSAGE\n",
        HEAD + 'echo "Try: python3 -c \\"open(\'$FILE\')\\""\n',
        HEAD + "python3 read.py <<EOF\nfile: '$FILE'\nEOF\n",
        HEAD + "python3 -m json.tool <<EOF\n['$FILE']\nEOF\n",
        HEAD + "python3 -c \"print(r'''$FILE''')\"\n",
        # The script checks the value by a function of its own, or by what is left of it.
        HEAD + 'require_plain "$FILE"\n' + PASTES,
        HEAD + 'BAD=$(printf \'%s\' "$FILE" | tr -d "a-z")\n[ -z "$BAD" ] || exit 0\n' + PASTES,
        # No letter that ends a text can stand in the value.
        taken('echo "$INPUT" | jq -r .tool_input.content | wc -l'),
        taken('echo "$INPUT" | jq -r .tool_input.command | md5sum | cut -c1-8'),
        taken('echo "$INPUT" | jq -r .tool_input.command | base64'),
        taken('echo "$INPUT" | jq -r .tool_input.command | tr -cd a-z'),
        taken("echo \"$INPUT\" | jq -r .tool_input.file_path | grep -oE '[a-z]+$'"),
        taken('echo "$INPUT" | jq -r .tool_input.command | sed "s/\'/_/g"'),
        taken("echo \"$INPUT\" | jq -r '.tool_input.content | length'"),
        taken("echo \"$INPUT\" | jq -r '.tool_input.command | @base64'"),
        taken('echo "$INPUT" | jq -r \'.tool_input | has("command")\''),
        taken('echo "$INPUT" | jq -r \'if .tool_input.command then "y" else "n" end\''),
        taken('echo "$INPUT" | jq -r .tool_input.timeout'),
        taken('echo "$INPUT" | jq -r .tool_input.run_in_background'),
        taken('echo "$INPUT" | jq -r .tool_response.exit_code'),
        taken("jq -r .prompt settings.json"),
        taken('echo "$SETTINGS" | jq -r .prompt'),
        taken(BY_PYTHON.replace("print(", "print(len(").replace("''))", "'')))")),
    ],
)
def test_values_that_are_no_code(text):
    """Arguments, values that a script looks through, and its own texts are left out."""
    assert not [*pasted_code(text)]


def test_the_words_for_three_quotation_marks():
    """One quotation mark does not end a text between three."""
    ((words, _),) = pasted_code(HEAD + "python3 -c \"import json; json.loads('''$INPUT''')\"\n")
    assert "three quotation marks" in words
    assert "a backslash" in words


REPEATED = {
    "substitutions without an end": "A=$(\n",
    "fields without an end": "A=$(jq .tool_input\n",
    "here-documents without an end": "python3 <<EOF\n",
    "programs with code": "python3 -c \"print('$FILE')\"\n",
    "variables": None,
}


@pytest.mark.nightly
@pytest.mark.parametrize("part", REPEATED.values(), ids=REPEATED)
def test_the_time_grows_with_the_length(takes_linear_time, part):
    """A script four times as long takes about four times as long."""

    def text_of(length):
        line = "A{0}=$(jq -r .tool_input.command)\npython3 -c \"f('$A{0}')\"\n"
        lines = (part or line.format(number) for number in range(length // len(part or line)))
        return HEAD + PASTES + "".join(lines)

    def search(text):
        assert [*pasted_code(text)]

    takes_linear_time(text_of, search)
