"""Claims about the fixtures, each shown by a real hook."""

import gc
import json

import pytest

from pytest_hookharness.model.moves import RunCommand, Script, Stop
from pytest_hookharness.model.processes import Exited, TimedOut
from pytest_hookharness.model.protocol import Ruling
from pytest_hookharness.model.response import HookNotRun
from pytest_hookharness.model.trace import HookRun
from pytest_hookharness.model.verdicts import Livelock, Terminated

POLITE = "grep -q '\"stop_hook_active\":true' && exit 0; echo 'run the tests' >&2; exit 2"
STUBBORN = "echo 'run the tests' >&2; exit 2"
GUARD = "grep -q -- --force && { echo 'no force' >&2; exit 2; }; exit 0"


@pytest.mark.slow
def test_loop_of_one_command(hook_loop):
    """One keyword for an event closes the loop on a command."""
    outcome = hook_loop(Stop=POLITE)

    assert outcome.terminated
    assert outcome.blocks("Stop") == 1
    assert outcome.hook_runs("Stop") == 2
    assert outcome.iterations == 2
    assert outcome.reasons("Stop") == (f"[{POLITE}]: run the tests",)


def test_loop_that_never_ends(hook_loop):
    """A hook that always refuses is proved to be an endless loop with three hook runs."""
    outcome = hook_loop(Stop=STUBBORN)

    assert isinstance(outcome.verdict, Livelock)
    assert (outcome.verdict.period, outcome.verdict.evidence) == (1, "closed")
    assert outcome.verdict.cap is not None
    assert outcome.verdict.cap.overrides == 9
    assert outcome.hook_runs() == 3


def test_loop_with_an_agent(hook_loop, scripted_agent):
    """A scripted agent makes its moves in the workspace before it stops."""
    agent = scripted_agent({"run": "echo hello > made.txt"}, {"stop": "Done."}, then="idle")

    outcome = hook_loop(agent=agent, Stop="test -f made.txt || { echo missing >&2; exit 2; }")

    assert outcome.terminated
    assert outcome.blocks() == 0


@pytest.mark.slow
def test_agent_in_plain_data(hook_loop):
    """The agent can be written as in a scenario file."""
    outcome = hook_loop(
        agent=[{"run": "git push --force", "expect": "deny"}, {"run": "git push", "result": "pushed"}],
        PreToolUse=GUARD,
    )

    assert outcome.decisions("PreToolUse") == (Ruling.DENY, Ruling.ALLOW)
    assert outcome.passed


def test_a_call_that_was_not_refused_breaks_its_expectation(hook_loop):
    """A call that is allowed although the scenario expects a denial is a violation that names the call."""
    outcome = hook_loop(agent=[{"run": "echo harmless", "expect": "deny"}], PreToolUse=GUARD)

    assert [violation.path for violation in outcome.violations] == ["agent[0].expect"]


@pytest.mark.slow
def test_relative_commands_are_found_beside_the_test(project):
    """A command that begins with ./ is the file beside the test, though the hook runs elsewhere."""
    project.write("checks/hook.sh", f"#!/bin/sh\npwd >&2; {STUBBORN}\n", 0o755)
    project.write(
        "checks/test_it.py",
        'def test_it(hook_loop):\n    outcome = hook_loop(Stop="./hook.sh")\n    assert outcome.livelock\n',
    )

    project.run("checks").assert_outcomes(passed=1)


@pytest.mark.slow
def test_a_failed_assert_shows_the_story(project):
    """A Python test that fails carries the story of its simulation."""
    project.write(
        "test_it.py",
        'def test_it(hook_loop):\n    assert hook_loop(Stop="echo never >&2; exit 2").terminated\n',
    )

    result = project.run()

    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            "*hook story*",
            "livelock: Stop is blocked forever by * (state repeats every turn after turn 1; *",
            "*Stop*exited 2*block*never*",
        ]
    )


@pytest.mark.nightly
def test_a_failed_test_shows_its_single_events(project):
    """The report of a failed Python test has what its single events did."""
    project.write(
        "test_it.py",
        "def test_it(hook_fire):\n"
        "    assert hook_fire('PreToolUse', './nosuch.sh', tool_name='Bash').allowed\n",
    )

    result = project.run()

    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*hook fire*", "PreToolUse *./nosuch.sh *exited 127*does not exist*"])


