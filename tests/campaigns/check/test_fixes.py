"""Claims about the fixes that a check offers: each was played, and nothing else is offered."""

import json
from dataclasses import replace

import pytest

from pytest_hookharness.campaigns.check.answers.script_answers import reworded_answers
from pytest_hookharness.campaigns.check.check_run import CheckRun
from pytest_hookharness.campaigns.check.discovery import find_hook_sets
from pytest_hookharness.campaigns.check.fixes.draft_files import DraftFiles
from pytest_hookharness.campaigns.check.fixes.fix_candidates import find_candidates
from pytest_hookharness.campaigns.check.fixes.fix_trial import find_fixes
from pytest_hookharness.campaigns.check.session_errors import play_session
from pytest_hookharness.campaigns.check.session_scenario import scenario_of
from pytest_hookharness.frontends.checkup import check_all, project_copies
from pytest_hookharness.frontends.harness import Harness
from pytest_hookharness.model.checkup import CheckReport, CheckSession, Problem, Symptom
from pytest_hookharness.model.moves import FIRST_PROMPT, Stop
from pytest_hookharness.model.processes import Exited
from pytest_hookharness.model.scenario import Scenario
from pytest_hookharness.simulation.testbed.run_settings import Settings

HERE = '"$CLAUDE_PROJECT_DIR"/hooks/hook.sh'
NEVER = "#!/bin/sh\necho 'Run the tests first.' >&2\nexit 2\n"


@pytest.fixture
def project(tmp_path):
    """Write a project with one hook; return its folder."""

    def write(command, event="Stop", text=NEVER, place=".claude/settings.json", **more):
        files = {
            place: json.dumps({"hooks": {event: [{"hooks": [{"type": "command", "command": command}]}]}})
        }
        for name, content in {**files, "hooks/hook.sh": text, **more}.items():
            file = tmp_path / "p" / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(content)
        (tmp_path / "p" / "hooks/hook.sh").chmod(0o755)
        return tmp_path / "p"

    return write


def candidates(folder, kind):
    """The changes that may fix a problem of a project's first hook."""
    (place,) = find_hook_sets(folder)
    symptom = Symptom(kind=kind, hook=place.hooks[0].command, text="It is.")
    problem = Problem(id="x", symptom=symptom, scenario=Scenario(name="check"))
    return [*find_candidates(problem, place, DraftFiles(place.root, {}))]


@pytest.mark.parametrize(("comment", "some"), [("", True), ("// Ours.\n", False)])
def test_settings_with_comments_are_not_changed(project, comment, some):
    """Where the host has to be able to read the settings first, no fix of them is tried."""
    hooks = {"stop": [{"command": "./hooks/hook.sh"}]}
    text = comment + json.dumps({"version": 1, "hooks": hooks})
    root = project("x", place="other.json", **{".cursor/hooks.json": text})
    (root / "other.json").unlink()
    assert bool(candidates(root, "livelock")) is some


def checked(folder, **settings):
    """The report of a check of a project, with its fixes."""
    (place,) = find_hook_sets(folder)
    with Harness(Settings(**settings)) as harness, project_copies(harness) as copies:
        (report,) = check_all([place], harness, copies, settings.get("wall", 240.0))
    return report


@pytest.mark.parametrize(
    ("command", "limited"),
    [
        ("./hooks/hook.sh --strict", "-- ./hooks/hook.sh --strict"),
        ("cd hooks && ./hook.sh", "-- /bin/sh -c 'cd hooks && ./hook.sh'"),
        ("MODE=1 ./hooks/hook.sh", "-- /bin/sh -c 'MODE=1 ./hooks/hook.sh'"),
        ("exit 2", "-- /bin/sh -c 'exit 2'"),
        ("./hooks/hook.sh 'a b'", """-- /bin/sh -c './hooks/hook.sh '"'"'a b'"'"''"""),
    ],
)
def test_the_words_behind_the_limiter(project, command, limited):
    """A command is put behind the limiter as it is, or in a shell if it needs one."""
    first, second = candidates(project(command), "livelock")
    assert first.renamed[command] == f'"$CLAUDE_PROJECT_DIR"/.claude/hookharness_limit.py --after 3 {limited}'
    assert "--at-most 5 --" in second.renamed[command]
    assert first.files.mode(".claude/hookharness_limit.py") == 0o755


