"""Claims about searches in transcripts that find too much, or never anything."""

import json

import pytest

from pytest_hookharness.campaigns.check.discovery import find_hook_sets
from pytest_hookharness.campaigns.check.reads.transcript_searches import (
    unfound_keys,
    words_anywhere,
)
from pytest_hookharness.campaigns.check.static_checks import check_statically

BASH = "#!/bin/bash\n"
SHELL = "#!/bin/bash\nINPUT=$(cat)\nT=$(echo \"$INPUT\" | jq -r '.transcript_path // empty')\n"
TEXT = SHELL + 'LINES="$(tail -n 50 "$T" 2>/dev/null || true)"\n'


@pytest.mark.parametrize(
    "text",
    [
        SHELL + 'grep -q ALL_DONE "$T" && exit 0\n',
        SHELL + "if grep -qiE 'quota|rate.?limit' \"$T\"; then exit 0; fi\n",
        SHELL + 'if tail -50 "$T" | grep -qE "npm test|pytest"; then exit 0; fi\n',
        SHELL + 'n=$(grep -c -m 1 "All tests passed" ${T})\n',
        SHELL + "cat \"$T\" 2>/dev/null | tail -20 | \\\n  grep -qE '(^|\\W)ALL_DONE(\\W|$)' && exit 0\n",
        TEXT + 'echo "$LINES" | grep -q "ALL_DONE" && exit 0\n',
        TEXT + "if ! printf '%s' \"$LINES\" | grep -qF 'Review Complete'; then exit 2; fi\n",
        TEXT + 'grep -q ALL_DONE <<< "$LINES" && exit 0\n',
    ],
)
def test_words_in_the_text_of_a_transcript(text):
    """Words that are searched for in a transcript's text are found wherever they stand."""
    assert len([*words_anywhere(text)]) == 1


@pytest.mark.parametrize(
    "text",
    [
        SHELL + 'grep -q \'"type":"assistant"\' "$T" || exit 0\n',
        SHELL + 'grep -c tool_use "$T"\n',
        SHELL + "tail -50 \"$T\" | jq -r '.message.content[]?.text' | grep -q ALL_DONE && exit 0\n",
        SHELL + 'grep \'"role":"assistant"\' "$T" | tail -1 | grep -q ALL_DONE && exit 0\n',
        SHELL + 'grep -v ALL_DONE "$T" > rest\n',
        SHELL + "grep -q ALL_DONE notes.md && exit 0\n",
        SHELL + 'echo "grep -q ALL_DONE $T" >&2\n',
        SHELL + '# grep -q ALL_DONE "$T"\n',
        SHELL + 'echo "$T" | grep -q subagents && exit 0\n',
        SHELL + 'grep -q "$WORD" "$T" && exit 0\n',
        TEXT + 'echo "$INPUT" | grep -q ALL_DONE && exit 0\n',
        '#!/bin/bash\nT=$1\ngrep -q ALL_DONE "$T" && exit 0\n',
    ],
)
def test_other_searches(text):
    """Structure, texts that were taken out of the lines, paths and other files are no words anywhere."""
    assert [*words_anywhere(text)] == []


def test_a_pattern_for_the_start_of_a_line():
    """A pattern for the start of a line is not reported, because each line begins with a brace."""
    text = SHELL + "tail -20 \"$T\" | grep -qE '^ALL_DONE$|^ALL_DONE[[:space:]]' && exit 0\n"

    assert [*words_anywhere(text)] == []


@pytest.mark.parametrize("pattern", ["^ALL_DONE$|done", "(^| )ALL_DONE", "ALL_DONE$"])
def test_a_pattern_that_may_stand_elsewhere(pattern):
    """A pattern of which one alternative fits within a line can be found."""
    text = SHELL + f"tail -20 \"$T\" | grep -qE '{pattern}' && exit 0\n"

    assert len([*words_anywhere(text)]) == 1


@pytest.mark.parametrize(
    ("text", "key"),
    [
        (SHELL + 'jq -e \'select(.tool_name == "Edit")\' "$T" >/dev/null\n', "tool_name"),
        (
            SHELL + "last=$(grep '\"tool_use\"' \"$T\" | tail -1 | jq -r '.name // empty' 2>/dev/null)\n",
            "name",
        ),
        (SHELL + 'tail -1 "$T" | jq -r .role\n', "role"),
        (TEXT + 'echo "$LINES" | jq -r \'select(.role == "assistant") | .text\'\n', "role` and `text"),
    ],
)
def test_a_key_at_the_top_of_a_line(text, key):
    """A key that no line of a transcript has at its top is never found there."""
    ((words, line),) = unfound_keys(text)
    assert words == f"no line of the transcript has `{key}` at its top, where the script looks"
    assert line == text.count("\n")


