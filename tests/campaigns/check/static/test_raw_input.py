"""Claims about scripts that read their input as plain text."""

import pytest

from pytest_hookharness.campaigns.check.static.raw_input import cut_values, searched_input

HEAD = "#!/bin/bash\nINPUT=$(cat)\n"
GREP = 'CMD=$(echo "$INPUT" | grep -o \'"command":"[^"]*"\' | head -1 | cut -d\'"\' -f4)\n'


@pytest.mark.parametrize(
    "text",
    [
        HEAD + GREP,
        HEAD + 'CMD=$(echo "$INPUT" | grep -oE \'"command"[[:space:]]*:[[:space:]]*"[^"]+"\')\n',
        HEAD + 'CMD=$(printf %s "$INPUT" | sed -n \'s/.*"command" *: *"\\([^"]*\\)".*/\\1/p\')\n',
        HEAD + 'CMD=$(echo "$INPUT" | sed -n "s/.*\\"prompt\\": *\\"\\([^\\"]*\\)\\".*/\\1/p")\n',
        HEAD.replace("cat)", "cat 2>/dev/null || true)") + GREP,
        HEAD + '[[ "$INPUT" =~ \\"command\\":\\"([^\\"]*)\\" ]] && CMD="${BASH_REMATCH[1]}"\n',
    ],
)
def test_a_value_that_is_cut(text):
    """A free text of the input that is read up to the next quotation mark is named with its line."""
    assert [line for _, line in cut_values(text)] == [3]


@pytest.mark.parametrize(
    "text",
    [
        # A program that reads JSON is there, and this is what is left without it.
        HEAD + 'if has jq; then\n  CMD=$(jq -r .command <<< "$INPUT")\nelse\n  ' + GREP + "fi\n",
        HEAD + GREP + 'CMD=$(field command "$INPUT")\n',
        HEAD + GREP + "CMD=$(python3 -c 'import json' <<< \"$INPUT\")\n",
        # Values without quotation marks, a pattern that knows of escaped letters, and other files.
        HEAD + GREP.replace("command", "tool_name"),
        HEAD + GREP.replace("command", "file_path"),
        HEAD + GREP.replace('[^"]*', '([^"\\\\]|\\\\.)*'),
        HEAD + "# " + GREP,
        '#!/bin/bash\ngrep -o \'"command":"[^"]*"\' package.json\n',
        "#!/usr/bin/env python3\n" + GREP,
    ],
)
def test_values_that_are_read_whole(text):
    """Values that another program may read whole, and those without quotation marks, are left out."""
    assert not [*cut_values(text)]


@pytest.mark.parametrize(
    "text",
    [
        HEAD + 'if echo "$INPUT" | grep -q "rm -rf"; then exit 2; fi\n',
        HEAD + "echo \"$INPUT\" | grep -qiE 'git +push' || exit 0\nexit 2\n",
        HEAD + "printf '%s' \"$INPUT\" | grep -E 'git +push' >/dev/null || exit 0\nexit 2\n",
        HEAD + 'if [[ "$INPUT" == *"git push"* ]]; then\n  exit 2\nfi\n',
        HEAD + 'echo $INPUT | grep -q DONE && exit 0\necho \'{"decision": "block"}\'\n',
        HEAD.replace("$(cat)", "`cat`") + 'echo "$INPUT" | grep -q "rm -rf" && exit 2\n',
    ],
)
def test_words_in_the_whole_input(text):
    """A refusal that rests on words anywhere in the input is named with the line of the search."""
    assert [line for _, line in searched_input(text)] == [3]


@pytest.mark.parametrize(
    "text",
    [
        # A first look, before the input is parsed.
        HEAD + 'echo "$INPUT" | grep -q "git push" || exit 0\nCMD=$(echo "$INPUT" | jq -r .x)\nexit 2\n',
        # A key and its value are looked for, or nothing is refused, or another text is searched.
        HEAD + 'echo "$INPUT" | grep -q \'"stop_hook_active": *true\' && exit 0\nexit 2\n',
        HEAD + '[[ "$INPUT" == *\'"stop_hook_active":true\'* ]] && exit 0\nexit 2\n',
        HEAD + 'echo "$INPUT" | grep -q "git push" && echo Pushed\n',
        HEAD + "git diff | grep -q TODO && exit 2\n",
        HEAD + 'N=$(echo "$INPUT" | grep -o "line" | wc -l)\n[ "$N" -gt 9 ] && exit 2\n',
        HEAD + '# echo "$INPUT" | grep -q "rm -rf"\nexit 2\n',
        '#!/bin/bash\nINPUT=$(git diff)\necho "$INPUT" | grep -q TODO && exit 2\n',
    ],
)
def test_other_searches(text):
    """First looks, keys with their values, and other texts are left out."""
    assert not [*searched_input(text)]
