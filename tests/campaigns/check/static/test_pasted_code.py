"""Claims about text of the input that scripts put into code."""

import pytest

from pytest_hookharness.campaigns.check.static.pasted_code import pasted_code

HEAD = "#!/bin/bash\nINPUT=$(cat)\nFILE=$(echo \"$INPUT\" | jq -r '.tool_input.file_path // empty')\n"


@pytest.mark.parametrize(
    "text",
    [
        HEAD + "python3 -c \"import os; print(os.path.abspath('$FILE'))\"\n",
        HEAD + 'python3 -c "open(\\"${FILE}\\")"\n',
        HEAD + 'OUT=$("$PYTHON" -c "print(\'$FILE\')" 2>/dev/null) || exit 0\n',
        HEAD + "node -e \"console.log(require('path').resolve('$FILE'))\"\n",
        HEAD + "python3 -c \"import json; json.loads('''$INPUT''')\"\n",
        HEAD + "python3 - <<EOF\nprint('$FILE')\nEOF\n",
    ],
)
def test_text_of_the_input_in_code(text):
    """A value of the input between quotation marks of code is named with its line."""
    lines = text[: text.index("'$FILE" if "'$FILE" in text else "$INPUT'" if "$INPUT'" in text else "${F")]
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
    ],
)
def test_values_that_are_no_code(text):
    """Arguments, values that a script looks through, and its own texts are left out."""
    assert not [*pasted_code(text)]