@pytest.mark.parametrize(
    "text",
    [
        SHELL + 'jq -r \'select(.type == "assistant") | .message.content[]? | .name\' "$T"\n',
        SHELL + 'jq -rs \'map(select(.type == "user")) | length\' "$T"\n',
        SHELL + "grep assistant \"$T\" | jq -r '.message.role'\n",
        SHELL + "jq -c '.message.content[]?' \"$T\" | jq -r .name\n",
        SHELL + 'echo "$INPUT" | jq -r .tool_name\n',
        SHELL + "jq -r .name package.json\n",
    ],
)
def test_other_keys(text):
    """Keys below `message`, of the input and of other files are found."""
    assert [*unfound_keys(text)] == []


ASSISTANT = "select(.type==$who)|.message.content[]?|select(.type==$what).text"


@pytest.mark.parametrize(
    "text",
    [
        SHELL + f'LAST=$(tail -20 "$T" | jq -r "{ASSISTANT}")\necho "$LAST" | grep -qE "done|^finished"\n',
        SHELL + 'CALLS=$(tail -50 "$T" | jq -c \'.message.content[]?\')\necho "$CALLS" | jq -r .name\n',
        SHELL + 'LAST=$(cat "$T" | grep assistant | tail -1)\necho "$LAST" | grep -q finished\n',
        BASH + 'S=$(dirname "$(jq -r .transcript_path)")/state.txt\ngrep -q "^done" "$S"\njq -r .name "$S"\n',
        BASH + 'S=$(basename "$(jq -r .transcript_path)" .jsonl)\ngrep -q "^done" <<< "$S"\n',
        BASH + 'F=$(jq -r .transcript_path)\nF=/tmp/own.txt\ngrep -q "^done" "$F"\n',
        SHELL + 'grep -q subagents <<< "$T"\n',
        SHELL + 'jq -r \'recurse | objects | select(.type=="tool_use") | .name\' "$T"\n',
        SHELL + "jq -r '.role // .type' \"$T\"\n",
        SHELL + 'grep -c input_tokens "$T"\n',
    ],
)
def test_what_was_taken_out_of_the_lines(text):
    """Texts that a program took out of a transcript, and files beside it, are searched as they should be."""
    assert [*words_anywhere(text), *unfound_keys(text)] == []


@pytest.mark.parametrize(
    "text",
    [
        SHELL + 'grep Edit "$T" | jq -r \'select(.type == "assistant") | .message.content[]?.id\'\n',
        SHELL + "grep pytest \"$T\" | tail -20 | python3 -c 'import json, sys\nprint(sys.stdin.read())'\n",
        SHELL + 'grep pytest "$T" |\n  while read -r line; do jq -r .type <<< "$line"; done\n',
        SHELL + 'LINE=$(grep "npm test" "$T" | tail -1)\njq -r .type <<< "$LINE"\n',
        SHELL + 'LINE="$(grep "npm test" "$T")"\necho "$LINE" | node parse.js\n',
        SHELL + "grep -q '<command-name>/plan</command-name>' \"$T\" && exit 0\n",
    ],
)
def test_lines_that_another_program_reads(text):
    """A search that only chooses the lines which a program then parses, or that looks for a tag, is right."""
    assert [*words_anywhere(text)] == []


@pytest.mark.parametrize(
    ("file", "variable", "told"),
    [
        (".claude/settings.json", "CLAUDE_PROJECT_DIR", ["TEXT-MATCH"]),
        (".qwen/settings.json", "QWEN_PROJECT_DIR", []),
    ],
)
def test_the_host_whose_transcript_is_known(tmp_path, file, variable, told):
    """What is searched for in a transcript is reported for the host whose transcript is known."""
    script = tmp_path / "stop.sh"
    script.write_text(SHELL + 'grep -q ALL_DONE "$T" && exit 0\nexit 0\n')
    script.chmod(0o755)
    settings = tmp_path / file
    settings.parent.mkdir()
    hook = {"type": "command", "command": f'"${variable}"/stop.sh'}
    settings.write_text(json.dumps({"hooks": {"Stop": [{"hooks": [hook]}]}}))

    symptoms = [one for hook_set in find_hook_sets(tmp_path) for one in check_statically(hook_set).symptoms]

    assert [one.kind for one in symptoms if one.kind == "TEXT-MATCH"] == told
