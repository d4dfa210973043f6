"""Claims about free texts that a shell script puts into its answer as they are."""

import json
import subprocess

import pytest

from pytest_hookharness.campaigns.check.answers.pasted_texts import pasted_texts

BASH = "#!/bin/bash\n"
INPUT = BASH + "INPUT=$(cat)\nCOMMAND=$(echo \"$INPUT\" | jq -r '.tool_input.command // empty')\n"
TESTED = BASH + "out=$(cargo test 2>&1)\n"
REFUSES = 'echo "{\\"decision\\": \\"block\\", \\"reason\\": \\"Not allowed: $COMMAND\\"}"\n'
DOCUMENT = 'cat <<EOF\n{\n  "hookSpecificOutput": {"additionalContext": "Recent: ${RECENT}"}\n}\nEOF\n'


@pytest.mark.parametrize(
    ("text", "name"),
    [
        (INPUT + REFUSES, "COMMAND"),
        (INPUT + 'printf \'{"decision":"block","reason":"no: %s"}\\n\' "$COMMAND"\n', "COMMAND"),
        (BASH + "RECENT=$(git log --oneline -3 2>/dev/null || true)\n" + DOCUMENT, "RECENT"),
        (BASH + "RECENT=$(git log -3 --format=%s | tr '\\n' ' ')\n" + DOCUMENT, "RECENT"),
        (BASH + 'LOG=$(git log -1)\nRECENT="none"\nRECENT="Last: $LOG"\n' + DOCUMENT, "RECENT"),
        (BASH + 'COMMAND=$(npm test 2>&1)\nCOMMAND="Tests: $COMMAND"\n' + REFUSES, "COMMAND"),
        (BASH + "COMMAND=$(tail -n 20 build.log)\n" + REFUSES, "COMMAND"),
        (INPUT + """echo '{"reason": "No: '"$COMMAND"'", "continue": false}'\n""", "COMMAND"),
        (INPUT + """echo '{"reason": "No: '"$(echo "$COMMAND" | head -c 80)"'"}'\n""", "COMMAND"),
        (INPUT.replace("tool_input.", "") + """echo '{"reason": "'"${COMMAND}"'"}'\n""", "COMMAND"),
        (TESTED + 'COMMAND=$(echo "$out" | tail -5)\n' + REFUSES, "COMMAND"),
        (TESTED + 'COMMAND="$(printf \'%s\\n\' "${out}" | grep -v ok | head -n 20)"\n' + REFUSES, "COMMAND"),
        (TESTED + 'COMMAND=$(echo "$out" | grep -E "error|FAIL" || true)\n' + REFUSES, "COMMAND"),
        (TESTED + 'R=$(echo "$out" | tail -15)\nRECENT="Failed: $R"\n' + DOCUMENT, "RECENT"),
        (BASH + "COMMAND=$(.venv/bin/pytest -q 2>&1)\n" + REFUSES, "COMMAND"),
        (BASH + 'COMMAND=$(cd "$ROOT" && npm test 2>&1)\n' + REFUSES, "COMMAND"),
        (BASH + 'COMMAND=$(timeout 60 "$ROOT/node_modules/.bin/eslint" . 2>&1)\n' + REFUSES, "COMMAND"),
        (TESTED + 'block() {\n  echo "{\\"reason\\": \\"$1\\"}"\n}\nblock "failed: $out"\n', "out"),
        (TESTED + 'say() {\n  w="$2"\n  echo "{\\"reason\\": \\"$w\\"}"\n}\nsay "block" "no: $out"\n', "out"),
    ],
)
def test_free_text_in_an_answer(text, name):
    """A variable with free text between the quotation marks of an answer is named."""
    ((words, line),) = pasted_texts(text)
    assert words.startswith(f"${name} is put into the answer as it is")
    assert '"' in text.splitlines()[line - 1] or "cat <<" in text.splitlines()[line - 1]


