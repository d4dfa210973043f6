"""Claims about scripts that decide by what one program prints."""

import json
import subprocess
from dataclasses import replace

import pytest

from pytest_hookharness.campaigns.check.lone_programs.lone_switches import (
    lone_switch,
    only_shown_by,
    only_switched_by,
)
from pytest_hookharness.campaigns.check.reads.script_checks import find_in_scripts
from pytest_hookharness.campaigns.check.shell_code.shell_scripts import inline_program
from pytest_hookharness.campaigns.check.shell_code.shell_wrappers import with_programs_in_place

from ..static.one_hook import one_hook

HEAD = "#!/bin/bash\nINPUT=$(cat)\n"
COMMAND = "CMD=$(echo \"$INPUT\" | jq -r '.tool_input.command // empty' 2>/dev/null)\n"
STATE = "ACTIVE=$(jq -r .active .claude/loop.json 2>/dev/null)\n"
LEAVES = 'if [ "$ACTIVE" != "true" ]; then\n  exit 0\nfi\n'
EMPTY = '[ -z "$CMD" ] && exit 0\n'
BLOCKS = "echo 'No.' >&2\nexit 2\n"
SEARCH = 'if echo "$CMD" | grep -qE "rm -rf"; then\n  echo No >&2\n  exit 2\nfi\n'
LIST = "LIST=(\n  'rm -rf'  # files\n  # disks\n  'mkfs'\n)\n"
EACH = 'for p in "${LIST[@]}"; do\n  if echo "$CMD" | grep -qE "$p"; then\n    exit 2\n  fi\ndone\n'
DENY = 'deny() {\n  echo "$1" >&2\n  exit 2\n}\n'
CHECK = 'check() {\n  [ -f "$1" ] && deny No\n}\n'


@pytest.mark.parametrize(
    ("text", "tool"),
    [
        (HEAD + STATE + LEAVES + BLOCKS, "jq"),
        (HEAD + STATE + '[[ "$ACTIVE" != "true" ]] && exit 0\n' + BLOCKS, "jq"),
        (HEAD + STATE + '[[ "$ACTIVE" == "true" ]] || exit 0\n' + BLOCKS, "jq"),
        (HEAD + STATE + '[ -n "$ACTIVE" ] || exit 0\n' + BLOCKS, "jq"),
        (HEAD + COMMAND + EMPTY + BLOCKS, "jq"),
        (HEAD + COMMAND + 'if [[ -z "$CMD" ]]; then\n  exit 0\nfi\n' + BLOCKS, "jq"),
        (HEAD + COMMAND + 'if [ "$CMD" = "" ]; then exit 0; fi\n' + BLOCKS, "jq"),
        (HEAD + COMMAND + 'case "$CMD" in\n  *"git commit"*) ;;\n  *) exit 0 ;;\nesac\n' + BLOCKS, "jq"),
        (HEAD + DENY + COMMAND + EMPTY + "deny No\n", "jq"),
        (HEAD + "if [ -f .claude/loop.json ]; then\n  " + STATE + "fi\n" + LEAVES + BLOCKS, "jq"),
        (HEAD + 'ACTIVE=$(echo "$INPUT" | jq -r .mode)\n' + LEAVES + BLOCKS, "jq"),
        (HEAD + STATE.replace("jq -r .active", "python3 read.py") + LEAVES + BLOCKS, "python3"),
        (HEAD + STATE + LEAVES + 'echo \'{"decision": "block", "reason": "Go on."}\'\n', "jq"),
        # The value may come from elsewhere, or is asked for in a branch, or the stop is refused before.
        (HEAD + "ACTIVE=true\n" + STATE + LEAVES + BLOCKS, ""),
        (HEAD + STATE.replace(")", " || echo true)") + LEAVES + BLOCKS, ""),
        (HEAD + STATE + "if [ -t 0 ]; then\n  " + LEAVES + "fi\n" + BLOCKS, ""),
        (HEAD + "[ -f .claude/late ] && exit 2\n" + STATE + LEAVES + BLOCKS, ""),
        (HEAD + DENY + "[ -f late ] && deny No\n" + COMMAND + EMPTY + BLOCKS, ""),
        (HEAD + COMMAND + 'case "$CMD" in\n  "") exit 2 ;;\n  *) exit 0 ;;\nesac\n' + BLOCKS, ""),
        (HEAD + COMMAND + 'case "$CMD" in\n  ""|x) ;;\n  *) exit 0 ;;\nesac\n' + BLOCKS, ""),
        (HEAD + STATE + LEAVES.replace("exit 0", "exit 2"), ""),
        (HEAD + STATE + LEAVES.replace("!=", "="), ""),
        (HEAD + STATE + LEAVES, ""),
        (HEAD + "ACTIVE=$(cat .claude/loop)\n" + LEAVES + BLOCKS, ""),
        # A failure is no refusal.
        (HEAD + STATE + LEAVES + "has() {\n  grep -q x y || return 1\n}\nhas && date\n", ""),
        (HEAD + STATE + LEAVES + 'cp "$FILE" backup || exit 1\n', ""),
        (HEAD + STATE + LEAVES + 'exit "${STATUS:-0}"\n', ""),
        (HEAD + STATE + LEAVES + 'STATUS=2\nexit "$STATUS"\n', "jq"),
    ],
)
def test_the_program_whose_value_switches_a_script_off(text, tool):
    """A program is named if a script ends at once with 0 where it prints nothing."""
    assert only_switched_by(text) == tool