def test_a_command_that_also_guards_calls(project):
    """A command that is configured for tool calls too is never limited, since that would open the guard."""
    folder = project("./hooks/hook.sh")
    settings = folder / ".claude/settings.json"
    hooks = json.loads(settings.read_text())["hooks"]
    settings.write_text(json.dumps({"hooks": {**hooks, "PreToolUse": hooks["Stop"]}}))
    assert candidates(folder, "livelock") == []
    (place,) = find_hook_sets(folder)
    symptom = Symptom(kind="livelock", hook=place.hooks[0].command, text="It is.")
    loop = Problem(id="loop", symptom=symptom, scenario=Scenario(name="check"))
    with Harness(Settings()) as harness:
        run = CheckRun(place, harness.settings, harness.resources)
        report = find_fixes(run, CheckReport(place=place, problems=(loop,)))
    assert report.open[0].startswith(
        "No fix of loop was tried: the limiter fits only hooks that run at stops"
    )


@pytest.mark.parametrize("kind", ["livelock", "NOT-RUN"])
def test_settings_that_are_copied_get_no_file_beside_them(project, kind):
    """Settings that an installer copies name no file that would stay behind, and the report says why."""
    folder = project("sh hooks/other.sh" if kind == "NOT-RUN" else HERE)
    (folder / ".claude").rename(folder / "kit")
    (place,) = find_hook_sets(folder / "kit/settings.json", "claude-code")
    assert place.elsewhere
    symptom = Symptom(kind=kind, hook=place.hooks[0].command, text="It is.")
    problem = Problem(id="loop", symptom=symptom, scenario=Scenario(name="check"))
    assert [*find_candidates(problem, place, DraftFiles(place.root, {}))] == []
    with Harness(Settings()) as harness:
        run = CheckRun(place, harness.settings, harness.resources)
        report = find_fixes(run, CheckReport(place=place, problems=(problem,)))
    assert any("copied to another place" in one for one in report.open) is (kind == "livelock")


def test_an_executable_bit(project):
    """A script that its command starts directly gets the bits of `chmod +x`, and nothing else changes."""
    folder = project("./hooks/hook.sh")
    (folder / "hooks/hook.sh").chmod(0o640)
    (one,) = candidates(folder, "NOT-RUN")
    (change,) = one.files.changes.values()
    assert (change.file, oct(change.mode), change.after) == ("hooks/hook.sh", "0o750", NEVER.encode())


def test_a_path_of_another_folder(project):
    """A command whose script is elsewhere in the project gets the script's path, if there is only one."""
    folder = project("./check.sh --now", **{".claude/check.sh": NEVER})
    (one,) = candidates(folder, "NOT-RUN")
    assert one.renamed == {"./check.sh --now": '"$CLAUDE_PROJECT_DIR"/.claude/check.sh --now'}
    project("./check.sh --now", **{"other/check.sh": NEVER})
    assert candidates(folder, "NOT-RUN") == []


@pytest.mark.nightly
def test_a_path_is_corrected_before_its_hook_is_limited(project):
    """Both fixes are offered for an endless hook whose path is wrong, and the limiter runs the right one."""
    folder = project('"$CLAUDE_PROJECT_DIR"/x/hook.sh')
    report = checked(folder)
    fixes = {one.symptom.kind: one.fix for one in report.problems}
    assert fixes["NOT-RUN"].text == f"Name the script by its path: `{HERE}`."
    assert fixes["livelock"].text.startswith("Limit the refusals")
    (change,) = [one for one in report.changes if one.file == ".claude/settings.json"]
    command = json.loads(change.after)["hooks"]["Stop"][0]["hooks"][0]["command"]
    assert command.endswith(HERE.replace('"', "")) or HERE in command


def test_a_path_of_a_plugin(tmp_path, project):
    """A relative path of a plugin's script is written below the plugin's folder."""
    folder = project("./hooks/hook.sh", place="hooks/hooks.json", **{".claude-plugin/plugin.json": "{}"})
    (one,) = candidates(folder, "NOT-RUN")
    assert one.renamed == {"./hooks/hook.sh": '"${CLAUDE_PLUGIN_ROOT}"/./hooks/hook.sh'.replace("/./", "/")}


