"""Claims about faults that sessions correct: a mode, a path or a timeout."""

import json

import pytest

from pytest_hookharness.campaigns.check.check_run import CheckRun
from pytest_hookharness.campaigns.check.discovery import find_hook_sets
from pytest_hookharness.campaigns.check.session_errors import play_session
from pytest_hookharness.campaigns.check.session_scenario import with_corrections
from pytest_hookharness.campaigns.check.sessions import plan_each_event
from pytest_hookharness.campaigns.check.static_checks import check_statically

GUARD = "#!/bin/sh\ngrep -q 'rm -rf' && { echo 'No rm here.' >&2; exit 2; }\nexit 0\n"


def project(root, text, command, mode=0o644, event="PreToolUse"):
    """The hook set of a project with one hook, a guard of commands unless another event is given."""
    (root / ".claude").mkdir()
    (root / "guard.sh").write_text(text)
    (root / "guard.sh").chmod(mode)
    entry = {"matcher": "Bash", "hooks": [{"type": "command", "command": command}]}
    (root / ".claude" / "settings.json").write_text(json.dumps({"hooks": {event: [entry]}}))
    (hook_set,) = find_hook_sets(root)
    return hook_set


@pytest.mark.parametrize(
    ("text", "command", "mode", "corrected"),
    [
        (GUARD, '"$CLAUDE_PROJECT_DIR"/guard.sh', 0o644, True),
        (GUARD, '"$CLAUDE_PROJECT_DIR"/guard.sh', 0o755, False),
        (GUARD, 'sh "$CLAUDE_PROJECT_DIR"/guard.sh', 0o644, False),
        (GUARD, '"$CLAUDE_PROJECT_DIR"/missing.sh', 0o644, False),
        (GUARD.partition("\n")[2], '"$CLAUDE_PROJECT_DIR"/guard.sh', 0o644, False),
    ],
)
def test_which_scripts_are_executable_in_sessions(tmp_path, text, command, mode, corrected):
    """Sessions have a script as an executable file if it is a program that lacks nothing else."""
    hook_set = project(tmp_path, text, command, mode)
    assert with_corrections(hook_set, ()).texts == ({"guard.sh": GUARD} if corrected else {})


def test_commands_that_hinder_are_left_out_unless_they_are_corrected(tmp_path):
    """`:` replaces a command that stops the agent, unless it only lacks the executable bit."""
    hook_set = project(tmp_path, GUARD, '"$CLAUDE_PROJECT_DIR"/guard.sh')
    command = hook_set.hooks[0].command
    assert [*with_corrections(hook_set, [command]).texts] == ["guard.sh"]
    (tmp_path / "guard.sh").chmod(0o755)
    assert [*with_corrections(hook_set, [command]).texts] == [".claude/settings.json"]


@pytest.mark.nightly
@pytest.mark.slow
def test_other_defects_of_a_script_without_the_bit(tmp_path, harness):
    """The missing bit is reported once, and beside it what else is wrong with the script."""
    hook_set = project(tmp_path, GUARD, '"$CLAUDE_PROJECT_DIR"/guard.sh')
    report = CheckRun(hook_set, harness.settings, harness.resources).run()
    found = [one.symptom for one in report.problems]
    (bare,) = [one for one in found if one.kind == "NOT-RUN"]
    assert bare.advice.startswith("Run `chmod +x`")
    assert any("(guard.sh) had the executable bit" in one for one in report.tried)
    assert {"RAW-JSON", "TEXT-MATCH"} & {one.kind for one in found}