@pytest.mark.parametrize(
    "text",
    [
        INPUT + 'jq -n --arg r "$COMMAND" \'{decision: "block", reason: $r}\'\n',
        INPUT + 'COMMAND=${COMMAND//\\"/}\n' + REFUSES,
        INPUT + 'COMMAND=$(echo "$COMMAND" | jq -Rs . | sed \'s/^"//; s/"$//\')\n' + REFUSES,
        INPUT + 'if [[ "$COMMAND" =~ ^[a-z\\ ]+$ ]]; then\n' + REFUSES + "fi\n",
        INPUT + REFUSES.replace("{", "(").replace("}", ")"),
        INPUT + """echo '{"reason": "No: $COMMAND"}'\n""",
        INPUT + """echo '{"reason": '"$COMMAND"'}'\n""",
        INPUT + """echo '{"reason": "'"$(echo "$COMMAND" | tr -d '"')"'"}'\n""",
        INPUT + """echo '{"reason": "'"$(echo "$COMMAND" | wc -c)"'"}'\n""",
        INPUT + REFUSES.rstrip("\n") + " > answer.json\n",
        INPUT + 'echo "{\\"n\\": \\"$COMMAND\\"}"\n',
        INPUT.replace(".command", ".file_path") + REFUSES,
        BASH + "RECENT=$(git log --oneline -3 | sed 's/\\\\/\\\\\\\\/g; s/\"/\\\\\"/g')\n" + DOCUMENT,
        BASH + "RECENT=$(git log --oneline -3 | wc -l)\n" + DOCUMENT,
        BASH + "RECENT=$(git log -1 --format=%h)\n" + DOCUMENT,
        BASH + "RECENT=$(git branch --show-current)\n" + DOCUMENT,
        BASH + "RECENT=$(git log -3)\n" + DOCUMENT.replace("<<EOF", "<<'EOF'"),
        BASH + "RECENT=$(node --version 2>&1)\n" + DOCUMENT,
        BASH + "# RECENT=$(git log -3)\n" + DOCUMENT,
        "const recent = `$(git log -3)`\n",
    ],
)
def test_other_texts_and_answers(text):
    """A text that the script changes, limits or writes as JSON, and what is no answer, is not named."""
    assert [*pasted_texts(text)] == []


SAYS = """  printf '{"decision":"block","reason":"%s"}\\n' "$reason"\n}\ndeny "Failed: $out"\n"""
SHOWN = DOCUMENT.replace("${RECENT}", "$out")