@pytest.mark.parametrize(
    ("text", "tool"),
    [
        (HEAD + COMMAND + SEARCH, "jq"),
        (HEAD + COMMAND + SEARCH + "exit 0\n", "jq"),
        (HEAD + COMMAND + DENY + 'if [[ "$CMD" =~ rm[[:space:]] ]]; then\n  deny No\nfi\n', "jq"),
        (HEAD + COMMAND + '[[ "$CMD" == *"rm -rf"* ]] && exit 2\n', "jq"),
        # What stands behind a semicolon is not known.
        (HEAD + COMMAND + '[[ "$CMD" == *"rm -rf"* ]] && { echo No >&2; exit 2; }\n', ""),
        (HEAD + COMMAND + 'case "$CMD" in\n  *"rm -rf"*|*mkfs*)\n    exit 2 ;;\nesac\n', "jq"),
        (
            HEAD
            + COMMAND
            + 'if [[ "$CMD" == *prod* && ("$CMD" == *a* || "$CMD" == *b*) ]]; then exit 2; fi\n',
            "jq",
        ),
        (HEAD + COMMAND + 'if [ "$CMD" = "aa" ] || [ "$CMD" = "bb" ]; then exit 2; fi\n', "jq"),
        (HEAD + COMMAND + "N=$(echo \"$CMD\" | tr -s ' ')\n" + SEARCH.replace("CMD", "N"), "jq"),
        (HEAD + LIST + COMMAND + EACH, "jq"),
        (HEAD + LIST.replace("mkfs", ".") + COMMAND + EACH, ""),
        (HEAD + 'LIST=("$OWN")\n' + COMMAND + EACH, ""),
        (HEAD + LIST.replace("mkfs", "^[[:space:]]*$") + COMMAND + EACH, ""),
        (HEAD + LIST.replace("mkfs", "^(rm|dd)?$") + COMMAND + EACH, ""),
        (HEAD + LIST + "LIST+=('^$')\n" + COMMAND + EACH, ""),
        (HEAD + COMMAND + DENY + CHECK + 'case "$CMD" in\n  *rm*) check "$CMD" ;;\nesac\n', "jq"),
        (HEAD + COMMAND + DENY + CHECK + 'checks() {\n  check a\n}\n[[ "$CMD" == *rm* ]] && checks\n', "jq"),
        # The function is called in another place too, or calls itself, or nothing calls it.
        (HEAD + COMMAND + DENY + CHECK + 'check a\n[[ "$CMD" == *rm* ]] && check "$CMD"\n', ""),
        (HEAD + COMMAND + DENY + CHECK + '[ "$CMD" = "" ] && check "$CMD"\n', ""),
        (HEAD + COMMAND + DENY + CHECK.replace("&& deny No", "&& deny No\n  check b"), ""),
        (HEAD + COMMAND + DENY + CHECK, ""),
        (HEAD + COMMAND + DENY + CHECK + '"check" a\n[[ "$CMD" == *rm* ]] && check "$CMD"\n', ""),
        (HEAD + COMMAND + ': "${CMD:=$INPUT}"\n[[ "$CMD" == *"rm -rf"* ]] && exit 2\n', ""),
        # It may refuse without the command, or for another reason.
        (HEAD + COMMAND + SEARCH + "[ -f .claude/late ] && exit 2\n", ""),
        (HEAD + COMMAND + 'if ! echo "$CMD" | grep -q "pnpm"; then exit 2; fi\n', ""),
        (HEAD + COMMAND + 'if echo "$CMD" | grep -qv "pnpm"; then exit 2; fi\n', ""),
        (HEAD + COMMAND + 'if [ "$CMD" = "aa" ] || [ -f late ]; then exit 2; fi\n', ""),
        (HEAD + COMMAND + 'if [[ "$CMD" == *"a b"* ]]; then :; else exit 2; fi\n', ""),
        (HEAD + COMMAND + 'case "$CMD" in\n  *"git"*) ;;\n  *) exit 2 ;;\nesac\n', ""),
        (HEAD + COMMAND + 'case "$MODE" in\n  *"git"*) exit 2 ;;\nesac\n', ""),
        (HEAD + COMMAND + "CMD=x\n" + SEARCH, ""),
        (HEAD + COMMAND.replace("2>/dev/null)", '|| echo "$INPUT")') + SEARCH, ""),
        (HEAD + "CMD=$(cat)\n" + SEARCH, ""),
        (HEAD + COMMAND + "exit 0\n", ""),
    ],
)
def test_the_program_that_shows_what_is_refused(text, tool):
    """A program is named if every refusal needs a text that this program alone gives."""
    assert only_shown_by(text) == tool