@pytest.mark.parametrize(
    ("command", "corrected"),
    [
        ("$CLAUDE_PROJECT_DIR/hooks/guard.sh", '"$CLAUDE_PROJECT_DIR"/guard.sh'),
        ("bash hooks/guard.sh 2>/dev/null", 'bash "$CLAUDE_PROJECT_DIR"/guard.sh 2>/dev/null'),
        ("'/opt/some one/guard.sh' --all", '"$CLAUDE_PROJECT_DIR"/guard.sh --all'),
        ("MODE=all /opt/own/guard.sh", 'MODE=all "$CLAUDE_PROJECT_DIR"/guard.sh'),
        ("hooks/other.sh", ""),
        ("[ -f hooks/guard.sh ] && hooks/guard.sh", ""),
        ("./guard.sh", ""),
    ],
)
def test_which_paths_are_corrected_in_sessions(tmp_path, command, corrected):
    """Sessions have the right path of a script that is missing, if the project has one of its name."""
    hook_set = project(tmp_path, GUARD, command, 0o755)
    place = with_corrections(hook_set, ())
    assert [one.command for one in place.hooks] == [corrected or command]
    assert place.found == (hook_set if corrected else None)
    assert (corrected or "nothing") in json.loads(place.texts.get(".claude/settings.json", "{}")).get(
        "hooks", {"PreToolUse": [{"hooks": [{"command": "nothing"}]}]}
    )["PreToolUse"][0]["hooks"][0]["command"]


def test_two_scripts_of_one_name_are_not_chosen_from(tmp_path):
    """A path is not corrected where the project has several scripts of that name."""
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "guard.sh").write_text(GUARD)
    hook_set = project(tmp_path, GUARD, "hooks/guard.sh", 0o755)
    (tmp_path / "guard.sh").unlink()
    assert with_corrections(hook_set, ()) == hook_set


@pytest.mark.parametrize(
    ("other", "there"),
    [
        ({"command": '"$CLAUDE_PROJECT_DIR"/guard.sh'}, "guard.sh"),
        ({"command": "true"}, "tests/guard.sh"),
        ({"command": "true"}, "examples/old/guard.sh"),
    ],
)
def test_what_is_no_lost_script(tmp_path, other, there):
    """No path is corrected to another hook's script, a test or an example."""
    (tmp_path / there).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / there).write_text(GUARD)
    (tmp_path / there).chmod(0o755)
    entries = [
        {"hooks": [{"type": "command", **other}]},
        {"hooks": [{"type": "command", "command": "x/guard.sh"}]},
    ]
    (tmp_path / ".claude").mkdir()
    (tmp_path / ".claude" / "settings.json").write_text(json.dumps({"hooks": {"PreToolUse": entries}}))
    (hook_set,) = find_hook_sets(tmp_path)
    assert with_corrections(hook_set, ()) == hook_set
    (missing,) = [one for one in check_statically(hook_set).symptoms if one.kind == "NOT-RUN"]
    assert missing.advice == "Correct the path, or add the file."


def test_only_one_of_two_hooks_gets_a_script(tmp_path):
    """Two commands that mean one script could not be told apart, so only the first one is corrected."""
    hook_set = project(tmp_path, GUARD, "x/guard.sh", 0o755)
    file = tmp_path / ".claude" / "settings.json"
    entry = {"hooks": [{"type": "command", "command": "y/guard.sh"}]}
    settings = json.loads(file.read_text())
    settings["hooks"]["PreToolUse"].append(entry)
    file.write_text(json.dumps({**settings, "disableAllHooks": True}))
    (hook_set,) = find_hook_sets(tmp_path)
    corrected = with_corrections(hook_set, ())
    assert [one.command for one in corrected.hooks] == ['"$CLAUDE_PROJECT_DIR"/guard.sh', "y/guard.sh"]
    # What was prepared before is kept: the hooks are on.
    assert "disableAllHooks" not in json.loads(corrected.texts[".claude/settings.json"])