def test_the_units_of_several_timeouts(project):
    """One change corrects all timeouts of the hooks that have one problem, and no other timeout."""
    place = ".claude/settings.json"
    file = project("./hooks/hook.sh", place=place) / place
    hook = {"type": "command", "command": "./hooks/hook.sh"}
    limits = (10000, 5000, 60)
    file.write_text(
        json.dumps({"hooks": {"Stop": [{"hooks": [{**hook, "timeout": limit} for limit in limits]}]}})
    )
    (one,) = candidates(file, "TIMEOUT-UNIT")
    entries = json.loads(one.files.read(place))["hooks"]["Stop"][0]["hooks"]
    assert [entry["timeout"] for entry in entries] == [10, 5, 60]
    assert one.timeout == 5


def test_the_unit_of_a_timeout(project):
    """A timeout in milliseconds gets the host's seconds, and one in seconds its milliseconds."""
    for place, event, written, meant in (
        (".claude/settings.json", "Stop", 10000, 10),
        (".gemini/settings.json", "AfterAgent", 30, 30000),
    ):
        folder = project("./hooks/hook.sh", event, place=place)
        file = folder / place
        file.write_text(file.read_text().replace('"type"', f'"timeout": {written}, "type"'))
        found = candidates(file, "TIMEOUT-UNIT")
        assert [f'"timeout": {meant},'.encode() in one.files.read(place) for one in found] == [True]


@pytest.mark.parametrize(
    ("script", "after"),
    [
        ("""echo '{"decision": "block"}'""", """echo '{"decision": "deny"}'"""),
        ('echo "{\\"decision\\":\\"deny\\"}"', 'echo "{\\"decision\\":\\"block\\"}"'),
        (
            'print(dumps({"hookSpecificOutput": {"permissionDecision": "deny", "a": {}}}))',
            'print(dumps({"decision": "deny", "a": {}}))',
        ),
        ('out = {"permission": "deny", "agent_message": m}', 'out = {"decision": "deny", "reason": m}'),
    ],
)
def test_answers_in_other_words(script, after):
    """The words of an answer are replaced wherever a script quotes them, escaped or not."""
    assert after in [text for _, text in reworded_answers(script)]


def test_scripts_without_an_answer():
    """A script in which nothing can be replaced leads to no change."""
    assert [*reworded_answers("exit 2 # {hookSpecificOutput: {")] == []


def test_paths_in_quotes(project):
    """The variables that the shell splits are quoted in the settings, each once and nothing else."""
    command = "cd $CLAUDE_PROJECT_DIR && ${CLAUDE_PROJECT_DIR}/hooks/hook.sh '$CLAUDE_PROJECT_DIR'"
    (found,) = candidates(project(command), "UNQUOTED-PATH")
    new = """cd "$CLAUDE_PROJECT_DIR" && "${CLAUDE_PROJECT_DIR}"/hooks/hook.sh '$CLAUDE_PROJECT_DIR'"""
    assert found.renamed == {command: new}
    assert json.dumps(new).encode() in found.files.read(".claude/settings.json")


@pytest.mark.parametrize(
    ("command", "new"),
    [
        ("./hooks/hook.sh --strict", '"${CLAUDE_PROJECT_DIR:-.}"/hooks/hook.sh --strict'),
        ("sh hooks/hook.sh", 'sh "${CLAUDE_PROJECT_DIR:-.}"/hooks/hook.sh'),
        # A quoted path, and one that may not be found.
        ('"hooks/hook.sh"', None),
        ("./hooks/other.sh", None),
    ],
)
def test_a_path_from_the_projects_folder(project, command, new):
    """A script that a plain command names by a relative path is named from the project's folder."""
    found = candidates(project(command), "RELATIVE-PATH")
    assert [one.renamed for one in found] == ([{command: new}] if new else [])