def test_events_at_which_nothing_is_refused():
    """Hooks that can refuse nothing are left out."""
    for event, expected in [("Stop", "jq"), ("PreToolUse", "jq"), ("SessionStart", ""), ("PostToolUse", "")]:
        assert lone_switch(*one_hook(event, HEAD + STATE + LEAVES + BLOCKS)) == expected


def test_a_command_that_is_the_script():
    """A command that is the guard itself is named too, as its own status 2 is no answer to a failure."""
    hook_set, hook = one_hook("PreToolUse", "")
    command = COMMAND.replace('echo "$INPUT" | ', "").replace("\n", "; ") + SEARCH
    hook_set = replace(hook_set, sources=(), hooks=(replace(hook, command=command),))
    found = [one.text for kind in find_in_scripts(hook_set) for one in kind if one.kind == "UNGUARDED-TOOL"]

    assert found == [
        "PreToolUse: it decides by what `jq` prints, so with no `jq` on the PATH every call is allowed."
    ]


@pytest.mark.parametrize(
    "text",
    [
        HEAD + "command -v jq >/dev/null || exit 0\n" + COMMAND + SEARCH,
        HEAD + COMMAND + 'if [ -z "$CMD" ]; then echo "no jq?" >&2; exit 0; fi\n' + SEARCH,
        HEAD + COMMAND + 'case "$CMD" in\n  "") echo "no jq?" >&2 ;;\nesac\n' + SEARCH,
        HEAD + COMMAND + 'eval "$CHECK"\n' + SEARCH,
    ],
)
def test_scripts_that_may_say_what_is_missing(text):
    """Nothing is said of a script that looks for the program, or tells of an empty value."""
    assert lone_switch(*one_hook("PreToolUse", HEAD + COMMAND + EMPTY + SEARCH)) == "jq"
    words = SEARCH.replace("rm -rf", "eval [a-z]")
    assert lone_switch(*one_hook("PreToolUse", HEAD + COMMAND + EMPTY + words)) == "jq"
    assert not lone_switch(*one_hook("PreToolUse", text))


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        ("OUT=$(npx tsc 2>&1)\nRC=$?\n", "jq"),
        ("npx tsc\n[ $? -eq 0 ] || exit 2\n", "jq"),
        ("trap 'rm -f \"$TMP\"' EXIT\n", "jq"),
        ("[ $? -eq 0 ] || exit 2\n", ""),
        ("date\nRC=$?\n", ""),
        ("trap 'exit 2' ERR\n", ""),
        ("trap clean_up EXIT\n", ""),
    ],
)
def test_statuses_of_other_programs(status, expected):
    """A status may be that of the missing program only if the script asks for it right behind a call."""
    text = HEAD + COMMAND + ("" if expected == "" else EMPTY + "date\n") + status + EMPTY + SEARCH
    assert lone_switch(*one_hook("PreToolUse", text)) == expected


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        ('field() { echo "$INPUT" | jq -r ".$1 // empty" 2>/dev/null; }\n', "jq"),
        ('field() {\n  local key="$1"\n  printf \'%s\' "$INPUT" | jq -r ".$key" || true\n}\n', "jq"),
        ('field() { echo "$INPUT" | sed -n "s/$1//p"; }\n', ""),
        ('field() { echo "$INPUT" | jq -r ".$1" || sed -n 1p; }\n', ""),
        ('field() { date; echo "$INPUT" | jq -r ".$1"; }\n', ""),
    ],
)
def test_a_function_that_only_calls_the_program(function, expected):
    """A value that such a function prints is a value of the program."""
    text = HEAD + function + "CMD=$(field command)\n" + EMPTY + SEARCH
    assert lone_switch(*one_hook("PreToolUse", text)) == expected