@pytest.mark.slow
def test_loop_of_a_scenario_file(hook_loop, project):
    """A scenario file, or one item of it, can be played from a test."""
    file = project.scenario("polite")

    assert hook_loop(str(file)).terminated
    assert hook_loop(f"{file}::polite[claude-code]").terminated
    assert hook_loop(f"{file}::polite").terminated
    with pytest.raises(ValueError, match=r"has no item 'other'"):
        hook_loop(f"{file}::other")


def test_unknown_keywords_are_refused(hook_loop):
    """A keyword that no scenario has is an error that names the nearest one."""
    with pytest.raises(ValueError, match=r"commnds.*commands"):
        hook_loop(Stop="true", commnds={})


def test_run_a_single_event(hook_fire):
    """A single event gives the host's decision, the reason and how the process ended."""
    refused = hook_fire("PreToolUse", GUARD, tool_name="Bash", tool_input={"command": "git push --force"})
    allowed = hook_fire("PreToolUse", GUARD, tool_name="Bash", tool_input={"command": "git push"})

    assert refused.refused
    assert not allowed.refused
    assert refused.ruling is Ruling.DENY
    assert "no force" in refused.reason
    assert refused.ending == Exited(2)
    assert allowed.ending == Exited(0)


@pytest.mark.nightly
@pytest.mark.parametrize("end", ["pass", "os.kill(os.getpid(), 9)"], ids=["finished", "killed"])
def test_nothing_is_left_of_testbeds_that_were_used_again(project, tmp_path, end):
    """After tests that shared a testbed its folders are gone; a killed run leaves no process of it."""
    project.write(
        "test_it.py",
        "import os, pytest\n"
        "@pytest.mark.parametrize('number', range(4))\n"
        "def test_it(hook_fire, number):\n"
        "    assert hook_fire('Stop', 'true').allowed\n"
        f"    if number == 3: {end}\n",
    )

    result = project.run_apart(f"--basetemp={tmp_path / 'temp'}")

    left = [path for path in (tmp_path / "temp").glob("hooks*/*") if end == "pass"]
    assert (result.ret, left) == (0 if end == "pass" else -9, [])


@pytest.mark.slow
@pytest.mark.parametrize("command", ["sleep 86399", "exit 1", "echo '{broken'", "kill -9 $$"], ids=str)
def test_what_did_not_decide_has_not_allowed(hook_fire, hook_workspace, command):
    """A hook that hangs, crashes or prints nonsense has not allowed anything."""
    hook_workspace(hook_timeout=0.3)

    answer = hook_fire("PreToolUse", command)

    assert not answer.allowed
    assert not answer.refused


def test_a_single_event_on_another_host(hook_fire):
    """The keyword `host` says which host fires the event."""
    answer = hook_fire("beforeShellExecution", "cat; exit 2", host="cursor", command="ls")

    assert answer.refused
    assert '"hook_event_name":"beforeShellExecution"' in answer.stdout


def test_no_hook_run_is_no_answer(hook_fire):
    """Running an event for which no hook is configured is an error, and no permission."""
    with pytest.raises(ValueError, match=r"no hook ran; .* are not for 'Bash'; their matchers: `Bsh`"):
        hook_fire("PreToolUse", [{"matcher": "Bsh", "hooks": [{"type": "command", "command": "true"}]}])
    with pytest.raises(ValueError, match=r"no hook ran; none is configured for this event"):
        hook_fire("Stop", [])


@pytest.mark.slow
@pytest.mark.parametrize(
    "hooks",
    [{"Stop": "./nosuch.sh"}, {"hooks": {"Stopp": "true"}}, {"Stop": "sleep 86399"}, {}],
    ids=str,
)
def test_what_did_not_decide_has_not_allowed_the_stop(hook_loop, hooks):
    """A session whose hooks did not run, or did not end, has not terminated by their decision."""
    outcome = hook_loop(**hooks, hook_timeout=0.3)

    assert isinstance(outcome.verdict, Terminated)
    assert not outcome.terminated
    assert not outcome.passed