@pytest.mark.nightly
def test_what_the_source_and_a_session_show_is_one_problem(tmp_path, harness):
    """A refusal without a reason is reported once, also where sessions run another command."""
    silent = '#!/bin/sh\necho \'{"decision": "block"}\'\n'
    hook_set = project(tmp_path, silent, "$CLAUDE_PROJECT_DIR/x/guard.sh", 0o755, event="Stop")
    report = CheckRun(hook_set, harness.settings, harness.resources).run()
    kinds = [one.symptom.kind for one in report.problems]
    assert kinds.count("SILENT-REFUSAL") == 1
    assert {"NOT-RUN", "livelock"} <= {*kinds}
    assert len({one.id for one in report.problems}) == len(kinds)


@pytest.mark.nightly
def test_other_defects_of_a_hook_that_its_timeout_ends(tmp_path, harness):
    """A guard whose timeout in the wrong unit ends each run is played with a longer one, and judged."""
    (tmp_path / "guard.sh").write_text(GUARD.replace("grep", "sleep 0.1; grep"))
    (tmp_path / "guard.sh").chmod(0o755)
    entry = {"hooks": [{"type": "command", "command": "$GEMINI_PROJECT_DIR/guard.sh", "timeout": 10}]}
    (tmp_path / ".gemini").mkdir()
    (tmp_path / ".gemini" / "settings.json").write_text(json.dumps({"hooks": {"BeforeTool": [entry]}}))
    (hook_set,) = find_hook_sets(tmp_path)
    report = CheckRun(hook_set, harness.settings, harness.resources).run()
    kinds = {one.symptom.kind for one in report.problems}
    assert {"TIMEOUT-UNIT", "RAW-JSON"} <= kinds
    assert not {"SLOW", "HUNG-HOOK"} & kinds
    assert any("(guard.sh) had its timeout counted in seconds" in one for one in report.tried)


@pytest.mark.parametrize(("unit", "written", "used"), [(0.001, 10, 10000), (0.001, 5000, 5000)])
def test_timeouts_that_end_hooks_at_once_are_longer_in_sessions(tmp_path, unit, written, used):
    """Where a host counts milliseconds, sessions have seconds in the place of a timeout that means them."""
    entry = {"hooks": [{"type": "command", "command": "true", "timeout": written}]}
    (tmp_path / ".gemini").mkdir()
    (tmp_path / ".gemini" / "settings.json").write_text(json.dumps({"hooks": {"AfterAgent": [entry]}}))
    (hook_set,) = find_hook_sets(tmp_path)
    assert hook_set.hooks[0].timeout == written * unit
    corrected = with_corrections(hook_set, ())
    assert (corrected == hook_set) == (used == written)
    assert used == written or f'"timeout": {used}' in corrected.texts[".gemini/settings.json"]


@pytest.mark.nightly
@pytest.mark.slow
def test_other_defects_of_a_script_with_a_wrong_path(tmp_path, harness):
    """The wrong path is reported once, and beside it what else is wrong, both under the command as it is."""
    hook_set = project(tmp_path, GUARD, "$CLAUDE_PROJECT_DIR/hooks/guard.sh", 0o755)
    report = CheckRun(hook_set, harness.settings, harness.resources).run()
    found = [one.symptom for one in report.problems]
    (missing,) = [one for one in found if one.kind == "NOT-RUN"]
    assert missing.advice == "Correct the path: the project has guard.sh."
    assert any("(guard.sh) had the correct path of its script" in one for one in report.tried)
    assert {"RAW-JSON", "TEXT-MATCH"} & {one.kind for one in found}
    assert (report.place, {*report.triggered}) == (hook_set, {hook_set.hooks[0].command})
    assert {one.hook for one in found} == {hook_set.hooks[0].command}