def test_a_path_on_a_host_without_its_variable(project, harness):
    """Another host that reads the same settings, and sets no such variable, runs the hook as before."""
    folder = project("./hooks/hook.sh", text="#!/bin/sh\nexit 0\n")
    (one,) = candidates(folder, "RELATIVE-PATH")
    (new,) = one.renamed.values()
    (there,) = find_hook_sets(folder / ".claude/settings.json", "copilot-cli")
    scenario = one.files.put_into(scenario_of(there, (FIRST_PROMPT, Stop())))
    session = CheckSession(title="another host", scenario=scenario)
    outcome = play_session(session, harness.settings, harness.resources)
    endings = [run.run.ending for _, run in outcome.trace.hook_runs() if run.hook.command == new]
    assert endings
    assert {*endings} == {Exited(0)}


@pytest.mark.parametrize(("number", "files"), [(0, ["hooks/hook.sh"]), (1, [".claude/settings.json"])])
def test_the_files_of_one_fix(project, number, files):
    """A fix names the files that it changes itself, and not those of the fixes before it."""
    folder = project("./hooks/hook.sh")
    earlier = DraftFiles(folder, {}).write("hooks/hook.sh", b"", 0o755)
    drafts = [DraftFiles(folder, {}), earlier, earlier.write(".claude/settings.json", b"{}")]
    assert [*drafts[number + 1].changed_since(drafts[number])] == files


@pytest.mark.nightly
def test_a_path_from_the_projects_folder_is_proved(project):
    """Such a path is offered after an agent in another folder had the hook run."""
    report = checked(project("sh hooks/hook.sh", text="exit 0\n"), wall=60.0)
    (problem,) = (one for one in report.problems if one.symptom.kind == "RELATIVE-PATH")
    assert problem.fix is not None
    assert "2 sessions with it" in problem.fix.evidence


@pytest.mark.nightly
def test_quotes_are_proved(project):
    """Quotes are offered after the hook was found in a folder with a space in its name."""
    report = checked(project("$CLAUDE_PROJECT_DIR/hooks/hook.sh", text="#!/bin/sh\nexit 0\n"))
    (problem,) = (one for one in report.problems if one.symptom.kind == "UNQUOTED-PATH")
    assert problem.fix is not None
    assert "1 session with it in a folder called `a folder`" in problem.fix.evidence


@pytest.mark.nightly
def test_an_endless_hook_is_fixed(project):
    """The limiter is offered after sessions with it ended on each host that reads the settings."""
    folder = project('"$CLAUDE_PROJECT_DIR"/hooks/hook.sh')
    report = checked(folder)
    (problem,) = report.problems
    assert "hookharness_limit.py --after 3 -- " in problem.fix.text
    assert "on claude-code@2.1.329, cursor@2026-08" in problem.fix.evidence
    assert [change.file for change in report.changes] == [
        ".claude/settings.json",
        ".claude/hookharness_limit.py",
    ]
    assert not (folder / ".claude/hookharness_limit.py").exists()


GATE = "#!/bin/sh\nmake test >/dev/null 2>&1 || { echo 'make test fails' >&2; exit 2; }\n"


@pytest.mark.nightly
@pytest.mark.parametrize("forgetful", [False, True])
def test_a_gate_whose_check_fails_is_limited(project, forgetful):
    """The limiter of a gate is tried with the check failing; if it is not offered, the report says why."""
    folder = project(HERE, text=GATE, Makefile="test:\n\t@echo ok\n")
    if forgetful:
        # The state of the limiter lies below HOME, which this hook removes.
        (folder / "hooks/hook.sh").write_text(
            f'{GATE[:10]}rm -rf "$HOME/.local/state/hookharness-limit"\n{GATE[10:]}'
        )
    (place,) = find_hook_sets(folder)
    with Harness(Settings(wall=240.0)) as harness, project_copies(harness) as copies:
        (report,) = check_all([place], harness, copies, 240.0, only="livelock-hook")
    (problem,) = report.problems
    if forgetful:
        assert problem.fix is None
        assert any("not offered: the verdict of a session was " in one for one in report.open), report.open
    else:
        assert "--after 3" in problem.fix.text