@pytest.mark.parametrize(
    "text",
    [
        TESTED + 'deny() {\n  local reason="$1"\n  reason=${reason//\\"/}\n' + SAYS,
        TESTED + 'deny() {\n  local reason="$1"\n  reason="$(escape_json "$reason")"\n' + SAYS,
        TESTED + 'deny() {\n  local reason=${1//\\"/}\n' + SAYS,
        BASH + 'T=$(cat a.md)\ncat <<EOF\n{"additionalContext": $(printf \'%s\' "$T" | jq -Rs .)}\nEOF\n',
        TESTED + 'echo "{\\"reason\\": \\"$(json_escape $out)\\"}"\n',
        TESTED + 'deny() {\n  echo "{\\"reason\\": \\"$1\\"}"\n}\ndeny "$(json_escape $out)"\n',
        BASH + "out=$(npm test 2>&1 | json_escape)\n" + SHOWN,
        TESTED + 'json_escape "$out"\nout=$REPLY\n' + SHOWN,
        TESTED + "escape out\n" + SHOWN,
        TESTED
        + 'log() {\n  local text="Failed: $out"\n  echo "$text" >>log\n}\n'
        + 'deny() {\n  local text="It failed."\n  echo "{\\"reason\\": \\"$text\\"}"\n}\nlog\ndeny\n',
        BASH + "out=$(git log -1 --pretty=format:%h)\n" + SHOWN,
        BASH + "out=$(cat VERSION)\n" + SHOWN,
        BASH + "out=$(cat version.txt)\n" + SHOWN,
        BASH + "out=$(npm test 2>&1 | grep -oE '[0-9]+ failed' | head -1)\n" + SHOWN,
        BASH + "out=$(npm test 2>&1 | grep -q FAIL && echo yes || echo no)\n" + SHOWN,
        BASH + 'out=$(cat count.md)\n[ "$out" -gt 3 ] || exit 0\n' + SHOWN,
        TESTED + 'out=$(echo "$out" | tail -1)\n' + SHOWN,
        TESTED + 'R=$(echo "$out" | tail -1)\n' + SHOWN.replace("$out", "$R"),
        TESTED + 'R=$(echo "$out" | grep -m 1 error)\n' + SHOWN.replace("$out", "$R"),
        TESTED
        + 'R=$(echo "$out" | grep -E "^error|[0-9] error" | tail -n 1)\n'
        + SHOWN.replace("$out", "$R"),
        TESTED + 'R=$(echo "$out" | grep "[0-9] error")\n' + SHOWN.replace("$out", "$R"),
        TESTED + 'R=$(echo "$out" | grep "tests passed")\n' + SHOWN.replace("$out", "$R"),
        TESTED + 'R=$(echo "$out" | grep -v "error")\n' + SHOWN.replace("$out", "$R"),
        TESTED + 'R=$(echo "$out" | grep -c error)\n' + SHOWN.replace("$out", "$R"),
        TESTED + 'R=$(echo "$out" | grep -o "error" | head -5)\n' + SHOWN.replace("$out", "$R"),
        TESTED + 'R=$(echo "$out" | tail -5 | json_escape)\n' + SHOWN.replace("$out", "$R"),
        TESTED + 'R=$(echo "$out" | tail -5 | tr -d \'"\\n\')\n' + SHOWN.replace("$out", "$R"),
        TESTED + 'R=$(echo "$out" | tail -5)\nR=${R//\\"/}\n' + SHOWN.replace("$out", "$R"),
        TESTED + 'out=${out//\\"/}\nR=$(echo "$out" | tail -5)\n' + SHOWN.replace("$out", "$R"),
        BASH + 'out=$(date)\nR=$(echo "$out" | tail -5)\n' + SHOWN.replace("$out", "$R"),
        INPUT + 'case "$COMMAND" in ls|pwd) ;; *) exit 0 ;; esac\n' + REFUSES,
        INPUT + '[ "$COMMAND" = "git push" ] || exit 0\n' + REFUSES,
        INPUT + "echo \"$COMMAND\" | grep -qE '^[a-z ]+$' || exit 0\n" + REFUSES,
        INPUT + 'echo "{\\"reason\\": \\"use \\$COMMAND\\"}"\n',
    ],
)
def test_texts_that_are_escaped_or_known(text):
    """A text that is escaped on its way, that is checked, or that has one word, is not named."""
    assert [*pasted_texts(text)] == []


def test_what_a_quotation_mark_does(tmp_path):
    """What is named is no JSON where the text has a quotation mark, and JSON where it has none."""
    script = tmp_path / "guard.sh"
    script.write_text(INPUT + REFUSES)

    def answer(command):
        given = json.dumps({"tool_input": {"command": command}})
        return subprocess.run(
            ["bash", script], input=given, capture_output=True, text=True, check=True
        ).stdout

    assert json.loads(answer("rm -rf build"))["decision"] == "block"
    with pytest.raises(ValueError, match="Expecting"):
        json.loads(answer('rm -rf "build"'))


def test_what_several_lines_do(tmp_path):
    """A reported answer is not valid JSON if the program printed several lines, and valid with one line."""
    script = tmp_path / "gate.sh"
    failed = 'COMMAND=$(echo "$out" | tail -5)\n' + REFUSES
    assert [*pasted_texts(TESTED + failed)]
    for printed, lines in (("1 failed", 1), ("1 failed\\nerror", 2)):
        script.write_text(f"{BASH}out=$(printf '{printed}' 2>&1)\n{failed}")
        run = subprocess.run(["bash", script], capture_output=True, text=True, check=True)
        if lines == 1:
            assert json.loads(run.stdout)["reason"] == "Not allowed: 1 failed"
        else:
            with pytest.raises(ValueError, match="control character"):
                json.loads(run.stdout)