@pytest.mark.parametrize("keys", [{"Stopp": "true"}, {"Stopp": "true", "host": "codex"}])
def test_unknown_events_are_refused(hook_loop, keys):
    """A keyword that looks like an event, and is no event of the host, is an error."""
    with pytest.raises(ValueError, match=r"has no event 'Stopp'; did you mean 'Stop'\?"):
        hook_loop(**keys)


@pytest.mark.slow
def test_the_common_name_of_an_event_is_known_on_every_host(hook_loop):
    """A host that has another name for an event takes the common one too."""
    assert hook_loop(Stop="true", host="gemini-cli").terminated


@pytest.mark.slow
def test_a_livelock_has_not_passed(hook_loop):
    """Without an expectation of its own a loop must terminate to pass, as in a scenario file."""
    assert not hook_loop(Stop=STUBBORN).passed
    assert hook_loop(Stop=STUBBORN, expect={"verdict": "livelock"}).passed


def test_a_script_is_no_scenario(hook_loop):
    """A hook given where a scenario belongs is an error that says how to write it."""
    with pytest.raises(ValueError, match=r"hook_loop\(Stop='./lint.sh'\)"):
        hook_loop("./lint.sh")


def test_a_call_expected_to_be_denied_is_never_executed(hook_loop, hook_workspace):
    """A call that a broken guard allows is not executed if the scenario expects a denial."""
    outcome = hook_loop(
        agent=[{"run": "rm victim.txt", "expect": "deny"}],
        files={"victim.txt": "here"},
        PreToolUse="exit 0",
        expect={"verdict": "terminated", "files": {"equal": {"victim.txt": "here"}}},
    )

    assert [violation.path for violation in outcome.violations] == ["agent[0].expect"]


def test_single_events_share_the_workspace(hook_fire):
    """Single events of the same hooks in one test find what the earlier ones wrote."""
    command = "echo x >> log; wc -l < log"

    assert [hook_fire("Stop", command).stdout.strip() for _ in range(3)] == ["1", "2", "3"]


def test_a_single_event_with_an_unknown_field(hook_fire):
    """A field that the event does not have is an error that names the nearest one."""
    with pytest.raises(ValueError, match=r"stop_hook_activ.*stop_hook_active"):
        hook_fire("Stop", "true", stop_hook_activ=True)


def test_a_single_event_that_is_unknown(hook_fire):
    """An event that the host does not have is an error that names the nearest one."""
    with pytest.raises(ValueError, match=r"Stopp.*Stop"):
        hook_fire("Stopp", "true")


@pytest.mark.slow
def test_payload_is_what_the_hook_gets(hook_fire, hook_payload):
    """The hook reads the keys of the generated payload, in the same order."""
    fields = {"tool_name": "Bash", "tool_input": {"command": "ls"}}

    read = json.loads(hook_fire("PreToolUse", "cat", **fields).stdout)

    assert list(read) == [key for key in hook_payload("PreToolUse", **fields) if key in read]
    assert read["tool_input"] == {"command": "ls"}


@pytest.mark.parametrize(
    "host, event, tool, key",
    [
        ("claude-code", "PreToolUse", "Edit", "old_string"),
        ("gemini-cli", "BeforeTool", "replace", "old_string"),
        ("openhands", "PreToolUse", "terminal", "is_input"),
        ("qwen-code", "PreToolUse", "run_shell_command", "is_background"),
        ("droid", "PreToolUse", "Execute", "command"),
    ],
)
def test_a_generated_call_is_one_of_its_host(hook_payload, host, event, tool, key):
    """The generated input of a tool has the keys that its own host gives it."""
    payload = hook_payload(event, host=host, tool_name=tool)

    assert key in payload["tool_input"]


def test_payloads_follow_from_the_seed(hook_payload):
    """The same event twice gives the same payload."""
    assert hook_payload("Stop") == hook_payload("Stop")