def test_silent_questions_of_other_scripts():
    """Another script that looks for the program and tells nobody changes nothing."""
    text = HEAD + COMMAND + EMPTY + SEARCH
    silent = "#!/bin/sh\nif command -v jq >/dev/null; then\n  date\nfi\n"
    assert lone_switch(*one_hook("PreToolUse", text, [silent])) == "jq"
    told = "#!/bin/sh\ncommand -v jq >/dev/null || echo 'Install jq.'\n"
    assert lone_switch(*one_hook("PreToolUse", text, [told])) == ""


@pytest.mark.parametrize(
    ("command", "program"),
    [
        ("bash -c 'x=$(cat); echo \"$x\" | grep -q y'", '#!/bin/bash\nx=$(cat)\n echo "$x" | grep -q y'),
        ("/bin/sh -c 'true && false'", "#!/bin/sh\ntrue && false"),
        ("cat | jq -r .x", "#!/bin/sh\ncat | jq -r .x"),
        ("bash check.sh", ""),
        ('bash -c "echo $HOME | cat"', ""),
        ("bash -c 'echo | cat' x y", ""),
        ("bash -c 'unclosed", ""),
    ],
)
def test_programs_in_commands(command, program):
    """The program of a command is what its shell runs; the start of a script is none."""
    assert inline_program(command) == program


def test_the_shell_agrees(tmp_path):
    """A guard that is named allows a command without the program that it refuses with it."""
    script = tmp_path / "x.sh"
    script.write_text(HEAD + COMMAND + SEARCH, encoding="utf-8")
    (tmp_path / "bin").mkdir()
    for name in ("cat", "grep"):
        found = subprocess.run(["bash", "-c", f"type -P {name}"], capture_output=True, text=True, check=True)
        (tmp_path / "bin" / name).symlink_to(found.stdout.strip())
    payload = json.dumps({"tool_input": {"command": "rm -rf x"}})
    run = subprocess.run(
        ["/bin/bash", str(script)], input=payload, env={"PATH": str(tmp_path / "bin")}, text=True, check=False
    )
    assert run.returncode == 0


REPEATED = {
    "calls": "X=$(jq -r .a)\n",
    "values": "X%d=$(jq -r .a)\n",
    "tests of values": 'X%d=$(jq -r .a)\n[ "$X%d" != "a" ] && exit 0\n',
    "functions": "f%d() {\n",
    "refusals": 'X=$(jq -r .a)\nif [ "$X" = "ab" ]; then exit 2; fi\n',
    "open conditions": 'if [ "$X" = "ab" ]; then\n',
    "open cases": "case $X in\n",
    "arms": "aa) ;;\n",
    "pipes": "echo $X | tr a b | ",
    "lists": "true && ",
    "lists of texts": "LIST=(\n'aa'\n",
    "texts of a list": "'aa'\n",
    "loops over a list": 'for p in "${LIST[@]}"; do\n',
}


@pytest.mark.nightly
@pytest.mark.parametrize("part", REPEATED.values(), ids=REPEATED)
def test_a_long_script_takes_a_time_that_grows_with_its_length(takes_linear_time, part):
    """A script four times as long takes about four times as long."""

    def text_of(length):
        parts = (part.replace("%d", str(number)) for number in range(length // len(part)))
        return HEAD + COMMAND + "".join(parts) + "\n" + SEARCH

    takes_linear_time(text_of, lambda text: (only_switched_by(text), only_shown_by(text)), 0.003)


@pytest.mark.nightly
@pytest.mark.parametrize("part", [*REPEATED.values(), "f() {\n  jq .a\n}\n", "$(f x)"])
def test_functions_take_a_time_that_grows_with_their_length(takes_linear_time, part):
    """A script four times as long takes about four times as long, also with functions in it."""

    def text_of(length):
        parts = (part.replace("%d", str(number)) for number in range(length // len(part)))
        return HEAD + "f() {\n  jq .a\n}\n" + "".join(parts) + "\n" + SEARCH

    takes_linear_time(text_of, lambda text: with_programs_in_place(text, "jq"), 0.003)