def plugin(root, **options):
    """The hook set of a plugin with one guard that lacks the bit, and finds its words beside itself."""
    guard = GUARD.replace("'rm -rf'", '-f "$CLAUDE_PLUGIN_ROOT/words.txt"')
    (root / "guard.sh").write_text(guard)
    (root / "words.txt").write_text("rm -rf\n")
    entry = {"type": "command", "command": '"${CLAUDE_PLUGIN_ROOT}"/guard.sh', **options}
    hooks = {"PreToolUse": [{"matcher": "Bash", "hooks": [entry]}]}
    for folder, name, content in (
        ("hooks", "hooks", {"hooks": hooks}),
        (".claude-plugin", "plugin", {"name": "p"}),
    ):
        (root / folder).mkdir()
        (root / folder / f"{name}.json").write_text(json.dumps(content))
    (hook_set,) = find_hook_sets(root)
    return hook_set


def test_a_plugin_with_a_script_without_the_bit(tmp_path, harness):
    """The sessions of a plugin have its folder as their project, where its script is executable."""
    hook_set = plugin(tmp_path)
    corrected = with_corrections(hook_set, ())
    assert (corrected.plugin, corrected.found) == (False, hook_set)
    outcome = play_session(plan_each_event(corrected), harness.settings, harness.resources)
    runs = [run for _, run in outcome.trace.hook_runs()]
    assert runs
    assert {run.hook.command for run in runs} == {hook_set.hooks[0].command}
    assert {run.ending.code for run in runs} <= {0, 2}


def test_a_plugin_with_a_wrong_path(tmp_path, harness):
    """The sessions of a plugin whose command names a missing script run the one script of that name."""
    plugin(tmp_path, command='"${CLAUDE_PLUGIN_ROOT}"/scripts/guard.sh')
    (tmp_path / "guard.sh").chmod(0o755)
    (hook_set,) = find_hook_sets(tmp_path)
    corrected = with_corrections(hook_set, ())
    assert (corrected.plugin, corrected.found) == (False, hook_set)
    assert [one.command for one in corrected.hooks] == ['"${CLAUDE_PLUGIN_ROOT}"/guard.sh']
    outcome = play_session(plan_each_event(corrected), harness.settings, harness.resources)
    endings = {run.ending.code for _, run in outcome.trace.hook_runs()}
    assert endings
    assert endings <= {0, 2}


def test_a_plugin_with_arguments_stays_as_it_is(tmp_path):
    """A plugin whose entries have arguments of their own is no project."""
    hook_set = plugin(tmp_path, args=["one"])
    assert with_corrections(hook_set, ()) == hook_set


def test_a_plugin_keeps_its_further_keys(tmp_path):
    """The project that a plugin becomes has the further keys of its entries, such as a rule of the host."""
    corrected = with_corrections(plugin(tmp_path, **{"if": "Bash(rm *)"}), ())
    assert not corrected.plugin
    assert [entry["if"] for entry in corrected.inline["PreToolUse"]] == ["Bash(rm *)"]


@pytest.mark.nightly
@pytest.mark.slow
def test_other_defects_of_a_plugin_without_the_bit(tmp_path, harness):
    """The report is about the plugin as it was found, with what else is wrong with its script."""
    hook_set = plugin(tmp_path)
    report = CheckRun(hook_set, harness.settings, harness.resources).run()
    assert report.place == hook_set
    kinds = {one.symptom.kind for one in report.problems}
    assert "NOT-RUN" in kinds
    assert {"RAW-JSON", "TEXT-MATCH"} & kinds


@pytest.mark.nightly
def test_what_the_host_makes_of_a_script_without_the_bit(tmp_path, harness):
    """The effect of a script that cannot run is that of the failed run, not that of later refusals."""
    gate = "#!/bin/sh\necho 'Not yet.' >&2\nexit 2\n"
    hook_set = project(tmp_path, gate, '"$CLAUDE_PROJECT_DIR"/guard.sh', event="Stop")
    report = CheckRun(hook_set, harness.settings, harness.resources).run()
    (bare,) = [one.symptom for one in report.problems if one.symptom.kind == "NOT-RUN"]
    assert bare.effect == "claude-code ignores it: Stop goes on as if the hook were not there."
    assert "Permission denied" in bare.printed