@pytest.mark.slow
def test_workspace(hook_workspace, hook_loop, hook_fire):
    """Files and settings of the workspace apply to every simulation and single event of the test."""
    hook_workspace(git=True).write("hook.sh", "#!/bin/sh\ngit log --oneline | wc -l >&2\nexit 2\n")

    assert hook_fire("Stop", "./hook.sh").stderr.strip() == "1"
    assert hook_loop(Stop="./hook.sh").livelock


@pytest.mark.slow
def test_failing_command(failing_command, hook_loop):
    """A failing command is found first on the PATH, always fails, and records its calls."""
    npm = failing_command("npm", exit=3, stderr="lint: 3 problems")

    outcome = hook_loop(Stop="npm run lint --fix >&2 || exit 2")

    assert outcome.livelock
    assert "lint: 3 problems" in outcome.reasons()[0]
    assert len(npm.calls) == 3
    assert npm.calls[0].argv[-3:] == ("run", "lint", "--fix")
    assert npm.calls[0].cwd.endswith("/workspace")


def test_failing_command_sees_its_own_input(failing_command, hook_fire):
    """A double records what is piped into it, and leaves the payload of the hook alone."""
    tool = failing_command("tool")

    answer = hook_fire("Stop", "echo piped | tool; tool; cat")

    assert [call.stdin for call in tool.calls] == [b"piped\n", None]
    assert '"hook_event_name":"Stop"' in answer.stdout


@pytest.mark.slow
def test_flaky_command(flaky_command, hook_loop):
    """A flaky command fails the given number of times and then works, so the loop ends."""
    flaky_command("npm", heals_after=3)

    outcome = hook_loop(Stop="npm test || { echo red >&2; exit 2; }")

    assert outcome.terminated
    assert outcome.blocks() == 3


@pytest.mark.slow
def test_hanging_command(hanging_command, hook_loop):
    """A hanging command is cut at the harness's hook timeout, and the finding says what was waited for."""
    hanging_command("npm")

    outcome = hook_loop(Stop="npm test", hook_timeout=0.5)

    (hook_run,) = (hook_run for _, hook_run in outcome.trace.hook_runs())
    assert isinstance(outcome.verdict, Terminated)
    assert not outcome.terminated
    assert isinstance(hook_run.run.ending, TimedOut)
    assert [finding.code for finding in outcome.findings] == ["HH001"]


@pytest.mark.slow
def test_flooding_command(flooding_command, hook_fire):
    """A flood of output is read completely and counted, and stored only up to a limit."""
    flooding_command("chatty", floods=5_000_000)

    output = hook_fire("Stop", "chatty").hook_run.run.stdout

    assert output.total == 5_000_000
    assert output.cut_at == len(output.data) < output.total


def test_prompting_command(prompting_command, hook_fire):
    """A command that asks on the terminal finds none and fails, as under the real host."""
    ssh = prompting_command("ssh", prompts="Password: ")

    answer = hook_fire("Stop", "ssh host || echo failed with $?")

    assert "failed with" in answer.stdout
    assert len(ssh.calls) == 1


def test_answers_of_other_types(hook_loop):
    """A handler that is no command is answered by the scenario, and without an answer it is an error."""
    hooks = {"Stop": [{"hooks": [{"type": "prompt", "prompt": "Is it done?"}]}]}
    answer = {"event": "Stop", "type": "prompt", "reply": {"ok": True}}

    assert hook_loop(hooks=hooks, world={"answers": [answer]}).terminated
    with pytest.raises(Exception, match=r"of type 'prompt'.*answers:"):
        hook_loop(hooks=hooks)


def test_nothing_of_ours_leaks_in(hook_fire, monkeypatch):
    """A hook gets nothing of the developer's environment."""
    monkeypatch.setenv("GIT_DIR", "/somewhere")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    monkeypatch.setenv("CI", "true")

    environment = hook_fire("Stop", "env").stdout

    assert not [
        name for name in ("GIT_DIR", "AWS_SECRET", "CI=", "VIRTUAL_ENV", "PYTEST") if name in environment
    ]


def test_script_is_a_value(scripted_agent):
    """The fixture for agents gives a plain value."""
    script = scripted_agent({"run": "ls"}, {"stop": "Done."}, then="obedient")

    assert isinstance(script, Script)
    assert [type(act) for act in script.acts] == [RunCommand, Stop]
    assert script.then.name == "obedient"