@pytest.mark.slow
@pytest.mark.nightly
def test_a_second_fix_of_a_limited_hook(project):
    """A command that another fix changed already is changed further; its own fix is reported alone."""
    report = checked(project("$CLAUDE_PROJECT_DIR/hooks/hook.sh"))
    fixes = {problem.symptom.kind: problem.fix for problem in report.problems}
    limited = '--after 3 -- "$CLAUDE_PROJECT_DIR"/hooks/hook.sh'
    assert fixes["UNQUOTED-PATH"].text == f"Quote the paths, as in `{HERE}`."
    assert any(json.dumps(limited)[1:-1].encode() in change.after for change in report.changes)
    assert [one.symptom.printed for one in report.problems if one.symptom.kind == "UNQUOTED-PATH"] == [""]


@pytest.mark.nightly
def test_an_executable_bit_is_proved(project):
    """The bit is offered after a session in which the hook ran."""
    folder = project(HERE, "PostToolUse", "#!/bin/sh\nexit 0\n")
    (folder / "hooks/hook.sh").chmod(0o644)
    (problem,) = checked(folder).problems
    assert problem.fix.text == "Make hooks/hook.sh executable."
    assert (folder / "hooks/hook.sh").stat().st_mode & 0o777 == 0o644


@pytest.mark.nightly
def test_what_does_not_fix_is_not_offered(project):
    """If the hook with the executable bit has another problem, no fix is offered."""
    folder = project(HERE, "PostToolUse", "#!/bin/sh\n./missing.sh\n")
    (folder / "hooks/hook.sh").chmod(0o644)
    report = checked(folder)
    assert [problem.fix for problem in report.problems] == [None]
    assert report.changes == ()


@pytest.mark.nightly
def test_no_time_for_a_fix(project):
    """Without time, no fix is offered, and the report says that none was tried."""
    folder = project(HERE, "PostToolUse", "#!/bin/sh\nexit 0\n")
    (folder / "hooks/hook.sh").chmod(0o644)
    (place,) = find_hook_sets(folder)
    with Harness(Settings(wall=240.0)) as harness:
        run = CheckRun(place, harness.settings, harness.resources)
        report = run.run()
        run.settings = replace(run.settings, wall=0.0)
        found = find_fixes(run, report)
    assert [problem.fix for problem in found.problems] == [None]
    assert found.open[-1].startswith("The time budget is too short to try a fix of not-run-hook; `--only")


@pytest.mark.nightly
def test_a_problem_of_another_hook_is_not_new(project):
    """A fix is offered although another hook of the project has a problem that the fix leaves as it is."""
    folder = project(HERE, "PostToolUse", "#!/bin/sh\nexit 0\n")
    (folder / "hooks/hook.sh").chmod(0o644)
    settings = folder / ".claude/settings.json"
    hooks = json.loads(settings.read_text())["hooks"]
    stop = [{"hooks": [{"type": "command", "command": "./missing.sh"}]}]
    settings.write_text(json.dumps({"hooks": {**hooks, "Stop": stop}}))
    fixes = {problem.symptom.hook: problem.fix for problem in checked(folder).problems}
    assert fixes[HERE].text == "Make hooks/hook.sh executable."
    assert fixes["./missing.sh"] is None


@pytest.mark.nightly
def test_a_guard_whose_answer_is_unreadable(project):
    """That a guard refused nothing is left out where a problem says already why it cannot refuse."""
    deny = """#!/bin/sh\necho '{"decision": "deny", "reason": "No."}'\n"""
    report = checked(project(HERE, "PreToolUse", deny))
    assert "MANGLED" in [problem.symptom.kind for problem in report.problems]
    assert "refused nothing" not in " ".join(report.open)


def test_accepted_problems_are_not_fixed(project):
    """No session is played, and no file changed, for a problem that needs no fix."""
    folder = project(HERE, "PostToolUse", "#!/bin/sh\nexit 0\n")
    (folder / "hooks/hook.sh").chmod(0o644)
    (place,) = find_hook_sets(folder)
    symptom = Symptom(kind="NOT-RUN", hook=HERE, text="It is.")
    problem = Problem(id="x", symptom=symptom, scenario=Scenario(name="check"))
    with Harness(Settings()) as harness:
        run = CheckRun(place, harness.settings, harness.resources)
        report = CheckReport(place=place, problems=(problem,))
        assert find_fixes(run, report, lambda *_: False) == report