@pytest.mark.slow
def test_behaviours_of_other_plugins(project):
    """A plugin or conftest can register a behaviour of its own."""
    project.write(
        "conftest.py",
        "from pytest_hookharness import Stop\n"
        "def sulking(seen, *, times=2):\n"
        "    for _ in range(times):\n"
        "        seen = yield Stop(text='No.')\n"
        "    while True:\n"
        "        seen = yield Stop(text='All right.')\n"
        "def pytest_hook_behaviours():\n"
        "    return {'sulking': sulking}\n",
    )
    project.write(
        "test_it.py",
        "def test_it(hook_loop):\n"
        "    outcome = hook_loop(then={'sulking': {'times': 3}}, Stop=\"grep -q 'All right' || exit 2\")\n"
        "    assert outcome.terminated and outcome.blocks() == 3\n",
    )

    project.run().assert_outcomes(passed=1)


MISSING = ["python3 ./gaurd.py", "node ./gaurd.js", "./gaurd.sh", "gaurd", "python3 -m gaurd"]


@pytest.mark.nightly
@pytest.mark.parametrize("command", MISSING)
def test_a_hook_that_did_not_run_neither_refuses_nor_allows(hook_fire, command):
    """What a hook that did not run decided cannot be asked; the message names what is missing."""
    response = hook_fire("PreToolUse", command)

    for ask in (lambda: response.refused, lambda: response.allowed):
        with pytest.raises(HookNotRun, match=r"gaurd.* did not run"):
            ask()


@pytest.mark.slow
def test_a_refusal_beside_a_hook_that_did_not_run(hook_fire):
    """If one of several hooks did not run and another one refuses, the call is refused."""
    response = hook_fire("PreToolUse", ["python3 ./gaurd.py", STUBBORN])

    assert response.refused
    assert not response.allowed


@pytest.mark.slow
def test_a_recorded_payload_runs_in_the_workspace(pytester):
    """A recorded payload runs the hook in the workspace, whether the recorded folder exists or not."""
    for number, folder in enumerate((pytester.path, "/home/dev/gone")):
        payload = {"hook_event_name": "Stop", "cwd": str(folder), "stop_hook_active": False}
        record = {"event": "Stop", "at": number, "payload": payload}
        pytester.path.joinpath(f"{number}.json").write_text(json.dumps(record))
    pytester.makepyfile(
        """
        import pytest

        @pytest.mark.parametrize("number", [0, 1])
        def test_it(hook_fire, hook_recordings, number):
            payload = hook_recordings(".")["Stop"][number]
            response = hook_fire("Stop", "touch was-here; pwd >&2; exit 2", **payload)
            assert response.refused
            assert "/workspace" in response.reason
        """
    )
    pytester.runpytest_inprocess().assert_outcomes(passed=2)
    assert not pytester.path.joinpath("was-here").exists()


def test_a_hook_starts_in_no_folder_elsewhere(hook_fire):
    """A folder that leads out of the workspace is an error before the hook starts."""
    with pytest.raises(ValueError, match="hooks start only in the folders of this run"):
        hook_fire("Stop", "true", cwd="../..")


@pytest.mark.parametrize(
    ("text", "says"), [("{", "cannot be read"), ("{}", "is no recording"), (None, "no recording")]
)
def test_what_is_no_recording(tmp_path, hook_recordings, text, says):
    """A file of another form, and a folder without recordings, are errors that say what is expected."""
    if text is not None:
        (tmp_path / "a.json").write_text(text)
    with pytest.raises(ValueError, match=says):
        hook_recordings(tmp_path)


@pytest.mark.parametrize("number", range(3))
def test_results_of_a_test_before_are_not_kept(hook_fire, number):
    """When a test is over, nothing keeps what its hooks answered: there may be thousands of tests."""
    gc.collect()
    kept = [value for value in gc.get_objects() if isinstance(value, HookRun)]

    assert not any("of a test before" in run.hook.command for run in kept)
    assert hook_fire("PreToolUse", f"exit {number} # of a test before", tool_name="Bash").hook_runs
